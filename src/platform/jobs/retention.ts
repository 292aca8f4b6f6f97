/** Removes finished jobs after the time for which they are retained. */
import { sql } from 'kysely';
import { findOverdueS } from '../background/overduestore.ts';
import { removeAll } from '../background/removal.ts';
import type { Db } from '../db/db.ts';
import type { JobTables } from './jobs.ts';

const batch = 1000;

type Finished = 'done' | 'dead';

/** In short statements of a thousand rows each, until none is left or the process stops. */
export async function removeFinished(
  db: Db<JobTables>,
  doneForMs: number,
  deadForMs: number,
  stopped: Pick<AbortSignal, 'aborted'>,
): Promise<void> {
  await removeAll(batch, (limit) => removeOld(db, 'done', doneForMs, limit), stopped);
  await removeAll(batch, (limit) => removeOld(db, 'dead', deadForMs, limit), stopped);
}

/** The status is part of the text, because each status has its own index. */
async function removeOld(db: Db<JobTables>, status: Finished, keptForMs: number, limit: number): Promise<number> {
  // Materialized: a plan that evaluates it again for each row would exceed the batch.
  const { numAffectedRows = 0n } = await sql`
    with old as materialized (
      select job_id from jobs
      where status = '${sql.raw(status)}' and finished_at < now() - make_interval(secs => ${keptForMs / 1000})
      order by finished_at limit ${limit} for update skip locked
    )
    delete from jobs using old where jobs.job_id = old.job_id`.execute(db);
  return Number(numAffectedRows);
}

export const findOverdueJobsS = (db: Db<JobTables>, doneForMs: number) =>
  findOverdueS(db, sql`finished_at`, sql`jobs where status = 'done'`, doneForMs / 1000);
