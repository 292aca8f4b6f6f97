/**
 * Videos: ordered by a run, made by durable jobs that outlive it, paid for attempt by attempt. What cannot be paid for is a failed
 * row, to be tried again with `/video/submit` (docs/specification/agent.md#video-retry).
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type LedgerTables, reserveCredits } from '#accounts/ledger/credits.ts';
import { ensureProfile } from '#accounts/store.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import type { Queue } from '#platform/jobs/jobs.ts';
import { problems } from '#platform/problem.ts';
import type { Failure, VideoOutput } from '../api.ts';
import { exceedsRun, runLimit, videoAssetId, videoReference, videoScope } from '../billing/usage.ts';
import type { AgentContext } from '../context.ts';
import { modelOfRow, type VideoModel } from '../generation/catalogue.ts';
import { agentProblems, RunFailure } from '../problems.ts';
import { findRun, holdRun, type Run } from '../runs/runstore.ts';
import type { AgentTables, VideoInput } from '../tables.ts';
import * as store from './videostore.ts';

/** The run has no credits left for a video. Rolls its order back. */
class RunLimitReached extends Error {}

/** The row, its credits and its job come together, or none of them. A `Failure` alone: the run may not spend more. */
export async function orderVideo(
  deps: AgentContext,
  run: Run,
  toolCallId: string,
  input: VideoInput,
  media: VideoModel = deps.catalogue.videos[0],
): Promise<Placed | { readonly video?: never; readonly failure: Failure }> {
  const { ownerId, threadId, taskId, messageId, model } = run;
  const place = transaction(deps.db, async (tx) => {
    // The run was aborted. The video is unwanted, and no other process would cancel it.
    if (!(await holdRun(tx, run))) throw new RunFailure('The run has ended.');
    const placed = await placeOrder(deps, tx, {
      ...{ ownerId, threadId, taskId, messageId, toolCallId, model, input },
      ...{ mediaModel: media.id, price: media.credits, origin: 'run' },
    });
    if (placed.failure === undefined && (await exceedsRun(deps, tx, taskId))) throw new RunLimitReached();
    return placed;
  });
  return place.catch((error: unknown) => {
    if (!(error instanceof RunLimitReached)) throw error;
    return { failure: runLimit(deps.maxRunCredits) };
  });
}

export type VideoOrder = Omit<store.NewVideo, 'videoId' | 'failure'> & { readonly videoId?: string };

/** With a `failure` the video is not paid for, and its row has the reason. */
interface Placed {
  readonly video: store.Video;
  readonly failure: Failure | undefined;
}

/** Runs in the caller's transaction, which has locked nothing of videos and credits. */
export async function placeOrder(deps: AgentContext, tx: Tx<AgentTables>, order: VideoOrder): Promise<Placed> {
  const attempt = { videoId: order.videoId ?? randomUUID(), attempt: 1 };
  const media = modelOfRow(deps.catalogue.videos, order.mediaModel);
  await store.holdVideosOf(tx, order.ownerId);
  const isRehearsal = media.generator.rehearseUnpayable?.(order.input.prompt) ?? false;
  const failure = isRehearsal
    ? insufficientCredits(media.credits, 0)
    : await pay(tx, order.ownerId, attempt, media, order.price);
  const { costUsd } = media;
  const video = await store.insertVideo(tx, { ...order, videoId: attempt.videoId, costUsd, failure });
  if (failure === undefined) await startVideos(deps, tx, order.ownerId);
  return { video, failure };
}

/** Reserves the credits of an attempt. Returns why they cannot be reserved, or `undefined`. */
async function pay(
  tx: Tx<LedgerTables>,
  userId: string,
  attempt: Pick<store.Video, 'videoId' | 'attempt'>,
  { plans }: VideoModel,
  price: number,
): Promise<Failure | undefined> {
  const { plan } = await ensureProfile(tx, { id: userId });
  if (!plans.includes(plan)) return insufficientPlan;
  const { reserved, balance } = await reserveCredits(tx, {
    reference: videoReference(attempt),
    scope: videoScope(attempt.videoId),
    userId,
    amount: price,
    assetId: videoAssetId(attempt.videoId),
  });
  return reserved ? undefined : insufficientCredits(price, balance);
}

const insufficientPlan: Failure = {
  code: 'insufficient_plan',
  message: "Your plan doesn't include video.",
  retryable: true,
};
const insufficientCredits = (required: number, balance: number): Failure => ({
  code: 'insufficient_credits',
  message: "You don't have enough credits for a video.",
  retryable: true,
  required,
  balance,
});

const isUnpaid = ({ status, failureCode }: store.Video) =>
  status === 'failed' && (failureCode?.startsWith('insufficient_') ?? false);

/**
 * Every video of the task that could not be paid for and can now, oldest first. Throws 404 (foreign or unknown), 400
 * `video_not_retryable`, and 400 with `error` = the reason as it is now when none can be paid.
 */
export async function retryVideos(deps: AgentContext, userId: string, taskId: string): Promise<void> {
  if (!z.guid().safeParse(taskId).success) throw problems.not_found();
  const run = await findRun(deps.db, taskId, deps.taskTtlS);
  await transaction(deps.db, async (tx) => {
    await store.holdVideosOf(tx, userId);
    const videos = (await store.lockVideos(tx, taskId)).filter(({ ownerId }) => ownerId === userId);
    if (videos.length === 0 && run?.ownerId !== userId) throw problems.not_found();
    const unpaid = videos.filter(isUnpaid);
    if (unpaid.length === 0) throw agentProblems.video_not_retryable();
    const failures: Failure[] = [];
    for (const { videoId, attempt, mediaModel, price } of unpaid) {
      const next = { videoId, attempt: attempt + 1 };
      const failure = await pay(tx, userId, next, modelOfRow(deps.catalogue.videos, mediaModel), price);
      if (failure !== undefined) {
        failures.push(failure);
        continue;
      }
      await store.requeueVideo(tx, videoId);
    }
    await startVideos(deps, tx, userId);
    const [first] = failures;
    if (first !== undefined && failures.length === unpaid.length) {
      const { code: error, message, required, balance } = first;
      throw agentProblems.video_unpayable({ message, fields: { error, required, balance } });
    }
  });
}

/** In the form of message parts. */
export function describeVideo(video: store.Video): VideoOutput {
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

// The jobs of videos. Each video of a user has its turn after those of other users.

const attempt = z.object({ videoId: z.string(), attempt: z.int() });
export type VideoAttempt = z.output<typeof attempt>;

const ofVideos = { payload: attempt, maxAttempts: 4, isRoundRobin: true } as const;

/** Downloads and stores a video that its provider has made. */
export const deliveryQueue: Queue<VideoAttempt> = { ...ofVideos, name: 'agent/deliver-video' };

/** Orders a video, and polls its provider. Between two calls the job waits without a worker. */
export const videoQueue: Queue<VideoAttempt> = { ...ofVideos, name: 'agent/make-video', movesTo: deliveryQueue.name };

export const keyOf = ({ videoId, attempt: number }: VideoAttempt) => `${videoId}:${number}`;

/** Without a model: ordered before there was a catalogue. */
const order = z.object({ providerId: z.string(), model: z.string().optional() });

/** Cancels an order at its provider. */
export const cancelQueue: Queue<z.output<typeof order>> = {
  name: 'agent/cancel-order',
  payload: order,
  maxAttempts: 6,
  isRoundRobin: true,
};

// Which videos of a user are ordered: at most AGENT_MAX_VIDEOS_PER_USER at a time, the oldest first. The others wait, paid for.

/**
 * Gives jobs to as many waiting videos of the user as there is room for. Part of every transaction in which a video begins to wait
 * or ends; that has called `holdVideosOf` before it locked anything else of videos or credits.
 */
export async function startVideos(
  { jobs, maxVideosPerUser }: AgentContext,
  tx: Tx<AgentTables>,
  ownerId: string,
): Promise<void> {
  for (const attempt of await store.startWaiting(tx, ownerId, maxVideosPerUser))
    await jobs.enqueue(tx, videoQueue, attempt, { key: keyOf(attempt), lane: ownerId });
}
