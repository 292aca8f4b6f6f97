/** The media service (document 000; CONTRACT §4; docs/media.md). */
import type { ResizeSigner } from '#edge/api.ts';
import type { Engine } from '#image/engine/engine.ts';
import { createPermits } from '#image/engine/permits.ts';
import type { VariantMaker } from '#image/engine/variants.ts';
import type { Access } from '#platform/access/access.ts';
import type { Clock } from '#platform/clock.ts';
import type { Values } from '#platform/config.ts';
import type { Database } from '#platform/db/db.ts';
import { allowApplications } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import { measureJobs } from '#platform/jobs/depth.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { mediaSettings } from './config.ts';
import { addRoutes, addTaskRoutes } from './routes.ts';
import type { MediaTables } from './store.ts';
import { giveUp, type ProcessingDeps, processVideo, videoUploadQueue } from './tasks/processing.ts';
import type { TaskTables } from './tasks/store.ts';
import { deleteOwnAssets } from './tasks/tasks.ts';
import { createFfmpeg } from './video/ffmpeg.ts';
import { removeAbandonedScratch } from './video/scratch.ts';
import { makeVideoWatermark, type WatermarkMakingDeps, watermarkQueue } from './videowatermark.ts';

export interface MediaDeps {
  /** Of the server, as for every service. */
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'description' | 'bodyLimit'>;
  /** AGENT_ALLOWED_ORIGINS. */
  readonly agentOrigins: readonly string[];
  readonly clock: Clock;
  readonly access: Access;
  /** Migrated. */
  readonly database: Database;
  readonly originals: Objects;
  readonly engine: Engine;
  /** Over the public bucket, with the key secret of the image service and the edge: variants go with their source. */
  readonly variants: Pick<VariantMaker, 'forgetAll'>;
  /** Of the edge, or of the imgproxy server that stands in its place. */
  readonly resizeAddress: ResizeSigner;
  /** Over the same database; media works on its queues from its first moment until it closes. */
  readonly jobs: Jobs;
  readonly settings: Values<typeof mediaSettings>;
}

/** At 64 MiB each, the most that registrations hold in memory is 512 MiB. */
const picturesAtOnce = 8;
const pictureWaitMs = 5000;

export function createMedia(deps: MediaDeps): HttpServer {
  const { clock, database, originals, engine, variants, resizeAddress, jobs, settings } = deps;
  const app = createServer({
    ...deps.server,
    service: 'media',
    description:
      'Reserves places for uploads, registers what was uploaded, signs addresses to read it, and deletes it.',
    cors: allowApplications(deps.agentOrigins),
  });
  const { log } = deps.server;
  const closing = new AbortController();
  const common = {
    clock,
    db: database.queries<MediaTables>(),
    taskDb: database.queries<TaskTables>(),
    objects: originals,
    engine,
    variants,
    pictures: createPermits({ count: picturesAtOnce, waitMs: pictureWaitMs }),
    resizeAddress,
    jobs,
    ffmpeg: createFfmpeg(settings.ffmpegPath),
    limits: settings,
    publicScopes: settings.publicScopes,
    closing: closing.signal,
    log,
  };
  addRoutes(app, deps.access, common);
  addTaskRoutes(app, deps.access, common);
  workOnQueues(app, jobs, {
    ...common,
    discard: (ownerId, assetIds) => deleteOwnAssets(common, ownerId, assetIds),
  });
  // Before requests in flight are awaited: those that wait for a job are told to come again.
  const { drain } = app;
  app.drain = () => {
    closing.abort();
    return drain();
  };
  return app;
}

/** One video at a time each: ffmpeg takes two threads, and requests come first. */
const concurrency = 1;

function workOnQueues(app: HttpServer, jobs: Jobs, deps: ProcessingDeps & WatermarkMakingDeps): void {
  const queues = [videoUploadQueue.name, watermarkQueue.name];
  measureJobs(app.metrics, jobs, queues);
  app.addHook('onReady', async () => {
    await removeAbandonedScratch();
    jobs.work(videoUploadQueue, (job) => processVideo(deps, job), { concurrency, onDead: giveUp });
    jobs.work(watermarkQueue, (job) => makeVideoWatermark(deps, job), { concurrency });
  });
  app.addHook('onClose', () => jobs.stop({ queues }));
}
