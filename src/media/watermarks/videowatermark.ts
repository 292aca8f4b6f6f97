/**
 * `POST /v1/watermark-video`: a video with the watermark and a closing clip, stored next to its source
 * (docs/specification/media.md#watermarks). A job makes it, one per source in all processes. Callers wait for the job; a retry joins
 * it again.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { brandIdOf } from '#image/engine/brand.ts';
import type { Caller } from '#platform/access/caller.ts';
import { transaction } from '#platform/db/db.ts';
import { type Job, LaneFull, type Queue, UnrecoverableError } from '#platform/jobs/jobs.ts';
import type { WatermarkedVideo, WatermarkRequest } from '../api.ts';
import { watermarkKeyOf } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';
import { removeObject } from '../deletion/removal.ts';
import { bucketOf, type ResolvedAsset } from '../lookup/assetlookup.ts';
import { mediaProblems, noSuchAsset } from '../problems.ts';
import { type SignedAsset, signOneWithCache } from '../signing/signedurlcache.ts';
import { type Download, originalAddress } from '../signing/signing.ts';
import { brandVideo } from '../video/branding.ts';
import { VideoFault } from '../video/ffmpeg.ts';
import { isLonger, LongVideo, longVideoMs, probeVideo } from '../video/probing.ts';
import { appendMark, download, inScratchFolder, markOfFile } from '../video/scratch.ts';
import { resolveSource } from './imagewatermark.ts';
import { isWatermarkCurrent, recordWatermark } from './watermarkstore.ts';

const payload = z.object({ backend: z.enum(['objects', 'legacy']), bucket: z.string(), storageKey: z.string() });
export type WatermarkJob = z.output<typeof payload>;

const ofWatermarks = { payload, maxAttempts: 4, retryAfterMs: 2000, isRoundRobin: true };

/** Long videos have a worker of their own, so that other videos do not wait for them. */
export const longWatermarkQueue: Queue<WatermarkJob> = { ...ofWatermarks, name: 'media/watermark-long-video' };

export const watermarkQueue: Queue<WatermarkJob> = {
  ...ofWatermarks,
  name: 'media/watermark-video',
  movesTo: longWatermarkQueue.name,
};

/** docs/specification/media.md#watermarks. */
const waitMs = 60_000;
const lookEveryMs = 250;
const videoMime = 'video/mp4';
/** The limit of unfinished jobs of one user. */
const mostUnfinished = 20;

/**
 * The JSON of WatermarkedVideo. Throws 404 (does not resolve, or was deleted during the call), 400 (no video), 422
 * `undecodable_video`, `video_too_large`, 429 `too_many_tasks`, 500 `watermark_failed`, 503 `ffmpeg_missing`,
 * `watermark_pending` (a repeat joins the job).
 */
export function watermarkVideo(
  deps: MediaContext,
  caller: Caller,
  request: WatermarkRequest,
  abandoned: AbortSignal,
): Promise<string> {
  return signOneWithCache(deps, caller, 'watermark-video', request, () =>
    signForCaller(deps, caller, request, abandoned),
  );
}

async function signForCaller(
  deps: MediaContext,
  caller: Caller,
  request: WatermarkRequest,
  abandoned: AbortSignal,
): Promise<SignedAsset> {
  const untilMs = performance.now() + waitMs;
  const stopped = AbortSignal.any([deps.closing, abandoned]);
  for (let hasWaited = false; ; hasWaited = true) {
    const resolved = await resolveSource(deps, caller, request, 'video');
    const signed = await signMade(deps, resolved, request.download);
    if (signed !== undefined) return { resolved, response: signed };
    // The job removed it because its source was removed. A replaced legacy file is watermarked again.
    if (hasWaited && resolved.backend === 'objects' && !(await isStored(resolved))) throw noSuchAsset();
    await deps.ffmpeg.check();
    await waitForJob(deps, await enqueue(deps, caller, resolved), untilMs, stopped);
  }
}

const isStored = async ({ objects, storageKey }: ResolvedAsset) => (await objects.head(storageKey)) !== undefined;

/** Resolves with the id of the one job of this source. Throws 429. */
async function enqueue(deps: MediaContext, caller: Caller, source: ResolvedAsset): Promise<string> {
  const { backend, objects, storageKey, row } = source;
  const place = { backend, bucket: objects.bucket, storageKey };
  const key = `${backend}/${objects.bucket}/${storageKey}`;
  const isUser = caller.kind === 'user';
  // Users can request videos of public scopes, so the lane is the caller's. Servers act for the owners.
  const lane = isUser ? caller.userId : (row?.ownerId ?? 'legacy');
  const options = { key, lane, ...(isUser && { maxInLane: mostUnfinished }) };
  try {
    const { jobId } = await transaction(deps.db, (tx) => deps.jobs.enqueue(tx, watermarkQueue, place, options));
    return jobId;
  } catch (error) {
    throw error instanceof LaneFull ? mediaProblems.too_many_tasks({ cause: error }) : error;
  }
}

async function signMade(
  deps: MediaContext,
  source: ResolvedAsset,
  download: Download,
): Promise<WatermarkedVideo | undefined> {
  const { objects } = source;
  const storageKey = watermarkKeyOf('video', source.storageKey, brandIdOf(deps.brand));
  if (!(await isWatermarkCurrent(deps.db, source, storageKey))) return undefined;
  return { url: originalAddress(deps, { objects, storageKey, mime: videoMime, etag: undefined }, download) };
}

/** Resolves when it is done. */
async function waitForJob({ jobs }: MediaContext, jobId: string, untilMs: number, stopped: AbortSignal): Promise<void> {
  while (performance.now() < untilMs && !stopped.aborted) {
    const state = await jobs.find(jobId);
    if (state === undefined || state.status === 'done') return;
    if (state.status === 'dead') {
      if (state.reason === 'undecodable_video' || state.reason === 'video_too_large')
        throw mediaProblems[state.reason]();
      throw mediaProblems.watermark_failed({ cause: new Error(state.reason ?? 'no reason was recorded') });
    }
    await sleep(lookEveryMs, undefined, { signal: stopped }).catch(() => undefined);
  }
  throw mediaProblems.watermark_pending();
}

/**
 * Longer videos than `longestMs` move to `longWatermarkQueue`. Throws UnrecoverableError with the code of the fault of the video, and
 * errors that another attempt can succeed after.
 */
export async function makeVideoWatermark(
  deps: MediaContext,
  job: Job<WatermarkJob>,
  longestMs = longVideoMs,
): Promise<void> {
  const { backend, storageKey } = job.payload;
  const objects = bucketOf(deps, job.payload);
  if (objects === undefined) throw new UnrecoverableError('bucket_not_configured');
  const key = watermarkKeyOf('video', storageKey, brandIdOf(deps.brand));
  const source = await objects.head(storageKey);
  const marked = { objects, version: backend === 'legacy' ? source?.etag : undefined };
  if (source !== undefined && !(await isWatermarkCurrent(deps.db, marked, key))) {
    try {
      await inScratchFolder(async (folder) => {
        const file = join(folder, 'source');
        if (!(await download(objects, storageKey, source, file, job.signal))) return;
        const into = join(folder, 'made.mp4');
        const facts = await probeVideo(deps.ffmpeg, file, job.signal);
        if (isLonger(facts, longestMs)) throw new LongVideo();
        await brandVideo(deps.ffmpeg, deps.brand, { file, facts }, { mark: join(folder, 'mark'), into }, job.signal);
        await appendMark(into, await markOfFile(file));
        const { size } = await stat(into);
        job.signal.throwIfAborted();
        const options = { contentType: videoMime, size, reproducible: true };
        await recordWatermark(deps.db, marked, key, await objects.put(key, createReadStream(into), options));
      });
    } catch (error) {
      if (error instanceof LongVideo) return transaction(deps.db, (tx) => job.move(tx));
      if (error instanceof VideoFault) throw new UnrecoverableError(error.reason, { cause: error });
      throw error;
    }
  }
  // Checked after writing: a deletion from before has not seen the file, a later one will. This also covers an earlier
  // attempt that wrote it and died.
  if (source === undefined || (await objects.head(storageKey))?.etag !== source.etag) await removeObject(objects, key);
}
