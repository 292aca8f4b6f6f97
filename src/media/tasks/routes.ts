/** The endpoints of media tasks (docs/specification/media.md#video-tasks). */

import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
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
import { beginVideoTask, deleteTask, deleteTasksOf, putTask, readTask, type TaskDeps } from './tasks.ts';

export function addTaskRoutes(app: HttpServer, access: Access, deps: TaskDeps): void {
  const routes = routesOf(app, 'media tasks');

  routes.post(
    '/v1/media-tasks',
    access.internalOnly,
    { summary: 'Create or update a media task', body: taskUpsert, response: { 200: mediaTask } },
    async (request) => putTask(deps, request.body),
  );

  routes.post(
    '/v1/media-tasks/video',
    access.userOrInternal,
    { summary: 'Process and register an uploaded video', body: videoTaskRequest, response: { 200: videoTask } },
    async (request) => beginVideoTask(deps, request.caller, request.body),
  );

  routes.get(
    '/v1/media-tasks/:taskId',
    access.userOrInternal,
    {
      summary: 'Read a media task',
      params: taskParams,
      response: { 200: mediaTask.or(videoTask.describe('The task has no row yet.')) },
    },
    async (request) => readTask(deps, request.caller, request.params.taskId),
  );

  routes.delete(
    '/v1/media-tasks/:taskId',
    access.userOrInternal,
    { summary: 'Cancel a media task and delete its assets', params: taskParams, response: { 200: taskDeleted } },
    async (request) => deleteTask(deps, request.caller, request.params.taskId),
  );

  routes.delete(
    '/v1/media-tasks',
    access.internalOnly,
    { summary: 'Delete the media tasks of an owner', body: tasksDeletion, response: { 200: tasksDeleted } },
    async (request) => deleteTasksOf(deps, request.body.ownerId),
  );
}
