/** What the agent stores about a user, counted and deleted as a whole. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';

type Handle = Db<AgentTables>;

/** Threads that are being deleted do not count. */
export async function countThreads(db: Handle, userId: string) {
  const { rows } = await sql<{ threads: number; messages: number; running: number }>`
    select count(*)::int as threads, coalesce(sum(message_count), 0)::int as messages,
      (select count(*) from agent_runs where owner_id = ${userId} and status = 'running')::int as running
    from agent_threads where owner_id = ${userId} and deleting_at is null`.execute(db);
  return rows[0] ?? { threads: 0, messages: 0, running: 0 };
}

/** Counts all threads, those that are being deleted too. */
export async function countAllThreads(db: Handle, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('agent_threads')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('owner_id', '=', userId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Deleted after the threads, whose rows have their own deletion. */
const owned = {
  agent_approvals: 'owner_id',
  agent_generations: 'owner_id',
  agent_videos: 'resource_id',
  // Processes of an earlier version may write it.
  agent_tool_calls: 'owner_id',
  agent_user_events: 'user_id',
  agent_user_event_positions: 'user_id',
  agent_usage: 'user_id',
  agent_usage_months: 'user_id',
  agent_starts: 'user_id',
  agent_free_cancels: 'user_id',
} as const;

/** Returns how many rows of each table. */
export async function deleteOwned(db: Handle, userId: string): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  for (const [table, column] of Object.entries(owned)) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ${sql.ref(column)} = ${userId}`.execute(db);
    removed[table.replace('agent_', '')] = Number(numAffectedRows ?? 0);
  }
  return removed;
}
