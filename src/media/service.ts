/** The media service (docs/specification/media.md; docs/media.md). */
import type { FastifyRequest } from 'fastify';
import type { ResizeSigner } from '#edge/api.ts';
import type { Brand } from '#image/engine/brand.ts';
import type { Engine } from '#image/engine/engine.ts';
import { createPermits } from '#image/engine/permits.ts';
import type { VariantMaker } from '#image/engine/variants.ts';
import type { Access } from '#platform/access/access.ts';
import { auditOperators } from '#platform/audit/http.ts';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import type { Cache } from '#platform/cache/cache.ts';
import type { Clock } from '#platform/clock.ts';
import type { Values } from '#platform/config.ts';
import type { Database, Tx } from '#platform/db/db.ts';
import type { HttpClient } from '#platform/http/client.ts';
import { clientAddressReader } from '#platform/http/clientaddress.ts';
import { allowApplications } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import { measureJobs } from '#platform/jobs/depth.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { UploadSigner } from '#platform/objects/addresses.ts';
import type { LegacyObjects, Objects } from '#platform/objects/objects.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { LegacyImport } from './api.ts';
import type { MediaTables } from './assets/assetstore.ts';
import { addCollectionRoutes } from './collections/routes.ts';
import type { mediaSettings } from './config.ts';
import { createCredentials } from './credentials/credentials.ts';
import { incidentParams } from './incidents/api.ts';
import { measureIncidents } from './incidents/counting.ts';
import { addIncidentRoutes } from './incidents/routes.ts';
import { createLibraryNews } from './news.ts';
import { addPeopleRoutes } from './people/routes.ts';
import { mediaProblems } from './problems.ts';
import { createQuarantine } from './quarantine/quarantine.ts';
import { createDigester } from './reading/digests.ts';
import type { FolderTables } from './reconciling/folderstore.ts';
import { createReconciler, type FilesFolder, type Reconciler } from './reconciling/reconciling.ts';
import { createSettler } from './reconciling/settling.ts';
import { importFile } from './registration/importing.ts';
import { carryOut, type DecidingDeps, decisionQueue } from './reports/deciding.ts';
import { type DecisionMailDeps, decisionMailQueue, sendDecisionMail } from './reports/mails.ts';
import { dropOldCounts, type ReportTables } from './reports/reportstore.ts';
import { addReportRoutes } from './reports/routes.ts';
import type { ProgressTables } from './rescreening/progressstore.ts';
import { type RescreenJobDeps, rescreenAll, rescreenOn, rescreenQueue } from './rescreening/rescreenjob.ts';
import { addRescreenRoutes } from './rescreening/routes.ts';
import { addRoutes } from './routes.ts';
import type { Screening } from './screening/screening.ts';
import { addShareRoutes } from './shares/routes.ts';
import type { Sharing } from './shares/shares.ts';
import { dropExpiredShares } from './shares/sharestore.ts';
import { addressingOf } from './signing/addressing.ts';
import { type SweepRequest, sweepRequest } from './sweeping/api.ts';
import {
  beginSweeping,
  enqueueNext,
  type PeriodicDeps,
  type SweepJob,
  sweepOn,
  sweepQueue,
} from './sweeping/periodic.ts';
import { startExpiringReservations } from './sweeping/reservations.ts';
import { addSweepRoutes } from './sweeping/routes.ts';
import { sweepPage } from './sweeping/sweep.ts';
import {
  giveUp,
  longVideoQueue,
  type ProcessingDeps,
  processLongVideo,
  processVideo,
  type VideoUpload,
  videoUploadQueue,
} from './tasks/processing.ts';
import { addTaskRoutes } from './tasks/routes.ts';
import { deleteAssetsOfOwner } from './tasks/tasks.ts';
import type { TaskTables } from './tasks/taskstore.ts';
import { addTrashRoutes } from './trash/routes.ts';
import { createFfmpeg } from './video/ffmpeg.ts';
import { removeAbandonedScratch } from './video/scratch.ts';
import { createImageWatermarker } from './watermarks/imagewatermarker.ts';
import {
  longWatermarkQueue,
  makeLongVideoWatermark,
  makeVideoWatermark,
  type VideoWatermarkJobDeps,
  watermarkQueue,
} from './watermarks/videowatermark.ts';

export interface MediaDeps {
  /** The options that all services share. */
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'reference' | 'bodyLimit'>;
  /** AGENT_ALLOWED_ORIGINS. */
  readonly agentOrigins: readonly string[];
  readonly clock: Clock;
  readonly access: Access;
  /** Migrated. */
  readonly database: Database;
  /** Of this service alone. */
  readonly signedUrls: Cache;
  readonly originals: Objects;
  /** The bucket of variants, which sweeps list. */
  readonly publicObjects: Objects;
  readonly legacy: Pick<LegacyObjects, 'bucket'>;
  /** `undefined`: no asset is a file. */
  readonly folder?: FilesFolder | undefined;
  readonly engine: Engine;
  /** That of the engine. */
  readonly brand: Brand;
  /**
   * For the public bucket, with the key secret that the image service and the edge use, because variants are removed
   * with their source.
   */
  readonly variants: Pick<VariantMaker, 'forgetAll' | 'names' | 'serve'>;
  readonly screening: Screening;
  /** The keys of the edge, or of an imgproxy server in its place. */
  readonly resizeAddress: ResizeSigner;
  /** Signs addresses of resumable uploads, which the edge receives. `undefined`: there is no edge. */
  readonly signUpload?: UploadSigner | undefined;
  readonly sharing: Pick<Sharing, 'agent' | 'edgeUrl'>;
  readonly reporting: {
    /** Of the notify service. */
    readonly notify: Pick<HttpClient, 'send'>;
    /** For digests of addresses. */
    readonly addressSecret: string;
    /** TRUSTED_PROXIES. */
    readonly trustedProxies: readonly string[];
  };
  /** On the same database. Media works on its queues from its start until it closes. */
  readonly jobs: Jobs;
  /** `undefined`: none are sent. */
  readonly webhooks?: Webhooks | undefined;
  readonly settings: Values<typeof mediaSettings>;
}

/** Pages of expired shares return 404 at once. */
const sharesEndEveryMs = 3_600_000;
/** Of the files of registrations and watermarks, while they are in memory. One of up to 64 MiB can be alone. */
const imagesAtOnce = 8;
const imageMemory = 48 * 1024 * 1024;
const imageWaitMs = 5000;

export function createMedia(deps: MediaDeps): HttpServer {
  const { clock, database, signedUrls, originals, publicObjects, legacy } = deps;
  const { engine, variants, screening, resizeAddress, jobs, settings } = deps;
  const app = createServer({
    ...deps.server,
    service: 'media',
    reference: {
      clientTypes: {
        ImageSignedRef: ['ImageSignedRefs', 'additionalProperties'],
        VideoSignedRef: ['VideoSignedRefs', 'additionalProperties'],
      },
      description:
        'Reserves upload URLs, registers uploaded objects as assets, and signs URLs to read them. It also copies, watermarks, screens and deletes assets, and processes videos.',
      tags: {
        media: 'Uploads, assets, signed URLs, copies, watermarks and deletion.',
        'media tasks': 'Videos that are processed in the background.',
        incidents: 'Content that screening has blocked or people have reported, for operators.',
        reports: 'Reports of people, and the decisions about them.',
        people: 'Users and their data, for operators.',
        collections: 'Favorites and collections of the assets of an owner.',
        shares: 'Public pages of assets and conversations, and the public gallery.',
      },
      problems: mediaProblems.table,
      problemFields: {
        csam_blocked: { errorCode: { const: 'csam_blocked' } },
        content_blocked: { label: { type: 'string' } },
      },
    },
    cors: allowApplications(deps.agentOrigins),
  });
  const { log } = deps.server;
  const db = database.queries<MediaTables>();
  const images = imagePermits();
  const closing = new AbortController();
  const places = { objects: originals, legacy };
  const { folder } = deps;
  const reconciler =
    folder && createReconciler({ ...places, db: database.queries<FolderTables>(), signedUrls, log, folder });
  const digester = createDigester();
  // Files are compared by their folder. Only other stores can get objects from another tool under the same key.
  const isFiles = folder?.backends.includes('objects') === true;
  const settler = isFiles ? undefined : createSettler({ ...places, db, signedUrls, digester, log });
  const common = {
    ...places,
    clock,
    db,
    reconciler: combine(reconciler, settler),
    digester,
    taskDb: database.queries<TaskTables>(),
    publicObjects,
    signedUrls,
    webhooks: deps.webhooks,
    addressing: addressingOf(originals, resizeAddress, engine.brandId),
    engine,
    brand: deps.brand,
    variants,
    screening,
    credentials: createCredentials(settings, deps.brand.name, log),
    images,
    watermarks: createImageWatermarker({ db, engine, images }),
    resizeAddress,
    signUpload: deps.signUpload,
    jobs,
    ffmpeg: createFfmpeg(settings.ffmpegPath),
    limits: settings,
    publicScopes: settings.publicScopes,
    closing: closing.signal,
    log,
    news: createLibraryNews(deps.sharing.agent, log),
    quarantine: createQuarantine({ objects: originals, db, clock, settings }),
    countIncident: measureIncidents(app.metrics),
  };
  if (reconciler !== undefined) {
    app.addHook('onReady', () => reconciler.begin());
    app.addHook('onClose', () => reconciler.end());
  }
  const shareDb = database.queries<ReportTables>();
  let expiring: Interval | undefined;
  let endingShares: Interval | undefined;
  app.addHook('onReady', async () => {
    expiring = startExpiringReservations(common);
    endingShares = startInterval(
      sharesEndEveryMs,
      () =>
        Promise.all([dropExpiredShares(shareDb), dropOldCounts(shareDb), common.quarantine.expire()]).then(
          () => undefined,
        ),
      (error) => log.warn({ err: error }, 'expired shares, evidence and counts of reports could not be removed'),
    );
  });
  app.addHook('onClose', () => Promise.all([expiring?.stop(), endingShares?.stop()]).then(() => undefined));
  auditOperators(app, { db, log, ...auditing });
  addRoutes(app, deps.access, common);
  addCollectionRoutes(app, deps.access, common);
  addTrashRoutes(app, deps.access, common);
  addTaskRoutes(app, deps.access, common);
  addIncidentRoutes(app, deps.access, common);
  addRescreenRoutes(app, deps.access, { ...common, reportDb: shareDb, progressDb: database.queries<ProgressTables>() });
  addPeopleRoutes(app, deps.access, { ...common, shareDb });
  addSweepRoutes(app, deps.access, common);
  addShareRoutes(app, deps.access, { ...common, ...deps.sharing, db: shareDb });
  const { addressSecret, trustedProxies, notify } = deps.reporting;
  const readAddress = clientAddressReader(trustedProxies);
  const deciding = { ...common, reportDb: shareDb };
  addReportRoutes(app, deps.access, {
    reporting: { db: shareDb, publicScopes: settings.publicScopes, addressSecret },
    deciding,
    addressOf: (request) => readAddress(request) ?? request.ip,
  });
  const discard = (ownerId: string, assetIds: readonly string[]) => deleteAssetsOfOwner(common, ownerId, assetIds);
  workOnQueues(app, jobs, { ...common, ...deciding, notify, discard });
  // Called before requests in flight are awaited: those that wait for a job get 503 with Retry-After.
  const { drain } = app;
  app.drain = () => {
    closing.abort();
    return drain();
  };
  return app;
}

/** One video at a time for each, because ffmpeg uses two threads and requests have priority. */
const concurrency = 1;

function workOnQueues(
  app: HttpServer,
  jobs: Jobs,
  deps: ProcessingDeps & VideoWatermarkJobDeps & PeriodicDeps & RescreenJobDeps & DecidingDeps & DecisionMailDeps,
): void {
  const queues = [
    videoUploadQueue,
    longVideoQueue,
    watermarkQueue,
    longWatermarkQueue,
    sweepQueue,
    rescreenQueue,
    decisionQueue,
    decisionMailQueue,
  ].map(({ name }) => name);
  measureJobs(app.metrics, jobs, queues);
  app.addHook('onReady', async () => {
    await removeAbandonedScratch();
    const options = { concurrency, onDead: (tx: Tx<TaskTables>, upload: VideoUpload) => giveUp(deps, tx, upload) };
    jobs.work<VideoUpload, TaskTables>(videoUploadQueue, (job) => processVideo(deps, job), options);
    jobs.work<VideoUpload, TaskTables>(longVideoQueue, (job) => processLongVideo(deps, job), options);
    jobs.work(watermarkQueue, (job) => makeVideoWatermark(deps, job), { concurrency });
    jobs.work(longWatermarkQueue, (job) => makeLongVideoWatermark(deps, job), { concurrency });
    jobs.work<SweepJob, TaskTables>(sweepQueue, (job) => sweepOn(deps, job), {
      concurrency: 1,
      onDead: (tx, { since }) => enqueueNext(deps, tx, { since, cursor: null }),
    });
    jobs.work(rescreenQueue, (job) => rescreenOn(deps, job), { concurrency: 1 });
    jobs.work(decisionQueue, (job) => carryOut(deps, job), { concurrency });
    jobs.work(decisionMailQueue, (job) => sendDecisionMail(deps, job), { concurrency });
    await beginSweeping(deps);
  });
  app.addHook('onClose', () => jobs.stop({ queues }));
}

/** Rows of files, then rows of other stores. */
function combine(
  ...readers: readonly (Pick<Reconciler, 'startReading'> | undefined)[]
): Pick<Reconciler, 'startReading'> {
  return {
    startReading: () => {
      const readings = readers.flatMap((reader) => reader?.startReading() ?? []);
      return {
        current: async (rows) => {
          let current = rows;
          for (const reading of readings) current = await reading.current(current);
          return current;
        },
      };
    },
  };
}

const imagePermits = () => createPermits({ count: imagesAtOnce, waitMs: imageWaitMs, memory: imageMemory });

const incidentDeeds = [
  '/v1/incidents/:id/resolution',
  '/v1/incidents/:id/preview',
  '/v1/incidents/:id/evidence',
  '/v1/incidents/:id/decision',
  '/v1/incidents/:id/export',
];

/** Sweeps that remove objects, imports, and what is done with incidents: a look at their content too. */
const auditing = {
  isOperators: (url: string, method: string) =>
    ['/v1/sweep', '/v1/assets/legacy', ...incidentDeeds].includes(url) || (url === '/v1/rescreen' && method === 'POST'),
  targetOf: ({ routeOptions: { url }, body, params }: FastifyRequest) => {
    if (incidentDeeds.includes(url ?? '')) return `incident ${incidentParams.safeParse(params).data?.id ?? ''}`;
    if (url === '/v1/assets/legacy') return 'legacy file';
    if (url === '/v1/rescreen') return 'assets';
    return sweepRequest.safeParse(body).data?.apply ? 'leftovers' : undefined;
  },
};

/** For `npm run import-legacy` without a running instance: `POST /v1/assets/legacy` without HTTP. */
export function importerOf(
  deps: Pick<MediaDeps, 'database' | 'originals' | 'legacy' | 'engine' | 'screening' | 'settings' | 'webhooks'>,
) {
  const { database, originals, legacy, engine, screening, settings, webhooks } = deps;
  const db = database.queries<MediaTables>();
  const images = imagePermits();
  // A command can wait.
  const digester = createDigester({ waitMs: 3_600_000 });
  const limits = settings;
  const importDeps = { db, objects: originals, legacy, engine, screening, images, digester, limits, webhooks };
  return (request: LegacyImport) => importFile(importDeps, request);
}

/** For `npm run sweep` without a running instance: `POST /v1/sweep` without HTTP. */
export function sweeperOf(
  deps: Pick<
    MediaDeps,
    | 'clock'
    | 'database'
    | 'signedUrls'
    | 'originals'
    | 'publicObjects'
    | 'legacy'
    | 'variants'
    | 'webhooks'
    | 'settings'
  > & { readonly log: Pick<Log, 'info' | 'warn'> },
) {
  const { clock, database, signedUrls, originals, publicObjects, legacy, variants, webhooks, settings, log } = deps;
  const db = database.queries<MediaTables>();
  const sweepDeps = {
    clock,
    db,
    taskDb: database.queries<TaskTables>(),
    signedUrls,
    objects: originals,
    publicObjects,
    legacy,
    variants,
    webhooks,
    limits: settings,
    digester: createDigester({ waitMs: 3_600_000 }),
    log,
  };
  return (request: SweepRequest) => sweepPage(sweepDeps, request);
}

/** For `npm run rescreen` without a running instance: `POST /v1/rescreen` without HTTP and jobs. */
export function rescreenerOf(
  deps: Pick<
    MediaDeps,
    | 'clock'
    | 'database'
    | 'signedUrls'
    | 'originals'
    | 'legacy'
    | 'variants'
    | 'screening'
    | 'webhooks'
    | 'jobs'
    | 'settings'
  >,
) {
  const { database, originals, ...others } = deps;
  const databases = { db: database.queries<MediaTables>(), reportDb: database.queries<ReportTables>() };
  const quarantine = createQuarantine({ ...others, ...databases, objects: originals });
  const rescreeningDeps = { ...others, ...databases, objects: originals, quarantine };
  return () => rescreenAll(rescreeningDeps);
}
