/** The endpoints of media tasks (docs/specification/media.md#video-tasks). */
import type { Access } from '#platform/access/access.ts';
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
  const tags = ['media tasks'];

  app.post(
    '/v1/media-tasks',
    {
      ...access.internalOnly,
      schema: { tags, summary: 'Create or update a media task', body: taskUpsert, response: { 200: mediaTask } },
    },
    async (request) => putTask(deps, request.body),
  );

  app.post(
    '/v1/media-tasks/video',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Process and register an uploaded video',
        body: videoTaskRequest,
        response: { 200: videoTask },
      },
    },
    async (request) => beginVideoTask(deps, request.caller, request.body),
  );

  app.get(
    '/v1/media-tasks/:taskId',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Read a media task',
        params: taskParams,
        response: { 200: mediaTask.or(videoTask.describe('The task has no row yet.')) },
      },
    },
    async (request) => readTask(deps, request.caller, request.params.taskId),
  );

  app.delete(
    '/v1/media-tasks/:taskId',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Cancel a media task and delete its assets',
        params: taskParams,
        response: { 200: taskDeleted },
      },
    },
    async (request) => deleteTask(deps, request.caller, request.params.taskId),
  );

  app.delete(
    '/v1/media-tasks',
    {
      ...access.internalOnly,
      schema: {
        tags,
        summary: 'Delete the media tasks of an owner',
        body: tasksDeletion,
        response: { 200: tasksDeleted },
      },
    },
    async (request) => deleteTasksOf(deps, request.body.ownerId),
  );
}
