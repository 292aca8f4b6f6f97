/** The limits of what one run and one user may spend (docs/specification/agent.md#credits). */
import { lockBalance, sumCredits } from '#accounts/ledger/credits.ts';
import { createGates } from '#platform/concurrency/gate.ts';
import type { Tx } from '#platform/db/db.ts';
import type { Failure } from '../api.ts';
import type { AgentContext } from '../context.ts';
import type { AgentTables } from '../tables.ts';
import { listVideoIds } from '../videos/videostore.ts';
import { videoScope } from './references.ts';
import { takeFreeCancel } from './usagestore.ts';

/** Whether a run has reserved and spent too much, in the transaction of a reservation. That has locked the user's balance. */
export async function exceedsRun(
  { maxRunCredits }: AgentContext,
  tx: Tx<AgentTables>,
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
  { freeCancels }: AgentContext,
  tx: Tx<AgentTables>,
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

/**
 * Starts of runs and of tool calls lock the row of their user. Those that wait for each other must not take the connections of
 * other users.
 */
export const starts = createGates({ width: 1, maxWaiting: 1000, waitTimeoutMs: 10_000 });
