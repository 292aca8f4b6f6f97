/** Canceled orders and runs that were free, by user and day. */
import { sql } from 'kysely';
import type { Tx } from '#platform/db/db.ts';

export interface CancelTables {
  agent_free_cancels: { user_id: string; day: string; count: number };
}

const today = sql<string>`(now() at time zone 'UTC')::date`;

/** Counts one more. `false`: the user has had `max` of them today. Concurrent transactions of a user wait for each other. */
export async function takeFreeCancel(tx: Tx<CancelTables>, userId: string, max: number): Promise<boolean> {
  if (max === 0) return false;
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('agent_free_cancels')
    .values({ user_id: userId, day: today, count: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'day'])
        .doUpdateSet((eb) => ({ count: eb('agent_free_cancels.count', '+', 1) }))
        .where('agent_free_cancels.count', '<', max),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}
