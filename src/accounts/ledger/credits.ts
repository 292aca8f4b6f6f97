/**
 * Credits (docs/specification/agent.md#credits): reserved before the work, settled or released after it, and never
 * negative. Every change is part of the caller's transaction, beside the rows with the result of the work, so that a
 * crash leaves both or neither.
 */
import type { Db, Tx } from '#platform/db/db.ts';
import { accountProblems } from '../problems.ts';
import * as store from './store.ts';

export { type LedgerTables, lockBalance } from './store.ts';

export interface Reservation {
  /** Identifies the work. A second reservation with the same reference takes nothing. */
  readonly reference: string;
  /** Groups reservations that are closed together, such as those of a run. */
  readonly scope: string;
  readonly userId: string;
  readonly amount: number;
  /** The asset that the work becomes: it is charged for when it becomes readable (`chargeForAsset`). */
  readonly assetId?: string;
}

/**
 * Takes nothing and returns `false` if the balance is too low; `balance` is the current one. The profile must exist. Throws 403
 * `account_blocked` for new work, so that a user whose access token is still valid starts nothing.
 */
export async function reserveCredits(
  tx: Tx<store.LedgerTables>,
  reservation: Reservation,
): Promise<{ readonly reserved: boolean; readonly balance: number }> {
  const { reference, scope, userId, amount, assetId } = reservation;
  const entry = { reference, scope, user_id: userId, amount, asset_id: assetId ?? null };
  const { balance, isTaken, isBlocked } = await store.takeCredits(tx, entry);
  if (isTaken) return { reserved: true, balance: balance - amount };
  const known = await store.findEntry(tx, reference);
  if (known === undefined && isBlocked) throw accountProblems.account_blocked();
  // A released or settled reservation is closed. Its work must not be done again.
  return { reserved: known?.state === 'reserved', balance };
}

/** What a user has after work was closed, and what the work cost. */
export interface Settlement {
  readonly userId: string;
  readonly balance: number;
  /** All that was ever settled in the scope. */
  readonly settled: readonly { readonly reference: string; readonly amount: number }[];
}

/**
 * Closes a scope: retains what `references` took, and returns the rest. A repeated call changes nothing. Returns `undefined` for
 * a scope that reserved nothing.
 */
export async function closeCredits(
  tx: Tx<store.LedgerTables>,
  scope: string,
  references: readonly string[] = [],
): Promise<Settlement | undefined> {
  const closed = await store.closeEntries(tx, scope, references);
  for (const { userId, amount, state } of closed)
    if (state === 'released') await store.changeBalance(tx, userId, amount);
  const entries = await store.listEntries(tx, scope);
  const [first] = entries;
  if (first === undefined) return undefined;
  return {
    userId: first.userId,
    balance: first.balance,
    settled: entries.filter(({ state }) => state === 'settled').map(({ reference, amount }) => ({ reference, amount })),
  };
}

/**
 * Charges the owner for an asset, in the transaction that makes it readable. `free`: no credits were ever reserved for it. `closed`:
 * they went back, the order was canceled, or another user reserved them, so the asset must not become readable.
 */
export async function chargeForAsset(
  db: Db<store.LedgerTables> | Tx<store.LedgerTables>,
  assetId: string,
  ownerId: string,
): Promise<'charged' | 'free' | 'closed'> {
  const outcome = await store.settleAsset(db, assetId, ownerId);
  if (outcome?.isSettled) return 'charged';
  if (!outcome?.isKnown) return 'free';
  // Another statement, which sees what the first one waited for.
  const isDelivered = (await store.listEntriesOf(db, assetId)).some(
    ({ state, userId, isCanceled }) => state === 'settled' && userId === ownerId && !isCanceled,
  );
  return isDelivered ? 'charged' : 'closed';
}

/** Returns what one reservation took, because its work failed. `false`: it is closed already; if it is settled, it was delivered. */
export async function releaseCredits(tx: Tx<store.LedgerTables>, reference: string): Promise<boolean> {
  const released = await store.releaseEntry(tx, reference);
  if (released === undefined) return false;
  await store.changeBalance(tx, released.userId, released.amount);
  return true;
}

/** The references of a scope whose work is neither delivered nor given up. None of them is settled until the transaction ends. */
export async function lockReserved(tx: Tx<store.LedgerTables>, scope: string): Promise<readonly string[]> {
  return (await store.lockEntries(tx, scope)).map(({ reference }) => reference);
}

/** Whether the work of a reference was delivered. */
export async function isSettled(
  db: Db<store.LedgerTables> | Tx<store.LedgerTables>,
  reference: string,
): Promise<boolean> {
  const entry = await store.findEntry(db, reference);
  return entry?.state === 'settled' && !entry.isCanceled;
}

/** What the scopes have reserved and settled. */
export function sumCredits(tx: Tx<store.LedgerTables>, scopes: readonly string[]): Promise<number> {
  return store.sumEntries(tx, scopes);
}
