/** The calls of the media service. Generated from its OpenAPI document by `npm run generate`. */
import { type Access, type CallOptions, callJson, callVoid } from '../calling.ts';
import { operationsOf } from '../operations.ts';
import type {
  AppealedIncident,
  Asset,
  AssetChange,
  AssetListing,
  AssetMonths,
  AssetPage,
  AssetsDeleted,
  AssetsDeletion,
  Collection,
  CollectionChange,
  CollectionListing,
  CollectionOwner,
  CollectionRequest,
  Collections,
  CopyRequest,
  DecisionRequest,
  ErasedOwner,
  FavoritesChange,
  FavoritesChanged,
  FitRequest,
  FittedImage,
  GalleryListing,
  GalleryPage,
  ImageSignedRefs,
  Incident,
  IncidentAppeal,
  IncidentCounts,
  IncidentExport,
  IncidentListing,
  IncidentPage,
  IncidentResolution,
  IndexedListing,
  IndexedShares,
  LegacyImport,
  MediaTask,
  MediaTaskState,
  MediaUsage,
  MediaUsageQuery,
  MonthListing,
  OwnDecisions,
  OwnReportListing,
  OwnReportPage,
  PendingObject,
  PendingRequest,
  RegistrationRequest,
  Reported,
  ReportPage,
  ReportRequest,
  Rescreening,
  RescreeningProgress,
  ScopeDeleted,
  ScopeDeletion,
  Share,
  ShareData,
  ShareListing,
  SharePage,
  ShareRequest,
  SignRequest,
  SweepRequest,
  Swept,
  TaskDeleted,
  TasksDeleted,
  TasksDeletion,
  TaskUpsert,
  ThreadSharesDeletion,
  TrashChange,
  TrashChanged,
  UploadRequest,
  UploadReservation,
  VideoSignedRefs,
  VideoTask,
  VideoTaskRequest,
  WatermarkedImage,
  WatermarkedVideo,
  WatermarkRequest,
} from './api.ts';

export type MediaCalls = ReturnType<typeof mediaCalls>;

export function mediaCalls(access: Access) {
  return {
    ...operationsOf(access),
    /** Reserve an asset id and an upload URL (`POST /v1/uploads`). */
    reserveUpload: (body: UploadRequest, options?: CallOptions): Promise<UploadReservation> =>
      callJson(access, { method: 'POST', path: '/v1/uploads', body, repeatable: true }, options),

    /** Sign a read URL of an uploaded object that is not registered yet (`POST /v1/uploads/sign-pending`). */
    signPending: (body: PendingRequest, options?: CallOptions): Promise<PendingObject> =>
      callJson(access, { method: 'POST', path: '/v1/uploads/sign-pending', body, repeatable: true }, options),

    /** Register an uploaded object as an asset (`POST /v1/assets`). */
    registerAsset: (body: RegistrationRequest, options?: CallOptions): Promise<Asset> =>
      callJson(access, { method: 'POST', path: '/v1/assets', body, repeatable: true }, options),

    /** List the assets of an owner, newest first (`GET /v1/assets`). */
    listAssets: (query?: AssetListing, options?: CallOptions): Promise<AssetPage> =>
      callJson(access, { method: 'GET', path: '/v1/assets', query, repeatable: true }, options),

    /** Delete up to 1000 assets with their watermark files, variants and thumbnails (`DELETE /v1/assets`). */
    deleteAssets: (body: AssetsDeletion, options?: CallOptions): Promise<AssetsDeleted> =>
      callJson(access, { method: 'DELETE', path: '/v1/assets', body, repeatable: true }, options),

    /** Count the assets of an owner by month (`GET /v1/assets/months`). */
    listAssetMonths: (query?: MonthListing, options?: CallOptions): Promise<AssetMonths> =>
      callJson(access, { method: 'GET', path: '/v1/assets/months', query, repeatable: true }, options),

    /** Read an asset (`GET /v1/assets/:assetId`). */
    readAsset: (assetId: string, options?: CallOptions): Promise<Asset> =>
      callJson(access, { method: 'GET', path: `/v1/assets/${encodeURIComponent(assetId)}`, repeatable: true }, options),

    /** Change the name, the thumbnail or the metadata of an asset (`PATCH /v1/assets/:assetId`). */
    changeAsset: (assetId: string, body: AssetChange, options?: CallOptions): Promise<Asset> =>
      callJson(
        access,
        { method: 'PATCH', path: `/v1/assets/${encodeURIComponent(assetId)}`, body, repeatable: true },
        options,
      ),

    /** Count the assets and bytes of an owner (`GET /v1/usage`). */
    readMediaUsage: (query?: MediaUsageQuery, options?: CallOptions): Promise<MediaUsage> =>
      callJson(access, { method: 'GET', path: '/v1/usage', query, repeatable: true }, options),

    /** Register a file of the legacy backend as an asset (`POST /v1/assets/legacy`). */
    importLegacy: (body: LegacyImport, options?: CallOptions): Promise<Asset> =>
      callJson(access, { method: 'POST', path: '/v1/assets/legacy', body, repeatable: true }, options),

    /** Delete the assets of a scope, of a scope kind, or of an owner (`DELETE /v1/scope`). */
    deleteScope: (body: ScopeDeletion, options?: CallOptions): Promise<ScopeDeleted> =>
      callJson(access, { method: 'DELETE', path: '/v1/scope', body, repeatable: true }, options),

    /** Sign read URLs of up to 200 images (`POST /v1/sign/image`). */
    signImages: (body: SignRequest, options?: CallOptions): Promise<ImageSignedRefs> =>
      callJson(access, { method: 'POST', path: '/v1/sign/image', body, repeatable: true }, options),

    /** Sign read URLs of up to 200 videos and their thumbnails (`POST /v1/sign/video`). */
    signVideos: (body: SignRequest, options?: CallOptions): Promise<VideoSignedRefs> =>
      callJson(access, { method: 'POST', path: '/v1/sign/video', body, repeatable: true }, options),

    /** Sign the URL of an image that fits a size and a number of bytes (`POST /v1/fit`). */
    fitImage: (body: FitRequest, options?: CallOptions): Promise<FittedImage> =>
      callJson(access, { method: 'POST', path: '/v1/fit', body, repeatable: true }, options),

    /** Copy an asset to another scope (`POST /v1/copy`). */
    copyAsset: (body: CopyRequest, options?: CallOptions): Promise<Asset> =>
      callJson(access, { method: 'POST', path: '/v1/copy', body, repeatable: false }, options),

    /** Sign the URL of an image with a watermark (`POST /v1/watermark`). */
    watermarkImage: (body: WatermarkRequest, options?: CallOptions): Promise<WatermarkedImage> =>
      callJson(access, { method: 'POST', path: '/v1/watermark', body, repeatable: true }, options),

    /** Sign the URL of a video with a watermark and a closing clip (`POST /v1/watermark-video`). */
    watermarkVideo: (body: WatermarkRequest, options?: CallOptions): Promise<WatermarkedVideo> =>
      callJson(access, { method: 'POST', path: '/v1/watermark-video', body, repeatable: true }, options),

    /** Add assets to the favorites, or remove them (`POST /v1/favorites`). */
    changeFavorites: (body: FavoritesChange, options?: CallOptions): Promise<FavoritesChanged> =>
      callJson(access, { method: 'POST', path: '/v1/favorites', body, repeatable: true }, options),

    /** Create a collection (`POST /v1/collections`). */
    createCollection: (body: CollectionRequest, options?: CallOptions): Promise<Collection> =>
      callJson(access, { method: 'POST', path: '/v1/collections', body, repeatable: false }, options),

    /** List the collections of an owner (`GET /v1/collections`). */
    listCollections: (query?: CollectionListing, options?: CallOptions): Promise<Collections> =>
      callJson(access, { method: 'GET', path: '/v1/collections', query, repeatable: true }, options),

    /** Read a collection (`GET /v1/collections/:collectionId`). */
    readCollection: (collectionId: string, query?: CollectionOwner, options?: CallOptions): Promise<Collection> =>
      callJson(
        access,
        { method: 'GET', path: `/v1/collections/${encodeURIComponent(collectionId)}`, query, repeatable: true },
        options,
      ),

    /** Rename a collection, or add and remove assets (`PATCH /v1/collections/:collectionId`). */
    changeCollection: (collectionId: string, body: CollectionChange, options?: CallOptions): Promise<Collection> =>
      callJson(
        access,
        { method: 'PATCH', path: `/v1/collections/${encodeURIComponent(collectionId)}`, body, repeatable: true },
        options,
      ),

    /** Delete a collection (`DELETE /v1/collections/:collectionId`). */
    deleteCollection: (collectionId: string, query?: CollectionOwner, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        { method: 'DELETE', path: `/v1/collections/${encodeURIComponent(collectionId)}`, query, repeatable: true },
        options,
      ),

    /** Move assets to the trash, or restore them (`POST /v1/trash`). */
    changeTrash: (body: TrashChange, options?: CallOptions): Promise<TrashChanged> =>
      callJson(access, { method: 'POST', path: '/v1/trash', body, repeatable: true }, options),

    /** Create or update a media task (`POST /v1/media-tasks`). */
    writeMediaTask: (body: TaskUpsert, options?: CallOptions): Promise<MediaTask> =>
      callJson(access, { method: 'POST', path: '/v1/media-tasks', body, repeatable: true }, options),

    /** Delete the media tasks of an owner (`DELETE /v1/media-tasks`). */
    deleteMediaTasks: (body: TasksDeletion, options?: CallOptions): Promise<TasksDeleted> =>
      callJson(access, { method: 'DELETE', path: '/v1/media-tasks', body, repeatable: true }, options),

    /** Process and register an uploaded video (`POST /v1/media-tasks/video`). */
    beginVideoTask: (body: VideoTaskRequest, options?: CallOptions): Promise<VideoTask> =>
      callJson(access, { method: 'POST', path: '/v1/media-tasks/video', body, repeatable: false }, options),

    /** Read a media task (`GET /v1/media-tasks/:taskId`). */
    readMediaTask: (taskId: string, options?: CallOptions): Promise<MediaTaskState> =>
      callJson(
        access,
        { method: 'GET', path: `/v1/media-tasks/${encodeURIComponent(taskId)}`, repeatable: true },
        options,
      ),

    /** Cancel a media task and delete its assets (`DELETE /v1/media-tasks/:taskId`). */
    deleteMediaTask: (taskId: string, options?: CallOptions): Promise<TaskDeleted> =>
      callJson(
        access,
        { method: 'DELETE', path: `/v1/media-tasks/${encodeURIComponent(taskId)}`, repeatable: true },
        options,
      ),

    /** List incidents, newest first (`GET /v1/incidents`). */
    listIncidents: (query?: IncidentListing, options?: CallOptions): Promise<IncidentPage> =>
      callJson(access, { method: 'GET', path: '/v1/incidents', query, repeatable: true }, options),

    /** Count incidents by status and list (`GET /v1/incidents/counts`). */
    countIncidents: (options?: CallOptions): Promise<IncidentCounts> =>
      callJson(access, { method: 'GET', path: '/v1/incidents/counts', repeatable: true }, options),

    /** Appeal once against the blocking of your content, by the id of the incident or of the asset (`POST /v1/incidents/:id/appeal`). */
    appealIncident: (id: string, body: IncidentAppeal, options?: CallOptions): Promise<AppealedIncident> =>
      callJson(
        access,
        { method: 'POST', path: `/v1/incidents/${encodeURIComponent(id)}/appeal`, body, repeatable: false },
        options,
      ),

    /** Read an incident (`GET /v1/incidents/:id`). */
    readIncident: (id: string, options?: CallOptions): Promise<Incident> =>
      callJson(access, { method: 'GET', path: `/v1/incidents/${encodeURIComponent(id)}`, repeatable: true }, options),

    /** Uphold or clear an incident (`POST /v1/incidents/:id/resolution`). */
    resolveIncident: (id: string, body: IncidentResolution, options?: CallOptions): Promise<Incident> =>
      callJson(
        access,
        { method: 'POST', path: `/v1/incidents/${encodeURIComponent(id)}/resolution`, body, repeatable: true },
        options,
      ),

    /** Screen all assets again (`POST /v1/rescreen`). */
    rescreen: (options?: CallOptions): Promise<Rescreening> =>
      callJson(access, { method: 'POST', path: '/v1/rescreen', repeatable: true }, options),

    /** The progress of the newest rescreening (`GET /v1/rescreen`). */
    readRescreening: (options?: CallOptions): Promise<RescreeningProgress> =>
      callJson(access, { method: 'GET', path: '/v1/rescreen', repeatable: true }, options),

    /** Erase the assets, files and tasks of an owner (`DELETE /v1/people/:userId`). */
    eraseOwner: (userId: string, options?: CallOptions): Promise<ErasedOwner> =>
      callJson(
        access,
        { method: 'DELETE', path: `/v1/people/${encodeURIComponent(userId)}`, repeatable: true },
        options,
      ),

    /** Find orphaned objects, and optionally delete them (`POST /v1/sweep`). */
    sweep: (body: SweepRequest, options?: CallOptions): Promise<Swept> =>
      callJson(access, { method: 'POST', path: '/v1/sweep', body, repeatable: false }, options),

    /** Share an asset, a conversation or a collection by a public page (`POST /v1/shares`). */
    createShare: (body: ShareRequest, options?: CallOptions): Promise<Share> =>
      callJson(access, { method: 'POST', path: '/v1/shares', body, repeatable: true }, options),

    /** List the shares of an owner, newest first (`GET /v1/shares`). */
    listShares: (query?: ShareListing, options?: CallOptions): Promise<SharePage> =>
      callJson(access, { method: 'GET', path: '/v1/shares', query, repeatable: true }, options),

    /** End the share of a conversation (`DELETE /v1/shares`). */
    endSharesOfThread: (body: ThreadSharesDeletion, options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'DELETE', path: '/v1/shares', body, repeatable: true }, options),

    /** End a share (`DELETE /v1/shares/:id`). */
    endShare: (id: string, options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'DELETE', path: `/v1/shares/${encodeURIComponent(id)}`, repeatable: true }, options),

    /** Read what the page of a share shows (`GET /v1/shares/:id/data`). */
    readShareData: (id: string, options?: CallOptions): Promise<ShareData> =>
      callJson(access, { method: 'GET', path: `/v1/shares/${encodeURIComponent(id)}/data`, repeatable: true }, options),

    /** List the shares that search engines may find (`GET /v1/shares/indexed`). */
    listIndexedShares: (query?: IndexedListing, options?: CallOptions): Promise<IndexedShares> =>
      callJson(access, { method: 'GET', path: '/v1/shares/indexed', query, repeatable: true }, options),

    /** List the images and videos of the feed (`GET /v1/gallery`). */
    readGallery: (query?: GalleryListing, options?: CallOptions): Promise<GalleryPage> =>
      callJson(access, { method: 'GET', path: '/v1/gallery', query, repeatable: true }, options),

    /** Report an asset, or the page of a share (`POST /v1/reports`). */
    reportContent: (body: ReportRequest, options?: CallOptions): Promise<Reported> =>
      callJson(access, { method: 'POST', path: '/v1/reports', body, repeatable: false }, options),

    /** List the reports of a person (`GET /v1/reports`). */
    listOwnReports: (query?: OwnReportListing, options?: CallOptions): Promise<OwnReportPage> =>
      callJson(access, { method: 'GET', path: '/v1/reports', query, repeatable: true }, options),

    /** List the reports of an incident (`GET /v1/incidents/:id/reports`). */
    listReports: (id: string, options?: CallOptions): Promise<ReportPage> =>
      callJson(
        access,
        { method: 'GET', path: `/v1/incidents/${encodeURIComponent(id)}/reports`, repeatable: true },
        options,
      ),

    /** Dismiss a report, or restrict or remove the content (`POST /v1/incidents/:id/decision`). */
    decideIncident: (id: string, body: DecisionRequest, options?: CallOptions): Promise<Incident> =>
      callJson(
        access,
        { method: 'POST', path: `/v1/incidents/${encodeURIComponent(id)}/decision`, body, repeatable: true },
        options,
      ),

    /** List the decisions about your content (`GET /v1/decisions`). */
    listOwnDecisions: (options?: CallOptions): Promise<OwnDecisions> =>
      callJson(access, { method: 'GET', path: '/v1/decisions', repeatable: true }, options),

    /** Export an incident with its reports, for authorities (`GET /v1/incidents/:id/export`). */
    exportIncident: (id: string, options?: CallOptions): Promise<IncidentExport> =>
      callJson(
        access,
        { method: 'GET', path: `/v1/incidents/${encodeURIComponent(id)}/export`, repeatable: true },
        options,
      ),
  };
}
