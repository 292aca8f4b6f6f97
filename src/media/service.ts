/** The media service (docs/specification/media.md; docs/media.md). */
import { Counter, type Registry } from '@prometheus-io/client';
import type { FastifyRequest } from 'fastify';
import { sendMail } from '#accounts/mailing.ts';
import { createPermits } from '#image/engine/permits.ts';
import type { Access } from '#platform/access/access.ts';
import { targetOn } from '#platform/audit/audit.ts';
import { auditOperators } from '#platform/audit/http.ts';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import type { Database, Tx } from '#platform/db/db.ts';
import { clientAddressReader } from '#platform/http/clientaddress.ts';
import { allowApplications } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import { isUuid } from '#platform/ids.ts';
import { measureJobs } from '#platform/jobs/depth.ts';
import { parseJson } from '#platform/json.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { assetParams, type LegacyImport } from './api.ts';
import { addCollectionRoutes } from './collections/routes.ts';
import type { MediaSettings } from './config.ts';
import type { MediaContext, MediaStores, Pinned, ScreeningContext } from './context.ts';
import { createCredentials } from './credentials/credentials.ts';
import { incidentParams, incidentResolution } from './incidents/api.ts';
import { addIncidentRoutes } from './incidents/routes.ts';
import { createLibraryNews } from './news.ts';
import { addPeopleRoutes } from './people/routes.ts';
import { mediaProblems } from './problems.ts';
import { createQuarantine } from './quarantine/quarantine.ts';
import { createDigester, type Digester } from './reading/digests.ts';
import { createSettler } from './reconciling/settling.ts';
import { importFile } from './registration/importing.ts';
import { decisionRequest } from './reports/api.ts';
import { carryOut, decisionMailQueue, decisionQueue } from './reports/deciding.ts';
import { dropOldCounts } from './reports/reportstore.ts';
import { addReportRoutes } from './reports/routes.ts';
import { rescreenAll, rescreenOn, rescreenQueue } from './rescreening/rescreenjob.ts';
import { addRescreenRoutes } from './rescreening/routes.ts';
import { addRoutes } from './routes.ts';
import { findOrigin } from './screening/incidentstore.ts';
import type { Match } from './screening/screening.ts';
import { addShareRoutes } from './shares/routes.ts';
import { dropExpiredShares } from './shares/sharestore.ts';
import { addressingOf } from './signing/signedurlcache.ts';
import { type SweepRequest, sweepRequest } from './sweeping/api.ts';
import { startExpiringReservations } from './sweeping/reservations.ts';
import { addSweepRoutes } from './sweeping/routes.ts';
import { beginSweeping, enqueueNext, type SweepJob, sweepOn, sweepPage, sweepQueue } from './sweeping/sweep.ts';
import type { MediaTables } from './tables.ts';
import { giveUp, longVideoQueue, processVideo, type VideoUpload, videoUploadQueue } from './tasks/processing.ts';
import { addTaskRoutes } from './tasks/routes.ts';
import { addTrashRoutes } from './trash/routes.ts';
import { createFfmpeg } from './video/ffmpeg.ts';
import { removeAbandonedScratch } from './video/scratch.ts';
import { createImageWatermarker } from './watermarks/imagewatermark.ts';
import { longWatermarkQueue, makeVideoWatermark, watermarkQueue } from './watermarks/videowatermark.ts';

type GivenStores = 'log' | 'clock' | 'jobs' | 'publicObjects' | 'legacy' | 'variants' | 'signedUrls' | 'webhooks';

/** The engines of the service, which its commands use too. */
interface StoreEngines extends Pick<MediaStores, GivenStores> {
  /** Migrated. */
  readonly database: Database;
  readonly originals: Objects;
  readonly settings: MediaSettings;
}

export interface MediaDeps
  extends Omit<StoreEngines, 'log'>,
    Pick<MediaContext, 'engine' | 'brand' | 'screening' | 'resizeAddress' | 'signUpload'> {
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'reference' | 'bodyLimit'>;
  /** AGENT_ALLOWED_ORIGINS. */
  readonly agentOrigins: readonly string[];
  readonly access: Access;
  /** The backends whose objects are files of the data folder. */
  readonly files: readonly Pinned['backend'][];
  readonly sharing: Pick<MediaContext, 'agent' | 'edgeUrl'>;
  readonly reporting: Pick<MediaContext, 'notify' | 'addressSecret'> & {
    /** TRUSTED_PROXIES. */
    readonly trustedProxies: readonly string[];
  };
}

/** Pages of expired shares return 404 at once. */
const sharesEndEveryMs = 3_600_000;
/** Of the files of registrations and watermarks, while they are in memory. One of up to 64 MiB can be alone. */
const imagesAtOnce = 8;
const imageMemory = 48 * 1024 * 1024;
const imageWaitMs = 5000;

export function createMedia(deps: MediaDeps): HttpServer {
  const { engine, settings } = deps;
  const app = createServer({
    ...deps.server,
    service: 'media',
    reference: {
      clientTypes: {
        ImageSignedRef: ['ImageSignedRefs', 'additionalProperties'],
        VideoSignedRef: ['VideoSignedRefs', 'additionalProperties'],
        Lineage: ['Asset', 'properties', 'generation', 'anyOf', '0'],
        Report: ['ReportPage', 'properties', 'reports', 'items'],
        ReportReason: ['ReportRequest', 'properties', 'reason'],
        SharedObject: ['ShareData', 'properties', 'media', 'items', 'properties', 'file', 'anyOf', '0'],
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
  const closing = new AbortController();
  const images = imagePermits();
  const stores = openStores({ ...deps, log }, createDigester());
  const context: MediaContext = {
    ...stores,
    settler: createSettler(stores, deps.files),
    engine,
    images,
    screening: deps.screening,
    quarantine: createQuarantine(stores, settings),
    countIncident: measureIncidents(app.metrics),
    brand: deps.brand,
    watermarks: createImageWatermarker({ db: stores.db, engine, images }),
    ffmpeg: createFfmpeg(settings.ffmpegPath),
    credentials: createCredentials(settings, deps.brand.name, log),
    resizeAddress: deps.resizeAddress,
    addressing: addressingOf(stores.objects, deps.resizeAddress, engine.brandId),
    signUpload: deps.signUpload,
    news: createLibraryNews(deps.sharing.agent, log),
    ...deps.sharing,
    notify: deps.reporting.notify,
    addressSecret: deps.reporting.addressSecret,
    closing: closing.signal,
  };
  // The folder may be a copy, so the URLs of files in Redis may contain the ETags of another one.
  if (deps.files.includes('objects') && stores.signedUrls.driver === 'redis')
    app.addHook('onReady', () => stores.signedUrls.clear());
  const { db } = context;
  let expiring: Interval | undefined;
  let endingShares: Interval | undefined;
  app.addHook('onReady', async () => {
    expiring = startExpiringReservations(context);
    endingShares = startInterval(
      sharesEndEveryMs,
      () => Promise.all([dropExpiredShares(db), dropOldCounts(db), context.quarantine.expire()]).then(() => undefined),
      (error) => log.warn({ err: error }, 'expired shares, evidence and counts of reports could not be removed'),
    );
  });
  app.addHook('onClose', () => Promise.all([expiring?.stop(), endingShares?.stop()]).then(() => undefined));
  const targetOf = async (request: FastifyRequest, answer: unknown) => {
    const target = auditing.targetOf(request, answer);
    const id = /^incident (.+)/.exec(target ?? '')?.[1] ?? '';
    // Without the database, the action cannot be recorded either.
    const found = isUuid(id) ? await findOrigin(db, id).catch(() => undefined) : undefined;
    return target !== undefined && found !== undefined ? targetOn(target, found.ownerId) : target;
  };
  auditOperators(app, { db, log, ...auditing, targetOf });
  addRoutes(app, deps.access, context);
  addCollectionRoutes(app, deps.access, context);
  addTrashRoutes(app, deps.access, context);
  addTaskRoutes(app, deps.access, context);
  addIncidentRoutes(app, deps.access, context);
  addRescreenRoutes(app, deps.access, context);
  addPeopleRoutes(app, deps.access, context);
  addSweepRoutes(app, deps.access, context);
  addShareRoutes(app, deps.access, context);
  const readAddress = clientAddressReader(deps.reporting.trustedProxies);
  addReportRoutes(app, deps.access, context, (request) => readAddress(request) ?? request.ip);
  workOnQueues(app, context);
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
const anyLength = Number.POSITIVE_INFINITY;

function workOnQueues(app: HttpServer, deps: MediaContext): void {
  const { jobs } = deps;
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
    const options = { concurrency, onDead: (tx: Tx<MediaTables>, upload: VideoUpload) => giveUp(deps, tx, upload) };
    jobs.work<VideoUpload, MediaTables>(videoUploadQueue, (job) => processVideo(deps, job), options);
    jobs.work<VideoUpload, MediaTables>(longVideoQueue, (job) => processVideo(deps, job, anyLength), options);
    jobs.work(watermarkQueue, (job) => makeVideoWatermark(deps, job), { concurrency });
    jobs.work(longWatermarkQueue, (job) => makeVideoWatermark(deps, job, anyLength), { concurrency });
    jobs.work<SweepJob, MediaTables>(sweepQueue, (job) => sweepOn(deps, job), {
      concurrency: 1,
      onDead: (tx, { since }) => enqueueNext(deps, tx, { since, cursor: null }),
    });
    jobs.work(rescreenQueue, (job) => rescreenOn(deps, job), { concurrency: 1 });
    jobs.work(decisionQueue, (job) => carryOut(deps, job), { concurrency });
    jobs.work(decisionMailQueue, (job) => sendMail(deps, job), { concurrency });
    await beginSweeping(deps);
  });
  app.addHook('onClose', () => jobs.stop({ queues }));
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
    ['/v1/sweep', '/v1/assets/legacy', ...incidentDeeds].includes(url) ||
    (['/v1/rescreen', '/v1/incidents'].includes(url) && method === 'POST'),
  targetOf: ({ routeOptions: { url }, body, params }: FastifyRequest, answer: unknown) => {
    if (incidentDeeds.includes(url ?? '')) return `incident ${incidentParams.safeParse(params).data?.id ?? ''}`;
    if (url === '/v1/incidents') {
      const opened = incidentParams.safeParse(parseJson(String(answer))).data;
      return opened ? `incident ${opened.id}` : `asset ${assetParams.safeParse(body).data?.assetId ?? ''}`;
    }
    if (url === '/v1/assets/legacy') return 'legacy file';
    if (url === '/v1/rescreen') return 'assets';
    return sweepRequest.safeParse(body).data?.apply ? 'leftovers' : undefined;
  },
  // A later decision replaces the stored one, so only the log has the history.
  choiceOf: ({ body }: FastifyRequest) =>
    decisionRequest.safeParse(body).data?.decision ?? incidentResolution.safeParse(body).data?.resolution,
};

function openStores({ database, originals, settings, ...given }: StoreEngines, digester: Digester): MediaStores {
  return {
    ...given,
    db: database.queries<MediaTables>(),
    objects: originals,
    digester,
    limits: settings,
    publicScopes: settings.publicScopes,
  };
}

/** A command can wait. */
const openForCommand = (deps: StoreEngines) => openStores(deps, createDigester({ waitMs: 3_600_000 }));

type ScreeningEngines = StoreEngines & Pick<MediaDeps, 'engine' | 'screening'>;

/** For `npm run import-legacy` without a running instance: `POST /v1/assets/legacy` without HTTP. */
export function importerOf(deps: ScreeningEngines) {
  const { engine, screening } = deps;
  const context: ScreeningContext = { ...openForCommand(deps), engine, screening, images: imagePermits() };
  return (request: LegacyImport) => importFile(context, request);
}

/** For `npm run sweep` without a running instance: `POST /v1/sweep` without HTTP. */
export function sweeperOf(deps: StoreEngines) {
  const stores = openForCommand(deps);
  return (request: SweepRequest) => sweepPage(stores, request);
}

/** For `npm run rescreen` without a running instance: `POST /v1/rescreen` without HTTP and jobs. */
export function rescreenerOf(deps: ScreeningEngines) {
  const { engine, screening, settings } = deps;
  const stores = openForCommand(deps);
  const quarantine = createQuarantine(stores, settings);
  const context: ScreeningContext = { ...stores, engine, screening, images: imagePermits(), quarantine };
  return () => rescreenAll(context);
}

// The metric of incidents.

/** Call it for each incident that this process records. Lists and labels of the classifier share one value each: it names them freely. */
type CountIncident = (match: Match) => void;

function measureIncidents(registry: Registry): CountIncident {
  const counter = new Counter({
    name: 'media_incidents_total',
    help: 'Uploads, imports and copies that screening blocked.',
    labelNames: ['list'],
    registers: [registry],
  });
  return ({ check, list }) => counter.inc({ list: check === 'classifier' || check === 'label' ? check : list });
}
