/** What the features of the service use. */

import type { ResizeSigner } from '#edge/api.ts';
import type { Brand } from '#image/engine/brand.ts';
import type { Engine } from '#image/engine/engine.ts';
import type { Permits } from '#image/engine/permits.ts';
import type { VariantMaker } from '#image/engine/variants.ts';
import type { Cache } from '#platform/cache/cache.ts';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import type { ActingClient, HttpClient } from '#platform/http/client.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { UploadSigner } from '#platform/objects/addresses.ts';
import type { LegacyObjects, Objects } from '#platform/objects/objects.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { MediaSettings } from './config.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { LibraryNews } from './news.ts';
import type { Digester } from './reading/digests.ts';
import type { Match, Screening } from './screening/screening.ts';
import type { MediaTables } from './tables.ts';
import type { Ffmpeg } from './video/ffmpeg.ts';

/** What also commands have, which work without the service. */
export interface MediaStores {
  readonly log: Log;
  readonly clock: Clock;
  readonly db: Db<MediaTables>;
  /** On the same database. Media works on its queues from its start until it closes. */
  readonly jobs: Jobs;
  /** Originals. */
  readonly objects: Objects;
  readonly legacy: Pick<LegacyObjects, 'bucket'>;
  /** The store of variants, which sweeps list. */
  readonly publicObjects: Objects;
  /** With the key secret that the image service and the edge use, because variants are removed with their source. */
  readonly variants: Pick<VariantMaker, 'forgetAll' | 'names' | 'serve'>;
  /** Of this service alone. */
  readonly signedUrls: Cache;
  readonly digester: Digester;
  readonly webhooks?: Webhooks | undefined;
  /** `undefined`: in commands. */
  readonly settler?: Settler | undefined;
  readonly limits: Pick<
    MediaSettings,
    'maxImageBytes' | 'maxVideoBytes' | 'maxOwnerBytes' | 'uploadTtlS' | 'stripMetadata'
  >;
  readonly publicScopes: readonly string[];
}

/** A ready row. */
export interface Pinned {
  readonly assetId: string;
  readonly backend: 'objects' | 'legacy';
  readonly bucket: string;
  readonly storageKey: string;
  readonly etag: string;
  readonly byteSize: number;
}

export interface Settler {
  /**
   * Returns the rows with the current ETags of their objects. Omits rows whose files in the data folder are missing or have other
   * content. Throws `engine_unavailable` and `digest_pending` for files: a retry joins the comparison.
   */
  current<Row extends Pinned>(rows: readonly Row[]): Promise<readonly Row[]>;
}

/** What inspects and screens files. */
export interface ScreeningContext extends MediaStores {
  readonly engine: Engine;
  /** Bounds how many images are in memory: each is read completely before the engine gets it. */
  readonly images: Permits;
  readonly screening: Screening;
  /** `undefined`: nothing that is blocked is retained. */
  readonly quarantine?: Quarantine | undefined;
  /** Called for each incident that is recorded. */
  readonly countIncident?: ((match: Match) => void) | undefined;
}

/** Of what was blocked. */
export interface Bytes {
  readonly assetId: string;
  readonly storageKey: string;
  readonly etag: string;
}

export interface Quarantine {
  /** Returns until when the copy is retained. `undefined`: no key is set, or the object is not there any more. */
  keep(bytes: Bytes, sha256: string, match: Match): Promise<Date | undefined>;
  /** Throws 404 `no_evidence` and 409 `evidence_locked`. */
  open(incidentId: string): Promise<AsyncIterable<Buffer>>;
  /** Removes copies whose days are over. */
  expire(): Promise<void>;
  /** Removes what a rule about labels blocked. Prohibited content stays until its days are over. */
  forget(ownerId: string): Promise<void>;
}

export interface MediaContext extends ScreeningContext {
  readonly quarantine: Quarantine;
  readonly brand: Brand;
  readonly watermarks: ImageWatermarker;
  readonly ffmpeg: Ffmpeg;
  /** `undefined`: images are not signed. */
  readonly credentials?: Credentials | undefined;
  /** The keys of the edge, or of an imgproxy server in its place. */
  readonly resizeAddress: ResizeSigner;
  /** A digest of everything that URLs depend on. A cached entry with another digest is a miss. */
  readonly addressing: string;
  /** `undefined`: no edge receives resumable uploads. */
  readonly signUpload?: UploadSigner | undefined;
  readonly news: LibraryNews;
  /** Of the agent service, which has the conversations. */
  readonly agent: ActingClient;
  /** EDGE_URL. */
  readonly edgeUrl: string;
  /** Of the notify service. */
  readonly notify: Pick<HttpClient, 'send'>;
  /** For digests of addresses. */
  readonly addressSecret: string;
  /** Aborted when the service begins to close. */
  readonly closing: AbortSignal;
}

/** A source: its bucket, its key, and the ETag of the bytes that can be shown, where it is known. */
export interface WatermarkSource {
  readonly objects: Objects;
  readonly storageKey: string;
  readonly etag: string | undefined;
  readonly version?: string | undefined;
}

export interface ImageWatermarker {
  /**
   * Resolves with the key of the watermarked image, which then exists. Throws 404 (the source was removed), 422 (not an
   * image that can be decoded) and 503 (`asset_changing`: the legacy file was replaced during the call). Failures are
   * not cached.
   */
  ensure(source: WatermarkSource): Promise<string>;
}
