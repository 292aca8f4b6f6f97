/**
 * Credits (docs/specification/agent.md#credits): reserved before the work, settled or released after it, and never
 * negative. Every change is part of the caller's transaction, beside the rows with the result of the work, so that a
 * crash leaves both or neither.
 */
import type { Tx } from '#platform/db/db.ts';
import { changeBalance, closeEntries, findEntry, type LedgerTables, lockBalance, takeCredits } from './store.ts';

export type { LedgerTables } from './store.ts';

export interface Reservation {
  /** Identifies the work. A second reservation with the same reference takes nothing. */
  readonly reference: string;
  /** Groups reservations that are closed together, such as those of a run. */
  readonly scope: string;
  readonly userId: string;
  readonly amount: number;
}

/**
 * Takes nothing and returns `false` if the balance is too low; `balance` is the current one. The profile must exist.
 */
export async function reserveCredits(
  tx: Tx<LedgerTables>,
  reservation: Reservation,
): Promise<{ readonly reserved: boolean; readonly balance: number }> {
  const { reference, scope, userId, amount } = reservation;
  const balance = (await lockBalance(tx, userId)) ?? 0;
  if (balance >= amount && (await takeCredits(tx, { reference, scope, user_id: userId, amount })))
    return { reserved: true, balance: balance - amount };
  const known = await findEntry(tx, reference);
  // A released or settled reservation is closed. Its work must not be done again.
  return { reserved: known?.state === 'reserved', balance };
}

/** What a user has after work was closed. */
export interface Settlement {
  readonly userId: string;
  readonly balance: number;
}

/**
 * Closes a scope: retains what `references` took, and returns the rest. Repeated calls do nothing and return `undefined`, as
 * does a scope that reserved nothing.
 */
export async function closeCredits(
  tx: Tx<LedgerTables>,
  scope: string,
  references: readonly string[] = [],
): Promise<Settlement | undefined> {
  const entries = await closeEntries(tx, scope, references);
  for (const { userId, amount, state } of entries) if (state === 'released') await changeBalance(tx, userId, amount);
  const [closed] = entries;
  if (closed === undefined) return undefined;
  return { userId: closed.userId, balance: (await lockBalance(tx, closed.userId)) ?? 0 };
}
