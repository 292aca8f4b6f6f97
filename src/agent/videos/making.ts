/**
 * The workers of videos. A video is ordered once: its row is marked before the order is sent, so if the process dies before
 * the provider's response is stored, the video fails and is free. While the provider makes it, its job waits without a worker. When it is
 * made, any process can download and store it.
 */
import { z } from 'zod';
import { type Tx, transaction } from '#platform/db/db.ts';
import { type Job, UnrecoverableError } from '#platform/jobs/jobs.ts';
import { retry } from '#platform/resilience.ts';
import type { AgentContext } from '../context.ts';
import { publishVideoFailure } from '../events.ts';
import { modelOfRow, withFallbacks } from '../generation/catalogue.ts';
import { readFrame, readImages } from '../generation/sources.ts';
import { type Clip, type OrderedVideo, OrderRefused, ProviderFailed } from '../providers/generators.ts';
import { answerOf } from '../records/answers.ts';
import { type Deposit, keep, NotPaid, Refused, scopeOf, setThumb } from '../services/library.ts';
import type { AgentTables } from '../tables.ts';
import { completeVideo, failVideo } from './ending.ts';
import { cancelQueue, deliveryQueue, startVideos, type VideoAttempt, videoQueue } from './videos.ts';
import { changeVideo, findVideo, holdVideosOf, markOrdered, type Video } from './videostore.ts';

/** Calls that wait for providers, and nothing else. */
const callsAtOnce = 100;
/** Each holds a clip in memory. */
const deliveriesAtOnce = 3;
const maxWaitMs = 30 * 60_000;
/** A deposit that has begun ends as a charged asset or without any trace, so nothing interrupts it. */
const uninterrupted = new AbortController().signal;

export function workOnVideos(deps: AgentContext): void {
  const onDead = (tx: Tx<AgentTables>, attempt: VideoAttempt, message: string) =>
    end(deps, tx, attempt, { code: 'provider_failed', message });
  const work = (queue: typeof videoQueue, concurrency: number, advance: typeof orderOrPoll) =>
    deps.jobs.work<VideoAttempt, AgentTables>(
      queue,
      async (job) => {
        const { videoId, attempt } = job.payload;
        const video = await findVideo(deps.db, videoId);
        if (video?.attempt === attempt && ['queued', 'processing'].includes(video.status))
          await advance(deps, job, video).catch((error: unknown) => settle(deps, job, error));
      },
      { concurrency, onDead },
    );
  work(videoQueue, callsAtOnce, orderOrPoll);
  work(deliveryQueue, deliveriesAtOnce, download);
  deps.jobs.work(cancelQueue, (job) => cancelOrder(deps, job), { concurrency: 4 });
}

async function orderOrPoll(deps: AgentContext, job: Job<VideoAttempt>, video: Video): Promise<void> {
  if (video.providerId !== null) return poll(deps, job, video.providerId, video);
  if (video.isOrdered) throw new UnrecoverableError('The server stopped while it ordered the video. Order it again.');
  if (await markOrdered(deps.db, video)) await order(deps, job, video);
}

async function order(deps: AgentContext, job: Job<VideoAttempt>, video: Video): Promise<void> {
  const { db, jobs } = deps;
  const ordered = await orderFromChain(deps, video, job.signal).catch((error: unknown) => {
    job.signal.throwIfAborted();
    // The provider has no order that another attempt could wait for.
    throw error instanceof OrderRefused ? error : new UnrecoverableError(sentenceOf(error), { cause: error });
  });
  if ('clip' in ordered) return deliver(deps, job, video, ordered.clip);
  const { providerId } = ordered;
  const record = () => changeVideo(db, video, { provider_id: providerId });
  const retries = { attempts: 5, baseDelayMs: 200, maxDelayMs: 2000, isRetryable: () => true };
  if (await retry(record, retries)) return wait(deps, job, video);
  // It was canceled while it was ordered.
  await jobs.enqueue(db, cancelQueue, cancelOf(deps, video, providerId), { lane: video.ownerId });
}

/** Another model of the catalogue takes the order if the first one cannot be reached. */
async function orderFromChain(deps: AgentContext, video: Video, signal: AbortSignal): Promise<OrderedVideo> {
  const { prompt, ratio, duration, seed, firstFrame, references = [] } = video.input;
  const images = await readImages(deps, video.ownerId, references, signal);
  const order = { prompt, ratio, duration, seed, signal, references: images };
  const chain = withFallbacks(deps.catalogue.videos, modelOf(deps, video), video.input);
  for (const [index, { id, generator, costUsd = null }] of chain.entries()) {
    try {
      const frame =
        firstFrame && (await readFrame(deps, video.ownerId, { assetId: firstFrame, ratio }, generator, signal));
      const ordered = await generator.order({ ...order, firstFrame: frame || undefined });
      if (index > 0) await changeVideo(deps.db, video, { media_model: id, cost_usd: costUsd });
      return ordered;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof OrderRefused || index === chain.length - 1) throw error;
      deps.log.warn({ err: error, model: id }, 'a video is ordered from the fallback of its model');
    }
  }
  throw new Error('the catalogue has no video model');
}

const cancelOf = (deps: AgentContext, video: Video, providerId: string) => ({
  providerId,
  model: modelOf(deps, video).id,
});

const modelOf = ({ catalogue }: AgentContext, { mediaModel }: Video) => modelOfRow(catalogue.videos, mediaModel);

async function poll(deps: AgentContext, job: Job<VideoAttempt>, providerId: string, video: Video): Promise<void> {
  if (await modelOf(deps, video).generator.isMade(providerId, job.signal))
    return transaction(deps.db, (tx) => job.move(tx));
  if (video.waitedMs <= maxWaitMs) return wait(deps, job, video);
  await deps.jobs.enqueue(deps.db, cancelQueue, cancelOf(deps, video, providerId), { lane: video.ownerId });
  throw new UnrecoverableError('The video provider timed out.');
}

async function wait(deps: AgentContext, job: Job<VideoAttempt>, video: Video): Promise<void> {
  const { pollEveryMs } = modelOf(deps, video).generator;
  await transaction(deps.db, (tx) => job.postpone(tx, pollEveryMs));
}

async function download(deps: AgentContext, job: Job<VideoAttempt>, video: Video): Promise<void> {
  if (video.providerId === null) throw new UnrecoverableError('The video was never ordered.');
  const { providerId, input } = video;
  const { prompt, ratio, firstFrame } = input;
  // The offline renderer makes the clip only now.
  const [image] = firstFrame ? await readImages(deps, video.ownerId, [firstFrame], job.signal) : [];
  const order = { prompt, ratio, firstFrame: image, providerId, signal: job.signal };
  const clip = await modelOf(deps, video).generator.download(order);
  await deliver(deps, job, video, clip);
}

/** Stores the clip, which charges for it. All that follows can be repeated, by this process or another. */
async function deliver(deps: AgentContext, job: Job<VideoAttempt>, video: Video, clip: Clip): Promise<void> {
  const { ownerId, threadId, videoId, input } = video;
  const { bytes, mime, facts, model, poster } = clip;
  if (bytes.length === 0) throw new UnrecoverableError('The video provider returned an empty video.');
  const scope =
    video.scopeKind === null || video.scopeId === null ? undefined : { kind: video.scopeKind, id: video.scopeId };
  const place = { ownerId, threadId, generated: 'ai', ...(scope && { scope }) } as const;
  const { prompt, ratio, seed, firstFrame, references = [] } = input;
  const generation = {
    ...{ id: videoId, ...(video.origin !== 'api' && { taskId: video.taskId }) },
    ...{ prompt, model: modelOf(deps, video).id, ratio, seed },
    references: [...(firstFrame ? [firstFrame] : []), ...references],
  };
  const file = { ...place, bytes, mime, kind: 'video', prompt, model, generation, ...(facts && { facts }) } as const;
  const { assetId } = await keep(deps, { ...file, reference: `video:${videoId}` }, uninterrupted);
  const thumb =
    poster && (await keep(deps, { ...place, ...poster, reference: `poster:${videoId}`, kind: 'image' }, uninterrupted));
  if (thumb !== undefined) await setThumb(deps, ownerId, assetId, thumb.assetId);
  if (facts === undefined) await examineClip(deps, { ...place, assetId, mime }, uninterrupted);
  await transaction(deps.db, async (tx) => {
    await holdVideosOf(tx, ownerId);
    await completeVideo(deps, tx, video, thumb?.assetId ?? null);
    await startVideos(deps, tx, ownerId);
    await job.complete(tx);
  });
}

/** Ends the video if the failure is final. Otherwise another attempt follows. */
async function settle(deps: AgentContext, job: Job<VideoAttempt>, error: unknown): Promise<void> {
  // It was canceled, so the file was removed.
  if (error instanceof NotPaid) return;
  job.signal.throwIfAborted();
  const isRefused = error instanceof OrderRefused || error instanceof Refused;
  const isExplained = isRefused || error instanceof UnrecoverableError;
  const message = isExplained ? error.message : sentenceOf(error);
  if (!isExplained && !job.isLastAttempt) throw new Error(message, { cause: error });
  if (!isRefused) deps.log.warn({ err: error }, 'a video could not be generated');
  // Before the job is dead: then its row would be locked before the videos of the user.
  await transaction(deps.db, async (tx) => {
    const code = isRefused ? 'rejected' : 'provider_failed';
    await end(deps, tx, job.payload, { code, message, answer: answerOf(error) });
    await job.complete(tx);
  });
}

/** The error that a job fails with last is shown to the user. */
function sentenceOf(error: unknown): string {
  return error instanceof ProviderFailed ? error.message : 'The video could not be generated or stored.';
}

async function end(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  attempt: VideoAttempt,
  failure: { readonly code: string; readonly message: string; readonly answer?: string | undefined },
): Promise<void> {
  const video = await findVideo(tx, attempt.videoId);
  if (video?.attempt !== attempt.attempt) return;
  await holdVideosOf(tx, video.ownerId);
  const failed = await failVideo(deps, tx, video, failure);
  if (failed !== undefined) await publishVideoFailure(deps, tx, failed);
  await startVideos(deps, tx, video.ownerId);
}

async function cancelOrder(
  { catalogue, log }: AgentContext,
  job: Job<{ providerId: string; model?: string | undefined }>,
): Promise<void> {
  const { providerId, model = null } = job.payload;
  try {
    await modelOfRow(catalogue.videos, model).generator.cancel?.(providerId, job.signal);
  } catch (error) {
    job.signal.throwIfAborted();
    if (!job.isLastAttempt) throw error;
    log.warn({ err: error }, 'could not cancel a video at its provider');
  }
}

// Orders the poster, size and duration of a clip from the media service, which examines it in a job of its own. Generators of
// most providers supply none of them (docs/specification/agent.md#clips).

/** A clip in the library. `mime`: as it was uploaded. */
type StoredClip = Pick<Deposit, 'ownerId' | 'threadId' | 'scope' | 'mime'> & { readonly assetId: string };

const refusal = z.object({ error: z.string() });

/** The clip is delivered in any case, so failures are logged only. May be repeated. */
async function examineClip({ media, log }: AgentContext, clip: StoredClip, signal: AbortSignal): Promise<void> {
  const { assetId, ownerId, threadId, mime } = clip;
  const { kind: scopeKind, id: scopeId } = scopeOf(clip);
  const json = { assetId, ownerId, scopeKind, scopeId, threadId, mime };
  const call = { json, onBehalfOf: ownerId, idempotent: true, signal } as const;
  try {
    const response = await media.send({ method: 'POST', route: '/v1/media-tasks/video', ...call });
    if (response.status === 200) return;
    const reason = refusal.safeParse(response.json());
    const code = reason.success ? reason.data.error : response.status;
    throw new Error(code === 'ffmpeg_missing' ? 'ffmpeg is not installed' : `the media service returned ${code}`);
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, assetId }, 'could not add poster, size and duration to a clip');
  }
}
