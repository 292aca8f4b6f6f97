/** Removes finished jobs after the time for which they are retained. */
import { sql } from 'kysely';
import type { Db } from '../db/db.ts';
import type { JobTables } from './jobs.ts';

const batch = 1000;

/** In short statements of a thousand rows each, until none is left or the process stops. */
export async function removeFinished(
  db: Db<JobTables>,
  doneForMs: number,
  deadForMs: number,
  stopped: AbortSignal,
): Promise<void> {
  for (let removed = batch; removed === batch && !stopped.aborted; ) {
    const { numAffectedRows } = await sql`
      delete from jobs where job_id in (
        select job_id from jobs where finished_at is not null
          and finished_at < now() - make_interval(secs => case status when 'done' then ${doneForMs / 1000}::float8 else ${deadForMs / 1000}::float8 end)
        limit ${batch} for update skip locked
      )`.execute(db);
    removed = Number(numAffectedRows);
  }
}
