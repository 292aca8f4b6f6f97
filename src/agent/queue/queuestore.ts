/** The runs that wait for the run in progress of their thread. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import { later, now, runColumns } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';

type Handle = Db<AgentTables> | Tx<AgentTables>;

export type QueuedRun = Awaited<ReturnType<typeof listQueued>>[number];

/** In the order in which they start: those that interrupt come first. */
export function listQueued(db: Handle, threadId: string) {
  return db
    .selectFrom('agent_runs')
    .select([...runColumns, 'question', 'rewind_to as rewindTo', 'interrupts'])
    .where('thread_id', '=', threadId)
    .where('status', '=', 'queued')
    .orderBy('interrupts', 'desc')
    .orderBy('queued_at')
    .execute();
}

export async function hasQueued(db: Handle, threadId: string): Promise<boolean> {
  const row = await db
    .selectFrom('agent_runs')
    .select('task_id')
    .where('thread_id', '=', threadId)
    .where('status', '=', 'queued')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Threads with queued runs and no run in progress. */
export async function listIdleQueues(db: Handle, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ threadId: string }>`
    select distinct thread_id as "threadId" from agent_runs as waiting
    where status = 'queued' and not exists (
      select from agent_runs where thread_id = waiting.thread_id and status = 'running'
    ) limit ${limit}`.execute(db);
  return rows.map(({ threadId }) => threadId);
}

/** The thread has to be locked. `isAborted`: the run is to be stopped at once, because another one interrupts it. */
export function markStarted(
  tx: Tx<AgentTables>,
  taskId: string,
  lease: { readonly holder: string; readonly leaseMs: number },
  isAborted: boolean,
) {
  return tx
    .updateTable('agent_runs')
    .set({
      status: 'running',
      holder: lease.holder,
      lease_expires_at: later(lease.leaseMs),
      updated_at: now,
      abort_requested: isAborted,
      question: null,
      rewind_to: null,
    })
    .where('task_id', '=', taskId)
    .where('status', '=', 'queued')
    .returning(runColumns)
    .executeTakeFirst();
}
