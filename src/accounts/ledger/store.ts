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
 * Inserts the entry and takes its amount from the balance, which has to be locked. `false`: the reference has an entry, and
 * nothing changes.
 */
export async function takeCredits(
  tx: Tx<LedgerTables>,
  entry: Pick<LedgerTable, 'reference' | 'scope' | 'user_id' | 'amount' | 'asset_id'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .with('entry', (db) =>
      db
        .insertInto('credit_ledger')
        .values({ ...entry, state: 'reserved' })
        .onConflict((conflict) => conflict.column('reference').doNothing())
        .returning(['user_id', 'amount']),
    )
    .updateTable('user_profiles')
    .from('entry')
    .set((eb) => ({ credits: eb('credits', '-', eb.ref('entry.amount')), updated_at: now }))
    .whereRef('user_profiles.id', '=', 'entry.user_id')
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
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
    .where('scope', '=', scope)
    .where('state', '=', 'reserved')
    .returning(['user_id as userId', 'amount', 'state'])
    .execute();
}

/** The entries of a scope in any state. */
export function listEntries(tx: Tx<LedgerTables>, scope: string) {
  return tx
    .selectFrom('credit_ledger')
    .select(['reference', 'user_id as userId', 'amount', 'state'])
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
    .where('scope', '=', scope)
    .where('state', '=', 'reserved')
    .orderBy('reference')
    .forUpdate()
    .execute();
}

/** Settles the owner's open reservation of an asset. `false`: there is none. */
export async function settleAsset(
  db: Db<LedgerTables> | Tx<LedgerTables>,
  assetId: string,
  ownerId: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('credit_ledger')
    .set({ state: 'settled', updated_at: now })
    .where('asset_id', '=', assetId)
    .where('user_id', '=', ownerId)
    .where('state', '=', 'reserved')
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
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
    .where('reference', '=', reference)
    .where('state', '=', 'reserved')
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
