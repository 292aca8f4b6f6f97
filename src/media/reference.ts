/** The texts of the media service's API reference (docs/specification/media.md). */
import { defineReference } from '#platform/http/apireference.ts';
import { mediaProblems } from './problems.ts';

const assetId = '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11';
const ownerId = '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21';
const place = { scopeKind: 'thread', scopeId: 'thread-1' };

const unstable = ['screening_unavailable', 'digest_pending'] as const;
const refused = ['csam_blocked', 'asset_too_large', 'quota_exceeded', ...unstable] as const;

export const mediaReference = defineReference({
  description:
    'Reserves upload URLs, registers uploaded objects as assets, and signs URLs to read them. It also copies, watermarks, screens and deletes assets, and processes videos.',
  tags: {
    media: 'Uploads, assets, signed URLs, copies, watermarks and deletion.',
    'media tasks': 'Videos that are processed in the background.',
    incidents: 'Content that screening has blocked, for operators.',
    people: 'Users and their data, for operators.',
  },
  problems: mediaProblems.table,
  problemFields: { csam_blocked: { errorCode: { const: 'csam_blocked' } } },
  operations: {
    'POST /v1/uploads': {
      id: 'reserveUpload',
      description:
        'Returns a URL that accepts one PUT of the file for 300 seconds, and the headers to send with it. Then register the asset. With `resumable: true`, the response also has the URL of a resumable upload (tus).',
      problems: ['forbidden', 'asset_too_large', 'quota_exceeded'],
      example: { ...place, kind: 'image', mime: 'image/jpeg', byteSize: 248_113 },
    },
    'POST /v1/uploads/sign-pending': {
      id: 'signPending',
      description: 'Signs a URL to read an object that was uploaded and is not registered yet.',
      problems: ['forbidden', 'not_found'],
      example: { assetId, ownerId, ...place, mime: 'image/jpeg' },
    },
    'POST /v1/assets': {
      id: 'registerAsset',
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
    },
    'GET /v1/assets': {
      id: 'listAssets',
      description: 'Returns a page of assets. Pass `nextCursor` as `cursor` to read the next page.',
      problems: ['forbidden'],
    },
    'GET /v1/assets/:assetId': {
      id: 'readAsset',
      description: 'Returns an asset that the caller may read. All other ids return 404.',
      problems: ['forbidden', 'not_found'],
    },
    'PATCH /v1/assets/:assetId': {
      id: 'changeAsset',
      description:
        'Changes `thumbAssetId` of a video, or `width`, `height`, `durationMs` and `blurhash` of a video or an audio file. `null` clears a field. Absent fields stay unchanged.',
      problems: ['forbidden', 'not_found'],
      example: { width: 1920, height: 1080, durationMs: 12_500 },
    },
    'GET /v1/usage': {
      id: 'readMediaUsage',
      description: 'Returns the number and the bytes of the assets of an owner, and the quota.',
      problems: ['forbidden'],
    },
    'POST /v1/assets/legacy': {
      id: 'importLegacy',
      description:
        'Registers a file of the legacy backend. The bytes stay in the legacy backend. If you repeat the request, it returns the same asset with status 200.',
      problems: [
        'forbidden',
        'not_found',
        'asset_conflict',
        'unsupported_image',
        'undecodable_image',
        'image_too_large',
        'object_changing',
        ...refused,
      ],
      example: { ownerId, ...place, path: `${ownerId}/photo.jpg` },
    },
    'DELETE /v1/assets': {
      id: 'deleteAssets',
      description:
        'Deletes up to 1000 assets or legacy files with their watermark files, renditions, variants and thumbnails. You can repeat a request that failed.',
      problems: ['forbidden'],
      example: { ids: [assetId] },
    },
    'DELETE /v1/scope': {
      id: 'deleteScope',
      description:
        'Deletes the assets of one scope, of all scopes of a kind, or of an owner. A field that this route does not have, and `null` for `ownerId`, `scopeKind` or `scopeId`, return 400. Unfinished video tasks of the scope are canceled. You can repeat a request that failed.',
      problems: ['forbidden'],
      example: { ownerId, ...place },
    },
    'POST /v1/sign/image': {
      id: 'signImages',
      description:
        'Signs URLs of the original, of a thumbnail (400 px) and of a preview (1024 px). The response is an object keyed by ref. A ref that the caller cannot read is `not_found`.',
      example: { refs: [assetId] },
    },
    'POST /v1/sign/video': {
      id: 'signVideos',
      description:
        'Signs URLs of the original, of a rendition for browsers (`playUrl`) and of the thumbnail. The response is an object keyed by ref. A ref that the caller cannot read is `not_found`.',
      example: { refs: [assetId] },
    },
    'POST /v1/fit': {
      id: 'fitImage',
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
    },
    'POST /v1/copy': {
      id: 'copyAsset',
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
    },
    'POST /v1/watermark': {
      id: 'watermarkImage',
      description: 'Returns the URL of the image with a watermark. The first request creates the file.',
      problems: ['not_found', 'undecodable_image', 'image_too_large', 'asset_changing'],
      example: { ref: assetId, download: 'photo.jpg' },
    },
    'POST /v1/watermark-video': {
      id: 'watermarkVideo',
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
    },
    'POST /v1/sweep': {
      id: 'sweep',
      description:
        'Finds one page of objects and rows without their counterparts. With `apply: true`, it removes them. Pass the `cursor` of the response to read the next page.',
      problems: ['forbidden'],
      example: { apply: false },
    },
    'POST /v1/media-tasks': {
      id: 'writeMediaTask',
      description: 'Creates or updates a task by `taskId`. The status never goes backwards.',
      problems: ['forbidden'],
      example: { taskId: assetId, ownerId, mediaType: 'video', status: 'processing', metadata: { progress: 40 } },
    },
    'POST /v1/media-tasks/video': {
      id: 'beginVideoTask',
      description:
        'Starts a job that probes an uploaded video, creates its poster and rendition, and registers it. Read the task until its status is `completed` or `failed`.',
      problems: ['forbidden', 'object_not_found', 'too_many_tasks'],
      example: { assetId, ...place, mime: 'video/mp4' },
    },
    'GET /v1/media-tasks/:taskId': {
      id: 'readMediaTask',
      description: "Returns a task. An unknown task is `pending`. Another owner's task returns 404.",
      problems: ['not_found'],
    },
    'DELETE /v1/media-tasks/:taskId': {
      id: 'deleteMediaTask',
      description: 'Cancels a task and deletes the assets that it created.',
      problems: ['not_found'],
    },
    'DELETE /v1/media-tasks': {
      id: 'deleteMediaTasks',
      description: 'Deletes the tasks of an owner. The assets stay.',
      problems: ['forbidden'],
      example: { ownerId },
    },
    'GET /v1/incidents': {
      id: 'listIncidents',
      description: 'Returns a page of content that screening has blocked.',
      problems: ['forbidden'],
    },
    'GET /v1/incidents/counts': {
      id: 'countIncidents',
      description: 'Returns the numbers of incidents by status and by list, and the open appeals.',
      problems: ['forbidden'],
    },
    'GET /v1/incidents/:id/preview': {
      id: 'previewIncident',
      description: 'Returns a blurred image of at most 24 pixels, if the same bytes remain elsewhere.',
      problems: ['forbidden', 'not_found', 'nothing_left_to_show'],
      responses: { 200: ['A WebP image.', 'image/webp'] },
    },
    'POST /v1/incidents/:id/appeal': {
      id: 'appealIncident',
      description:
        'Records an appeal of the owner. An incident can have one appeal. A cleared incident cannot be appealed.',
      problems: ['forbidden', 'not_found', 'not_appealable'],
      example: { text: 'This is a photo of a public monument.' },
    },
    'GET /v1/incidents/:id': {
      id: 'readIncident',
      description: 'Returns an incident.',
      problems: ['forbidden', 'not_found'],
    },
    'POST /v1/incidents/:id/resolution': {
      id: 'resolveIncident',
      description:
        'Records a decision. After `cleared`, the same content passes screening. Removed objects are not restored.',
      problems: ['forbidden', 'not_found'],
      example: { resolution: 'cleared', note: 'A false positive: the photo of a public monument.' },
    },
    'GET /v1/rescreen': {
      id: 'readRescreening',
      description: 'Returns the progress of the newest rescreening.',
      problems: ['forbidden', 'not_found'],
    },
    'DELETE /v1/people/:userId': {
      id: 'eraseOwner',
      description: 'Erases the assets, files and tasks of an owner. After 503, you can repeat the request.',
      problems: ['forbidden'],
    },
    'POST /v1/rescreen': {
      id: 'rescreen',
      description:
        'Starts a job that compares the stored digests of all assets with the current lists. While a job is running, the request returns its id.',
      problems: ['forbidden'],
    },
  },
});
