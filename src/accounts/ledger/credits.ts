/**
 * Credits (docs/specification/agent.md#credits): reserved before the work, settled or released after it, never negative. All of it happens in
 * the caller's transaction, beside the rows that say how the work went, so that a crash leaves both or neither.
 */
import type { Tx } from '#platform/db/db.ts';
import { changeBalance, closeEntries, findEntry, insertEntry, type LedgerTables, lockBalance } from './store.ts';

export type { LedgerTables } from './store.ts';

export interface Reservation {
  /** Names the work: a repeat of it takes nothing again. */
  readonly reference: string;
  /** What is closed together, such as a run. */
  readonly scope: string;
  readonly userId: string;
  readonly amount: number;
}

/** `false`: the balance does not suffice, and nothing is taken; `balance` is what there is. The profile has to exist. */
export async function reserveCredits(
  tx: Tx<LedgerTables>,
  reservation: Reservation,
): Promise<{ readonly reserved: boolean; readonly balance: number }> {
  const { reference, scope, userId, amount } = reservation;
  const balance = (await lockBalance(tx, userId)) ?? 0;
  const known = await findEntry(tx, reference);
  // Released or settled, the work is over: it must not be done once more on the old reservation.
  if (known !== undefined) return { reserved: known.state === 'reserved', balance };
  if (balance < amount) return { reserved: false, balance };
  await changeBalance(tx, userId, -amount);
  await insertEntry(tx, { reference, scope, user_id: userId, amount });
  return { reserved: true, balance: balance - amount };
}

/** What a user has after work was closed. */
export interface Settlement {
  readonly userId: string;
  readonly balance: number;
}

/**
 * The work is done: what `references` took stays taken, and the rest of the scope goes back. Repeats do nothing and return
 * `undefined`, as does a scope that reserved nothing.
 */
export async function closeCredits(
  tx: Tx<LedgerTables>,
  scope: string,
  references: readonly string[] = [],
): Promise<Settlement | undefined> {
  const settled = references.length > 0 ? await closeEntries(tx, { scope, references }, 'settled') : [];
  const released = await closeEntries(tx, { scope }, 'released');
  for (const { userId, amount } of released) await changeBalance(tx, userId, amount);
  const [closed] = [...settled, ...released];
  if (closed === undefined) return undefined;
  return { userId: closed.userId, balance: (await lockBalance(tx, closed.userId)) ?? 0 };
}
