/** Plans and credits of test users. */
import { sql } from 'kysely';
import type { Plan, Profile } from '#accounts/api.ts';
import { type AccountTables, profileColumns } from '#accounts/store.ts';
import type { Db, Tx } from '#platform/db/db.ts';

/** Sets the plan and credits, and creates a missing profile. Open reservations are settled against the new balance. */
export function setPlanAndCredits(
  db: Db<AccountTables> | Tx<AccountTables>,
  userId: string,
  plan: Plan,
  credits: number,
): Promise<Profile> {
  return db
    .insertInto('user_profiles')
    .values({ id: userId, plan, credits })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ plan, credits, updated_at: sql<Date>`now()` }))
    .returning(profileColumns)
    .executeTakeFirstOrThrow();
}
