/** The event log's rows. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';

export interface EventRow {
  readonly taskId: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly events: string;
  readonly isLast: boolean;
}

const columns = [
  'task_id as taskId',
  'first_seq as firstSeq',
  'last_seq as lastSeq',
  'events',
  'is_last as isLast',
] as const;

/**
 * Inserts a batch if the run's row still has this fence. The row is locked during the write, so a process that raises
 * the fence waits for it, and vice versa. Returns `false` if the fence was raised or a row with this number exists.
 */
export async function insertEvents(db: Db<AgentTables>, fence: number, row: EventRow): Promise<boolean> {
  const { rows } = await sql<{ task_id: string }>`
    with run as (select task_id from agent_runs where task_id = ${row.taskId} and fence = ${fence} for share)
    insert into agent_events (task_id, first_seq, last_seq, events, is_last)
    select task_id, ${row.firstSeq}::integer, ${row.lastSeq}::integer, ${row.events}::text, ${row.isLast}::boolean
    from run
    on conflict (task_id, last_seq) do nothing
    returning task_id`.execute(db);
  return rows.length === 1;
}

export function listEvents(db: Db<AgentTables>, taskId: string, afterSeq: number, limit: number) {
  return db
    .selectFrom('agent_events')
    .select(columns)
    .where('task_id', '=', taskId)
    .where('last_seq', '>', afterSeq)
    .orderBy('last_seq')
    .limit(limit)
    .execute();
}

/** Of many runs at once, each after its own last one. */
export async function listNewEvents(
  db: Db<AgentTables>,
  cursors: readonly { readonly taskId: string; readonly afterSeq: number }[],
  limit: number,
): Promise<readonly EventRow[]> {
  const { rows } = await sql<EventRow>`
    select e.task_id as "taskId", e.first_seq as "firstSeq", e.last_seq as "lastSeq", e.events, e.is_last as "isLast"
    from unnest(${cursors.map(({ taskId }) => taskId)}::uuid[], ${cursors.map(({ afterSeq }) => afterSeq)}::integer[])
      as followed (task_id, after_seq)
    join agent_events e on e.task_id = followed.task_id and e.last_seq > followed.after_seq
    order by e.task_id, e.last_seq
    limit ${limit}`.execute(db);
  return rows;
}

export async function findRunsWithEvents(
  db: Db<AgentTables>,
  taskIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('agent_events')
    .select('task_id')
    .distinct()
    .where(sql<boolean>`task_id = any(${taskIds}::uuid[])`)
    .execute();
  return new Set(rows.map((row) => row.task_id));
}

export async function deleteEvents(db: Db<AgentTables> | Tx<AgentTables>, taskIds: readonly string[]): Promise<void> {
  await db.deleteFrom('agent_events').where(sql<boolean>`task_id = any(${taskIds}::uuid[])`).execute();
}
