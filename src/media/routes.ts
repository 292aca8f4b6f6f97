import type { Access } from '#platform/access/access.ts';
import { sendJson } from '#platform/http/bodies.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import * as api from './api.ts';
import type { MediaContext } from './context.ts';
import { copyAsset } from './copying/copying.ts';
import { deleteAssets } from './deletion/deletion.ts';
import { assetListing, assetMonths, assetPage, monthListing } from './listing/api.ts';
import { listAssets, readMonths } from './listing/listing.ts';
import { readUsage } from './quota/quota.ts';
import { changeAsset, readAsset } from './registration/changing.ts';
import { depositAsset } from './registration/depositing.ts';
import { importFile } from './registration/importing.ts';
import { registerAsset } from './registration/registration.ts';
import { reserveUpload, signPending } from './registration/uploads.ts';
import { deleteScope } from './scopes/scopedeletion.ts';
import { signFit, signImages } from './signing/signing.ts';
import { signVideos } from './signing/videosigning.ts';
import { watermarkImage } from './watermarks/imagewatermark.ts';
import { watermarkVideo } from './watermarks/videowatermark.ts';

const assetId = '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11';
const ownerId = '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21';
const place = { scopeKind: 'thread', scopeId: 'thread-1' };
const unstable = ['screening_unavailable', 'digest_pending'] as const;
const refused = ['csam_blocked', 'content_blocked', 'asset_too_large', 'quota_exceeded', ...unstable] as const;

export function addRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  const routes = routesOf(app, 'media');

  routes.post('/v1/uploads', access.userOrInternal, {
    id: 'reserveUpload',
    summary: 'Reserve an asset id and an upload URL',
    description:
      'Returns a URL that accepts one PUT of the file for 300 seconds, and the headers to send with it. Then register the asset. With `resumable: true`, the response also has the URL of a resumable upload (tus).',
    problems: ['forbidden', 'asset_too_large', 'quota_exceeded'],
    example: { ...place, kind: 'image', mime: 'image/jpeg', byteSize: 248_113 },
    client: { repeatable: true },
    body: api.uploadRequest,
    response: { 200: api.uploadReservation },
    handler: async (request) => reserveUpload(deps, request.caller, request.body),
  });

  routes.post('/v1/uploads/sign-pending', access.internalOnly, {
    id: 'signPending',
    summary: 'Sign a read URL of an uploaded object that is not registered yet',
    description: 'Signs a URL to read an object that was uploaded and is not registered yet.',
    problems: ['not_found'],
    example: { assetId, ownerId, ...place, mime: 'image/jpeg' },
    client: { repeatable: true },
    body: api.pendingRequest,
    response: { 200: api.pendingObject },
    handler: async (request) => signPending(deps, request.body),
  });

  routes.post('/v1/assets', access.userOrInternal, {
    id: 'registerAsset',
    summary: 'Register an uploaded object as an asset',
    description:
      'Registers an uploaded object. Images are decoded and screened first. If you repeat the request with the same values, it returns the same asset with status 200.',
    problems: [
      'forbidden',
      'asset_conflict',
      'object_not_found',
      'unsupported_image',
      'undecodable_image',
      'image_too_large',
      'object_changing',
      ...refused,
    ],
    example: { assetId, ...place, kind: 'image', mime: 'image/jpeg' },
    client: { repeatable: true },
    body: api.registrationRequest,
    response: { 200: api.asset.describe('The asset was already registered.'), 201: api.asset },
    handler: async (request, reply) => {
      const registration = await registerAsset(deps, request.caller, request.body);
      if (registration.created) deps.news.changedBy(request.caller);
      return reply.code(registration.created ? 201 : 200).send(registration.asset);
    },
  });

  app.register(async (deposits: HttpServer) => {
    deposits.removeAllContentTypeParsers();
    // The handler reads the body when there is memory for it.
    deposits.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
    routesOf(deposits, 'media').post('/v1/deposits', access.userOrInternal, {
      id: 'depositAsset',
      summary: 'Store an image as an asset, in one request',
      description:
        'For servers. The body is `application/octet-stream`: the JSON of `POST /v1/assets` in one line, a line feed, and the bytes of the image. The image is inspected and screened before it is stored. Repetitions work as with `POST /v1/assets`.',
      problems: [
        'forbidden',
        'asset_conflict',
        'unsupported_image',
        'undecodable_image',
        'image_too_large',
        'object_changing',
        'unsupported_media_type',
        ...refused,
      ],
      client: { kind: 'foreign' },
      response: { 200: api.asset.describe('The asset was already registered.'), 201: api.asset },
      handler: async ({ caller, headers, body }, reply) => {
        if (caller.kind === 'user' && !caller.isOnBehalf) throw problems.forbidden();
        const length = Number(headers['content-length']);
        const { created, asset } = await depositAsset(deps, caller, { length, body: body as AsyncIterable<Buffer> });
        return reply.code(created ? 201 : 200).send(asset);
      },
    });
  });

  routes.get('/v1/assets', access.userOrInternal, {
    id: 'listAssets',
    summary: 'List the assets of an owner, newest first',
    description: 'Returns a page of assets. Pass `nextCursor` as `cursor` to read the next page.',
    problems: ['forbidden'],
    querystring: assetListing,
    response: { 200: assetPage },
    handler: async (request) => listAssets(deps, request.caller, request.query),
  });

  routes.get('/v1/assets/months', access.userOrInternal, {
    id: 'listAssetMonths',
    summary: 'Count the assets of an owner by month',
    description: 'Returns the months in which the owner has assets, newest first.',
    problems: ['forbidden'],
    querystring: monthListing,
    response: { 200: assetMonths },
    handler: async (request) => readMonths(deps, request.caller, request.query),
  });

  routes.get('/v1/assets/:assetId', access.userOrInternal, {
    id: 'readAsset',
    summary: 'Read an asset',
    description: 'Returns an asset that the caller may read. All other ids return 404.',
    problems: ['forbidden', 'not_found'],
    params: api.assetParams,
    response: { 200: api.asset },
    handler: async (request) => readAsset(deps, request.caller, request.params.assetId),
  });

  routes.patch('/v1/assets/:assetId', access.userOrInternal, {
    id: 'changeAsset',
    summary: 'Change the name, the thumbnail or the metadata of an asset',
    description:
      'Changes the `name` of any asset, `thumbAssetId` of a video, or `width`, `height`, `durationMs` and `blurhash` of a video or an audio file. `null` clears a field. Absent fields stay unchanged.',
    problems: ['forbidden', 'not_found'],
    example: { width: 1920, height: 1080, durationMs: 12_500 },
    params: api.assetParams,
    body: api.assetChange,
    response: { 200: api.asset },
    handler: async (request) => {
      const changed = await changeAsset(deps, request.caller, request.params.assetId, request.body);
      deps.news.changedBy(request.caller);
      return changed;
    },
  });

  routes.get('/v1/usage', access.userOrInternal, {
    id: 'readMediaUsage',
    summary: 'Count the assets and bytes of an owner',
    description: 'Returns the number and the bytes of the assets of an owner, and the quota.',
    problems: ['forbidden'],
    querystring: api.mediaUsageQuery,
    response: { 200: api.mediaUsage },
    handler: async (request) => readUsage(deps, request.caller, request.query.ownerId),
  });

  routes.post('/v1/assets/legacy', access.internalOnly, {
    id: 'importLegacy',
    summary: 'Register a file of the legacy backend as an asset',
    description:
      'Registers a file of the legacy backend. The bytes stay in the legacy backend. If you repeat the request, it returns the same asset with status 200.',
    problems: [
      'not_found',
      'asset_conflict',
      'unsupported_image',
      'undecodable_image',
      'image_too_large',
      'object_changing',
      ...refused,
    ],
    example: { ownerId, ...place, path: `${ownerId}/photo.jpg` },
    client: { repeatable: true },
    body: api.legacyImport,
    response: { 200: api.asset.describe('The asset was already registered.'), 201: api.asset },
    handler: async (request, reply) => {
      const registration = await importFile(deps, request.body);
      return reply.code(registration.created ? 201 : 200).send(registration.asset);
    },
  });

  routes.delete('/v1/assets', access.userOrInternal, {
    id: 'deleteAssets',
    summary: 'Delete up to 1000 assets with their watermark files, variants and thumbnails',
    description:
      'Deletes up to 1000 assets or legacy files with their watermark files, renditions, variants and thumbnails. You can repeat a request that failed.',
    problems: ['forbidden'],
    example: { ids: [assetId] },
    body: api.assetsDeletion,
    response: { 200: api.assetsDeleted },
    handler: async (request) => {
      const deleted = await deleteAssets(deps, request.caller, request.body);
      deps.news.changedBy(request.caller);
      return deleted;
    },
  });

  routes.delete('/v1/scope', access.userOrInternal, {
    id: 'deleteScope',
    summary: 'Delete the assets of a scope, of a scope kind, or of an owner',
    description:
      'Deletes the assets of one scope, of all scopes of a kind, or of an owner. A field that this route does not have, and `null` for `ownerId`, `scopeKind` or `scopeId`, return 400. Unfinished video tasks of the scope are canceled. You can repeat a request that failed.',
    problems: ['forbidden'],
    example: { ownerId, ...place },
    body: api.scopeDeletion,
    response: { 200: api.scopeDeleted },
    handler: async (request) => deleteScope(deps, request.caller, request.body),
  });

  routes.post('/v1/sign/image', access.userOrInternal, {
    id: 'signImages',
    summary: 'Sign read URLs of up to 200 images',
    description:
      'Signs URLs of the original, of a thumbnail (400 px) and of a preview (1024 px). The response is an object keyed by ref. A ref that the caller cannot read is `not_found`.',
    example: { refs: [assetId] },
    client: { repeatable: true },
    body: api.signRequest,
    response: { 200: api.imageSignedRefs },
    handler: async (request, reply) => sendJson(reply, await signImages(deps, request.caller, request.body)),
  });

  routes.post('/v1/sign/video', access.userOrInternal, {
    id: 'signVideos',
    summary: 'Sign read URLs of up to 200 videos and their thumbnails',
    description:
      'Signs URLs of the original, of a rendition for browsers (`playUrl`) and of the thumbnail. The response is an object keyed by ref. A ref that the caller cannot read is `not_found`.',
    example: { refs: [assetId] },
    client: { repeatable: true },
    body: api.signRequest,
    response: { 200: api.videoSignedRefs },
    handler: async (request, reply) => sendJson(reply, await signVideos(deps, request.caller, request.body)),
  });

  routes.post('/v1/fit', access.userOrInternal, {
    id: 'fitImage',
    summary: 'Sign the URL of an image that fits a size and a number of bytes',
    description:
      'Returns the URL of the image at the size of the request. With `maxBytes`, the file never has more: the quality is lowered first, then the image is made smaller, down to 64 pixels on its long side. The same request returns the same URL.',
    problems: [
      'not_found',
      'cannot_fit',
      'unsupported_image',
      'undecodable_image',
      'image_too_large',
      'processing_timeout',
    ],
    example: { ref: assetId, width: 800, height: 800, format: 'webp' },
    client: { repeatable: true },
    body: api.fitRequest,
    response: { 200: api.fittedImage },
    handler: async (request) => signFit(deps, request.caller, request.body),
  });

  routes.post('/v1/copy', access.userOrInternal, {
    id: 'copyAsset',
    summary: 'Copy an asset to another scope',
    description: 'Copies an asset or a legacy file to another scope. The copy is independent of its source.',
    problems: [
      'forbidden',
      'not_found',
      'copy_failed',
      'unsupported_image',
      'undecodable_image',
      'image_too_large',
      'object_changing',
      'asset_changing',
      ...refused,
    ],
    example: { fromAssetId: assetId, toScopeKind: 'feed', toScopeId: 'post-1' },
    body: api.copyRequest,
    response: { 201: api.asset },
    handler: async (request, reply) => reply.code(201).send(await copyAsset(deps, request.caller, request.body)),
  });

  routes.post('/v1/watermark', access.userOrInternal, {
    id: 'watermarkImage',
    summary: 'Sign the URL of an image with a watermark',
    description: 'Returns the URL of the image with a watermark. The first request creates the file.',
    problems: ['not_found', 'undecodable_image', 'image_too_large', 'asset_changing'],
    example: { ref: assetId, download: 'photo.jpg' },
    client: { repeatable: true },
    body: api.watermarkRequest,
    response: { 200: api.watermarkedImage },
    handler: async (request, reply) => sendJson(reply, await watermarkImage(deps, request.caller, request.body)),
  });

  routes.post('/v1/watermark-video', access.userOrInternal, {
    id: 'watermarkVideo',
    summary: 'Sign the URL of a video with a watermark and a closing clip',
    description:
      'Returns the URL of the video with a watermark and a closing clip. A job creates the file. The request waits up to 60 s for it; after 503 `watermark_pending`, send it again.',
    problems: [
      'not_found',
      'undecodable_video',
      'video_too_large',
      'too_many_tasks',
      'watermark_failed',
      'watermark_pending',
      'ffmpeg_missing',
    ],
    example: { ref: assetId },
    client: { repeatable: true },
    body: api.watermarkRequest,
    response: { 200: api.watermarkedVideo },
    handler: async (request, reply) =>
      sendJson(reply, await watermarkVideo(deps, request.caller, request.body, reply.abandoned)),
  });
}
