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
    // Materialized: a plan that evaluates it again for each row would exceed the batch.
    const { numAffectedRows } = await sql`
      with old as materialized (
        select job_id from jobs where finished_at is not null
          and finished_at < now() - make_interval(secs => case status when 'done' then ${doneForMs / 1000}::float8 else ${deadForMs / 1000}::float8 end)
        limit ${batch} for update skip locked
      )
      delete from jobs using old where jobs.job_id = old.job_id`.execute(db);
    removed = Number(numAffectedRows);
  }
}
