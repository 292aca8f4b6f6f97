/** The media task endpoints (docs/specification/media.md#video-tasks). The work itself is processing.ts. */
import { randomUUID } from 'node:crypto';
import type { Caller } from '#platform/access/caller.ts';
import { holdName, transaction } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { retryWhileChanging } from '#platform/resilience/retry.ts';
import { assertOwnId, ownerFor } from '../assets/ownership.ts';
import { storageKeyOf } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';
import { deleteAssetsOfOwner } from '../deletion/deletion.ts';
import { mediaProblems } from '../problems.ts';
import { isUuid } from '../refs.ts';
import type { MediaTask, TaskDeleted, TasksDeleted, TaskUpsert, VideoTask, VideoTaskRequest } from './api.ts';
import { tagOf, videoUploadQueue, withdrawVideos } from './processing.ts';
import {
  dropTask,
  dropTasksOf,
  findTask,
  findUnfinished,
  insertRun,
  type StoredTask,
  upsertTask,
} from './taskstore.ts';

export async function putTask({ db }: MediaContext, request: TaskUpsert): Promise<MediaTask> {
  return toTask(await upsertTask(db, request));
}

/** The limit of unfinished video tasks of one owner. */
const mostUnfinished = 20;

/**
 * Writes the task and its job in one transaction. If the upload has an unfinished task, returns that one. Throws 400
 * and 403 (as `ownerFor`), 409 `object_not_found`, 429 `too_many_tasks`, and 503.
 */
export async function beginVideoTask(
  deps: MediaContext,
  caller: Caller,
  request: VideoTaskRequest,
): Promise<VideoTask> {
  const { assetId, scopeKind, scopeId, mime, threadId } = request;
  assertOwnId(caller, assetId);
  const ownerId = ownerFor(caller, request.ownerId);
  const storageKey = storageKeyOf({ ownerId, scopeKind, scopeId, assetId, mime });
  if ((await deps.objects.head(storageKey)) === undefined) throw mediaProblems.object_not_found();
  await deps.ffmpeg.check();
  const video = { assetId, scopeKind, scopeId, mime };
  const run = { taskId: randomUUID(), runId: randomUUID() };
  const taskId = await transaction(deps.db, async (tx) => {
    await holdName(tx, `media tasks ${ownerId}`);
    const [existing] = await findUnfinished(tx, ownerId, storageKey);
    if (existing !== undefined) return existing;
    if ((await findUnfinished(tx, ownerId)).length >= mostUnfinished) throw mediaProblems.too_many_tasks();
    const metadata = { ...video, threadId };
    await insertRun(tx, { ...run, assetId, storageKey, ownerId, mediaType: 'video', status: 'pending', metadata });
    const options = { key: tagOf(run.taskId), lane: ownerId };
    await deps.jobs.enqueue(tx, videoUploadQueue, { ...run, ownerId, ...video }, options);
    return run.taskId;
  });
  return { taskId, status: 'pending' };
}

/** A task without a row is pending. Throws 404 for a task of another user. */
export async function readTask({ db }: MediaContext, caller: Caller, taskId: string): Promise<MediaTask | VideoTask> {
  const task = await findTask(db, taskId);
  if (task === undefined) return { taskId, status: 'pending' };
  assertOwn(caller, task);
  return toTask(task);
}

/**
 * Assets first, the row last and only if it has not changed: the job can complete the task at the same time. The job sees
 * at its end that the row is gone and removes its output. Throws 404 (another user's), and 503, after which it can be retried.
 */
export async function deleteTask(deps: MediaContext, caller: Caller, taskId: string): Promise<TaskDeleted> {
  let assetsDeleted = 0;
  return retryWhileChanging(async () => {
    const task = await findTask(deps.db, taskId);
    if (task === undefined) return { deleted: false, assetsDeleted };
    assertOwn(caller, task);
    assetsDeleted += await deleteAssetsOfOwner(deps, task.ownerId, outputOf(task));
    return transaction(deps.db, async (tx) => {
      if (!(await dropTask(tx, task))) return undefined;
      await withdrawVideos(deps.jobs, tx, [taskId]);
      return { deleted: true, assetsDeleted };
    });
  }, mediaProblems.asset_changing);
}

export async function deleteTasksOf({ db, jobs }: MediaContext, ownerId: string): Promise<TasksDeleted> {
  return transaction(db, async (tx) => {
    const taskIds = await dropTasksOf(tx, ownerId);
    await withdrawVideos(jobs, tx, taskIds);
    return { deleted: taskIds.length };
  });
}

function assertOwn(caller: Caller, { ownerId }: StoredTask): void {
  if (caller.kind === 'user' && caller.userId !== ownerId)
    throw problems.not_found({ message: 'There is no such task.' });
}

/** `metadata.output.assetIds`, without entries that are no UUID. */
function outputOf({ metadata }: StoredTask): readonly string[] {
  const { output } = metadata as { readonly output?: { readonly assetIds?: unknown } | null };
  const assetIds = typeof output === 'object' ? output?.assetIds : undefined;
  if (!Array.isArray(assetIds)) return [];
  const ids = assetIds.filter((id): id is string => typeof id === 'string' && isUuid(id));
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

function toTask({ runId, revision, createdAt, updatedAt, ...task }: StoredTask): MediaTask {
  const created = createdAt.toISOString();
  return { ...task, createdAt: created, created_at: created, updatedAt: updatedAt.toISOString() };
}
