/** The queues that have work for a process. */
import { sql } from 'kysely';
import type { Db } from '../db/db.ts';
import type { JobTables } from './jobs.ts';

/** Returns which of `queues` have a job that can be claimed: in one statement, because an idle process runs it every second. */
export async function findDueQueues(db: Db<JobTables>, queues: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ queue: string }>`
    select queue from unnest(${queues}::text[]) as names(queue)
    where exists (select from jobs where jobs.queue = names.queue and status = 'waiting' and run_at <= now())`.execute(
    db,
  );
  return rows.map(({ queue }) => queue);
}

/** Returns the queues that have a job with an expired lease. */
export async function findLostQueues(db: Db<JobTables>): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('queue')
    .distinct()
    .where('status', '=', 'running')
    .where('expires_at', '<=', sql<Date>`now()`)
    .execute();
  return rows.map(({ queue }) => queue);
}
