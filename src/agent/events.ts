/**
 * What runs and videos report, in the transaction of the change: to the user (docs/specification/agent.md#events) and to
 * webhooks (docs/specification/webhooks.md#events).
 */
import type { UIMessage } from 'ai';
import type { Settlement } from '#accounts/ledger/credits.ts';
import type { Tx } from '#platform/db/db.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { Run } from './store/runstore.ts';
import type { Video } from './store/videostore.ts';
import type { UserEvent } from './userevent.ts';
import type { UserEvents } from './userevents/publishing.ts';

export interface Publishers {
  readonly userEvents: UserEvents;
  readonly webhooks?: Webhooks | undefined;
}

/** Publishes `run.started`, and `thread.updated` for the question. */
export async function publishRunStart<Tables>(
  { userEvents }: Publishers,
  tx: Tx<Tables>,
  { threadId, taskId, ownerId }: Run,
): Promise<void> {
  await userEvents.publish(tx, ownerId, [
    { type: 'thread.updated', threadId },
    { type: 'run.started', threadId, taskId },
  ]);
}

export interface FailedVideo {
  readonly video: Video;
  readonly error: string;
  readonly settlement: Settlement | undefined;
}

export interface PublishedEnd {
  readonly status: string;
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
  { userEvents, webhooks }: Publishers,
  tx: Tx<Tables>,
  run: Run,
  { status, error, parts, videos, isChanged, settlement }: PublishedEnd,
): Promise<void> {
  const { threadId, taskId, ownerId } = run;
  const media = parts.flatMap((part) => imageEventOf(run, part) ?? []);
  const failed = videos.map(failureOf);
  const facts = { taskId, threadId, userId: ownerId };
  for (const event of [...media, ...failed]) await publishMedia(webhooks, tx, ownerId, event);
  await webhooks?.publish(tx, 'run.ended', { ...facts, status });
  await userEvents.publish(tx, ownerId, [
    ...media,
    ...failed,
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
  { userEvents, webhooks }: Publishers,
  tx: Tx<Tables>,
  { ownerId, ...facts }: MadeImage,
): Promise<void> {
  const event = { type: 'media.completed', kind: 'image', ...facts } as const;
  await publishMedia(webhooks, tx, ownerId, event);
  await userEvents.publish(tx, ownerId, [event]);
}

/** Publishes `credits.changed` for a settlement outside a run. */
export async function publishSettlement<Tables>(
  { userEvents }: Publishers,
  tx: Tx<Tables>,
  work: Pick<Run, 'threadId' | 'taskId'>,
  settlement: Settlement | undefined,
): Promise<void> {
  if (settlement !== undefined) await userEvents.publish(tx, settlement.userId, creditsEvent(work, settlement));
}

/** Publishes `media.completed`. */
export async function publishVideo<Tables>(
  publishers: Publishers,
  tx: Tx<Tables>,
  video: Video,
  assetId: string,
  settlement: Settlement | undefined,
): Promise<void> {
  await publishVideoEnd(publishers, tx, video, { type: 'media.completed', ...factsOf(video), assetId }, settlement);
}

/** Publishes `media.failed`. */
export async function publishVideoFailure<Tables>(
  publishers: Publishers,
  tx: Tx<Tables>,
  failed: FailedVideo,
): Promise<void> {
  await publishVideoEnd(publishers, tx, failed.video, failureOf(failed), failed.settlement);
}

/** Publishes `media.failed` for videos of one thread that is being deleted. */
export async function publishVideoFailures<Tables>(
  { userEvents, webhooks }: Publishers,
  tx: Tx<Tables>,
  failed: readonly FailedVideo[],
): Promise<void> {
  for (const one of failed.filter(({ video }) => video.origin === 'api'))
    await publishOrder({ userEvents, webhooks }, tx, one.video, failureOf(one), one.settlement);
  const ofThread = failed.filter(({ video }) => video.origin !== 'api');
  const [first] = ofThread;
  if (first === undefined) return;
  const { ownerId } = first.video;
  for (const one of ofThread) await publishMedia(webhooks, tx, ownerId, failureOf(one));
  const events = ofThread.flatMap((one) => [failureOf(one), ...creditsEvent(one.video, one.settlement)]);
  await userEvents.publish(tx, ownerId, events);
}

export interface EndedGeneration {
  readonly id: string;
  readonly ownerId: string;
  readonly kind: 'image' | 'video';
  readonly status: 'completed' | 'failed' | 'canceled';
  readonly settlement: Settlement | undefined;
}

/** Publishes `generation.completed` or `generation.failed`, and `credits.changed`. */
export async function publishGeneration<Tables>(
  { userEvents, webhooks }: Publishers,
  tx: Tx<Tables>,
  { id: generationId, ownerId: userId, kind, status, settlement }: EndedGeneration,
): Promise<void> {
  if (status === 'completed') await webhooks?.publish(tx, 'generation.completed', { generationId, userId, kind });
  else await webhooks?.publish(tx, 'generation.failed', { generationId, userId, kind, status });
  const end: UserEvent =
    status === 'completed'
      ? { type: 'generation.completed', generationId, kind }
      : { type: 'generation.failed', generationId, kind, status };
  const place = { threadId: `generation-${generationId}`, taskId: generationId };
  await userEvents.publish(tx, userId, [end, ...creditsEvent(place, settlement)]);
}

type MediaEvent = Extract<UserEvent, { type: 'media.completed' | 'media.failed' }>;

async function publishVideoEnd<Tables>(
  { userEvents, webhooks }: Publishers,
  tx: Tx<Tables>,
  video: Video,
  event: MediaEvent,
  settlement: Settlement | undefined,
): Promise<void> {
  if (video.origin === 'api') return publishOrder({ userEvents, webhooks }, tx, video, event, settlement);
  await publishMedia(webhooks, tx, video.ownerId, event);
  const { threadId } = video;
  const changed = { type: 'thread.updated', threadId } as const;
  await userEvents.publish(tx, video.ownerId, [event, changed, ...creditsEvent(video, settlement)]);
}

/** For a video that no run ordered. */
function publishOrder<Tables>(
  publishers: Publishers,
  tx: Tx<Tables>,
  { videoId: id, ownerId, failureCode }: Video,
  { type }: MediaEvent,
  settlement: Settlement | undefined,
): Promise<void> {
  const status = type === 'media.completed' ? 'completed' : failureCode === 'aborted' ? 'canceled' : 'failed';
  return publishGeneration(publishers, tx, { id, ownerId, kind: 'video', status, settlement });
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
