/** The vocabulary of the media service. Generated from its OpenAPI document by `npm run generate`. */

export interface UploadRequest {
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly kind: string;
  readonly mime: string;
  /** Required with X-Internal-Key. Default: the user of the token. */
  readonly ownerId?: string | null;
  /** An id chosen by the caller, so that a repeated request has the same result. */
  readonly assetId?: string | null;
  /** If present, the URL accepts only this length. */
  readonly byteSize?: number | null;
  /** Also returns the URL of a resumable upload. Requires `byteSize`. */
  readonly resumable?: boolean | null;
}

export interface UploadReservation {
  readonly assetId: string;
  readonly storageKey: string;
  /** Valid for one PUT within 300 seconds. */
  readonly uploadUrl: string;
  /** Send these headers with the PUT. */
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: string;
  /** Present if the request has `resumable: true`. */
  readonly resumable?: {
    readonly protocol: 'tus';
    /** The URL of an existing upload (tus 1.0.0). */
    readonly url: string;
    readonly expiresAt: string;
  };
}

export interface PendingRequest {
  readonly assetId: string;
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly mime: string;
  /** Seconds for which the URL is valid. Default: 3600. */
  readonly expiresIn?: number | null;
}

export interface PendingObject {
  /** The URL of the bytes, with the media type of the request. */ readonly url: string;
  /** The size in the store. */
  readonly byteSize: number;
}

export interface RegistrationRequest {
  readonly assetId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly kind: string;
  readonly mime: string;
  /** Required with X-Internal-Key. Default: the user of the token. */
  readonly ownerId?: string | null;
  /** Accepted but ignored: the size comes from the store. */
  readonly byteSize?: number | null;
  readonly width?: number | null;
  readonly height?: number | null;
  readonly durationMs?: number | null;
  readonly blurhash?: string | null;
  /** Videos only. */
  readonly thumbAssetId?: string | null;
  /** The prompt from which a model generated the asset; 1 to 4000 characters. */
  readonly prompt?: string | null;
  /** The name of the model that generated the asset; 1 to 200 characters. */
  readonly model?: string | null;
  /** Only with X-Internal-Key: what a model did. Written into the file. Default: the mark in the file. */
  readonly generated?: 'ai' | 'edited' | null;
  /** The name of the file, for searches and downloads; 1 to 255 characters. */
  readonly name?: string | null;
  /** Only with X-Internal-Key: the order that the asset was made from. */
  readonly generation?: {
    /** The generation (`GET /generations/:id` of the agent). */ readonly id?: string;
    /** The run, or the tool call over MCP. */
    readonly taskId?: string;
    readonly prompt?: string;
    /** The model of `GET /models` that was ordered. */
    readonly model: string;
    readonly ratio?: string;
    readonly seed?: number;
    /** The assets that the model was given, in their order. */
    readonly references: readonly string[];
  } | null;
}

export interface Asset {
  readonly assetId: string;
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly kind: string;
  /** For images, the detected type. */
  readonly mime: string;
  readonly byteSize: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly blurhash: string | null;
  readonly animated: boolean | null;
  readonly thumbAssetId: string | null;
  readonly storageKey: string;
  /** The SHA-256 of the bytes in hex; `null` for assets that were never hashed. */
  readonly sha256: string | null;
  /** The prompt from which a model generated the asset. Only the owner and servers can read it. */
  readonly prompt: string | null;
  /** The name of the model that generated the asset. Only the owner and servers can read it. */
  readonly model: string | null;
  readonly generated: 'ai' | 'edited' | null;
  /** The name of the file. Only the owner and servers can read it. */
  readonly name: string | null;
  /** A favorite of its owner. `false` for other readers. */
  readonly favorite: boolean;
  /** It, or a copy of it, is in a feed of its owner. `false` for other readers. */
  readonly published: boolean;
  /** The order that it was made from. Only the owner and servers can read it. */
  readonly generation: Lineage | null;
  /** The labels of the classifier, highest first. Empty for readers who are not the owner. */
  readonly labels: readonly {
    readonly name: string;
    /** 0 to 1. */
    readonly score: number;
  }[];
  readonly createdAt: string;
  /** Since when it is in the trash. */
  readonly trashedAt: string | null;
}

export interface AssetListing {
  /** Required with X-Internal-Key. Default: the user of the token. */ readonly ownerId?: string | null;
  readonly scopeKind?: string | null;
  /** With scopeKind. */
  readonly scopeId?: string | null;
  readonly kind?: string | null;
  /** By the mime. */
  readonly type?: 'image' | 'video' | 'other' | null;
  /** `false`: leaves out thumbnails of the owner’s videos. */
  readonly thumbnails?: boolean | 'true' | 'false' | null;
  /** `false`: leaves out copies in feeds of assets that the owner still has. `published` marks their sources. */
  readonly copies?: 'false' | null;
  /** Each of its words (at most 10) must occur in the prompt or the name. */
  readonly q?: string | null;
  /** `true`: only favorites. */
  readonly favorite?: 'true' | null;
  /** `true`: only assets in the trash, which no other listing has. */
  readonly trashed?: 'true' | null;
  /** Only assets of this collection of the owner. */
  readonly collectionId?: string | null;
  /** Only assets with this label of the classifier. */
  readonly label?: string | null;
  /** An asset: those that a model made from it. */
  readonly derivedFrom?: string | null;
  /** An asset: itself, its source if it is a copy, and all copies of that source. */
  readonly copiesOf?: string | null;
  /** The earliest creation time. */
  readonly createdFrom?: string | null;
  /** Later than the latest creation time. */
  readonly createdBefore?: string | null;
  /** By the time of creation. Default: `newest`. */
  readonly sort?: 'newest' | 'oldest' | null;
  /** 1 to 200. Default: 50. */
  readonly limit?: number;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | null;
}

export interface AssetPage {
  /** Newest first. */ readonly assets: readonly Asset[];
  /** `null`: this was the last page. */
  readonly nextCursor: string | null;
}

export interface AssetsDeletion {
  /** UUIDs, or legacy paths that contain `/`. */ readonly ids: readonly string[];
  /** The bucket of legacy paths. Default: `agent_message`. */
  readonly legacyBucket?: string | null;
}

export interface AssetsDeleted {
  /** Assets among `ids`; without thumbnails and watermark files. */ readonly deletedNew: number;
  /** Legacy files among `ids`; without watermark files. */
  readonly deletedLegacy: number;
}

export interface MonthListing {
  /** Required with X-Internal-Key. Default: the user of the token. */ readonly ownerId?: string | null;
  /** Minutes east of UTC. */
  readonly utcOffset?: number;
}

export interface AssetMonths {
  /** Newest first, without thumbnails of videos and without the trash. */
  readonly months: readonly {
    /** Such as `2026-11`. */ readonly month: string;
    readonly count: number;
  }[];
}

export interface AssetChange {
  /** Videos only. */ readonly thumbAssetId?: string | null;
  /** Video and audio only, like the next three fields. */
  readonly width?: number | null;
  readonly height?: number | null;
  readonly durationMs?: number | null;
  readonly blurhash?: string | null;
  /** The name of the file. */
  readonly name?: string | null;
}

export interface MediaUsageQuery {
  /** Required with X-Internal-Key. Default: the user of the token. */ readonly ownerId?: string | null;
}

export interface MediaUsage {
  readonly ownerId: string;
  readonly assets: number;
  /** The bytes of all assets. Watermark files, renditions and variants do not count. */
  readonly bytes: number;
  /** The bytes of uploads that are not registered: announced sizes, and arrived bytes of the others. */
  readonly reservedBytes: number;
  /** 0: no limit. Otherwise, the limit of `bytes` and `reservedBytes` together. */
  readonly limitBytes: number;
}

export interface LegacyImport {
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly path: string;
  /** The bucket of legacy paths. Default: `agent_message`. */
  readonly legacyBucket?: string | null;
}

export interface ScopeDeletion {
  /** With a JWT: the user of the token. */ readonly ownerId: string;
  /** If absent: all assets of the owner. */
  readonly scopeKind?: string;
  /** If absent: all scopes of the kind. Requires `scopeKind`. */
  readonly scopeId?: string;
  /** Prefixes of legacy paths. The prefix of a folder ends with `/`. */
  readonly legacyPrefixes?: readonly string[] | null;
  /** The bucket of legacy paths. Default: `agent_message`. */
  readonly legacyBucket?: string | null;
}

export interface ScopeDeleted {
  /** Objects of the object store, including watermark files. */ readonly r2Deleted: number;
  /** Legacy files, including watermark files. */
  readonly legacyDeleted: number;
  /** Assets. */
  readonly dbDeleted: number;
}

export interface SignRequest {
  /** UUIDs, or legacy paths that contain `/`. */ readonly refs: readonly string[];
  /** The bucket of legacy paths. Default: `agent_message`. */
  readonly legacyBucket?: string | null;
  /** `true`, or a file name: the URLs of files then respond with attachments. */
  readonly download?: boolean | string | null;
}

export type ImageSignedRefs = Readonly<Record<string, ImageSignedRef>>;

export type VideoSignedRefs = Readonly<Record<string, VideoSignedRef>>;

export interface FitRequest {
  /** A UUID, or a legacy path that contains `/`. */ readonly ref: string;
  /** The bucket of legacy paths. Default: `agent_message`. */
  readonly legacyBucket?: string | null;
  /** Pixels. 0 or absent: no limit. */
  readonly width?: number | null;
  /** Pixels. 0 or absent: no limit. */
  readonly height?: number | null;
  /** Default: `fit`. */
  readonly resizingType?: 'fit' | 'fill' | null;
  readonly enlarge?: boolean | null;
  /** The quality is lowered until the result fits. */
  readonly maxBytes?: number | null;
  /** Default: `jpeg`. */
  readonly format?: 'jpeg' | 'png' | 'webp' | null;
  /** imgproxy's `ra`. */
  readonly resizingAlgorithm?: 'lanczos3' | 'lanczos2' | 'cubic' | 'linear' | 'nearest' | null;
}

export interface FittedImage {
  /** Valid until the asset is deleted. */ readonly url: string;
}

export interface CopyRequest {
  /** A UUID, or a legacy path that contains `/`. */ readonly fromAssetId: string;
  readonly toScopeKind: string;
  readonly toScopeId: string;
  /** Default with X-Internal-Key: the owner of the source. Otherwise: the user of the token. */
  readonly toOwnerId?: string | null;
  /** The bucket of legacy paths. Default: `agent_message`. */
  readonly legacyBucket?: string | null;
  /** Videos only: the thumbnail in the new scope. If absent, the copy has none. */
  readonly thumbAssetId?: string | null;
}

export interface WatermarkRequest {
  /** A UUID, or a legacy path that contains `/`. */ readonly ref: string;
  /** The bucket of legacy paths. Default: `agent_message`. */
  readonly legacyBucket?: string | null;
  /** `true`, or a file name: the URLs of files then respond with attachments. */
  readonly download?: boolean | string | null;
}

export interface WatermarkedImage {
  /** A JPEG, for 7 days. */ readonly url: string;
}

export interface WatermarkedVideo {
  /** An MP4, for 7 days. */ readonly url: string;
}

export interface FavoritesChange {
  readonly ids: readonly string[];
  readonly favorite: boolean;
  /** Required with X-Internal-Key. Default: the user of the token. */
  readonly ownerId?: string | null;
}

export interface FavoritesChanged {
  /** The number of assets that changed. */ readonly changed: number;
}

export interface CollectionRequest {
  /** 1 to 200 characters. */ readonly title: string;
  /** The first assets of the collection, at most 1000. */
  readonly assetIds?: readonly string[] | null;
  /** Required with X-Internal-Key. Default: the user of the token. */
  readonly ownerId?: string | null;
}

export interface Collection {
  readonly collectionId: string;
  readonly title: string;
  /** The number of its assets, without the posters of videos. */
  readonly count: number;
  /** The chosen cover, or the image or video that was added last. */
  readonly coverAssetId: string | null;
  readonly coverMime: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface CollectionListing {
  /** Required with X-Internal-Key. Default: the user of the token. */ readonly ownerId?: string | null;
  /** Each of its words must occur in the title. */
  readonly q?: string | null;
  /** Only collections that contain this asset. */
  readonly assetId?: string | null;
}

export interface Collections {
  /** Last changed first. An owner has at most 500. */ readonly collections: readonly Collection[];
}

export interface CollectionOwner {
  /** Required with X-Internal-Key. Default: the user of the token. */ readonly ownerId?: string | null;
}

export interface CollectionChange {
  readonly title?: string | null;
  /** Assets to add, at most 1000. */
  readonly add?: readonly string[] | null;
  /** Assets to remove. They stay in the library. */
  readonly remove?: readonly string[] | null;
  /** The image or video to show as the cover. It is added if the collection does not have it. */
  readonly coverAssetId?: string | null;
  /** Required with X-Internal-Key. Default: the user of the token. */
  readonly ownerId?: string | null;
}

export interface TrashChange {
  readonly ids: readonly string[];
  /** `true`: into the trash. `false`: back out of it. */
  readonly trashed: boolean;
  /** Required with X-Internal-Key. Default: the user of the token. */
  readonly ownerId?: string | null;
}

export interface TrashChanged {
  /** The number of assets that changed, without the thumbnails of videos. */ readonly changed: number;
}

export interface TaskUpsert {
  readonly taskId: string;
  /** Set by the first write. */
  readonly ownerId: string;
  /** Set by the first write. */
  readonly mediaType: string;
  /** Never goes backwards. Default of the first write: `pending`. */
  readonly status?: 'pending' | 'processing' | 'completed' | 'failed' | null;
  /** If present, replaces the stored value. */
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

export interface MediaTask {
  readonly taskId: string;
  readonly ownerId: string;
  readonly mediaType: string;
  readonly status: 'pending' | 'processing' | 'completed' | 'failed';
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  /** The same. */
  readonly created_at: string;
  readonly updatedAt: string;
}

export interface TasksDeletion {
  readonly ownerId: string;
}

export interface TasksDeleted {
  readonly deleted: number;
}

export interface VideoTaskRequest {
  /** The reserved id of an uploaded object. */ readonly assetId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly mime: string;
  /** Required with X-Internal-Key. Default: the user of the token. */
  readonly ownerId?: string | null;
  readonly threadId?: string | null;
}

export interface VideoTask {
  readonly taskId: string;
  readonly status: 'pending';
}

export type MediaTaskState = MediaTask | VideoTask;

export interface TaskDeleted {
  readonly deleted: boolean;
  readonly assetsDeleted: number;
}

export interface IncidentListing {
  readonly status?: 'open' | 'upheld' | 'cleared' | null;
  readonly ownerId?: string | null;
  readonly list?: string | null;
  /** `priority`: reports of `minor` and `intimate` first. */
  readonly order?: 'newest' | 'priority' | null;
  /** `true`: only incidents with an appeal of their owner. `open`: only those whose appeal no decision has answered. */
  readonly appealed?: 'true' | 'false' | 'open' | null;
  /** 1 to 200. Default: 50. */
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | null;
}

export interface IncidentPage {
  /** Newest first. */ readonly incidents: readonly Incident[];
  /** `null`: this was the last page. */
  readonly next_cursor: string | null;
}

export interface IncidentCounts {
  readonly open: number;
  readonly upheld: number;
  readonly cleared: number;
  /** Appeals that no decision has answered. */
  readonly openAppeals: number;
  /** The number of incidents of each list. */
  readonly lists: Readonly<Record<string, number>>;
}

export interface IncidentAppeal {
  readonly text: string;
}

export interface AppealedIncident {
  readonly id: string;
  readonly status: 'open' | 'upheld' | 'cleared';
  readonly appealedAt: string;
}

export interface Incident {
  readonly id: string;
  readonly status: 'open' | 'upheld' | 'cleared';
  /** `null`: a conversation. */
  readonly assetId: string | null;
  /** The name of the asset, or its prompt; the title of a shared conversation or album, even if it was deleted. `null`: it has none, or its owner was erased. */
  readonly title: string | null;
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
  /** The SHA-256 of the bytes in hex. Empty: there is none. */
  readonly sha256: string;
  /** `sha256`, `md5`, `pdq`, the list that the classifier named, its label, or `report`. */
  readonly list: string;
  /** The label that a rule blocked, restricted or flagged. `null`: a list, the classifier, or reports. */
  readonly label: string | null;
  /** `report`: people reported it. `label`: a rule flagged or restricted it. Otherwise, where the bytes remain: an asset, or `bucket/path` of a legacy file. */
  readonly origin: string | null;
  /** A reported conversation, or `album:` and the id of a reported collection. */
  readonly threadId: string | null;
  /** The page that was reported. */
  readonly shareId: string | null;
  /** The page that was reported can be read now. */
  readonly isShared: boolean;
  /** The reported or flagged asset was deleted. */
  readonly isGone: boolean;
  /** The open incidents of the same bytes, and of the copies of the asset, including this one. */
  readonly openAlike: number;
  /** The order that the asset was made from. */
  readonly generation: Lineage | null;
  /** The number of people who reported it. */
  readonly reports: number;
  /** Those of the reports. */
  readonly reasons: readonly string[];
  readonly ageSeconds: number;
  readonly decision: {
    readonly decision: 'dismiss' | 'restrict' | 'remove';
    readonly statement: string;
    readonly at: string;
  } | null;
  /** The decisions that later ones replaced, the oldest first. */
  readonly earlier: readonly {
    readonly decision: 'dismiss' | 'restrict' | 'remove';
    readonly statement: string;
    readonly at: string;
  }[];
  readonly createdAt: string;
  readonly resolvedAt: string | null;
  readonly note: string | null;
  /** Until when the blocked object is retained, encrypted. `null`: it is not retained. */
  readonly evidenceUntil: string | null;
  /** The appeal of the owner. Absent: none. */
  readonly appeal?: { readonly text: string; readonly at: string };
}

export interface IncidentResolution {
  /** `cleared`: this content passes from now on. */ readonly resolution: 'upheld' | 'cleared';
  readonly note?: string | null;
}

export interface Rescreening {
  readonly jobId: string;
}

export interface RescreeningProgress {
  /** `null`: there was no rescreening yet. */ readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** The number of assets at its start. */
  readonly total: number;
  readonly checked: number;
  readonly blocked: number;
  readonly withoutDigests: number;
}

export interface ErasedOwner {
  /** The number of removed records of each kind. */ readonly removed: Readonly<Record<string, number>>;
}

export interface SweepRequest {
  /** If absent, nothing is changed. */ readonly apply?: boolean | null;
  /** Also removes what depends on a bucket that has none of the objects that its rows name. If absent, it stays: the bucket may be the wrong one, or not be mounted. */
  readonly acceptLostBuckets?: boolean | null;
  /** The cursor of the previous response. If absent: the first page. */
  readonly cursor?: string | null;
}

export interface Swept {
  readonly found: readonly {
    readonly what:
      | 'unfinished_registration'
      | 'unregistered_upload'
      | 'unfinished_upload'
      | 'watermark_without_source'
      | 'rendition_without_source'
      | 'asset_without_object'
      | 'asset_with_other_bytes'
      | 'variant_without_source'
      | 'evidence_without_incident'
      | 'expired_trash';
    readonly fate: 'found' | 'removed' | 'left';
    readonly key: string;
    readonly assetId?: string;
    readonly byteSize?: number;
    readonly why?: string;
  }[];
  /** The cursor of the next page; `null`: this is the last page. */
  readonly cursor: string | null;
}

export interface ShareRequest {
  /** The asset to share. Exactly one of the three ids is required. */ readonly assetId?: string | null;
  /** The conversation to share, as it is now. */
  readonly threadId?: string | null;
  /** The collection to share, with the images and videos that it has now. */
  readonly collectionId?: string | null;
  /** Seconds until the share ends. Default: never. */
  readonly expiresIn?: number | null;
  /** Shows the prompts of generated media. Default: `false`. */
  readonly showPrompt?: boolean | null;
  /** Lets search engines find the page. Default: `false`. */
  readonly index?: boolean | null;
  /** Shows what the owner attached to messages. Default: `false`. */
  readonly attachments?: boolean | null;
  /** Shows a conversation or collection that is shared already as it is now. Default: `false`. */
  readonly update?: boolean | null;
  /** The name that the page shows, and the gallery with an asset in a feed. Default: none. */
  readonly author?: string | null;
  /** Required with X-Internal-Key. Default: the user of the token. */
  readonly ownerId?: string | null;
}

export interface Share {
  readonly id: string;
  /** The page. With `Accept: application/json`, it returns its data. */
  readonly url: string;
  readonly assetId: string | null;
  readonly threadId: string | null;
  readonly collectionId: string | null;
  readonly showPrompt: boolean;
  readonly index: boolean;
  readonly attachments: boolean;
  readonly author: string | null;
  /** The name of the file, the prompt, or the title of the conversation or collection; at most 200 characters. */
  readonly title: string | null;
  /** The images and videos that the page shows. */
  readonly items: number;
  /** The images and videos of the collection that the page does not show before an `update`. */
  readonly newItems: number;
  readonly createdAt: string;
  /** When what the page shows was set: at its creation, and by each `update`. */
  readonly shownAt: string;
  readonly expiresAt: string | null;
}

export interface ShareListing {
  /** Required with X-Internal-Key. Default: the user of the token. */ readonly ownerId?: string | null;
  readonly assetId?: string | null;
  readonly threadId?: string | null;
  readonly collectionId?: string | null;
  /** `false`: leaves out the shares of published copies. */
  readonly copies?: 'false' | null;
  /** 1 to 200. Default: 50. */
  readonly limit?: number;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | null;
}

export interface SharePage {
  /** Newest first. */ readonly shares: readonly Share[];
  /** `null`: this was the last page. */
  readonly nextCursor: string | null;
}

export interface ThreadSharesDeletion {
  readonly ownerId: string;
  readonly threadId: string;
}

export interface ShareData {
  readonly id: string;
  readonly kind: 'image' | 'video' | 'thread' | 'album';
  /** The title of the conversation or collection. */
  readonly title: string | null;
  /** The name that its owner shows. */
  readonly author?: string | null;
  readonly generated: 'ai' | 'edited' | null;
  /** Search engines may find the page. */
  readonly index: boolean;
  readonly createdAt: string;
  /** The asset in `media` on the cover of the collection. */
  readonly cover?: string | null;
  /** The shared asset, or those of the conversation or collection. */
  readonly media: readonly {
    readonly assetId: string;
    /** In the URLs of the page. It stays if others leave the page. */
    readonly place: number;
    readonly kind: 'image' | 'video';
    readonly mime: string;
    readonly width: number | null;
    readonly height: number | null;
    readonly blurhash: string | null;
    readonly generated: 'ai' | 'edited' | null;
    /** `null`: unknown, or not shared. */
    readonly prompt: string | null;
    /** The source of its variants: the image, or the poster of the video. */
    readonly picture: SharedObject | null;
    /** The file that browsers play. `null`: an image. */
    readonly file: SharedObject | null;
  }[];
  /** The messages of a shared conversation. A collection is one message with its images and videos. */
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly parts: readonly (
      | { readonly type: 'text'; readonly text: string }
      | {
          readonly type: 'media';
          /** The position in `media`. */
          readonly index: number;
        }
      | { readonly type: 'source'; readonly url: string; readonly title: string }
    )[];
  }[];
}

export interface IndexedListing {
  /** The id of the last share of the previous page. */ readonly after?: string | null;
  readonly limit?: number;
}

export interface IndexedShares {
  /** Oldest first. */ readonly shares: readonly { readonly id: string; readonly updatedAt: string }[];
}

export interface GalleryListing {
  readonly kind?: 'image' | 'video' | null;
  readonly shape?: 'wide' | 'tall' | 'square' | null;
  /** `remixed`: of the newest 1000, those that most people have made something from. One page. Default: `newest`. */
  readonly sort?: 'newest' | 'remixed' | null;
  /** Its first 10 words must occur in the author or in a prompt that is shown. */
  readonly q?: string | null;
  /** 1 to 100. Default: 50. */
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | null;
}

export interface GalleryPage {
  /** Newest or most remixed first. */
  readonly items: readonly {
    readonly assetId: string;
    readonly kind: 'image' | 'video';
    readonly width: number | null;
    readonly height: number | null;
    readonly blurhash: string | null;
    readonly generated: 'ai' | 'edited' | null;
    /** `null`: unknown, or not shared. */
    readonly prompt: string | null;
    readonly thumbUrl: string | null;
    readonly previewUrl: string | null;
    /** The name that the owner has chosen for this asset. `null`: none. */
    readonly author: string | null;
    /** The other users who have made something from it. */
    readonly remixes: number;
    readonly publishedAt: string;
  }[];
  /** `null`: this was the last page. */
  readonly next_cursor: string | null;
}

export interface ReportRequest {
  /** The reported asset. Either this or `shareId`. */ readonly assetId?: string | null;
  /** The reported page. Needs no account. */
  readonly shareId?: string | null;
  readonly reason: ReportReason;
  readonly note?: string | null;
  /** An email address for the decision. Default: that of the account. */
  readonly contact?: string | null;
  /** The language of the decision. Default: that of the account. */
  readonly locale?: string | null;
  /** The address of the person. With X-Internal-Key only: the edge sends it. */
  readonly address?: string | null;
}

export interface Reported {
  readonly id: string;
}

export interface OwnReportListing {
  /** Required with X-Internal-Key. Default: the user of the token. */ readonly ownerId?: string | null;
  /** 1 to 200. Default: 50. */
  readonly limit?: number;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | null;
}

export interface OwnReportPage {
  /** In the order of their ids. */
  readonly reports: readonly {
    readonly id: string;
    readonly reason: ReportReason;
    readonly note: string | null;
    readonly contact: string | null;
    readonly createdAt: string;
    /** The reported asset. `null`: a conversation. */
    readonly assetId: string | null;
  }[];
  /** `null`: this was the last page. */
  readonly nextCursor: string | null;
}

export interface ReportPage {
  /** Oldest first, at most 1,000. */ readonly reports: readonly Report[];
}

export interface DecisionRequest {
  /** `dismiss`: the content stays, and a restriction ends. `restrict`: only its owner can read it. `remove`: it is deleted. */
  readonly decision: 'dismiss' | 'restrict' | 'remove';
  /** The reasons. The owner and the people who reported the content get them by email. */
  readonly statement: string;
  /** `false`: the owner gets no email. Default: `true`. */
  readonly mailOwner?: boolean | null;
}

export interface OwnDecisions {
  /** Newest first, at most 100. */
  readonly decisions: readonly {
    /** The id of the incident, for an appeal. */ readonly id: string;
    /** `null`: a conversation. */
    readonly assetId: string | null;
    readonly kind: string;
    readonly decision: 'dismiss' | 'restrict' | 'remove';
    readonly statement: string;
    readonly at: string;
    readonly appealedAt: string | null;
    /** No decision has answered the appeal. */
    readonly isAppealOpen: boolean;
  }[];
}

export interface IncidentExport {
  readonly exportedAt: string;
  readonly incident: Incident;
  readonly content: {
    readonly kind: string;
    readonly mime: string;
    readonly byteSize: number;
    readonly sha256: string;
    readonly md5: string;
    readonly pdq: string | null;
  };
  readonly reports: readonly Report[];
}

export type ImageSignedRef =
  | {
      readonly ready: true;
      /** The original bytes, for 7 days. */
      readonly url: string;
      readonly width: number | null;
      readonly height: number | null;
      readonly byteSize: number;
      readonly durationMs: number | null;
      readonly blurhash: string | null;
      readonly mime: string;
      readonly generated: 'ai' | 'edited' | null;
      /** It is in the trash of its owner. Otherwise absent. */
      readonly trashed?: true;
      /** 400 px; images only. */
      readonly thumbUrl?: string;
      /** 1024 px; images only. */
      readonly previewUrl?: string;
      readonly animated: boolean | null;
    }
  | { readonly ready: false; readonly error: 'not_found' };

export type VideoSignedRef =
  | {
      readonly ready: true;
      /** The original bytes, for 7 days. */
      readonly url: string;
      readonly width: number | null;
      readonly height: number | null;
      readonly byteSize: number;
      readonly durationMs: number | null;
      readonly blurhash: string | null;
      readonly mime: string;
      readonly generated: 'ai' | 'edited' | null;
      /** It is in the trash of its owner. Otherwise absent. */
      readonly trashed?: true;
      /** The URL for browsers, for 7 days: the original or its rendition. Absent if there is none. */
      readonly playUrl?: string;
      /** The thumbnail at 400 px; absent if there is none. */
      readonly thumbUrl?: string;
      readonly thumbAssetId: string | null;
    }
  | { readonly ready: false; readonly error: 'not_found' };

export interface Lineage {
  /** The generation (`GET /generations/:id` of the agent). */ readonly id?: string;
  /** The run, or the tool call over MCP. */
  readonly taskId?: string;
  readonly prompt?: string;
  /** The model of `GET /models` that was ordered. */
  readonly model: string;
  readonly ratio?: string;
  readonly seed?: number;
  /** The assets that the model was given, in their order. */
  readonly references: readonly string[];
}

export interface Report {
  readonly id: string;
  readonly reason: ReportReason;
  readonly note: string | null;
  readonly contact: string | null;
  /** `null`: without an account. */
  readonly userId: string | null;
  readonly createdAt: string;
}

export type ReportReason =
  | 'illegal'
  | 'minor'
  | 'intimate'
  | 'violence'
  | 'harassment'
  | 'copyright'
  | 'privacy'
  | 'spam'
  | 'other';

export interface SharedObject {
  readonly bucket: string;
  readonly key: string;
  readonly etag: string | null;
  readonly mime: string;
}
