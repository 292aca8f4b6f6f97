/** The rows of the ledger of credits, and the balances that it changes. */
import { type Generated, type Selectable, sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type { AccountTables } from '../store.ts';

interface LedgerTable {
  reference: string;
  scope: string;
  user_id: string;
  amount: number;
  state: 'reserved' | 'settled' | 'released';
  asset_id: string | null;
  /** Settled without the asset: its order was canceled, and is not free. */
  is_canceled: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface LedgerTables extends AccountTables {
  credit_ledger: LedgerTable;
}

const now = sql<Date>`now()`;

/** Locks the balance until the transaction ends. */
export async function lockBalance(tx: Tx<LedgerTables>, userId: string): Promise<number | undefined> {
  const row = await tx
    .selectFrom('user_profiles')
    .select('credits')
    .where('id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
  return row?.credits;
}

export function findEntry(
  db: Db<LedgerTables> | Tx<LedgerTables>,
  reference: string,
): Promise<(Pick<Selectable<LedgerTable>, 'state' | 'amount'> & { readonly isCanceled: boolean }) | undefined> {
  return db
    .selectFrom('credit_ledger')
    .select(['state', 'amount', 'is_canceled as isCanceled'])
    .where('reference', '=', reference)
    .executeTakeFirst();
}

/**
 * Locks the balance until the transaction ends, inserts the entry and takes its amount. Changes nothing if the balance, which it
 * returns as it was before, is too low, if the account is blocked, or if the reference has an entry.
 */
export async function takeCredits(
  tx: Tx<LedgerTables>,
  entry: Pick<LedgerTable, 'reference' | 'scope' | 'user_id' | 'amount' | 'asset_id'>,
): Promise<{ readonly balance: number; readonly isTaken: boolean; readonly isBlocked: boolean }> {
  const { reference, scope, user_id, amount, asset_id } = entry;
  const { rows } = await sql<{ balance: number; isTaken: boolean; isBlocked: boolean }>`
    with profile as materialized (
      select id, credits, blocked_at is not null as is_blocked from user_profiles where id = ${user_id} for update
    ),
    entry as (
      insert into credit_ledger (reference, scope, user_id, amount, state, asset_id)
      select ${reference}, ${scope}, id, ${amount}::int, 'reserved', ${asset_id}::uuid from profile
      where credits >= ${amount}::int and not is_blocked
      on conflict (reference) do nothing
      returning user_id, amount
    ),
    taken as (
      update user_profiles set credits = credits - entry.amount, updated_at = ${now} from entry where id = entry.user_id
    )
    select credits as balance, exists (select from entry) as "isTaken", is_blocked as "isBlocked" from profile`.execute(
    tx,
  );
  return rows[0] ?? { balance: 0, isTaken: false, isBlocked: false };
}

export async function changeBalance(tx: Tx<LedgerTables>, userId: string, change: number): Promise<void> {
  await tx
    .updateTable('user_profiles')
    .set((eb) => ({ credits: eb('credits', '+', change), updated_at: now }))
    .where('id', '=', userId)
    .execute();
}

/**
 * Settles the open reservations with these references, and releases the others of the scope. Returns both. Assets whose reservation
 * was still open are not delivered.
 */
export function closeEntries(
  tx: Tx<LedgerTables>,
  scope: string,
  settled: readonly string[],
): Promise<readonly (Pick<LedgerTable, 'amount' | 'state'> & { readonly userId: string })[]> {
  const state = sql<
    LedgerTable['state']
  >`case when reference = any(${settled}::text[]) then 'settled' else 'released' end`;
  return tx
    .updateTable('credit_ledger')
    .set({ state, is_canceled: sql<boolean>`asset_id is not null`, updated_at: now })
    .where((eb) => eb.and({ scope, state: 'reserved' }))
    .returning(['user_id as userId', 'amount', 'state'])
    .execute();
}

/** The entries of a scope in any state, with the balance of their user, which stays locked until the transaction ends. */
export function listEntries(tx: Tx<LedgerTables>, scope: string) {
  return tx
    .selectFrom('credit_ledger')
    .select(['reference', 'user_id as userId', 'amount', 'state'])
    .select(sql<number>`coalesce((select credits from user_profiles where id = user_id for update), 0)`.as('balance'))
    .where('scope', '=', scope)
    .orderBy('created_at')
    .orderBy('reference')
    .execute();
}

/** Locks the open reservations of a scope. Waits for transactions that are closing them. */
export function lockEntries(tx: Tx<LedgerTables>, scope: string) {
  return tx
    .selectFrom('credit_ledger')
    .select('reference')
    .where((eb) => eb.and({ scope, state: 'reserved' }))
    .orderBy('reference')
    .forUpdate()
    .execute();
}

/** Settles the owner's open reservation of an asset. `isKnown`: credits were ever reserved for the asset. */
export async function settleAsset(
  db: Db<LedgerTables> | Tx<LedgerTables>,
  assetId: string,
  ownerId: string,
): Promise<{ readonly isSettled: boolean; readonly isKnown: boolean } | undefined> {
  const { rows } = await sql<{ isSettled: boolean; isKnown: boolean }>`
    with settled as (
      update credit_ledger set state = 'settled', updated_at = ${now}
      where asset_id = ${assetId} and user_id = ${ownerId} and state = 'reserved' returning reference
    )
    select exists (select from settled) as "isSettled", exists (
      select from credit_ledger where asset_id = ${assetId}
    ) as "isKnown"`.execute(db);
  return rows[0];
}

/** All reservations that were ever made for an asset. */
export function listEntriesOf(db: Db<LedgerTables> | Tx<LedgerTables>, assetId: string) {
  return db
    .selectFrom('credit_ledger')
    .select(['state', 'user_id as userId', 'is_canceled as isCanceled'])
    .where('asset_id', '=', assetId)
    .execute();
}

/** Releases an open reservation, and does not change the balance. `undefined`: it is closed, or there is none. */
export function releaseEntry(tx: Tx<LedgerTables>, reference: string) {
  return tx
    .updateTable('credit_ledger')
    .set({ state: 'released', updated_at: now })
    .where((eb) => eb.and({ reference, state: 'reserved' }))
    .returning(['user_id as userId', 'amount'])
    .executeTakeFirst();
}

export async function sumEntries(tx: Tx<LedgerTables>, scopes: readonly string[]): Promise<number> {
  const { sum } = await tx
    .selectFrom('credit_ledger')
    .select(sql<number>`coalesce(sum(amount), 0)::integer`.as('sum'))
    .where(sql<boolean>`scope = any(${scopes}::text[])`)
    .where('state', '<>', 'released')
    .executeTakeFirstOrThrow();
  return sum;
}
