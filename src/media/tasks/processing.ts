/**
 * The job `video-upload-service` (document 000, `POST /v1/media-tasks/video`; CONTRACT §4): an uploaded video and a poster
 * frame of it become assets, then the task is completed. Every step may be repeated: the poster's id follows from the
 * video's, its object is created only, registrations are replays. Whoever finds the task deleted takes both back.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { type Db, transaction } from '#platform/db/db.ts';
import { type Job, type Queue, UnrecoverableError } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import { ObjectExists, type Objects } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { startHashes } from '../digesting.ts';
import { type RegistrationDeps, registerAsset } from '../registration.ts';
import type { RemovalDeps } from '../removal.ts';
import { storageKeyOf } from '../storagekey.ts';
import { type Ffmpeg, VideoFault } from '../video/ffmpeg.ts';
import { takePoster } from '../video/poster.ts';
import { probeVideo, type VideoFacts } from '../video/probing.ts';
import { download, inScratchFolder } from '../video/scratch.ts';
import { advanceRun, hasOtherRun, type TaskTables } from './store.ts';

const payload = z.object({
  taskId: z.string(),
  /** Of the row that belongs to this job. */
  runId: z.string(),
  ownerId: z.string(),
  assetId: z.string(),
  scopeKind: z.string(),
  scopeId: z.string(),
  mime: z.string(),
});
export type VideoUpload = z.output<typeof payload>;

export const videoUploadQueue: Queue<VideoUpload> = {
  name: 'video-upload-service',
  payload,
  maxAttempts: 6,
  retryAfterMs: 2000,
};

/** What a run is tagged with. */
export const tagOf = (taskId: string) => `videoTask:${taskId}`;

export interface ProcessingDeps extends RegistrationDeps, RemovalDeps {
  readonly taskDb: Db<TaskTables>;
  readonly objects: Objects;
  readonly ffmpeg: Ffmpeg;
  readonly log: Log;
  /** Deletes those of the ids that are the owner's. */
  readonly discard: (ownerId: string, assetIds: readonly string[]) => Promise<unknown>;
}

const posterMime = 'image/jpeg';

/** Throws what another attempt may mend. */
export async function processVideo(deps: ProcessingDeps, job: Job<VideoUpload>): Promise<void> {
  const upload = job.payload;
  if (!(await advanceRun(deps.taskDb, upload, 'processing'))) return takeBack(deps, upload);
  let isKept: boolean;
  try {
    await makeAssets(deps, upload, job.signal);
    isKept = await finish(deps, job, 'completed', {
      output: { assetIds: [upload.assetId, posterIdOf(upload.assetId)] },
    });
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    deps.log.warn({ err: error, taskId: upload.taskId }, 'a video cannot be processed');
    await removePoster(deps, upload);
    isKept = await finish(deps, job, 'failed', { error: code });
  }
  // Deleted while its assets were made: they may have come after the deletion looked for them.
  if (!isKept) await takeBack(deps, upload);
}

/** For `onDead`: in the transaction in which the job ends. */
export async function giveUp(tx: Parameters<typeof advanceRun>[0], upload: VideoUpload): Promise<void> {
  await advanceRun(tx, upload, 'failed', { error: 'processing_failed' });
}

/** `false`: the task is gone, and the job goes on until what was made is taken back. */
async function finish(
  { taskDb }: ProcessingDeps,
  { payload: upload, complete }: Job<VideoUpload>,
  status: 'completed' | 'failed',
  metadata: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  return transaction(taskDb, async (tx) => {
    const isKept = await advanceRun(tx, upload, status, metadata);
    if (isKept) await complete(tx);
    return isKept;
  });
}

async function takeBack(deps: ProcessingDeps, upload: VideoUpload): Promise<void> {
  if (await hasOtherRun(deps.taskDb, upload.assetId, upload.runId)) return;
  await deps.discard(upload.ownerId, [upload.assetId]);
  await removePoster(deps, upload);
}

/** Its object too where an attempt died before the row was written. */
async function removePoster({ discard, objects }: ProcessingDeps, upload: VideoUpload): Promise<void> {
  const assetId = posterIdOf(upload.assetId);
  await discard(upload.ownerId, [assetId]);
  const { failed } = await objects.remove([storageKeyOf({ ...upload, assetId, mime: posterMime })]);
  if (failed.length > 0) throw new Error(`the poster could not be removed: ${failed[0]?.reason}`);
}

async function makeAssets(deps: ProcessingDeps, upload: VideoUpload, signal: AbortSignal): Promise<void> {
  const { objects } = deps;
  const { assetId, ownerId, scopeKind, scopeId, mime } = upload;
  const place = { ownerId, scopeKind, scopeId };
  const poster = { ...place, assetId: posterIdOf(assetId), kind: 'image', mime: posterMime };
  const { facts, picture } = await lookAt(deps, storageKeyOf(upload), signal);
  await objects.put(storageKeyOf(poster), picture, { contentType: posterMime, createOnly: true }).catch((error) => {
    // Of an earlier attempt, or of one that is under way elsewhere: what was written first counts.
    if (!(error instanceof ObjectExists)) throw error;
  });
  const internal = { kind: 'internal' } as const;
  const unsaid = { byteSize: undefined, blurhash: undefined };
  const { asset } = await registerAsset(deps, internal, { ...unsaid, ...poster, ...unknown });
  signal.throwIfAborted();
  await registerAsset(deps, internal, {
    ...place,
    assetId,
    mime,
    kind: 'video',
    byteSize: undefined,
    width: facts.width,
    height: facts.height,
    durationMs: facts.durationMs ?? undefined,
    blurhash: asset.blurhash ?? undefined,
    thumbAssetId: poster.assetId,
  });
}

/** A picture speaks for itself. */
const unknown = { width: undefined, height: undefined, durationMs: undefined, thumbAssetId: undefined };

interface Looked {
  readonly facts: VideoFacts;
  readonly picture: Uint8Array;
}

async function lookAt(deps: ProcessingDeps, key: string, signal: AbortSignal): Promise<Looked> {
  const { objects, ffmpeg, limits, digester } = deps;
  return inScratchFolder(async (folder) => {
    const head = await objects.head(key);
    if (head === undefined) throw new TaskFault('object_not_found');
    if (head.size > limits.maxVideoBytes) throw new TaskFault('asset_too_large');
    const file = join(folder, 'video');
    const hashes = startHashes();
    if (!(await download(objects, key, head, file, signal, hashes.update)))
      throw new Error('the object changed while it was read');
    // The registration needs them, and would read everything again.
    digester.note(objects, key, head.etag, hashes.digests());
    const facts = await probeVideo(ffmpeg, file, signal);
    return { facts, picture: await takePoster(ffmpeg, { file, facts }, join(folder, 'poster.jpg'), signal) };
  });
}

class TaskFault extends UnrecoverableError {}

/** Why the task fails for good, as `metadata.error` says it; `undefined`: another attempt may do better. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof VideoFault) return error.reason;
  if (error instanceof TaskFault) return error.message;
  if (error instanceof Problem && error.status < 500) {
    const { errorCode } = error.details.fields ?? {};
    return typeof errorCode === 'string' ? errorCode : error.code;
  }
  return undefined;
}

/** A UUID of version 5 (RFC 9562), so that every attempt means the same asset. */
export function posterIdOf(assetId: string): string {
  const namespace = Buffer.from(assetId.replaceAll('-', ''), 'hex');
  const hash = createHash('sha1').update(namespace).update('poster').digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
