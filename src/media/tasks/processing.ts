/**
 * The job `video-upload-service` (docs/specification/media.md#video-job): an uploaded video and a poster
 * frame of it become assets, with a rendition if browsers do not play the video; then the task is completed. Every step
 * may be repeated: the poster's id follows from the video's, its object is created only, registrations are replays. While
 * the task is unfinished there are at most the poster and the rendition; a run whose task was deleted or canceled removes
 * them.
 */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { startInterval } from '#platform/background/interval.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import { type Job, type Jobs, type Queue, UnrecoverableError } from '#platform/jobs/jobs.ts';
import { withMark } from '#platform/metadata/metadata.ts';
import type { Generated } from '#platform/metadata/xmp.ts';
import { ObjectExists } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import type { Asset } from '../api.ts';
import { posterIdOf } from '../assets/asset.ts';
import { draftAsset, dropUnready, findAsset } from '../assets/assetstore.ts';
import { renditionKeyOf, renditionMime, storageKeyOf } from '../assets/storagekey.ts';
import type { MediaContext, MediaStores } from '../context.ts';
import { deleteAssetsOfOwner } from '../deletion/deletion.ts';
import { removeObject } from '../deletion/removal.ts';
import { publishTaskEnd, type TaskEnd } from '../events.ts';
import { isBlock } from '../problems.ts';
import { startHashes } from '../reading/unchanged.ts';
import { unknownFacts } from '../registration/inspection.ts';
import { registerAsset } from '../registration/registration.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';
import type { MediaTables, Playback } from '../tables.ts';
import { VideoFault, type VideoFaultReason } from '../video/ffmpeg.ts';
import { takePoster } from '../video/poster.ts';
import { isLonger, LongVideo, longVideoMs, probeVideo, type VideoFile } from '../video/probing.ts';
import { isPlayable, renderRendition } from '../video/rendition.ts';
import { appendMark, download, inScratchFolder, markOfFile } from '../video/scratch.ts';
import {
  advanceRun,
  describeVideo,
  findPlayback,
  findUnfinished,
  isShown,
  lockRun,
  type Run,
  setPlayback,
} from './taskstore.ts';

const payload = z.object({
  taskId: z.string(),
  /** The revision of the row that belongs to this job. */
  runId: z.string(),
  ownerId: z.string(),
  assetId: z.string(),
  scopeKind: z.string(),
  scopeId: z.string(),
  mime: z.string(),
});
export type VideoUpload = z.output<typeof payload>;

const ofUploads = { payload, maxAttempts: 6, retryAfterMs: 2000, isRoundRobin: true };

/** Renditions of long videos have a worker of their own, so that the posters of other videos do not wait for them. */
export const longVideoQueue: Queue<VideoUpload> = { ...ofUploads, name: 'media/long-videos' };

export const videoUploadQueue: Queue<VideoUpload> = {
  ...ofUploads,
  name: 'video-upload-service',
  movesTo: longVideoQueue.name,
};

/** What a run is tagged with. */
export const tagOf = (taskId: string) => `videoTask:${taskId}`;

/** Removes the jobs of these tasks that no worker has started. */
export async function withdrawVideos(
  jobs: Pick<Jobs, 'withdraw'>,
  tx: Tx<MediaTables>,
  taskIds: readonly string[],
): Promise<void> {
  for (const queue of [videoUploadQueue, longVideoQueue]) await jobs.withdraw(tx, queue, taskIds.map(tagOf));
}

const posterMime = 'image/jpeg';
const internal = { kind: 'internal' } as const;

/** Longer videos than `longestMs` that need a rendition move to `longVideoQueue`. Throws errors after which another attempt can succeed. */
export async function processVideo(deps: MediaContext, job: Job<VideoUpload>, longestMs = longVideoMs): Promise<void> {
  const upload = job.payload;
  try {
    await advance(deps.db, upload, 'processing');
    await makeAssets(deps, job, longestMs);
  } catch (error) {
    // If the task was deleted in between, the other worker finds that out.
    if (error instanceof LongVideo) return transaction(deps.db, (tx) => job.move(tx));
    const code = codeOf(error);
    if (code === undefined && !(error instanceof RunCancelled)) throw error;
    await removeOutput(deps, upload);
    // A video that was registered before its poster was screened.
    if (isBlock(code)) await deleteAssetsOfOwner(deps, upload.ownerId, [upload.assetId]);
    if (code === undefined) return;
    deps.log.warn({ err: error, taskId: upload.taskId }, 'a video cannot be processed');
    await transaction(deps.db, async (tx) => {
      await endRun(deps, tx, upload, { status: 'failed', error: code });
      await job.complete(tx);
    });
  }
}

/** For `onDead`: in the transaction in which the job ends. */
export async function giveUp(deps: MediaStores, tx: Tx<MediaTables>, upload: VideoUpload): Promise<void> {
  await endRun(deps, tx, upload, { status: 'failed', error: 'processing_failed' });
}

/** Throws RunCancelled. In a transaction, the task can be neither deleted nor canceled until it ends. */
async function advance(...run: Parameters<typeof advanceRun>): Promise<void> {
  if (!(await advanceRun(...run))) throw new RunCancelled();
}

/**
 * Removes the poster and the rendition of an attempt, unless a video shows them or another run is for the same upload:
 * that run finds them, or makes them again.
 */
async function removeOutput(deps: MediaContext, upload: VideoUpload): Promise<void> {
  const { db, objects } = deps;
  const videoKey = storageKeyOf(upload);
  const runs = await findUnfinished(db, upload.ownerId, videoKey);
  if (runs.some((taskId) => taskId !== upload.taskId)) return;
  if ((await findPlayback(db, upload.assetId)) !== 'rendition') await removeObject(objects, renditionKeyOf(videoKey));
  const poster = posterOf(upload);
  if (!(await isShown(db, poster.assetId))) await removePoster(deps, upload, poster);
}

async function removePoster(deps: MediaContext, upload: VideoUpload, poster: Poster): Promise<void> {
  const { db, objects } = deps;
  await deleteAssetsOfOwner(deps, upload.ownerId, [poster.assetId]);
  // An attempt may have died before it wrote the row. A refusal blocks registrations while the object is removed.
  const storageKey = storageKeyOf(poster);
  const head = await objects.head(storageKey);
  if (head === undefined) return;
  const place = { bucket: objects.bucket, storageKey, etag: head.etag, byteSize: head.size };
  const identity = { ...poster, requestedMime: posterMime };
  if (!(await draftAsset(db, identity, place, unknownFacts(posterMime), 'object_not_found'))) return;
  await removeObject(objects, storageKey);
  await dropUnready(db, poster.assetId, head.etag);
}

/** Makes the video readable, or adds its missing facts, in the transaction that completes its task. */
async function makeAssets(deps: MediaContext, job: Job<VideoUpload>, longestMs: number): Promise<void> {
  const { db } = deps;
  const { payload: upload, signal } = job;
  const { assetId, ownerId, scopeKind, scopeId, mime } = upload;
  const { facts, image, playing } = await probeUpload(deps, job, longestMs);
  const poster = (await hasThumb(deps, upload)) ? undefined : await makePoster(deps, upload, image);
  signal.throwIfAborted();
  const complete = async (tx: Tx<MediaTables>, thumbAssetId: string | null | undefined) => {
    const assetIds = [assetId, ...(thumbAssetId ? [thumbAssetId] : [])];
    if (!(await endRun(deps, tx, upload, { status: 'completed', assetIds }))) throw new RunCancelled();
    if (playing.fault !== undefined) await advanceRun(tx, upload, 'completed', { renditionError: playing.fault });
    await setPlayback(tx, assetId, playing.playback);
    await job.complete(tx);
  };
  const described = {
    width: facts.width,
    height: facts.height,
    durationMs: facts.durationMs ?? undefined,
    blurhash: poster?.blurhash ?? undefined,
    thumbAssetId: poster?.assetId,
  };
  const identity = { assetId, ownerId, scopeKind, scopeId, mime, kind: 'video' };
  const { created } = await registerAsset(deps, internal, { ...identity, ...described }, (tx) =>
    complete(tx, poster?.assetId),
  );
  if (created) return;
  await withInvalidation(deps, [assetId], () =>
    transaction(db, async (tx) => {
      const found = { ...described, durationMs: facts.durationMs, blurhash: poster?.blurhash ?? null };
      const video = await describeVideo(tx, assetId, { ...found, thumbAssetId: poster?.assetId ?? null });
      if (video === undefined) throw new TaskFault('object_not_found');
      await complete(tx, video.thumbAssetId);
    }),
  );
}

/** Whether the video is registered already with a thumbnail of its own, and needs no poster. */
async function hasThumb({ db }: MediaContext, { assetId }: VideoUpload): Promise<boolean> {
  const video = await findAsset(db, assetId);
  return Boolean(video?.readyAt && video.thumbAssetId && video.thumbAssetId !== posterIdOf(assetId));
}

async function makePoster(deps: MediaContext, upload: VideoUpload, image: Uint8Array): Promise<Asset> {
  const { objects } = deps;
  const poster = posterOf(upload);
  await objects.put(storageKeyOf(poster), image, { contentType: posterMime, createOnly: true }).catch((error) => {
    // Written by an earlier or a concurrent attempt. The first write counts.
    if (!(error instanceof ObjectExists)) throw error;
  });
  try {
    const { asset } = await registerAsset(deps, internal, poster, (tx) => advance(tx, upload, 'processing'));
    return asset;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'object_not_found') throw error;
    throw new Error('a canceled run removed the poster', { cause: error });
  }
}

function posterOf({ assetId, ownerId, scopeKind, scopeId }: VideoUpload) {
  return { assetId: posterIdOf(assetId), ownerId, scopeKind, scopeId, kind: 'image', mime: posterMime };
}

type Poster = ReturnType<typeof posterOf>;

/** Throws LongVideo before the longest work begins. */
async function probeUpload(deps: MediaContext, job: Job<VideoUpload>, longestMs: number) {
  const { db, objects, ffmpeg, limits, digester } = deps;
  const { payload: upload, signal } = job;
  const key = storageKeyOf(upload);
  return inScratchFolder(async (folder) => {
    const head = await objects.head(key);
    if (head === undefined) throw new TaskFault('object_not_found');
    if (head.size > limits.maxVideoBytes) throw new TaskFault('asset_too_large');
    const file = join(folder, 'video');
    const hashes = startHashes();
    if (!(await download(objects, key, head, file, signal, hashes.update)))
      throw new Error('the object changed while it was read');
    // The registration needs them, and would read everything again.
    digester.add(objects, key, head.etag, hashes.digests());
    const facts = await probeVideo(ffmpeg, file, signal);
    // Of an earlier task for the same video.
    const playback = await findPlayback(db, upload.assetId);
    if (isLonger(facts, longestMs) && !playback && !(await isPlayable(file, facts, upload.mime))) throw new LongVideo();
    const mark = await markOfVideo(db, upload.assetId, file);
    const frame = await takePoster(ffmpeg, { file, facts }, join(folder, 'poster.jpg'), signal);
    const image = mark === undefined ? frame : withMark(frame, mark);
    const playing: Playing = playback
      ? { playback }
      : await makePlayable(deps, upload, { file, facts, mark, mime: upload.mime, storageKey: key }, folder, signal);
    return { facts, image, playing };
  });
}

/** The registration can say more than the file, whose format may have no mark. */
async function markOfVideo(db: MediaContext['db'], assetId: string, file: string): Promise<Generated | undefined> {
  return (await markOfFile(file)) ?? (await findAsset(db, assetId))?.generated ?? undefined;
}

class TaskFault extends UnrecoverableError {}

/** Why the task fails permanently, for `metadata.error`; `undefined`: another attempt can succeed. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof VideoFault) return error.reason;
  if (error instanceof TaskFault) return error.message;
  if (error instanceof Problem && error.status < 500) {
    const { errorCode } = error.details.fields ?? {};
    return typeof errorCode === 'string' ? errorCode : error.code;
  }
  return undefined;
}

// The rendition of an uploaded video, made by its job (docs/specification/media.md#renditions).

interface DownloadedVideo extends VideoFile {
  readonly mark: Generated | undefined;
  readonly mime: string;
  readonly storageKey: string;
}

interface Playing {
  readonly playback: Playback | null;
  /** Why there is no rendition. */
  readonly fault?: VideoFaultReason;
}

/**
 * Stores a rendition, if browsers do not play the video. A rendition that cannot be made is no failure of the task: the
 * video is what the user uploaded. Throws RunCancelled as soon as the task is deleted or canceled, and errors after
 * which another attempt can succeed.
 */
export async function makePlayable(
  deps: MediaContext,
  run: Run,
  video: DownloadedVideo,
  folder: string,
  signal: AbortSignal,
): Promise<Playing> {
  const { file, facts, mark, mime, storageKey } = video;
  if (await isPlayable(file, facts, mime)) return { playback: 'original' };
  const into = join(folder, 'rendition.mp4');
  try {
    await withProgress(deps, run, signal, (stopped, report) =>
      renderRendition(deps.ffmpeg, { file, facts }, into, stopped, report),
    );
  } catch (error) {
    if (!(error instanceof VideoFault)) throw error;
    deps.log.warn({ err: error, taskId: run.taskId }, 'a video has no rendition');
    return { playback: null, fault: error.reason };
  }
  await appendMark(into, mark);
  const { size } = await stat(into);
  signal.throwIfAborted();
  await deps.objects.put(renditionKeyOf(storageKey), createReadStream(into), { contentType: renditionMime, size });
  return { playback: 'rendition' };
}

const progressEveryMs = 2000;

/** Writes the progress to the task from time to time, and stops the work if the task was deleted or canceled. */
async function withProgress(
  { db, log }: MediaContext,
  run: Run,
  signal: AbortSignal,
  work: (stopped: AbortSignal, report: (percent: number) => void) => Promise<void>,
): Promise<void> {
  const cancelled = new AbortController();
  let progress = 0;
  const write = async () => {
    if (!(await advanceRun(db, run, 'processing', { progress }))) cancelled.abort(new RunCancelled());
  };
  await write();
  const writing = startInterval(progressEveryMs, write, (err) =>
    log.warn({ err }, 'could not write the progress of a video task'),
  );
  try {
    await work(AbortSignal.any([signal, cancelled.signal]), (percent) => {
      progress = percent;
    });
  } finally {
    await writing.stop();
  }
}

// The end of a video task, with its webhook event, in the transaction of the caller.

/** The task was deleted or canceled, so nothing of it becomes readable. */
class RunCancelled extends Error {}

/** `false`: the task was deleted or cancelled. A task that has ended before keeps its end, and is not published again. */
async function endRun(deps: MediaStores, tx: Tx<MediaTables>, run: VideoUpload, end: TaskEnd): Promise<boolean> {
  const before = await lockRun(tx, run);
  if (before === undefined) return false;
  const metadata =
    end.status === 'completed' ? { output: { assetIds: end.assetIds }, progress: 100 } : { error: end.error };
  await advanceRun(tx, run, end.status, metadata);
  if (before === 'pending' || before === 'processing') await publishTaskEnd(deps, tx, run, end);
  return true;
}
