/**
 * Removes hidden threads (docs/specification/agent.md#deletion): stops their run, cancels their videos, deletes their assets if
 * that was requested, and drops their rows in one transaction. Every step may run again, so a removal that was interrupted
 * is finished by the next one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Tx, transaction } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { deleteApprovals } from '../approvals/approvalstore.ts';
import { endAllQueued } from '../queue/queue.ts';
import { stopRun } from '../runs/tasks.ts';
import { deleteThreadAssets, endShares } from '../services/library.ts';
import type { ServingContext } from '../servingcontext.ts';
import { deleteEvents } from '../store/eventstore.ts';
import { findRunningOf } from '../store/runstore.ts';
import { findOwnership, type HiddenThread, listTaskIds } from '../store/threadstore.ts';
import type { AgentTables } from '../tables.ts';
import { lockHiddenThread, removeThread } from '../threads/changes.ts';
import { cancelVideosOfThread, removeVideosOfThread } from '../videos/cancelling.ts';
import { type Clearing, clearingQueue } from './queues.ts';

/** An abort reaches a live process within the renewal of its leases. After that, the process is taken for dead. */
const defaultStoppingMs = 5000;
const lookEveryMs = 40;
/** Uploads of a late process have ended by then. */
const defaultClearAfterMs = 90_000;

/** `timeoutMs` bounds the call that deletes assets. Rejects if a step fails: the thread is still hidden then. */
export async function removeHiddenThread(deps: ServingContext, thread: HiddenThread, timeoutMs: number): Promise<void> {
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
  if (!(await lockHiddenThread(tx, threadId))) return [];
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
export async function clearDeletedThread(deps: ServingContext, clearing: Clearing, timeoutMs: number): Promise<void> {
  const { threadId, ownerId, taskIds, deletesAssets } = clearing;
  await deps.eventLog.remove(taskIds);
  // What belongs to a new thread with this id stays.
  const next = await findOwnership(deps.db, threadId);
  if (next?.ownerId === ownerId) return;
  await endShares(deps, ownerId, threadId);
  if (deletesAssets) await deleteThreadAssets(deps, ownerId, threadId, timeoutMs);
}
