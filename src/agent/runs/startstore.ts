/** The starts of runs that came with an `Idempotency-Key`. */
import { sql } from 'kysely';
import { findOverdueS } from '#platform/background/removal.ts';
import type { Db, Tx } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';

export interface KeyedStart {
  readonly userId: string;
  readonly key: string;
  readonly bodyDigest: string;
}

export interface Started {
  readonly taskId: string;
  readonly threadId: string;
  readonly queued: boolean;
}

/** docs/specification/agent.md#idempotent-starts */
const keptForHours = 24;
const isRetained = sql<boolean>`created_at > clock_timestamp() - make_interval(hours => ${keptForHours})`;

/** The start that used the key within the last 24 hours. */
export function findStart(db: Db<AgentTables>, { userId, key }: KeyedStart) {
  return db
    .selectFrom('agent_starts')
    .select(['body_digest as bodyDigest', 'task_id as taskId', 'thread_id as threadId', 'queued'])
    .where('user_id', '=', userId)
    .where('key', '=', key)
    .where(isRetained)
    .executeTakeFirst();
}

/** Waits for another transaction that takes the key. `false`: that was committed. */
export async function takeKey(
  tx: Tx<AgentTables>,
  start: KeyedStart,
  started: Omit<Started, 'queued'>,
): Promise<boolean> {
  const { userId, key, bodyDigest } = start;
  await tx
    .deleteFrom('agent_starts')
    .where('user_id', '=', userId)
    .where('key', '=', key)
    .where(sql<boolean>`not (${isRetained})`)
    .execute();
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('agent_starts')
    .values({
      user_id: userId,
      key,
      body_digest: bodyDigest,
      task_id: started.taskId,
      thread_id: started.threadId,
    })
    .onConflict((conflict) => conflict.columns(['user_id', 'key']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** The run of the key waits for another one. */
export async function markStartQueued(tx: Tx<AgentTables>, { userId, key }: KeyedStart): Promise<void> {
  await tx
    .updateTable('agent_starts')
    .set({ queued: true })
    .where('user_id', '=', userId)
    .where('key', '=', key)
    .execute();
}

/** Returns how many. */
export async function deleteOldStarts(db: Db<AgentTables>, limit: number): Promise<number> {
  // Materialized: a plan that evaluates it again for each row would exceed `limit`.
  const { numAffectedRows = 0n } = await sql`
    with old as materialized (
      select user_id, key from agent_starts where created_at < now() - make_interval(hours => ${keptForHours})
      order by created_at limit ${limit} for update skip locked
    )
    delete from agent_starts as start using old where start.user_id = old.user_id and start.key = old.key`.execute(db);
  return Number(numAffectedRows);
}

export const findOverdueStartsS = (db: Db<AgentTables>) =>
  findOverdueS(db, sql`created_at`, sql`agent_starts`, keptForHours * 3600);
