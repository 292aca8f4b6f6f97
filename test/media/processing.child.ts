/**
 * A process that works on one video, for its task or its watermark, and is killed before it ends. Without a video, it finishes
 * the work of killed processes, and its outcome is the resulting state.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { defaultBrand } from '#image/engine/brand.ts';
import { type RegistrationRequest, registrationRequest, scopeDeletion } from '#media/api.ts';
import type { MediaContext } from '#media/context.ts';
import { registerAsset } from '#media/registration/registration.ts';
import { deleteScope } from '#media/scopes/scopedeletion.ts';
import { videoTaskRequest } from '#media/tasks/api.ts';
import { longVideoQueue, processVideo, videoUploadQueue } from '#media/tasks/processing.ts';
import { beginVideoTask } from '#media/tasks/routes.ts';
import { createFfmpeg } from '#media/video/ffmpeg.ts';
import { longWatermarkQueue, makeVideoWatermark, watermarkQueue } from '#media/watermarks/videowatermark.ts';
import type { Database } from '#platform/db/db.ts';
import type { Job, Jobs } from '#platform/jobs/jobs.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { type CrashOrders, obey } from '../crashes/dying.fixture.ts';
import { type Interrupt, interrupted } from './interruption.fixture.ts';
import { openFiles, registrationDeps } from './registering.fixture.ts';

export interface ProcessingOrders extends CrashOrders {
  readonly deed: 'task' | 'watermark';
  /** `undefined`: finish what is left. */
  readonly request: unknown;
  /** Whose accounts are closed before that. */
  readonly closed?: readonly string[];
  /** The process is killed only while the job moves between two queues. */
  readonly isMove?: boolean;
}

const log = createLog({ level: 'silent' });
const internal = { kind: 'internal' } as const;

export function processingDeps(database: Database, dataDir: string): MediaContext {
  const objects = openFiles(dataDir);
  return {
    ...registrationDeps(database, dataDir),
    objects,
    legacy: { bucket: () => undefined },
    variants: { forgetAll: async () => 0 } as unknown as MediaContext['variants'],
    ffmpeg: createFfmpeg('ffmpeg'),
    brand: defaultBrand,
    jobs: createJobs({ database, log }),
    log,
  } as Partial<MediaContext> as MediaContext;
}

async function begin(jobs: Jobs, deps: MediaContext, deed: ProcessingOrders['deed'], request: RegistrationRequest) {
  if (deed === 'task') return beginVideoTask({ ...deps, jobs }, internal, videoTaskRequest.parse(request));
  const { asset } = await registerAsset(deps, internal, request);
  const { storageKey } = asset;
  const asked = { backend: 'objects' as const, bucket: deps.objects.bucket, storageKey };
  return jobs.enqueue(deps.db, watermarkQueue, asked, { key: storageKey });
}

function work(jobs: Jobs, deps: MediaContext): void {
  jobs.work(videoUploadQueue, (job) => processVideo(deps, job), { concurrency: 1 });
  jobs.work(longVideoQueue, (job) => processVideo(deps, job, Number.POSITIVE_INFINITY), { concurrency: 1 });
  jobs.work(watermarkQueue, (job) => makeVideoWatermark(deps, job), { concurrency: 1 });
  jobs.work(longWatermarkQueue, (job) => makeVideoWatermark(deps, job, Number.POSITIVE_INFINITY), { concurrency: 1 });
}

/** Interrupts only between the look at the video and the begin of its long work. */
function workInMove(jobs: Jobs, deps: MediaContext, interrupt: Interrupt): void {
  let isMoving = false;
  const dying = interrupted(deps, (moment) => {
    if (isMoving) return interrupt(moment);
    isMoving = moment.call === 'after probe';
  });
  const during = <Payload>(job: Job<Payload>): Job<Payload> => {
    const endOf =
      (end: Job<Payload>['move']): Job<Payload>['move'] =>
      async (tx) => {
        await interrupt({ number: 0, call: 'before the end of the job' });
        await end(tx);
        await interrupt({ number: 0, call: 'before the commit' });
      };
    return { ...job, complete: endOf(job.complete), move: endOf(job.move) };
  };
  const begun = async () => {
    isMoving = false;
    await interrupt({ number: 0, call: 'before the long work' });
  };
  const one = { concurrency: 1 };
  jobs.work(videoUploadQueue, (job) => processVideo(dying, during(job)), one);
  jobs.work(watermarkQueue, (job) => makeVideoWatermark(dying, during(job)), one);
  jobs.work(longVideoQueue, (job) => begun().then(() => processVideo(deps, job, Number.POSITIVE_INFINITY)), one);
  jobs.work(
    longWatermarkQueue,
    (job) => begun().then(() => makeVideoWatermark(deps, job, Number.POSITIVE_INFINITY)),
    one,
  );
}

async function workOnOne(orders: ProcessingOrders, database: Database, interrupt: Interrupt): Promise<string> {
  const jobs = createJobs({ database, log });
  const deps = processingDeps(database, orders.dataDir);
  // Of those that were killed before: left for the end.
  await sql`update jobs set status = 'waiting', run_at = now() + interval '1 day' where status <> 'done'`.execute(
    deps.db,
  );
  await begin(jobs, deps, orders.deed, registrationRequest.parse(orders.request));
  if (orders.isMove) workInMove(jobs, deps, interrupt);
  else work(jobs, interrupted(deps, interrupt));
  // All but the parked ones: its own.
  const unfinished = () =>
    sql`select from jobs where status in ('waiting', 'running') and run_at < now() + interval '1 hour'`.execute(
      deps.db,
    );
  while ((await unfinished()).rows.length > 0) await sleep(50);
  await jobs.stop();
  return 'lived';
}

async function finish({ dataDir, closed = [] }: ProcessingOrders, database: Database): Promise<string> {
  const jobs = createJobs({ database, log });
  const deps = processingDeps(database, dataDir);
  for (const ownerId of closed) await deleteScope({ ...deps, jobs }, internal, scopeDeletion.parse({ ownerId }));
  await sql`update jobs set run_at = now() where status = 'waiting'`.execute(deps.db);
  // The leases of killed processes need not be waited for.
  await sql`update jobs set expires_at = now() where status = 'running'`.execute(deps.db);
  work(jobs, deps);
  while ((await jobs.depths()).some(({ status }) => status !== 'dead')) await sleep(50);
  await jobs.stop();
  const tasks = await deps.db.selectFrom('media_tasks').select(['owner_id', 'status', 'metadata']).execute();
  const keys: string[] = [];
  for await (const { key } of deps.objects.list('u/')) keys.push(key);
  const assets = await deps.db
    .selectFrom('assets')
    .select(['asset_id', 'owner_id', 'storage_key', 'ready_at'])
    .execute();
  const { rows: longJobs } =
    await sql`select queue, payload, status from jobs where queue in (${longVideoQueue.name}, ${longWatermarkQueue.name})`.execute(
      deps.db,
    );
  return JSON.stringify({ tasks, keys, assets, longJobs, depths: await jobs.depths() });
}

await obey<ProcessingOrders>(import.meta.filename, (orders, database, interrupt) =>
  orders.request === undefined ? finish(orders, database) : workOnOne(orders, database, interrupt),
);
