/**
 * What runs and videos report, in the transaction of the change: to the user (docs/specification/agent.md#events) and to
 * webhooks (docs/specification/webhooks.md#events). Publishing locks the events of the user, so it is the last lock of a transaction.
 */
import type { UIMessage } from 'ai';
import type { Settlement } from '#accounts/ledger/credits.ts';
import type { Tx } from '#platform/db/db.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { PendingApproval } from './approvals/rules.ts';
import type { AgentContext } from './context.ts';
import type { Run } from './runs/runstore.ts';
import type { AgentTables, EndedStatus, OrderOrigin, UserEvent } from './tables.ts';
import type { Video } from './videos/videostore.ts';

async function publish(
  { userEvents, webhooks }: AgentContext,
  tx: Tx<AgentTables>,
  userId: string,
  events: readonly UserEvent[],
): Promise<void> {
  if (webhooks !== undefined) for (const event of events) await sendToServer(webhooks, tx, userId, event);
  await userEvents.publish(tx, userId, events);
}

/** Servers get the ends of work, and requests that a person has to answer. The rest is for pages of the user. */
async function sendToServer(webhooks: Webhooks, tx: Tx<AgentTables>, userId: string, event: UserEvent): Promise<void> {
  switch (event.type) {
    case 'approval.requested':
    case 'generation.completed':
    case 'generation.failed': {
      const { type, ...facts } = event;
      return webhooks.publish(tx, type, { ...facts, userId });
    }
    case 'media.completed':
    case 'media.failed': {
      const { type, toolCallId: _, ...facts } = event;
      return webhooks.publish(tx, type, { ...facts, userId });
    }
    case 'run.ended': {
      const { type, error: _, ...facts } = event;
      return webhooks.publish(tx, type, { ...facts, userId });
    }
  }
}

/** Publishes `run.started`, and `thread.updated` for the question. */
export const publishRunStart = (context: AgentContext, tx: Tx<AgentTables>, { threadId, taskId, ownerId }: Run) =>
  publish(context, tx, ownerId, [
    { type: 'thread.updated', threadId },
    { type: 'run.started', threadId, taskId },
  ]);

export const publishRunQueued = (context: AgentContext, tx: Tx<AgentTables>, { threadId, taskId, ownerId }: Run) =>
  publish(context, tx, ownerId, [{ type: 'run.queued', threadId, taskId }]);

export interface FailedVideo {
  readonly video: Video;
  readonly error: string;
  readonly settlement: Settlement | undefined;
}

interface PublishedEnd {
  readonly status: EndedStatus;
  readonly error: string | null;
  readonly parts: UIMessage['parts'];
  /** Calls that wait for a person. */
  readonly approvals?: readonly PendingApproval[] | undefined;
  /** The videos that ended with the run. */
  readonly videos: readonly FailedVideo[];
  /** The answer was added to the thread, which users still see. */
  readonly isChanged: boolean;
  readonly settlement: Settlement | undefined;
}

/** Publishes `run.ended`, and what else ended with the run: its images, its videos, and calls that wait for approval. */
export async function publishRunEnd(
  context: AgentContext,
  tx: Tx<AgentTables>,
  run: Run,
  { status, error, parts, approvals = [], videos, isChanged, settlement }: PublishedEnd,
): Promise<void> {
  const { threadId, taskId, ownerId } = run;
  await publish(context, tx, ownerId, [
    ...approvals.map(({ approvalId, toolCallId, toolName, credits }) => {
      return { type: 'approval.requested', threadId, taskId, approvalId, toolCallId, toolName, credits } as const;
    }),
    ...parts.flatMap((part) => imageEventOf(run, part) ?? []),
    ...videos.flatMap(eventsOfFailure),
    ...(isChanged ? [{ type: 'thread.updated', threadId } as const] : []),
    ...creditsEvent(run, settlement),
    { type: 'run.ended', threadId, taskId, status, error },
  ]);
}

/** Publishes that a video was delivered. */
export async function publishVideo(
  context: AgentContext,
  tx: Tx<AgentTables>,
  video: Video,
  assetId: string,
  settlement: Settlement | undefined,
): Promise<void> {
  await publish(context, tx, video.ownerId, [
    ...endOfVideo(video, { type: 'media.completed', ...factsOf(video), assetId }),
    ...changeOfThread(video),
    ...creditsEvent(video, settlement),
  ]);
}

export const publishVideoFailure = (context: AgentContext, tx: Tx<AgentTables>, failed: FailedVideo) =>
  publish(context, tx, failed.video.ownerId, [...eventsOfFailure(failed), ...changeOfThread(failed.video)]);

/** As `publishVideoFailure`, for videos of one user. Their thread is not changed. */
export async function publishVideoFailures(
  context: AgentContext,
  tx: Tx<AgentTables>,
  failed: readonly FailedVideo[],
): Promise<void> {
  const [first] = failed;
  if (first !== undefined) await publish(context, tx, first.video.ownerId, failed.flatMap(eventsOfFailure));
}

interface EndedGeneration {
  readonly id: string;
  readonly kind: 'image' | 'video';
  readonly status: 'completed' | 'failed' | 'canceled';
}

interface EndedImages extends EndedGeneration {
  readonly ownerId: string;
  readonly origin: OrderOrigin;
  readonly scopeId: string;
  readonly assetIds: readonly string[];
  readonly settlement: Settlement | undefined;
}

/** Publishes the end of an order of images. Those of an MCP client are in a thread. */
export async function publishGeneration(
  context: AgentContext,
  tx: Tx<AgentTables>,
  { ownerId, origin, scopeId, assetIds, settlement, ...ended }: EndedImages,
): Promise<void> {
  const { id } = ended;
  const isInThread = origin === 'mcp';
  const place = { threadId: isInThread ? scopeId : `generation-${id}`, taskId: id };
  const made = { type: 'media.completed', ...place, toolCallId: id, kind: 'image' } as const;
  await publish(context, tx, ownerId, [
    ...(isInThread ? assetIds : []).map((assetId) => ({ ...made, assetId })),
    endOf(ended),
    ...creditsEvent(place, settlement),
  ]);
}

type MediaEvent = Extract<UserEvent, { type: 'media.completed' | 'media.failed' }>;

/** A video is a generation too. One without a thread has no `media.*`. */
function endOfVideo({ videoId: id, origin, failureCode }: Video, media: MediaEvent): readonly UserEvent[] {
  const status = media.type === 'media.completed' ? 'completed' : failureCode === 'aborted' ? 'canceled' : 'failed';
  return [...(origin === 'api' ? [] : [media]), endOf({ id, kind: 'video', status })];
}

const endOf = ({ id: generationId, kind, status }: EndedGeneration): UserEvent =>
  status === 'completed'
    ? { type: 'generation.completed', generationId, kind }
    : { type: 'generation.failed', generationId, kind, status };

const eventsOfFailure = ({ video, error, settlement }: FailedVideo): readonly UserEvent[] => [
  ...endOfVideo(video, { type: 'media.failed', ...factsOf(video), error }),
  ...creditsEvent(video, settlement),
];

const changeOfThread = ({ origin, threadId }: Video): readonly UserEvent[] =>
  origin === 'api' ? [] : [{ type: 'thread.updated', threadId }];

function creditsEvent(
  { threadId, taskId }: Pick<Run, 'threadId' | 'taskId'>,
  settlement: Settlement | undefined,
): readonly UserEvent[] {
  return settlement === undefined ? [] : [{ type: 'credits.changed', threadId, taskId, credits: settlement.balance }];
}

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
