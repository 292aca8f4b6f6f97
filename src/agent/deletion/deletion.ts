/**
 * `DELETE /threads` and `DELETE /threads/:threadId`. One transaction hides the threads and queues a job; then the request
 * itself removes them. If it cannot, or its process dies, the job does, and so does a repetition of the request.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import type { Queue } from '#platform/jobs/jobs.ts';
import { problems } from '#platform/problem.ts';
import { deleteApprovals } from '../approvals/approvalstore.ts';
import { deleteEvents } from '../eventlog/eventstore.ts';
import { endAllQueued } from '../runs/queue.ts';
import { findRunningOf } from '../runs/runstore.ts';
import { stopRun } from '../runs/tasks.ts';
import { deleteThreadAssets, endShares } from '../services/library.ts';
import type { ServingContext } from '../servingcontext.ts';
import type { AgentTables } from '../tables.ts';
import { hideThreads } from '../threads/changes.ts';
import {
  findOwnership,
  type HiddenThread,
  listHiddenThreads,
  listOwnersOfExpired,
  listTaskIds,
  lockExistingThread,
  removeThread,
} from '../threads/threadstore.ts';
import { cancelVideosOfThread, removeVideosOfThread } from '../videos/ending.ts';

// The jobs that finish the deletion of threads if the process that began it cannot.

const deletion = z.object({ ownerId: z.string() });
type Deletion = z.output<typeof deletion>;

/** Removes the hidden threads of one user. */
export const deletionQueue: Queue<Deletion> = {
  name: 'agent/delete-threads',
  payload: deletion,
  retryAfterMs: 5000,
  // Hidden threads must not stay, however long another service is away.
  maxAttempts: 1000,
  isRoundRobin: true,
};

const clearing = z.object({
  threadId: z.string(),
  ownerId: z.string(),
  taskIds: z.array(z.string()),
  deletesAssets: z.boolean(),
});
type Clearing = z.output<typeof clearing>;

/** Removes what a process that was late wrote outside the database after the thread was deleted. */
export const clearingQueue: Queue<Clearing> = {
  name: 'agent/clear-deleted-thread',
  payload: clearing,
  retryAfterMs: 5000,
  maxAttempts: 1000,
  isRoundRobin: true,
};

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

/** Deletes threads that were in the trash for 30 days, and temporary ones 24 hours after their last message. */
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

// Removes hidden threads (docs/specification/agent.md#deletion): stops their run, cancels their videos, deletes their assets if
// that was requested, and drops their rows in one transaction. Every step may run again, so a removal that was interrupted
// is finished by the next one.

/** An abort reaches a live process within the renewal of its leases. After that, the process is taken for dead. */
const defaultStoppingMs = 5000;
const lookEveryMs = 40;
/** Uploads of a late process have ended by then. */
const defaultClearAfterMs = 90_000;

/** `timeoutMs` bounds the call that deletes assets. Rejects if a step fails: the thread is still hidden then. */
async function removeHiddenThread(deps: ServingContext, thread: HiddenThread, timeoutMs: number): Promise<void> {
  const { threadId, ownerId, deletesAssets } = thread;
  // The job does it again. While the media service is away, no share can be read either.
  await endShares(deps, ownerId, threadId).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'the share of a deleted thread ends later');
  });
  await stopRunOf(deps, threadId);
  // Before the assets, so that no video is added to them.
  await transaction(deps.db, (tx) => cancelVideosOfThread(deps, tx, thread));
  if (deletesAssets) await deleteThreadAssets(deps, ownerId, threadId, timeoutMs);
  const taskIds = await transaction(deps.db, (tx) => removeRows(deps, tx, thread));
  // The job does it again, so that Redis need not answer now.
  await deps.eventLog.remove(taskIds).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'the event logs of a deleted thread are removed later');
  });
}

async function stopRunOf(deps: ServingContext, threadId: string): Promise<void> {
  await endAllQueued(deps, threadId);
  const run = await findRunningOf(deps.db, threadId);
  if (run === undefined) return;
  const { stoppingMs = defaultStoppingMs } = deps.pace ?? {};
  await stopRun(deps, run.taskId);
  const isOver = async () => (await findRunningOf(deps.db, threadId)) === undefined;
  for (const since = performance.now(); performance.now() - since < stoppingMs; await sleep(lookEveryMs)) {
    if (await isOver()) return;
  }
  await deps.reaper.end(run.taskId);
  if (!(await isOver())) throw problems.engine_unavailable({ cause: new Error('the run of a thread has not ended') });
}

/** Returns the runs of the thread, or none if it is gone. */
async function removeRows(
  deps: ServingContext,
  tx: Tx<AgentTables>,
  { threadId, ownerId, deletesAssets }: HiddenThread,
): Promise<readonly string[]> {
  // It is gone, or a thread that was begun since has its id.
  if (!(await lockExistingThread(tx, threadId))?.isDeleting) return [];
  const taskIds = await listTaskIds(tx, threadId);
  await removeVideosOfThread(deps, tx, { threadId, ownerId });
  await removeThread(tx, threadId);
  await deleteApprovals(tx, threadId);
  await deleteEvents(tx, taskIds);
  const clearing = { threadId, ownerId, taskIds: [...taskIds], deletesAssets };
  const delayMs = deps.pace?.clearAfterMs ?? defaultClearAfterMs;
  await deps.jobs.enqueue(tx, clearingQueue, clearing, { delayMs, lane: ownerId });
  return taskIds;
}

/** What a late process may have written after the rows were gone: the fence of the database does not reach it. */
async function clearDeletedThread(deps: ServingContext, clearing: Clearing, timeoutMs: number): Promise<void> {
  const { threadId, ownerId, taskIds, deletesAssets } = clearing;
  await deps.eventLog.remove(taskIds);
  // What belongs to a new thread with this id stays.
  const next = await findOwnership(deps.db, threadId);
  if (next?.ownerId === ownerId) return;
  await endShares(deps, ownerId, threadId);
  if (deletesAssets) await deleteThreadAssets(deps, ownerId, threadId, timeoutMs);
}
