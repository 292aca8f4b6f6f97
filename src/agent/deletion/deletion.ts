/**
 * `DELETE /threads` and `DELETE /threads/:threadId`. One transaction hides the threads and queues a job; then the request
 * itself removes them. If it cannot, or its process dies, the job does, and so does a repetition of the request.
 */
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import { transaction } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { endShares } from '../services/library.ts';
import type { ServingContext } from '../servingcontext.ts';
import { findOwnership, listHiddenThreads, listOwnersOfExpired } from '../store/threadstore.ts';
import { hideThreads } from '../threads/changes.ts';
import { clearingQueue, type Deletion, deletionQueue } from './queues.ts';
import { clearDeletedThread, removeHiddenThread } from './removal.ts';

/** When the job takes over: a request is over by then. */
const defaultTakeOverAfterMs = 15_000;
/** A request answers within 10 s; the rest of a long list is left to the job. */
const requestMs = 6000;
const assetsInRequestMs = 4000;
const assetsInJobMs = 60_000;
/** Then the threads of other users have their turn. */
const turnMs = 5000;
const threadsPerLook = 50;
const defaultEmptyEveryMs = 3_600_000;
const ownersPerLook = 1000;
const threadsAtOnce = 4;

/**
 * Throws 403 for the thread of another user than `userId` (a server need not name one), 404 for an unknown one, and 503 if
 * a step fails: the thread is hidden then, and its deletion goes on in the background.
 */
export async function deleteThread(
  deps: ServingContext,
  userId: string | undefined,
  threadId: string,
  deletesAssets: boolean,
): Promise<void> {
  const thread = await findOwnership(deps.db, threadId);
  if (thread === undefined) throw problems.not_found();
  const { ownerId } = thread;
  if (userId !== undefined && ownerId !== userId) throw problems.forbidden();
  await hideAndQueue(deps, ownerId, threadId, deletesAssets);
  const hidden = (await listHiddenThreads(deps.db, ownerId, threadId, 1))[0];
  if (hidden !== undefined) await removeHiddenThread(deps, hidden, assetsInRequestMs);
}

/** Before its thread goes to the trash. Throws 503, and nothing has changed then. */
export async function endShareOf(deps: ServingContext, threadId: string): Promise<void> {
  const thread = await findOwnership(deps.db, threadId);
  if (thread !== undefined) await endShares(deps, thread.ownerId, threadId);
}

/** Deletes threads that were in the trash for 30 days. */
export function startEmptyingTrash(deps: ServingContext): Interval {
  return startInterval(
    deps.pace?.emptyTrashEveryMs ?? defaultEmptyEveryMs,
    async () => {
      for (const ownerId of await listOwnersOfExpired(deps.db, ownersPerLook))
        await hideAndQueue(deps, ownerId, undefined, false, true);
    },
    (error) => deps.log.warn({ err: error }, 'the trash of threads could not be emptied'),
  );
}

/** All of the user's threads. Those that cannot be removed in time are hidden, and the job removes them. */
export async function deleteThreads(deps: ServingContext, userId: string, deletesAssets: boolean): Promise<void> {
  await hideAndQueue(deps, userId, undefined, deletesAssets);
  const startedAtMs = performance.now();
  await removeHiddenThreads(deps, userId, assetsInRequestMs, () => performance.now() - startedAtMs < requestMs);
}

export function workOnDeletions(deps: ServingContext): void {
  deps.jobs.work(
    deletionQueue,
    async (job) => {
      const { payload, signal } = job;
      const { ownerId } = payload;
      const startedAtMs = performance.now();
      const mayGoOn = () => !signal.aborted && performance.now() - startedAtMs < turnMs;
      await removeHiddenThreads(deps, ownerId, assetsInJobMs, mayGoOn);
      // The rest is left to the next worker. A job whose handler returns is complete.
      signal.throwIfAborted();
      const left = await listHiddenThreads(deps.db, ownerId, undefined, 1);
      if (left.length > 0) await transaction(deps.db, (tx) => job.postpone(tx, 0));
    },
    { concurrency: 1 },
  );
  deps.jobs.work(clearingQueue, (job) => clearDeletedThread(deps, job.payload, assetsInJobMs), { concurrency: 1 });
}

async function hideAndQueue(
  deps: ServingContext,
  ownerId: string,
  threadId: string | undefined,
  deletesAssets: boolean,
  isOnlyExpired = false,
): Promise<void> {
  const deletion: Deletion = { ownerId };
  const delayMs = isOnlyExpired ? 0 : (deps.pace?.takeOverAfterMs ?? defaultTakeOverAfterMs);
  await transaction(deps.db, async (tx) => {
    const hidden = await hideThreads(deps, tx, ownerId, threadId, deletesAssets, isOnlyExpired);
    if (hidden.length > 0) await deps.jobs.enqueue(tx, deletionQueue, deletion, { delayMs, lane: ownerId });
  });
}

/** Until none is left, or `mayGoOn` returns `false`. Rejects if a step fails. */
async function removeHiddenThreads(
  deps: ServingContext,
  ownerId: string,
  assetsTimeoutMs: number,
  mayGoOn: () => boolean,
): Promise<void> {
  while (mayGoOn()) {
    const hidden = await listHiddenThreads(deps.db, ownerId, undefined, threadsPerLook);
    if (hidden.length === 0) return;
    await mapConcurrently(hidden, threadsAtOnce, async (thread) => {
      if (mayGoOn()) await removeHiddenThread(deps, thread, assetsTimeoutMs);
    });
  }
}
