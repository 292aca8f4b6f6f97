import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import {
  asset,
  assetsDeleted,
  assetsDeletion,
  fitRequest,
  fittedImage,
  imageSignedRefs,
  mediaTask,
  pendingObject,
  pendingRequest,
  registrationRequest,
  scopeDeleted,
  scopeDeletion,
  signRequest,
  taskDeleted,
  taskParams,
  tasksDeleted,
  tasksDeletion,
  taskUpsert,
  uploadRequest,
  uploadReservation,
  videoSignedRefs,
  videoTask,
  videoTaskRequest,
  watermarkedVideo,
  watermarkVideoRequest,
} from './api.ts';
import { deleteAssets } from './deletion.ts';
import { type FittingDeps, fitImage } from './fitting.ts';
import { type PendingDeps, signPending } from './pending.ts';
import { type RegistrationDeps, registerAsset } from './registration.ts';
import type { RemovalDeps } from './removal.ts';
import { deleteScope } from './scopedeletion.ts';
import { type SigningDeps, signImages } from './signing.ts';
import { beginVideoTask, deleteTask, deleteTasksOf, putTask, readTask, type TaskDeps } from './tasks/tasks.ts';
import { type ReservationDeps, reserveUpload } from './uploads.ts';
import { signVideos, type VideoSigningDeps } from './videosigning.ts';
import { type VideoWatermarkDeps, watermarkVideo } from './videowatermark.ts';

export type RouteDeps = ReservationDeps &
  PendingDeps &
  RegistrationDeps &
  RemovalDeps &
  SigningDeps &
  VideoSigningDeps &
  FittingDeps &
  VideoWatermarkDeps;

export function addRoutes(app: HttpServer, access: Access, deps: RouteDeps): void {
  const tags = ['media'];

  app.post(
    '/v1/uploads',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Reserve an asset id and an address to upload its bytes to',
        body: uploadRequest,
        response: { 200: uploadReservation },
      },
    },
    async (request) => reserveUpload(deps, request.caller, request.body),
  );

  app.post(
    '/v1/uploads/sign-pending',
    {
      ...access.internalOnly,
      schema: {
        tags,
        summary: 'Sign a read address of an uploaded object that is not registered yet',
        body: pendingRequest,
        response: { 200: pendingObject },
      },
    },
    async (request) => signPending(deps, request.body),
  );

  app.post(
    '/v1/assets',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Register an uploaded object as an asset',
        body: registrationRequest,
        response: { 200: asset.describe('It was registered already.'), 201: asset },
      },
    },
    async (request, reply) => {
      const registration = await registerAsset(deps, request.caller, request.body);
      return reply.code(registration.created ? 201 : 200).send(registration.asset);
    },
  );

  app.delete(
    '/v1/assets',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Delete up to 1000 assets with their watermark files, variants and thumbnails',
        body: assetsDeletion,
        response: { 200: assetsDeleted },
      },
    },
    async (request) => deleteAssets(deps, request.caller, request.body),
  );

  app.delete(
    '/v1/scope',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Delete the assets of an owner: of one scope, of one scope kind, or all',
        body: scopeDeletion,
        response: { 200: scopeDeleted },
      },
    },
    async (request) => deleteScope(deps, request.caller, request.body),
  );

  app.post(
    '/v1/sign/image',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Sign read addresses of up to 200 assets',
        body: signRequest,
        response: { 200: imageSignedRefs },
      },
    },
    async (request) => signImages(deps, request.caller, request.body),
  );

  app.post(
    '/v1/sign/video',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Sign read addresses of up to 200 videos and of their thumbnails',
        body: signRequest,
        response: { 200: videoSignedRefs },
      },
    },
    async (request) => signVideos(deps, request.caller, request.body),
  );

  app.post(
    '/v1/fit',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Sign the address of an image resized to fit bounds of size and bytes',
        body: fitRequest,
        response: { 200: fittedImage },
      },
    },
    async (request) => fitImage(deps, request.caller, request.body),
  );

  app.post(
    '/v1/watermark-video',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Sign the address of a video with the watermark and a closing clip, for download',
        body: watermarkVideoRequest,
        response: { 200: watermarkedVideo },
      },
    },
    async (request, reply) => watermarkVideo(deps, request.caller, request.body, reply.abandoned),
  );
}

export function addTaskRoutes(app: HttpServer, access: Access, deps: TaskDeps): void {
  const tags = ['media tasks'];

  app.post(
    '/v1/media-tasks',
    {
      ...access.internalOnly,
      schema: { tags, summary: 'Write a media task', body: taskUpsert, response: { 200: mediaTask } },
    },
    async (request) => putTask(deps, request.body),
  );

  app.post(
    '/v1/media-tasks/video',
    {
      ...access.userOrInternal,
      schema: {
        tags,
        summary: 'Have an uploaded video processed: a poster is made, and both are registered',
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
        response: { 200: mediaTask.or(videoTask.describe('Nobody has written it yet.')) },
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
        summary: 'Cancel a media task, and delete the assets that it has made',
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
        summary: 'Delete the task rows of an owner; assets stay',
        body: tasksDeletion,
        response: { 200: tasksDeleted },
      },
    },
    async (request) => deleteTasksOf(deps, request.body.ownerId),
  );
}
