/** The endpoints of media tasks (docs/specification/media.md#video-tasks). */

import { randomUUID } from 'node:crypto';
import type { Access } from '#platform/access/access.ts';
import type { Caller } from '#platform/access/caller.ts';
import { holdName, transaction } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { isUuid } from '#platform/ids.ts';
import { problems } from '#platform/problem.ts';
import { retryWhileChanging } from '#platform/resilience.ts';
import { assertOwnId, ownerFor } from '../assets/ownership.ts';
import { storageKeyOf } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';
import { deleteAssetsOfOwner } from '../deletion/deletion.ts';
import { mediaProblems } from '../problems.ts';
import * as api from './api.ts';
import { tagOf, videoUploadQueue, withdrawVideos } from './processing.ts';
import * as store from './taskstore.ts';

const assetId = '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11';
const ownerId = '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21';
const place = { scopeKind: 'thread', scopeId: 'thread-1' };

export function addTaskRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  const routes = routesOf(app, 'media tasks');

  routes.post('/v1/media-tasks', access.internalOnly, {
    id: 'writeMediaTask',
    summary: 'Create or update a media task',
    description: 'Creates or updates a task by `taskId`. The status never goes backwards.',
    example: { taskId: assetId, ownerId, mediaType: 'video', status: 'processing', metadata: { progress: 40 } },
    client: { repeatable: true },
    body: api.taskUpsert,
    response: { 200: api.mediaTask },
    handler: async (request) => putTask(deps, request.body),
  });

  routes.post('/v1/media-tasks/video', access.userOrInternal, {
    id: 'beginVideoTask',
    summary: 'Process and register an uploaded video',
    description:
      'Starts a job that probes an uploaded video, creates its poster and rendition, and registers it. Read the task until its status is `completed` or `failed`.',
    problems: ['forbidden', 'object_not_found', 'too_many_tasks'],
    example: { assetId, ...place, mime: 'video/mp4' },
    body: api.videoTaskRequest,
    response: { 200: api.videoTask },
    handler: async (request) => beginVideoTask(deps, request.caller, request.body),
  });

  routes.get('/v1/media-tasks/:taskId', access.userOrInternal, {
    id: 'readMediaTask',
    summary: 'Read a media task',
    description: "Returns a task. An unknown task is `pending`. Another owner's task returns 404.",
    problems: ['not_found'],
    client: { answer: 'MediaTaskState' },
    params: api.taskParams,
    response: { 200: api.mediaTask.or(api.videoTask.describe('The task has no row yet.')) },
    handler: async (request) => readTask(deps, request.caller, request.params.taskId),
  });

  routes.delete('/v1/media-tasks/:taskId', access.userOrInternal, {
    id: 'deleteMediaTask',
    summary: 'Cancel a media task and delete its assets',
    description: 'Cancels a task and deletes the assets that it created.',
    problems: ['not_found'],
    params: api.taskParams,
    response: { 200: api.taskDeleted },
    handler: async (request) => deleteTask(deps, request.caller, request.params.taskId),
  });

  routes.delete('/v1/media-tasks', access.internalOnly, {
    id: 'deleteMediaTasks',
    summary: 'Delete the media tasks of an owner',
    description: 'Deletes the tasks of an owner. The assets stay.',
    example: { ownerId },
    body: api.tasksDeletion,
    response: { 200: api.tasksDeleted },
    handler: async (request) => deleteTasksOf(deps, request.body.ownerId),
  });
}

// The media task endpoints (docs/specification/media.md#video-tasks). The work itself is processing.ts.

export async function putTask({ db }: MediaContext, request: api.TaskUpsert): Promise<api.MediaTask> {
  return toTask(await store.upsertTask(db, request));
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
  request: api.VideoTaskRequest,
): Promise<api.VideoTask> {
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
    const [existing] = await store.findUnfinished(tx, ownerId, storageKey);
    if (existing !== undefined) return existing;
    if ((await store.findUnfinished(tx, ownerId)).length >= mostUnfinished) throw mediaProblems.too_many_tasks();
    const metadata = { ...video, threadId };
    await store.insertRun(tx, {
      ...run,
      assetId,
      storageKey,
      ownerId,
      mediaType: 'video',
      status: 'pending',
      metadata,
    });
    const options = { key: tagOf(run.taskId), lane: ownerId };
    await deps.jobs.enqueue(tx, videoUploadQueue, { ...run, ownerId, ...video }, options);
    return run.taskId;
  });
  return { taskId, status: 'pending' };
}

/** A task without a row is pending. Throws 404 for a task of another user. */
async function readTask({ db }: MediaContext, caller: Caller, taskId: string): Promise<api.MediaTask | api.VideoTask> {
  const task = await store.findTask(db, taskId);
  if (task === undefined) return { taskId, status: 'pending' };
  assertOwn(caller, task);
  return toTask(task);
}

/**
 * Assets first, the row last and only if it has not changed: the job can complete the task at the same time. The job sees
 * at its end that the row is gone and removes its output. Throws 404 (another user's), and 503, after which it can be retried.
 */
async function deleteTask(deps: MediaContext, caller: Caller, taskId: string): Promise<api.TaskDeleted> {
  let assetsDeleted = 0;
  return retryWhileChanging(async () => {
    const task = await store.findTask(deps.db, taskId);
    if (task === undefined) return { deleted: false, assetsDeleted };
    assertOwn(caller, task);
    assetsDeleted += await deleteAssetsOfOwner(deps, task.ownerId, outputOf(task));
    return transaction(deps.db, async (tx) => {
      if (!(await store.dropTask(tx, task))) return undefined;
      await withdrawVideos(deps.jobs, tx, [taskId]);
      return { deleted: true, assetsDeleted };
    });
  }, mediaProblems.asset_changing);
}

async function deleteTasksOf({ db, jobs }: MediaContext, ownerId: string): Promise<api.TasksDeleted> {
  return transaction(db, async (tx) => {
    const taskIds = await store.dropTasksOf(tx, ownerId);
    await withdrawVideos(jobs, tx, taskIds);
    return { deleted: taskIds.length };
  });
}

function assertOwn(caller: Caller, { ownerId }: store.StoredTask): void {
  if (caller.kind === 'user' && caller.userId !== ownerId)
    throw problems.not_found({ message: 'There is no such task.' });
}

/** `metadata.output.assetIds`, without entries that are no UUID. */
function outputOf({ metadata }: store.StoredTask): readonly string[] {
  const { output } = metadata as { readonly output?: { readonly assetIds?: unknown } | null };
  const assetIds = typeof output === 'object' ? output?.assetIds : undefined;
  if (!Array.isArray(assetIds)) return [];
  const ids = assetIds.filter((id): id is string => typeof id === 'string' && isUuid(id));
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

function toTask({ runId, revision, createdAt, updatedAt, ...task }: store.StoredTask): api.MediaTask {
  const created = createdAt.toISOString();
  return { ...task, createdAt: created, created_at: created, updatedAt: updatedAt.toISOString() };
}
