/** What the images of an order cost the operator, until the order ends. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';

type Handle = Db<AgentTables> | Tx<AgentTables>;

/** Replaces what is noted for the reference. Models without a cost leave nothing. */
export async function noteCost(
  db: Handle,
  { reference, scope }: { readonly reference: string; readonly scope: string },
  costUsd: number | undefined,
): Promise<void> {
  if (costUsd === undefined) await db.deleteFrom('agent_image_costs').where('reference', '=', reference).execute();
  else
    await db
      .insertInto('agent_image_costs')
      .values({ reference, scope, cost_usd: costUsd })
      .onConflict((conflict) => conflict.column('reference').doUpdateSet({ cost_usd: costUsd }))
      .execute();
}

/** Ends the order: forgets its costs, and returns the sum of those that were delivered. */
export async function takeCosts(tx: Tx<AgentTables>, scope: string, delivered: readonly string[]): Promise<number> {
  const { rows } = await sql<{ reference: string; costUsd: number }>`
    delete from agent_image_costs where scope = ${scope}
    returning reference, cost_usd as "costUsd"`.execute(tx);
  return rows.reduce((sum, { reference, costUsd }) => (delivered.includes(reference) ? sum + costUsd : sum), 0);
}
