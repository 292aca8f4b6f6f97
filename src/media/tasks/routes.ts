/** The endpoints of media tasks (docs/specification/media.md#video-tasks). */

import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { MediaContext } from '../context.ts';
import {
  mediaTask,
  taskDeleted,
  taskParams,
  tasksDeleted,
  tasksDeletion,
  taskUpsert,
  videoTask,
  videoTaskRequest,
} from './api.ts';
import { beginVideoTask, deleteTask, deleteTasksOf, putTask, readTask } from './tasks.ts';

const assetId = '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11';
const ownerId = '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21';
const place = { scopeKind: 'thread', scopeId: 'thread-1' };

export function addTaskRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  const routes = routesOf(app, 'media tasks');

  routes.post(
    '/v1/media-tasks',
    access.internalOnly,
    {
      id: 'writeMediaTask',
      summary: 'Create or update a media task',
      description: 'Creates or updates a task by `taskId`. The status never goes backwards.',
      problems: ['forbidden'],
      example: { taskId: assetId, ownerId, mediaType: 'video', status: 'processing', metadata: { progress: 40 } },
      client: { body: 'TaskUpsert', answer: 'MediaTask', repeatable: true },
      body: taskUpsert,
      response: { 200: mediaTask },
    },
    async (request) => putTask(deps, request.body),
  );

  routes.post(
    '/v1/media-tasks/video',
    access.userOrInternal,
    {
      id: 'beginVideoTask',
      summary: 'Process and register an uploaded video',
      description:
        'Starts a job that probes an uploaded video, creates its poster and rendition, and registers it. Read the task until its status is `completed` or `failed`.',
      problems: ['forbidden', 'object_not_found', 'too_many_tasks'],
      example: { assetId, ...place, mime: 'video/mp4' },
      client: { body: 'VideoTaskRequest', answer: 'VideoTask' },
      body: videoTaskRequest,
      response: { 200: videoTask },
    },
    async (request) => beginVideoTask(deps, request.caller, request.body),
  );

  routes.get(
    '/v1/media-tasks/:taskId',
    access.userOrInternal,
    {
      id: 'readMediaTask',
      summary: 'Read a media task',
      description: "Returns a task. An unknown task is `pending`. Another owner's task returns 404.",
      problems: ['not_found'],
      client: { answer: 'MediaTaskState' },
      params: taskParams,
      response: { 200: mediaTask.or(videoTask.describe('The task has no row yet.')) },
    },
    async (request) => readTask(deps, request.caller, request.params.taskId),
  );

  routes.delete(
    '/v1/media-tasks/:taskId',
    access.userOrInternal,
    {
      id: 'deleteMediaTask',
      summary: 'Cancel a media task and delete its assets',
      description: 'Cancels a task and deletes the assets that it created.',
      problems: ['not_found'],
      client: { answer: 'TaskDeleted' },
      params: taskParams,
      response: { 200: taskDeleted },
    },
    async (request) => deleteTask(deps, request.caller, request.params.taskId),
  );

  routes.delete(
    '/v1/media-tasks',
    access.internalOnly,
    {
      id: 'deleteMediaTasks',
      summary: 'Delete the media tasks of an owner',
      description: 'Deletes the tasks of an owner. The assets stay.',
      problems: ['forbidden'],
      example: { ownerId },
      client: { body: 'TasksDeletion', answer: 'TasksDeleted' },
      body: tasksDeletion,
      response: { 200: tasksDeleted },
    },
    async (request) => deleteTasksOf(deps, request.body.ownerId),
  );
}
