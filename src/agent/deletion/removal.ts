/**
 * Removes hidden threads (docs/specification/agent.md#deletion): stops their run, cancels their videos, deletes their assets if
 * that was requested, and drops their rows in one transaction. Every step may run again, so a removal that was interrupted
 * is finished by the next one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import { problems } from '#platform/problem.ts';
import { type ApprovalTables, deleteApprovals } from '../approvals/approvalstore.ts';
import type { EventLog } from '../eventlog/eventlog.ts';
import { endAllQueued } from '../queue/queue.ts';
import type { Reaper } from '../runs/reaper.ts';
import type { RunsDeps } from '../runs/runs.ts';
import { type StopDeps, stopRun } from '../runs/tasks.ts';
import { deleteThreadAssets, endShares, type LibraryDeps } from '../services/library.ts';
import type { StepTables } from '../steps/stepstore.ts';
import type { CancelTables } from '../store/cancelstore.ts';
import { deleteEvents, type EventTables } from '../store/eventstore.ts';
import { findRunningOf } from '../store/runstore.ts';
import type { StartTables } from '../store/startstore.ts';
import { findOwnership, type HiddenThread, listTaskIds } from '../store/threadstore.ts';
import type { ToolCallTables } from '../store/toolcallstore.ts';
import type { UsageTables } from '../store/usagestore.ts';
import type { VideoTables } from '../store/videostore.ts';
import { lockHiddenThread, removeThread } from '../threads/changes.ts';
import { cancelVideosOfThread, removeVideosOfThread } from '../videos/cancelling.ts';
import { type Clearing, clearingQueue } from './queues.ts';

type Tables = EventTables &
  ApprovalTables &
  StepTables &
  VideoTables &
  LedgerTables &
  UsageTables &
  CancelTables &
  StartTables &
  ToolCallTables;

/** For tests. */
export interface DeletionPace {
  readonly stoppingMs?: number;
  readonly takeOverAfterMs?: number;
  readonly clearAfterMs?: number;
  readonly emptyTrashEveryMs?: number;
}

export interface RemovalDeps extends LibraryDeps, StopDeps, RunsDeps {
  readonly db: Db<Tables>;
  readonly eventLog: EventLog;
  readonly reaper: Reaper;
  readonly pace?: DeletionPace | undefined;
  readonly log: Log;
}

/** An abort reaches a live process within the renewal of its leases. After that, the process is taken for dead. */
const defaultStoppingMs = 5000;
const lookEveryMs = 40;
/** Uploads of a late process have ended by then. */
const defaultClearAfterMs = 90_000;

/** `timeoutMs` bounds the call that deletes assets. Rejects if a step fails: the thread is still hidden then. */
export async function removeHiddenThread(deps: RemovalDeps, thread: HiddenThread, timeoutMs: number): Promise<void> {
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

async function stopRunOf(deps: RemovalDeps, threadId: string): Promise<void> {
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
  deps: RemovalDeps,
  tx: Tx<Tables>,
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
export async function clearDeletedThread(deps: RemovalDeps, clearing: Clearing, timeoutMs: number): Promise<void> {
  const { threadId, ownerId, taskIds, deletesAssets } = clearing;
  await deps.eventLog.remove(taskIds);
  // What belongs to a new thread with this id stays.
  const next = await findOwnership(deps.db, threadId);
  if (next?.ownerId === ownerId) return;
  await endShares(deps, ownerId, threadId);
  if (deletesAssets) await deleteThreadAssets(deps, ownerId, threadId, timeoutMs);
}
