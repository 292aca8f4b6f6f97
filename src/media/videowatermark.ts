/**
 * `POST /v1/watermark-video`: a video with the watermark and a closing clip, stored beside its source (document 000; CONTRACT
 * §4). It is made by a job, one per source however many ask in however many processes; callers wait for it, and join it
 * again when they repeat.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Caller } from '#platform/access/caller.ts';
import { type Job, type Jobs, type Queue, UnrecoverableError } from '#platform/jobs/jobs.ts';
import { isSafeKey } from '#platform/objects/keys.ts';
import { invalid, problems } from '#platform/problem.ts';
import { type Answer, type AnswersDeps, answersOf } from './answers.ts';
import type { WatermarkedVideo, WatermarkRequest } from './api.ts';
import { bucketOf, type Located, type PlacesDeps } from './locating.ts';
import { mediaProblems } from './problems.ts';
import { type ResolvingDeps, resolveRefs } from './resolving.ts';
import { originalAddress } from './signing.ts';
import { videoWatermarkKeyOf } from './storagekey.ts';
import { brandVideo } from './video/branding.ts';
import { type Ffmpeg, VideoFault } from './video/ffmpeg.ts';
import { probeVideo } from './video/probing.ts';
import { download, inScratchFolder } from './video/scratch.ts';

const payload = z.object({ backend: z.enum(['objects', 'legacy']), bucket: z.string(), storageKey: z.string() });
export type WatermarkJob = z.output<typeof payload>;

export const watermarkQueue: Queue<WatermarkJob> = {
  name: 'media/watermark-video',
  payload,
  maxAttempts: 4,
  retryAfterMs: 2000,
};

export interface VideoWatermarkDeps extends ResolvingDeps, AnswersDeps {
  readonly jobs: Pick<Jobs, 'enqueue' | 'look'>;
  readonly ffmpeg: Pick<Ffmpeg, 'check'>;
  /** Aborted when the service begins to close. */
  readonly closing: AbortSignal;
}

export interface WatermarkMakingDeps extends PlacesDeps {
  readonly ffmpeg: Ffmpeg;
}

/** CONTRACT §4. */
const waitMs = 60_000;
const lookEveryMs = 250;
const videoMime = 'video/mp4';

/**
 * The JSON of WatermarkedVideo. Throws 404 (does not resolve, or is deleted meanwhile), 400 (no video), 422 `undecodable_video`, `video_too_large`, 500
 * `watermark_failed`, 503 `ffmpeg_missing`, `watermark_pending` (a repeat joins the job).
 */
export async function watermarkVideo(
  deps: VideoWatermarkDeps,
  caller: Caller,
  request: WatermarkRequest,
  abandoned: AbortSignal,
): Promise<string> {
  const { ref } = request;
  const told = await answersOf(deps, caller, 'watermark-video', [ref], async () => {
    return new Map([[ref, await answerFor(deps, caller, request, abandoned)]]);
  });
  const answer = told.get(ref);
  // It is kept, and not for this caller.
  if (answer === undefined) throw noSuchAsset();
  return answer;
}

async function answerFor(
  deps: VideoWatermarkDeps,
  caller: Caller,
  request: WatermarkRequest,
  abandoned: AbortSignal,
): Promise<Answer> {
  const untilMs = performance.now() + waitMs;
  const source = await resolveVideo(deps, caller, request);
  const made = await signMade(source);
  if (made !== undefined) return { located: source, told: made };
  await deps.ffmpeg.check();
  const { backend, objects, storageKey } = source;
  const asked = { backend, bucket: objects.bucket, storageKey };
  const key = `${backend}/${objects.bucket}/${storageKey}`;
  const { jobId } = await deps.jobs.enqueue(deps.db, watermarkQueue, asked, { key });
  await waitForJob(deps, jobId, untilMs, AbortSignal.any([deps.closing, abandoned]));
  const located = await resolveVideo(deps, caller, request);
  const signed = await signMade(located);
  // Taken back: its source is gone.
  if (signed === undefined) throw noSuchAsset();
  return { located, told: signed };
}

async function resolveVideo(
  deps: VideoWatermarkDeps,
  caller: Caller,
  { ref, legacyBucket }: WatermarkRequest,
): Promise<Located> {
  const source = (await resolveRefs(deps, caller, [ref], legacyBucket)).get(ref);
  if (source === undefined) throw noSuchAsset();
  if (!source.mime.startsWith('video/')) throw invalid('body.ref', 'must be a video');
  // Beside the longest names of the legacy backend no other can lie.
  if (!isSafeKey(videoWatermarkKeyOf(source.storageKey)))
    throw invalid('body.ref', 'has too long a name for a file beside it');
  return source;
}

const noSuchAsset = () => problems.not_found({ message: 'There is no such asset.' });

async function signMade({ objects, storageKey: sourceKey }: Located): Promise<WatermarkedVideo | undefined> {
  const storageKey = videoWatermarkKeyOf(sourceKey);
  if ((await objects.head(storageKey)) === undefined) return undefined;
  return { url: originalAddress({ objects, storageKey, mime: videoMime, etag: undefined }) };
}

/** Resolves when it is done. */
async function waitForJob(
  { jobs }: VideoWatermarkDeps,
  jobId: string,
  untilMs: number,
  stopped: AbortSignal,
): Promise<void> {
  while (performance.now() < untilMs && !stopped.aborted) {
    const state = await jobs.look(jobId);
    if (state === undefined || state.status === 'done') return;
    if (state.status === 'dead') {
      if (state.reason === 'undecodable_video' || state.reason === 'video_too_large')
        throw mediaProblems[state.reason]();
      throw mediaProblems.watermark_failed({ cause: new Error(state.reason ?? 'no reason was kept') });
    }
    await sleep(lookEveryMs, undefined, { signal: stopped }).catch(() => undefined);
  }
  throw mediaProblems.watermark_pending();
}

/** Throws UnrecoverableError with the code of what is wrong with the video, and what another attempt may mend. */
export async function makeVideoWatermark(deps: WatermarkMakingDeps, job: Job<WatermarkJob>): Promise<void> {
  const { storageKey } = job.payload;
  const objects = bucketOf(deps, job.payload);
  if (objects === undefined) throw new UnrecoverableError('bucket_not_configured');
  const key = videoWatermarkKeyOf(storageKey);
  const source = await objects.head(storageKey);
  if (source !== undefined && (await objects.head(key)) === undefined) {
    try {
      await inScratchFolder(async (folder) => {
        const file = join(folder, 'source');
        if (!(await download(objects, storageKey, source, file, job.signal))) return;
        const into = join(folder, 'made.mp4');
        const facts = await probeVideo(deps.ffmpeg, file, job.signal);
        await brandVideo(deps.ffmpeg, { file, facts }, { mark: join(folder, 'mark'), into }, job.signal);
        const { size } = await stat(into);
        job.signal.throwIfAborted();
        await objects.put(key, createReadStream(into), { contentType: videoMime, size, reproducible: true });
      });
    } catch (error) {
      if (error instanceof VideoFault) throw new UnrecoverableError(error.reason, { cause: error });
      throw error;
    }
  }
  // After the writing: a deletion that came before it has not seen the file, one that comes later will. So also when an
  // earlier attempt has written it and died.
  const isThere = (await objects.head(storageKey))?.etag === source?.etag && source !== undefined;
  if (isThere) return;
  const { failed } = await objects.remove([key]);
  if (failed.length > 0) throw new Error(`the watermarked video could not be removed: ${failed[0]?.reason}`);
}
