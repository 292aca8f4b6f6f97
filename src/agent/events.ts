/**
 * What runs and videos report, in the transaction of the change: to the user (docs/specification/agent.md#events) and to
 * webhooks (docs/specification/webhooks.md#events).
 */
import type { UIMessage } from 'ai';
import type { Settlement } from '#accounts/ledger/credits.ts';
import type { Tx } from '#platform/db/db.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { PendingApproval } from './approvals/rules.ts';
import type { AgentContext } from './context.ts';
import type { Run } from './runs/runstore.ts';
import type { EndedStatus, UserEvent } from './tables.ts';
import type { Video } from './videos/videostore.ts';

/** Publishes `run.started`, and `thread.updated` for the question. */
export async function publishRunStart<Tables>(
  { userEvents }: AgentContext,
  tx: Tx<Tables>,
  { threadId, taskId, ownerId }: Run,
): Promise<void> {
  await userEvents.publish(tx, ownerId, [
    { type: 'thread.updated', threadId },
    { type: 'run.started', threadId, taskId },
  ]);
}

/** Publishes `run.queued`. */
export async function publishRunQueued<Tables>(
  { userEvents }: AgentContext,
  tx: Tx<Tables>,
  { threadId, taskId, ownerId }: Run,
): Promise<void> {
  await userEvents.publish(tx, ownerId, [{ type: 'run.queued', threadId, taskId }]);
}

/** Publishes `approval.requested` for each call, also to servers that reach people who are away. */
export async function publishApprovals<Tables>(
  { userEvents, webhooks }: AgentContext,
  tx: Tx<Tables>,
  { threadId, taskId, ownerId }: Run,
  approvals: readonly PendingApproval[],
): Promise<void> {
  const events = approvals.map(({ approvalId, toolCallId, toolName, credits }) => ({
    threadId,
    taskId,
    approvalId,
    toolCallId,
    toolName,
    credits,
  }));
  for (const event of events) await webhooks?.publish(tx, 'approval.requested', { ...event, userId: ownerId });
  await userEvents.publish(
    tx,
    ownerId,
    events.map((event) => ({ type: 'approval.requested', ...event })),
  );
}

export interface FailedVideo {
  readonly video: Video;
  readonly error: string;
  readonly settlement: Settlement | undefined;
}

export interface PublishedEnd {
  readonly status: EndedStatus;
  readonly error: string | null;
  readonly parts: UIMessage['parts'];
  /** The videos that ended with the run. */
  readonly videos: readonly FailedVideo[];
  /** The answer was added to the thread, which users still see. */
  readonly isChanged: boolean;
  readonly settlement: Settlement | undefined;
}

/** Publishes `run.ended`, and `media.completed` or `media.failed` for each image that the run made or failed to make. */
export async function publishRunEnd<Tables>(
  { userEvents, webhooks }: AgentContext,
  tx: Tx<Tables>,
  run: Run,
  { status, error, parts, videos, isChanged, settlement }: PublishedEnd,
): Promise<void> {
  const { threadId, taskId, ownerId } = run;
  const media = parts.flatMap((part) => imageEventOf(run, part) ?? []);
  const failed = videos.map(failureOf);
  const facts = { taskId, threadId, userId: ownerId };
  const generations = videos.map((one) => videoEnd(one.video, failureOf(one)));
  for (const event of [...media, ...failed]) await publishMedia(webhooks, tx, ownerId, event);
  for (const event of generations) await publishEnd(webhooks, tx, ownerId, event);
  await webhooks?.publish(tx, 'run.ended', { ...facts, status });
  await userEvents.publish(tx, ownerId, [
    ...media,
    ...failed,
    ...generations,
    ...videos.flatMap(({ video, settlement: ofVideo }) => creditsEvent(video, ofVideo)),
    ...(isChanged ? [{ type: 'thread.updated', threadId } as const] : []),
    ...creditsEvent(run, settlement),
    { type: 'run.ended', threadId, taskId, status, error },
  ]);
}

interface MadeImage {
  readonly taskId: string;
  readonly threadId: string;
  readonly toolCallId: string;
  readonly ownerId: string;
  readonly assetId: string;
}

/** Publishes `media.completed` for an image that no run made. */
export async function publishImage<Tables>(
  { userEvents, webhooks }: AgentContext,
  tx: Tx<Tables>,
  { ownerId, ...facts }: MadeImage,
): Promise<void> {
  const event = { type: 'media.completed', kind: 'image', ...facts } as const;
  await publishMedia(webhooks, tx, ownerId, event);
  await userEvents.publish(tx, ownerId, [event]);
}

/** Publishes `credits.changed` for a settlement outside a run. */
export async function publishSettlement<Tables>(
  { userEvents }: AgentContext,
  tx: Tx<Tables>,
  work: Pick<Run, 'threadId' | 'taskId'>,
  settlement: Settlement | undefined,
): Promise<void> {
  if (settlement !== undefined) await userEvents.publish(tx, settlement.userId, creditsEvent(work, settlement));
}

/** Publishes the ends of a video. */
export async function publishVideo<Tables>(
  publishers: AgentContext,
  tx: Tx<Tables>,
  video: Video,
  assetId: string,
  settlement: Settlement | undefined,
): Promise<void> {
  await publishVideoEnd(publishers, tx, video, { type: 'media.completed', ...factsOf(video), assetId }, settlement);
}

/** As `publishVideo`. */
export async function publishVideoFailure<Tables>(
  publishers: AgentContext,
  tx: Tx<Tables>,
  failed: FailedVideo,
): Promise<void> {
  await publishVideoEnd(publishers, tx, failed.video, failureOf(failed), failed.settlement);
}

/** As `publishVideo`, for videos of one user. Their thread is not changed. */
export async function publishVideoFailures<Tables>(
  { userEvents, webhooks }: AgentContext,
  tx: Tx<Tables>,
  failed: readonly FailedVideo[],
): Promise<void> {
  const [first] = failed;
  if (first === undefined) return;
  const { ownerId } = first.video;
  const events: UserEvent[] = [];
  for (const one of failed) {
    events.push(...(await publishToWebhooks(webhooks, tx, one.video, failureOf(one))));
    events.push(...creditsEvent(one.video, one.settlement));
  }
  await userEvents.publish(tx, ownerId, events);
}

export interface EndedGeneration {
  readonly id: string;
  readonly kind: 'image' | 'video';
  readonly status: 'completed' | 'failed' | 'canceled';
}

/** Publishes `generation.completed` or `generation.failed`, and `credits.changed`, for images. */
export async function publishGeneration<Tables>(
  { userEvents, webhooks }: AgentContext,
  tx: Tx<Tables>,
  { ownerId, settlement, ...ended }: EndedGeneration & Pick<Video, 'ownerId'> & Pick<FailedVideo, 'settlement'>,
): Promise<void> {
  const end = endOf(ended);
  await publishEnd(webhooks, tx, ownerId, end);
  const place = { threadId: `generation-${ended.id}`, taskId: ended.id };
  await userEvents.publish(tx, ownerId, [end, ...creditsEvent(place, settlement)]);
}

type MediaEvent = Extract<UserEvent, { type: 'media.completed' | 'media.failed' }>;
type GenerationEvent = Extract<UserEvent, { type: 'generation.completed' | 'generation.failed' }>;

async function publishVideoEnd<Tables>(
  { userEvents, webhooks }: AgentContext,
  tx: Tx<Tables>,
  video: Video,
  event: MediaEvent,
  settlement: Settlement | undefined,
): Promise<void> {
  const { threadId, origin, ownerId } = video;
  const events = await publishToWebhooks(webhooks, tx, video, event);
  const changed: readonly UserEvent[] = origin === 'api' ? [] : [{ type: 'thread.updated', threadId }];
  await userEvents.publish(tx, ownerId, [...events, ...changed, ...creditsEvent(video, settlement)]);
}

/** Returns the same events for the user. A video without a thread has no `media.*`. */
async function publishToWebhooks<Tables>(
  webhooks: Webhooks | undefined,
  tx: Tx<Tables>,
  video: Video,
  event: MediaEvent,
): Promise<readonly UserEvent[]> {
  const end = videoEnd(video, event);
  const isOfThread = video.origin !== 'api';
  if (isOfThread) await publishMedia(webhooks, tx, video.ownerId, event);
  await publishEnd(webhooks, tx, video.ownerId, end);
  return isOfThread ? [event, end] : [end];
}

function videoEnd({ videoId: id, failureCode }: Video, { type }: MediaEvent): GenerationEvent {
  const status = type === 'media.completed' ? 'completed' : failureCode === 'aborted' ? 'canceled' : 'failed';
  return endOf({ id, kind: 'video', status });
}

const endOf = ({ id: generationId, kind, status }: EndedGeneration): GenerationEvent =>
  status === 'completed'
    ? { type: 'generation.completed', generationId, kind }
    : { type: 'generation.failed', generationId, kind, status };

async function publishEnd<Tables>(
  webhooks: Webhooks | undefined,
  tx: Tx<Tables>,
  userId: string,
  event: GenerationEvent,
): Promise<void> {
  const { generationId, kind } = event;
  if (event.type === 'generation.completed') await webhooks?.publish(tx, event.type, { generationId, userId, kind });
  else await webhooks?.publish(tx, event.type, { generationId, userId, kind, status: event.status });
}

async function publishMedia<Tables>(
  webhooks: Webhooks | undefined,
  tx: Tx<Tables>,
  userId: string,
  event: MediaEvent,
): Promise<void> {
  const { taskId, threadId, kind } = event;
  const facts = { taskId, threadId, userId, kind };
  if (event.type === 'media.completed') await webhooks?.publish(tx, event.type, { ...facts, assetId: event.assetId });
  else await webhooks?.publish(tx, event.type, { ...facts, error: event.error });
}

function creditsEvent(
  { threadId, taskId }: Pick<Run, 'threadId' | 'taskId'>,
  settlement: Settlement | undefined,
): readonly UserEvent[] {
  return settlement === undefined ? [] : [{ type: 'credits.changed', threadId, taskId, credits: settlement.balance }];
}

const failureOf = ({ video, error }: FailedVideo): MediaEvent => ({ type: 'media.failed', ...factsOf(video), error });

const factsOf = ({ threadId, taskId, toolCallId }: Video) => ({ threadId, taskId, toolCallId, kind: 'video' }) as const;

function imageEventOf({ threadId, taskId }: Run, part: UIMessage['parts'][number]): MediaEvent | undefined {
  if (part.type !== 'tool-generateImage' && part.type !== 'tool-editImage') return undefined;
  const facts = { threadId, taskId, toolCallId: part.toolCallId, kind: 'image' } as const;
  if (part.state === 'output-error') return { type: 'media.failed', ...facts, error: part.errorText };
  if (part.state !== 'output-available' || typeof part.output !== 'object' || part.output === null) return undefined;
  const { status, assetId, failure }: { status?: unknown; assetId?: unknown; failure?: { message?: unknown } } =
    part.output;
  if (status === 'completed' && typeof assetId === 'string') return { type: 'media.completed', ...facts, assetId };
  return { type: 'media.failed', ...facts, error: String(failure?.message ?? 'The image could not be generated.') };
}
