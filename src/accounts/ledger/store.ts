/** The rows of the ledger of credits, and the balances that it changes. */
import { type Generated, type Selectable, sql } from 'kysely';
import type { Tx } from '#platform/db/db.ts';
import type { AccountTables } from '../store.ts';

interface LedgerTable {
  reference: string;
  scope: string;
  user_id: string;
  amount: number;
  state: 'reserved' | 'settled' | 'released';
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
  tx: Tx<LedgerTables>,
  reference: string,
): Promise<Pick<Selectable<LedgerTable>, 'state' | 'amount'> | undefined> {
  return tx
    .selectFrom('credit_ledger')
    .select(['state', 'amount'])
    .where('reference', '=', reference)
    .executeTakeFirst();
}

export async function insertEntry(
  tx: Tx<LedgerTables>,
  entry: Pick<LedgerTable, 'reference' | 'scope' | 'user_id' | 'amount'>,
): Promise<void> {
  await tx
    .insertInto('credit_ledger')
    .values({ ...entry, state: 'reserved' })
    .execute();
}

export async function changeBalance(tx: Tx<LedgerTables>, userId: string, change: number): Promise<void> {
  await tx
    .updateTable('user_profiles')
    .set((eb) => ({ credits: eb('credits', '+', change), updated_at: now }))
    .where('id', '=', userId)
    .execute();
}

/** Closes only open reservations, so that none is closed twice. Returns those that were closed. */
export function closeEntries(
  tx: Tx<LedgerTables>,
  which: { readonly scope: string; readonly references?: readonly string[] },
  state: 'settled' | 'released',
): Promise<readonly { readonly userId: string; readonly amount: number }[]> {
  const { scope, references } = which;
  return tx
    .updateTable('credit_ledger')
    .set({ state, updated_at: now })
    .where('scope', '=', scope)
    .where('state', '=', 'reserved')
    .$if(references !== undefined, (query) => query.where(sql<boolean>`reference = any(${references ?? []}::text[])`))
    .returning(['user_id as userId', 'amount'])
    .execute();
}
