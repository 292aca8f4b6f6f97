/**
 * Starts, ends and describes runs (docs/specification/agent.md#runs). A start and an end are one transaction each: the
 * run's row, its messages and its credits change together, or nothing does.
 */

import { randomUUID } from 'node:crypto';
import type { UIMessage } from 'ai';
import type { Plan } from '#accounts/api.ts';
import { closeCredits, type LedgerTables, lockReserved, reserveCredits } from '#accounts/ledger/credits.ts';
import { ensureProfile } from '#accounts/store.ts';
import type { Caller } from '#platform/access/caller.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { invalid, problems } from '#platform/problem.ts';
import { publishAccount } from '#webhooks/accounts.ts';
import type { TaskInfo, TaskRequest } from '../api.ts';
import { chargedCancels, type SpendingBounds } from '../billing/bounds.ts';
import { isImage, runReference, withDelivered } from '../billing/references.ts';
import type { TokenUsage } from '../billing/usage.ts';
import { type FailedVideo, type Publishers, publishRunEnd, publishRunStart, publishVideoFailures } from '../events.ts';
import { requestExtraction } from '../extraction/request.ts';
import { takeCosts } from '../generation/coststore.ts';
import { agentProblems } from '../problems.ts';
import type { CancelTables } from '../store/cancelstore.ts';
import { findMessage } from '../store/messagestore.ts';
import {
  findRun,
  findRunningOf,
  insertRun,
  markEnded,
  type Run,
  type RunOptions,
  type RunStatus,
  type RunTables,
} from '../store/runstore.ts';
import { type KeyedStart, type StartTables, takeKey } from '../store/startstore.ts';
import { lockExistingThread } from '../store/threadstore.ts';
import { countInFlightOf, type ToolCallTables } from '../store/toolcallstore.ts';
import { addUsage, type UsageTables } from '../store/usagestore.ts';
import { holdVideosOf, lockVideosOfThread, type VideoTables } from '../store/videostore.ts';
import { checkThread } from '../threads/access.ts';
import { addMessage, openThread, rewindThread } from '../threads/changes.ts';
import { requestTitle } from '../titles/request.ts';
import { cancelVideos, endVideosOf } from '../videos/cancelling.ts';
import type { VideoBounds } from '../videos/starting.ts';

type Tables = RunTables & LedgerTables & VideoTables & UsageTables & StartTables & ToolCallTables & CancelTables;

export interface RunsDeps extends Publishers, VideoBounds, SpendingBounds {
  readonly db: Db<Tables>;
  /** AGENT_TASK_TTL_SECS. */
  readonly ttlS: number;
  /** AGENT_MAX_RUNS_PER_USER. */
  readonly maxRunsPerUser: number;
  readonly jobs: Jobs;
  /** Whether a model makes titles. */
  readonly makesTitles: boolean;
  /** AGENT_EXTRACT_MEMORIES. */
  readonly extractsMemories: boolean;
}

/** What a run with a model costs, and who may start it. */
export interface RunPrice {
  readonly id: string;
  readonly credits: number;
  /** `undefined`: every plan. */
  readonly plans: readonly Plan[] | undefined;
}

/** Who holds the lease of a run, and how long after its last renewal. */
export interface RunLease {
  readonly holder: string;
  readonly leaseMs: number;
}

/** A question has to leave room for its answer. The thread does not limit the bytes of an answer, so none is lost. */
const questionLimits = { messages: 2000 - 1, bytes: 32 * 1024 * 1024 };

/** A run was started with the same `Idempotency-Key`. */
export class KeyTaken extends Error {}

/**
 * Throws 403 for another user's thread, 409 `thread_deleting`, 400 for an unknown `rewindTo`, 409 `task_running` or
 * `message_exists`, 429 `too_many_runs`, 402 `insufficient_credits` or `insufficient_plan`, 409 `thread_full`, and KeyTaken;
 * then nothing has changed.
 */
export async function startRun(
  deps: RunsDeps,
  lease: RunLease,
  userId: string,
  request: TaskRequest,
  chosen: RunPrice,
  keyed?: KeyedStart,
): Promise<Run> {
  const taskId = randomUUID();
  return transaction(deps.db, async (tx) => {
    const canceled = await prepareStart(deps, tx, taskId, userId, request, chosen, keyed);
    const run = await insertRun(tx, {
      taskId,
      threadId: request.threadId,
      ownerId: userId,
      messageId: randomUUID(),
      model: chosen.id,
      credits: chosen.credits,
      options: optionsOf(request),
      ...lease,
    });
    await publishVideoFailures(deps, tx, canceled);
    await publishRunStart(deps, tx, run);
    return run;
  });
}

function optionsOf({ media, instructions }: TaskRequest): RunOptions | undefined {
  if (!media && !instructions) return undefined;
  return { ...(media && { media }), ...(instructions && { instructions }) };
}

/** Rolls back the transaction of a start that was only to be checked. */
class DryRunEnded extends Error {}

/** Throws what `startRun` would throw, and changes nothing. */
export async function checkStart(
  deps: RunsDeps,
  userId: string,
  request: TaskRequest,
  chosen: RunPrice,
  keyed?: KeyedStart,
): Promise<void> {
  const dryRun = transaction(deps.db, async (tx) => {
    await prepareStart(deps, tx, randomUUID(), userId, request, chosen, keyed);
    throw new DryRunEnded();
  });
  await dryRun.catch((error: unknown) => {
    if (!(error instanceof DryRunEnded)) throw error;
  });
}

/** Everything of a start but the run itself. Returns the videos that it has canceled. Throws as `startRun`. */
async function prepareStart(
  deps: RunsDeps,
  tx: Tx<Tables>,
  taskId: string,
  userId: string,
  request: TaskRequest,
  chosen: RunPrice,
  keyed: KeyedStart | undefined,
): Promise<readonly FailedVideo[]> {
  const { threadId } = request;
  // First of all: a request with the same key waits here until this one is over.
  if (keyed !== undefined && !(await takeKey(tx, keyed, { taskId, threadId }))) throw new KeyTaken();
  await openThread(tx, threadId, userId);
  const from = request.rewindTo ? await findMessage(tx, threadId, request.rewindTo) : undefined;
  if (request.rewindTo && from === undefined) throw invalid('body.rewindTo', 'must be a message of the thread');
  // Before a running run: a repeat during its own run gets the id of that run, which clients join.
  await refuseRepeat(tx, request, from?.seq);
  const running = await findRunningOf(tx, threadId);
  if (running !== undefined)
    throw agentProblems.task_running({ fields: { reason: 'running', taskId: running.taskId } });
  // Videos are locked before credits, as in their worker.
  const canceled = from === undefined ? [] : await cancelDropped(deps, tx, userId, threadId, from.seq);
  await payForRun(deps, tx, taskId, userId, chosen);
  if (from !== undefined) await rewindThread(tx, threadId, from.seq);
  await appendQuestion(tx, userId, request, taskId);
  return canceled;
}

async function cancelDropped(deps: RunsDeps, tx: Tx<Tables>, userId: string, threadId: string, fromSeq: number) {
  await holdVideosOf(tx, userId);
  return cancelVideos(deps, tx, await lockVideosOfThread(tx, threadId, fromSeq), 'The message was dropped.');
}

async function payForRun(
  { webhooks, maxRunsPerUser }: RunsDeps,
  tx: Tx<RunTables & LedgerTables & ToolCallTables>,
  taskId: string,
  userId: string,
  { plans, credits }: RunPrice,
): Promise<void> {
  const { plan } = await ensureProfile(tx, { id: userId }, publishAccount(webhooks));
  if (plans !== undefined && !plans.includes(plan)) throw agentProblems.insufficient_plan();
  const reference = runReference(taskId);
  const { reserved, balance } = await reserveCredits(tx, { reference, scope: taskId, userId, amount: credits });
  // The reservation has locked the user's row, so concurrent starts are counted one after the other.
  if ((await countInFlightOf(tx, userId)) >= maxRunsPerUser) throw agentProblems.too_many_runs();
  if (!reserved) throw agentProblems.insufficient_credits({ fields: { required: credits, balance } });
}

/** A message that the thread has, unless it is dropped first, is a repeat of the request that brought it. */
async function refuseRepeat(
  tx: Tx<RunTables>,
  { threadId, message }: TaskRequest,
  droppedFrom: number | undefined,
): Promise<void> {
  const known = message?.id === undefined ? undefined : await findMessage(tx, threadId, message.id);
  if (known === undefined || (droppedFrom !== undefined && known.seq >= droppedFrom)) return;
  throw agentProblems.message_exists({ fields: { reason: 'message_exists', taskId: known.taskId } });
}

async function appendQuestion(
  tx: Tx<RunTables>,
  ownerId: string,
  { threadId, message, text }: TaskRequest,
  taskId: string,
): Promise<void> {
  const parts = message?.parts ?? [{ type: 'text' as const, text: text ?? '' }];
  const question = {
    threadId,
    id: message?.id ?? randomUUID(),
    ownerId,
    role: 'user' as const,
    parts: parts as UIMessage['parts'],
    metadata: message?.metadata ?? {},
    taskId,
  };
  if (!(await addMessage(tx, question, questionLimits)))
    throw agentProblems.thread_full({ fields: { reason: 'thread_full' } });
}

export type AnswerMetadata = Readonly<Record<string, unknown>>;

export interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>;
  /** A sentence for the user, of a failure. */
  readonly error: string | null;
  /** Of a failure that programs distinguish. */
  readonly code?: string | undefined;
  /** Everything that readers were shown. */
  readonly parts: UIMessage['parts'];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly usage: TokenUsage;
  /** Of its tokens. */
  readonly costUsd?: number;
  /** References of the images that a provider was making. If the run was stopped, they are canceled. */
  readonly imageOrders: readonly string[];
}

/**
 * Ends the run, stores its answer and settles its credits: a failed run is free, and so is an aborted one that has shown
 * nothing of its answer, up to the user's free cancellations; images that it delivered were charged then. Returns the answer's
 * metadata. Returns `undefined`, and changes nothing, if the run has ended before or another process executes it.
 */
export async function endRun(deps: RunsDeps, run: Run, end: RunEnd): Promise<AnswerMetadata | undefined> {
  return transaction(deps.db, async (tx) => {
    // A deleted thread must not come back.
    const thread = await lockExistingThread(tx, run.threadId);
    if (thread === undefined) return undefined;
    if (!(await markEnded(tx, run, end))) return undefined;
    // Videos are locked before credits, as in their worker.
    const videos = await endVideosOf(deps, tx, run, end);
    const { settlement, delivered, credits } = await settleRun(deps, tx, run, end);
    const parts = [...withDelivered(run.taskId, end.parts, delivered), ...videos.shown];
    const { threadId, ownerId, messageId: id, taskId } = run;
    const { status, error, code, usage } = end;
    const metadata = {
      ...end.metadata,
      taskId,
      status,
      ...(error !== null && { error }),
      ...(code && { errorCode: code }),
      usage,
      credits,
    };
    const isStored = parts.some(({ type }) => type !== 'step-start');
    if (isStored) {
      await addMessage(tx, { threadId, id, ownerId, role: 'assistant', parts, metadata, taskId }, undefined);
      if (deps.makesTitles && status === 'completed') await requestTitle(deps.jobs, tx, run);
      if (deps.extractsMemories && status === 'completed') await requestExtraction(deps.jobs, tx, run);
    }
    const { inputTokens, outputTokens } = usage;
    const images = delivered.length;
    const costUsd = (end.costUsd ?? 0) + (await takeCosts(tx, taskId, delivered));
    const used = { runs: 1, inputTokens, outputTokens, images, credits, costUsd };
    await addUsage(tx, { userId: ownerId, model: run.model, ...used });
    await publishRunEnd(deps, tx, run, {
      ...end,
      parts,
      videos: videos.failed,
      isChanged: isStored && !thread.isDeleting,
      settlement,
    });
    return metadata;
  });
}

/** `delivered`: the references of the images that the run made. `credits`: all that it cost, without videos. */
async function settleRun(deps: RunsDeps, tx: Tx<Tables>, { taskId, ownerId }: Run, end: RunEnd) {
  const own = runReference(taskId);
  const isAborted = end.status === 'aborted';
  const isCharged = end.status === 'completed' || (isAborted && end.parts.some(isShown));
  // From here on, nothing more is delivered.
  const open = await lockReserved(tx, taskId);
  const canceled = isAborted ? [...(isCharged ? [] : [own]), ...end.imageOrders] : [];
  const charged = await chargedCancels(
    deps,
    tx,
    ownerId,
    canceled.filter((reference) => open.includes(reference)),
  );
  const settlement = await closeCredits(tx, taskId, isCharged ? [own, ...charged] : charged);
  const settled = settlement?.settled ?? [];
  const delivered = settled
    .map(({ reference }) => reference)
    .filter((reference) => isImage(taskId, reference) && !charged.includes(reference));
  return { settlement, delivered, credits: settled.reduce((sum, { amount }) => sum + amount, 0) };
}

/** A text that has begun and is still empty shows nothing. */
export function isShown(part: UIMessage['parts'][number]): boolean {
  return part.type === 'text' || part.type === 'reasoning' ? part.text !== '' : part.type !== 'step-start';
}

/** 404: unknown or expired; 403: another user's. */
export async function readRun(deps: RunsDeps, caller: Caller, taskId: string): Promise<Run> {
  const run = isUuid(taskId) ? await findRun(deps.db, taskId, deps.ttlS) : undefined;
  if (run === undefined) throw problems.not_found();
  if (caller.kind === 'user' && run.ownerId !== caller.userId) throw problems.forbidden();
  return run;
}

/** Throws 403 for the thread of another user than `userId`. */
export async function readCurrentTask(
  deps: RunsDeps,
  userId: string | undefined,
  threadId: string,
): Promise<TaskInfo | null> {
  if ((await checkThread(deps, userId, threadId)) === undefined) return null;
  const run = await findRunningOf(deps.db, threadId);
  return run === undefined ? null : describeRun(run);
}

export function describeRun(run: Run): TaskInfo {
  return {
    taskId: run.taskId,
    threadId: run.threadId,
    userId: run.ownerId,
    status: run.status,
    createdAt: run.createdAt.toISOString(),
    updatedAt: run.updatedAt.toISOString(),
    error: run.error,
    ...(run.errorCode !== null && { errorCode: run.errorCode }),
  };
}
