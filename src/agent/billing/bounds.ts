/** The limits of what one run and one user may spend (docs/specification/agent.md#credits). */
import { type LedgerTables, lockBalance, sumCredits } from '#accounts/ledger/credits.ts';
import type { Tx } from '#platform/db/db.ts';
import type { Failure } from '../api.ts';
import { type CancelTables, takeFreeCancel } from '../store/cancelstore.ts';
import { listVideoIds, type VideoTables } from '../store/videostore.ts';
import { videoScope } from './references.ts';

export interface SpendingBounds {
  /** AGENT_MAX_CREDITS_PER_RUN. 0: no limit. */
  readonly maxRunCredits: number;
  /** AGENT_FREE_CANCELS_PER_DAY. */
  readonly freeCancels: number;
}

/** Whether a run has reserved and spent too much, in the transaction of a reservation. That has locked the user's balance. */
export async function exceedsRun(
  { maxRunCredits }: Pick<SpendingBounds, 'maxRunCredits'>,
  tx: Tx<LedgerTables & VideoTables>,
  taskId: string,
): Promise<boolean> {
  if (maxRunCredits === 0) return false;
  const videos = await listVideoIds(tx, taskId);
  return (await sumCredits(tx, [taskId, ...videos.map(videoScope)])) > maxRunCredits;
}

export const runLimit = (maxRunCredits: number): Failure => ({
  code: 'run_credit_limit',
  message: `One run can spend at most ${maxRunCredits} credits. Continue in a new message.`,
  retryable: false,
});

/** Counts a cancellation for each reference, and returns those that are not free. In the transaction that closes them. */
export async function chargedCancels(
  { freeCancels }: Pick<SpendingBounds, 'freeCancels'>,
  tx: Tx<CancelTables & LedgerTables>,
  userId: string,
  canceled: readonly string[],
): Promise<readonly string[]> {
  if (canceled.length === 0) return [];
  // Before the count, in the order of every transaction that changes both.
  await lockBalance(tx, userId);
  const charged: string[] = [];
  for (const reference of canceled) if (!(await takeFreeCancel(tx, userId, freeCancels))) charged.push(reference);
  return charged;
}
