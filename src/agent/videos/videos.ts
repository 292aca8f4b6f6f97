/**
 * Videos: ordered by a run, made by a durable job that outlives it, paid for attempt by attempt. What cannot be paid for
 * is a failed row, to be tried again with `/video/submit` (docs/specification/agent.md#video-retry).
 */
import { randomUUID } from 'node:crypto';
import type { UIMessage } from 'ai';
import { z } from 'zod';
import { closeCredits, type LedgerTables, reserveCredits } from '#accounts/ledger/credits.ts';
import { ensureProfile } from '#accounts/store.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import { type Job, type Jobs, type Queue, UnrecoverableError } from '#platform/jobs/jobs.ts';
import { problems } from '#platform/problem.ts';
import type { Failure, VideoOutput } from '../api.ts';
import { plansWithoutVideo, videoCost } from '../billing/prices.ts';
import { type FailedVideo, type Publishers, publishVideo, publishVideoFailure } from '../events.ts';
import { agentProblems } from '../problems.ts';
import { RunFailure } from '../providers/expectedfailures.ts';
import { type Clip, OrderRefused, ProviderFailed, type VideoGenerator } from '../providers/generators.ts';
import { type ClipDeps, examineClip } from '../services/clips.ts';
import { keep, Refused } from '../services/library.ts';
import { findRun, holdRun, type Run, type RunTables } from '../store/runstore.ts';
import { addUsage, type UsageTables } from '../store/usagestore.ts';
import {
  changeVideo,
  findVideo,
  insertVideo,
  lockVideos,
  type NewVideo,
  requeueVideo,
  type Video,
  type VideoInput,
  type VideoTables,
} from '../store/videostore.ts';

type Tables = VideoTables & RunTables & LedgerTables & UsageTables;

export interface VideoDeps extends ClipDeps, Publishers {
  readonly db: Db<Tables>;
  readonly jobs: Jobs;
  readonly videoGenerator: VideoGenerator;
  readonly ttlS: number;
}

const payload = z.object({ videoId: z.string(), attempt: z.int() });
type Payload = z.output<typeof payload>;
export const videoQueue: Queue<Payload> = { name: 'agent/make-video', payload, maxAttempts: 4 };

const scopeOf = (videoId: string) => `video:${videoId}`;
/** Names the asset of a video, before and after it is made. */
export const videoReference = (videoId: string) => `video:${videoId}`;
const referenceOf = ({ videoId, attempt }: Payload) => `video:${videoId}:${attempt}`;
export const keyOf = ({ videoId, attempt }: Payload) => `${videoId}:${attempt}`;

/** The row, its credits and its job come together, or none of them. */
export async function orderVideo(
  deps: VideoDeps,
  run: Run,
  toolCallId: string,
  input: VideoInput,
): Promise<{ readonly video: Video; readonly failure: Failure | undefined }> {
  return transaction(deps.db, async (tx) => {
    // The run was aborted. The video is unwanted, and no other process would cancel it.
    if (!(await holdRun(tx, run))) throw new RunFailure('The run has ended.');
    const { ownerId, threadId, taskId, messageId, model } = run;
    return placeOrder(deps, tx, { ownerId, threadId, taskId, messageId, toolCallId, model, input });
  });
}

export type VideoOrder = Omit<NewVideo, 'videoId' | 'failure'>;

/** Runs in the caller's transaction. With a `failure` the video is not paid for, and its row has the reason. */
export async function placeOrder(
  deps: Pick<VideoDeps, 'jobs' | 'videoGenerator'>,
  tx: Tx<Tables>,
  order: VideoOrder,
): Promise<{ readonly video: Video; readonly failure: Failure | undefined }> {
  const attempt = { videoId: randomUUID(), attempt: 1 };
  const isRehearsal = deps.videoGenerator.rehearseUnpayable?.(order.input.prompt) ?? false;
  const failure = isRehearsal ? insufficientCredits(0) : await pay(tx, order.ownerId, attempt);
  const video = await insertVideo(tx, { ...order, videoId: attempt.videoId, failure });
  if (failure === undefined) await deps.jobs.enqueue(tx, videoQueue, attempt, { key: keyOf(attempt) });
  return { video, failure };
}

/** Reserves the credits of an attempt. Returns why they cannot be reserved, or `undefined`. */
async function pay(tx: Tx<LedgerTables>, userId: string, attempt: Payload): Promise<Failure | undefined> {
  const { plan } = await ensureProfile(tx, { id: userId });
  if (plansWithoutVideo.includes(plan)) return insufficientPlan;
  const reservation = { reference: referenceOf(attempt), scope: scopeOf(attempt.videoId), userId, amount: videoCost };
  const { reserved, balance } = await reserveCredits(tx, reservation);
  return reserved ? undefined : insufficientCredits(balance);
}

const insufficientPlan: Failure = {
  code: 'insufficient_plan',
  message: "Your plan doesn't include video.",
  retryable: true,
};
const insufficientCredits = (balance: number): Failure => ({
  code: 'insufficient_credits',
  message: "You don't have enough credits for a video.",
  retryable: true,
  required: videoCost,
  balance,
});

const isUnpaid = ({ status, failureCode }: Video) =>
  status === 'failed' && (failureCode?.startsWith('insufficient_') ?? false);

/**
 * Every video of the task that could not be paid for and can now, oldest first. Throws 404 (foreign or unknown), 400
 * `video_not_retryable`, and 400 with `error` = the reason as it is now when none can be paid.
 */
export async function retryVideos(deps: VideoDeps, userId: string, taskId: string): Promise<void> {
  if (!z.guid().safeParse(taskId).success) throw problems.not_found();
  const run = await findRun(deps.db, taskId, deps.ttlS);
  await transaction(deps.db, async (tx) => {
    const videos = (await lockVideos(tx, taskId)).filter(({ ownerId }) => ownerId === userId);
    if (videos.length === 0 && run?.ownerId !== userId) throw problems.not_found();
    const unpaid = videos.filter(isUnpaid);
    if (unpaid.length === 0) throw agentProblems.video_not_retryable();
    const failures: Failure[] = [];
    for (const { videoId, attempt } of unpaid) {
      const next = { videoId, attempt: attempt + 1 };
      const failure = await pay(tx, userId, next);
      if (failure !== undefined) {
        failures.push(failure);
        continue;
      }
      await requeueVideo(tx, videoId);
      await deps.jobs.enqueue(tx, videoQueue, next, { key: keyOf(next) });
    }
    const [first] = failures;
    if (first !== undefined && failures.length === unpaid.length) {
      const { code: error, message, required, balance } = first;
      throw agentProblems.video_unpayable({ message, fields: { error, required, balance } });
    }
  });
}

/**
 * Cancels the videos of an aborted run that are not made yet. They cost nothing. The videos of a failed run are made
 * and charged, so they are reported, also if the run ended before it showed their order.
 */
export async function endVideosOf(
  { jobs }: Pick<VideoDeps, 'jobs'>,
  tx: Tx<Tables>,
  taskId: string,
  { status, parts }: { readonly status: Run['status']; readonly parts: UIMessage['parts'] },
): Promise<{ readonly shown: UIMessage['parts']; readonly failed: readonly FailedVideo[] }> {
  if (status === 'completed') return { shown: [], failed: [] };
  const videos = await lockVideos(tx, taskId);
  if (status === 'failed') {
    const isShown = ({ videoId }: Video) => parts.some((part) => part.type === 'data-video' && part.id === videoId);
    const shown = videos
      .filter((video) => !isShown(video))
      .map((video) => ({ type: 'data-video' as const, id: video.videoId, data: describeVideo(video) }));
    return { shown, failed: [] };
  }
  return { shown: [], failed: await cancelVideos({ jobs }, tx, videos, 'The run was stopped.') };
}

/** Those that are not made yet. They cost nothing. The caller has locked them, and publishes the failures. */
export async function cancelVideos(
  { jobs }: Pick<VideoDeps, 'jobs'>,
  tx: Tx<VideoTables & LedgerTables>,
  videos: readonly Video[],
  reason: string,
): Promise<readonly FailedVideo[]> {
  const failed: FailedVideo[] = [];
  for (const video of videos) {
    if (video.status === 'completed' || video.status === 'failed') continue;
    const ended = await endVideo(tx, video, 'aborted', reason);
    if (ended === undefined) continue;
    failed.push(ended);
    await jobs.cancel(tx, videoQueue, keyOf(video));
  }
  return failed;
}

export function workOnVideos(deps: VideoDeps): void {
  deps.jobs.work<Payload, Tables>(videoQueue, (job) => makeVideo(deps, job), {
    concurrency: 2,
    onDead: async (tx, attempt, reason) => {
      await endAndPublish(deps, tx, attempt, 'provider_failed', reason);
    },
  });
}

async function makeVideo(deps: VideoDeps, job: Job<Payload>): Promise<void> {
  const { payload: attempt, signal } = job;
  const video = await findVideo(deps.db, attempt.videoId);
  if (video === undefined || !(await changeVideo(deps.db, attempt, { status: 'processing' }))) return;
  let isOrdered = video.providerId !== null;
  try {
    const clip = await deps.videoGenerator.make({
      ...video.input,
      providerId: video.providerId,
      onOrdered: async (providerId) => {
        isOrdered = true;
        await changeVideo(deps.db, attempt, { provider_id: providerId });
      },
      signal,
    });
    const { assetId, thumbAssetId } = await keepClip(deps, video, clip, signal);
    await transaction(deps.db, async (tx) => {
      const change = { status: 'completed', asset_id: assetId, thumb_asset_id: thumbAssetId } as const;
      // The video was canceled in the meantime, so it costs nothing.
      if (await changeVideo(tx, attempt, change)) {
        const settlement = await closeCredits(tx, scopeOf(attempt.videoId), [referenceOf(attempt)]);
        await addUsage(tx, { userId: video.ownerId, model: video.model, videos: 1, credits: videoCost });
        await publishVideo(deps, tx, video, assetId, settlement);
      }
      await job.complete(tx);
    });
  } catch (error) {
    if (!(error instanceof OrderRefused || error instanceof Refused)) throw speakable(error, isOrdered);
    await transaction(deps.db, async (tx) => {
      await endAndPublish(deps, tx, attempt, 'rejected', error.message);
      await job.complete(tx);
    });
  }
}

/** The error that a job fails with last is shown to the user. If the provider did not take the order, it is not placed again. */
function speakable(error: unknown, isOrdered: boolean): unknown {
  if (error instanceof ProviderFailed && !isOrdered) return new UnrecoverableError(error.message, { cause: error });
  const isExplained = error instanceof ProviderFailed || error instanceof UnrecoverableError;
  return isExplained ? error : new Error('The video could not be generated or stored.', { cause: error });
}

async function keepClip(deps: VideoDeps, video: Video, clip: Clip, signal: AbortSignal) {
  const { ownerId, threadId, videoId } = video;
  const { prompt } = video.input;
  const { poster } = clip;
  if (clip.bytes.length === 0) throw new UnrecoverableError('The video provider returned an empty video.');
  const place = { ownerId, threadId };
  const thumb =
    poster && (await keep(deps, { ...place, ...poster, reference: `poster:${videoId}`, kind: 'image' }, signal));
  const thumbAssetId = thumb?.assetId;
  const { bytes, mime, facts, model } = clip;
  const deposit = {
    ...place,
    bytes,
    mime,
    reference: videoReference(videoId),
    kind: 'video' as const,
    prompt,
    model,
    ...(facts && { facts }),
    ...(thumbAssetId && { thumbAssetId }),
  };
  const { assetId } = await keep(deps, deposit, signal);
  if (facts === undefined) await examineClip(deps, { ...place, assetId, mime }, signal);
  return { assetId, thumbAssetId: thumbAssetId ?? null };
}

/** `undefined`: the attempt is over. The caller publishes the failure, after everything else. */
export async function endVideo(
  tx: Tx<VideoTables & LedgerTables>,
  attempt: Payload,
  code: string,
  message: string,
): Promise<FailedVideo | undefined> {
  const change = { status: 'failed', failure_code: code, failure_message: message.slice(0, 500) } as const;
  if (!(await changeVideo(tx, attempt, change))) return undefined;
  const settlement = await closeCredits(tx, scopeOf(attempt.videoId));
  const video = await findVideo(tx, attempt.videoId);
  return video && { video, error: change.failure_message, settlement };
}

async function endAndPublish(
  publishers: Publishers,
  tx: Tx<VideoTables & LedgerTables>,
  attempt: Payload,
  code: string,
  message: string,
): Promise<void> {
  const failed = await endVideo(tx, attempt, code, message);
  if (failed !== undefined) await publishVideoFailure(publishers, tx, failed);
}

/** In the form of message parts. */
export function describeVideo(video: Video): VideoOutput {
  const { videoId, taskId, attempt, assetId, status, failureCode, failureMessage } = video;
  const failure: Failure | undefined =
    failureCode === null ? undefined : { code: failureCode, message: failureMessage ?? '', retryable: isUnpaid(video) };
  return {
    kind: 'video',
    videoId,
    taskId,
    attempt,
    status,
    assetId,
    url: null,
    mime: assetId === null ? null : 'video/mp4',
    ...(failure && { failure }),
  };
}
