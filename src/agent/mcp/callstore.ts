/** Calls of tools over MCP that are in flight. */
import { sql } from 'kysely';
import { hasChanged, type Tx } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';

/** All times are the database's, because the clocks of processes may differ. */
const hasExpired = sql<boolean>`expires_at <= clock_timestamp()`;

export async function insertCall(
  tx: Tx<AgentTables>,
  { callId, ownerId, forMs }: { readonly callId: string; readonly ownerId: string; readonly forMs: number },
): Promise<void> {
  await tx
    .insertInto('agent_tool_calls')
    .values({
      call_id: callId,
      owner_id: ownerId,
      expires_at: sql<Date>`clock_timestamp() + make_interval(secs => ${forMs / 1000})`,
    })
    .execute();
}

/** The calls, the runs and the generations of a user that are in flight. */
export async function countInFlightOf(tx: Tx<AgentTables>, ownerId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from agent_runs where owner_id = ${ownerId} and status = 'running')
      + (select count(*) from agent_tool_calls where owner_id = ${ownerId} and not ${hasExpired})
      + (select count(*) from agent_generations where owner_id = ${ownerId}::uuid and status = 'running')
      + (select count(*) from agent_videos where resource_id = ${ownerId} and origin = 'api' and status in ('queued', 'processing'))
      as count`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** `false`: the call has expired, and its credits went back. */
export async function endCall(tx: Tx<AgentTables>, callId: string): Promise<boolean> {
  return tx.deleteFrom('agent_tool_calls').where('call_id', '=', callId).$call(hasChanged);
}

/** Ends the calls that have expired, or with `all` every call, at most `limit`. Concurrent calls end each one once. */
export async function endExpiredCalls(
  tx: Tx<AgentTables>,
  { all, limit }: { readonly all: boolean; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await tx
    .with(
      // Materialized: a plan that evaluates it again for each row would exceed `limit`.
      (expired) => expired('expired').materialized(),
      (query) =>
        query
          .selectFrom('agent_tool_calls')
          .select('call_id')
          .$if(!all, (calls) => calls.where(hasExpired))
          .limit(limit)
          .forUpdate()
          .skipLocked(),
    )
    .deleteFrom('agent_tool_calls')
    .where('call_id', 'in', (eb) => eb.selectFrom('expired').select('call_id'))
    .returning('call_id as callId')
    .execute();
  return rows.map(({ callId }) => callId);
}
