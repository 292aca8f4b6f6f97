/**
 * Starts, ends and describes runs (docs/specification/agent.md#runs). A start and an end are one transaction each: the
 * run's row, its messages and its credits change together, or nothing does.
 */

import { randomUUID } from 'node:crypto';
import type { UIMessage } from 'ai';
import type { Plan } from '#accounts/api.ts';
import { closeCredits, lockReserved, reserveCredits } from '#accounts/ledger/credits.ts';
import { accountProblems } from '#accounts/problems.ts';
import { ensureProfile, findProfile } from '#accounts/store.ts';
import type { Caller } from '#platform/access/caller.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { CurrentTask, MediaOutput, TaskInfo, TaskRequest } from '../api.ts';
import { denyUnanswered, insertApprovals } from '../approvals/approvalstore.ts';
import type { PendingApproval } from '../approvals/rules.ts';
import {
  addUsages,
  chargedCancels,
  imageReferences,
  isImage,
  runReference,
  type UsageMeter,
  withDelivered,
} from '../billing/usage.ts';
import { addUsage } from '../billing/usagestore.ts';
import type { AgentContext, RunLease } from '../context.ts';
import { type FailedVideo, publishRunEnd, publishRunQueued, publishRunStart, publishVideoFailures } from '../events.ts';
import { requestExtraction } from '../extraction/extracting.ts';
import { costOf, countInFlightOf, type NotedImage, takeImages } from '../generation/generationstore.ts';
import { agentProblems } from '../problems.ts';
import { deleteSteps } from '../steps/stepstore.ts';
import type { AgentTables, EndedStatus, Question, RunImages, RunOptions, RunStep, TokenUsage } from '../tables.ts';
import { branchOff } from '../threads/branchstore.ts';
import { findVisible, openThread } from '../threads/changes.ts';
import { appendMessage, changeMessage, findMessage, type StoredMessage } from '../threads/messagestore.ts';
import { lockExistingThread } from '../threads/threadstore.ts';
import { requestTitle } from '../titles/titling.ts';
import { cancelVideos, endVideosOf } from '../videos/ending.ts';
import { holdVideosOf, lockVideosOfThread } from '../videos/videostore.ts';
import * as store from './runstore.ts';

/** Each message is a thread whose queue may move on. */
export const queueTopic = 'queue';

/** What a run with a model costs, and who may start it. */
export interface RunPrice {
  readonly id: string;
  readonly credits: number;
  /** `undefined`: every plan. */
  readonly plans: readonly Plan[] | undefined;
}

/** Who holds the lease of a run, and how long after its last renewal. */
/** What a start needs of `POST /task`. */
export type StartRequest = Pick<TaskRequest, 'threadId' | 'message' | 'text' | 'rewindTo' | 'whenBusy' | 'temporary'>;

/** Of one thread. */
const maxQueued = 5;

/** A question has to leave room for its answer. The thread does not limit the bytes of an answer, so none is lost. */
const questionLimits = { messages: 2000 - 1, bytes: 32 * 1024 * 1024 };

/** Another request with the same `Idempotency-Key` has started. Rolls this one back. */
class KeyTaken extends Error {}

/**
 * Starts a run or an order once for each `Idempotency-Key` of a user: a repetition gets the first start, and requests with the same key
 * wait for each other. Throws 409 `idempotency_conflict` for another request under the key.
 */
export async function startOnce(
  db: Db<AgentTables>,
  keyed: store.KeyedStart | undefined,
  start: () => Promise<store.Started>,
): Promise<store.Started> {
  if (keyed === undefined) return start();
  const earlier = await findEarlier(db, keyed);
  if (earlier !== undefined) return earlier;
  try {
    return await start();
  } catch (error) {
    const winner = error instanceof KeyTaken ? await findEarlier(db, keyed) : undefined;
    if (winner === undefined) throw error;
    return winner;
  }
}

async function findEarlier(db: Db<AgentTables>, keyed: store.KeyedStart): Promise<store.Started | undefined> {
  const earlier = await store.findStart(db, keyed);
  if (earlier === undefined || earlier.bodyDigest === keyed.bodyDigest) return earlier;
  throw agentProblems.idempotency_conflict({ fields: { reason: 'idempotency_conflict', taskId: earlier.taskId } });
}

/** In the transaction of the start. A refused start takes no key. */
export async function takeKey(
  tx: Tx<AgentTables>,
  keyed: store.KeyedStart | undefined,
  started: { readonly taskId: string; readonly threadId: string },
): Promise<void> {
  if (keyed !== undefined && !(await store.takeKey(tx, keyed, started))) throw new KeyTaken();
}

/**
 * Throws 403 for another user's thread, 409 `thread_deleting`, 400 for an unknown `rewindTo` and the wrong `temporary`, 409
 * `task_running`, `queue_full` or
 * `message_exists`, 429 `too_many_runs`, 402 `insufficient_credits` or `insufficient_plan`, 409 `thread_full`, and KeyTaken;
 * then nothing has changed. With `whenBusy`, the run may be `queued`.
 */
export async function startRun(
  deps: AgentContext,
  lease: RunLease,
  userId: string,
  request: StartRequest,
  chosen: RunPrice,
  keyed?: store.KeyedStart,
): Promise<store.Run> {
  const taskId = randomUUID();
  return transaction(deps.db, async (tx) => {
    const { canceled, queued, isTemporary } = await prepareStart(deps, tx, taskId, userId, request, chosen, keyed);
    const run = await store.insertRun(tx, {
      taskId,
      threadId: request.threadId,
      ownerId: userId,
      messageId: randomUUID(),
      model: chosen.id,
      credits: chosen.credits,
      queued,
      options: optionsOf(isTemporary ? { ...request, memory: false } : request),
      ...lease,
    });
    if (queued !== undefined) {
      await publishRunQueued(deps, tx, run);
      return run;
    }
    await publishVideoFailures(deps, tx, canceled);
    await publishRunStart(deps, tx, run);
    return run;
  });
}

function optionsOf({ media, memory, instructions }: TaskRequest): RunOptions | undefined {
  if (!media && !instructions && memory !== false) return undefined;
  return { ...(media && { media }), ...(memory === false && { memory }), ...(instructions && { instructions }) };
}

/** Rolls back the transaction of a start that was only to be checked. */
class DryRunEnded extends Error {}

/** Throws what `startRun` would throw, and changes nothing. */
export async function checkStart(
  deps: AgentContext,
  userId: string,
  request: StartRequest,
  chosen: RunPrice,
  keyed?: store.KeyedStart,
): Promise<void> {
  const dryRun = transaction(deps.db, async (tx) => {
    await prepareStart(deps, tx, randomUUID(), userId, request, chosen, keyed);
    throw new DryRunEnded();
  });
  await dryRun.catch((error: unknown) => {
    if (!(error instanceof DryRunEnded)) throw error;
  });
}

interface Prepared {
  readonly canceled: readonly FailedVideo[];
  readonly isTemporary: boolean;
  /** Set if the run has to wait. */
  readonly queued?: store.QueuedStart;
}

/** Everything of a start but the run itself. Returns the videos that it has canceled. Throws as `startRun`. */
async function prepareStart(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  taskId: string,
  userId: string,
  request: StartRequest,
  chosen: RunPrice,
  keyed: store.KeyedStart | undefined,
): Promise<Prepared> {
  const { threadId } = request;
  // First of all: a request with the same key waits here until this one is over.
  await takeKey(tx, keyed, { taskId, threadId });
  const isTemporary = await openThread(tx, threadId, userId, request.temporary);
  const from = await findRewind(tx, threadId, request.rewindTo);
  const waiting = await store.listQueued(tx, threadId);
  // Before a running run: a repeat during its own run gets the id of that run, which clients join.
  await refuseRepeat(tx, request, waiting, from?.seq);
  const isBusy = await admit(tx, request, waiting);
  const question = questionOf(request);
  if (isBusy) {
    await payForRun(deps, tx, taskId, userId, chosen, true);
    if (keyed !== undefined) await store.markStartQueued(tx, keyed);
    const interrupts = request.whenBusy === 'interrupt';
    return { canceled: [], isTemporary, queued: { question, rewindTo: request.rewindTo ?? null, interrupts } };
  }
  // Videos are locked before credits, as in their worker.
  const canceled = from === undefined ? [] : await cancelDropped(deps, tx, userId, threadId, from.seq);
  await payForRun(deps, tx, taskId, userId, chosen, false);
  await denyUnanswered(tx, threadId);
  if (from !== undefined) await branchOff(tx, threadId, from.seq);
  await appendQuestion(tx, { threadId, ownerId: userId, taskId }, question);
  return { canceled, isTemporary };
}

async function findRewind(tx: Tx<AgentTables>, threadId: string, rewindTo: string | null | undefined) {
  const from = rewindTo ? await findMessage(tx, threadId, rewindTo) : undefined;
  if (rewindTo && from === undefined) throw invalid('body.rewindTo', 'must be a message of the thread');
  return from;
}

/** Whether the run has to wait. An interrupted run is asked to stop. Throws 409 `task_running` and `queue_full`. */
async function admit(
  tx: Tx<AgentTables>,
  request: StartRequest,
  waiting: readonly store.QueuedRun[],
): Promise<boolean> {
  const running = await store.findRunningOf(tx, request.threadId);
  const current = running ?? waiting[0];
  if (current === undefined) return false;
  const { whenBusy = 'reject' } = request;
  if (whenBusy === 'reject')
    throw agentProblems.task_running({ fields: { reason: 'running', taskId: current.taskId } });
  if (waiting.length >= maxQueued)
    throw agentProblems.queue_full({ fields: { reason: 'queue_full', taskId: current.taskId } });
  if (whenBusy === 'interrupt' && running !== undefined) await store.requestAbort(tx, running.taskId);
  return true;
}

/**
 * Puts the question of a queued run into its thread, which has to be locked, and drops the messages that it replaces. Throws 400
 * if these are gone, 403 `account_blocked`, and 409 `thread_full`. Returns the videos that it has canceled.
 */
export async function openQueued(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  run: store.QueuedRun,
): Promise<readonly FailedVideo[]> {
  const { threadId, ownerId, question, rewindTo } = run;
  if (question === null) throw new Error('a queued run has no question');
  if ((await findProfile(tx, ownerId))?.blockedAt != null) throw accountProblems.account_blocked();
  const from = await findRewind(tx, threadId, rewindTo);
  const canceled = from === undefined ? [] : await cancelDropped(deps, tx, ownerId, threadId, from.seq);
  await denyUnanswered(tx, threadId);
  if (from !== undefined) await branchOff(tx, threadId, from.seq);
  await appendQuestion(tx, run, question);
  return canceled;
}

async function cancelDropped(
  deps: AgentContext,
  tx: Tx<AgentTables>,
  userId: string,
  threadId: string,
  fromSeq: number,
) {
  await holdVideosOf(tx, userId);
  return cancelVideos(deps, tx, await lockVideosOfThread(tx, threadId, fromSeq), 'The message was dropped.');
}

async function payForRun(
  { welcome, maxRunsPerUser }: AgentContext,
  tx: Tx<AgentTables>,
  taskId: string,
  userId: string,
  { plans, credits }: RunPrice,
  isQueued: boolean,
): Promise<void> {
  const { plan } = await ensureProfile(tx, { id: userId }, welcome);
  if (plans !== undefined && !plans.includes(plan)) throw agentProblems.insufficient_plan();
  const reference = runReference(taskId);
  const { reserved, balance } = await reserveCredits(tx, { reference, scope: taskId, userId, amount: credits });
  // The reservation has locked the user's row, so concurrent starts are counted one after the other.
  // A queued run takes the place of another one of its thread.
  if (!isQueued && (await countInFlightOf(tx, userId)) >= maxRunsPerUser) throw agentProblems.too_many_runs();
  if (!reserved) throw agentProblems.insufficient_credits({ fields: { required: credits, balance } });
}

/** A message that the thread or its queue has, unless it is dropped first, is a repeat of the request that brought it. */
async function refuseRepeat(
  tx: Tx<AgentTables>,
  { threadId, message }: StartRequest,
  waiting: readonly store.QueuedRun[],
  droppedFrom: number | undefined,
): Promise<void> {
  if (message?.id === undefined) return;
  const queued = waiting.find(({ question }) => question?.id === message.id);
  const known = await findMessage(tx, threadId, message.id);
  const isKept = known !== undefined && (droppedFrom === undefined || known.seq < droppedFrom);
  const taskId = queued?.taskId ?? (isKept ? known.taskId : undefined);
  if (taskId !== undefined) throw agentProblems.message_exists({ fields: { reason: 'message_exists', taskId } });
}

function questionOf({ message, text }: StartRequest): Question {
  return {
    id: message?.id ?? randomUUID(),
    parts: (message?.parts ?? [{ type: 'text', text: text ?? '' }]) as UIMessage['parts'],
    metadata: message?.metadata ?? {},
  };
}

/** Throws 409 `thread_full`. */
async function appendQuestion(
  tx: Tx<AgentTables>,
  { threadId, ownerId, taskId }: Pick<store.Run, 'threadId' | 'ownerId' | 'taskId'>,
  question: Question,
): Promise<void> {
  const message = { ...question, threadId, ownerId, role: 'user' as const, taskId };
  if (!(await appendMessage(tx, message, questionLimits)))
    throw agentProblems.thread_full({ fields: { reason: 'thread_full' } });
}

export type AnswerMetadata = Readonly<Record<string, unknown>>;

export interface RunEnd {
  readonly status: EndedStatus;
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
  readonly times?: Pick<UsageMeter, 'steps' | 'callsTookMs' | 'openStepMs'>;
  /** References of the images that a provider was making. If the run was stopped, they are canceled. */
  readonly imageOrders: readonly string[];
  /** Of a failure, in the words of the provider. */
  readonly answer?: string | undefined;
  /** Calls that wait for a person. */
  readonly approvals?: readonly PendingApproval[] | undefined;
}

/**
 * Ends the run, stores its answer and settles its credits: a failed run is free, and so is an aborted one that has shown
 * nothing of its answer, up to the user's free cancellations; images that it delivered were charged then. Returns the answer's
 * metadata. Returns `undefined`, and changes nothing, if the run has ended before or another process executes it.
 */
export async function endRun(deps: AgentContext, run: store.Run, end: RunEnd): Promise<AnswerMetadata | undefined> {
  const ended = await transaction(deps.db, async (tx) => {
    // A deleted thread must not come back.
    const thread = await lockExistingThread(tx, run.threadId);
    if (thread === undefined) return undefined;
    if (!(await store.markEnded(tx, run, end))) return undefined;
    await deleteSteps(tx, run.taskId);
    // Videos are locked before credits, as in their worker.
    const videos = await endVideosOf(deps, tx, run, end);
    const { settlement, settled, delivered, credits } = await settleRun(deps, tx, run, end);
    const parts = [...withDelivered(run.taskId, end.parts, delivered), ...videos.shown];
    const { threadId, ownerId, messageId: id, taskId } = run;
    const { status, error, code, usage } = end;
    const remembers = run.options?.memory !== false;
    const metadata = {
      ...end.metadata,
      taskId,
      status,
      ...(error !== null && { error }),
      ...(code && { errorCode: code }),
      ...(!remembers && { memory: false }),
      usage,
      credits,
    };
    const isStored = parts.some(({ type }) => type !== 'step-start');
    const prior = run.replayed === null ? undefined : await findMessage(tx, threadId, id);
    if (prior !== undefined) await changeMessage(tx, { threadId, id, parts, metadata: withPrior(metadata, prior) });
    else if (isStored) {
      await appendMessage(tx, { threadId, id, ownerId, role: 'assistant', parts, metadata, taskId }, undefined);
      if (deps.makesTitles && !thread.isTemporary && status === 'completed') await requestTitle(deps.jobs, tx, run);
      if (deps.extractsMemories && remembers && status === 'completed') await requestExtraction(deps.jobs, tx, run);
    }
    await insertApprovals(tx, run, end.approvals ?? []);
    const { inputTokens, outputTokens } = usage;
    const noted = await takeImages(tx, taskId);
    // An order of 1.0.0 may have no note.
    const unknown = { model: null, costUsd: 0, answer: null };
    const made = delivered.map(
      (reference) => noted.find((one) => one.reference === reference) ?? { reference, ...unknown },
    );
    const costUsd = (end.costUsd ?? 0) + costOf(made);
    const own = prior === undefined ? end.parts : end.parts.filter((part) => !isIn(prior.parts, part));
    const timeline = timelineOf(taskId, { ...end, parts: own }, noted);
    const images = imagesOf(timeline, noted, made, creditsOf(settled, made));
    const used = { inputTokens, outputTokens, credits, costUsd };
    await store.recordRun(tx, taskId, { ...workOf(end), timeline, ...(images && { images }), ...used });
    const isAwaited = await store.hasQueued(tx, threadId);
    // Late, because runs of other users wait for these rows until the commit.
    await addUsage(tx, { userId: run.ownerId, model: run.model, runs: 1, images: made.length, ...used });
    await publishRunEnd(deps, tx, run, {
      ...end,
      parts: prior === undefined ? parts : parts.filter((part) => !isIn(prior.parts, part)),
      videos: videos.failed,
      isChanged: isStored && !thread.isDeleting,
      settlement,
    });
    return { metadata, isAwaited };
  });
  if (ended?.isAwaited) deps.pubsub.publish(queueTopic, run.threadId);
  return ended?.metadata;
}

type Settled = readonly { readonly reference: string; readonly amount: number }[];

const sumOf = (settled: Settled) => settled.reduce((sum, { amount }) => sum + amount, 0);
const creditsOf = (settled: Settled, images: readonly NotedImage[]) =>
  sumOf(settled.filter(({ reference }) => images.some((image) => image.reference === reference)));

/** The steps of the run, and what became of their tool calls. */
function timelineOf(
  taskId: string,
  { parts, times, status, error }: RunEnd,
  noted: readonly NotedImage[],
): readonly RunStep[] {
  const unknown = { tookMs: null, inputTokens: null, outputTokens: null, failure: null };
  const steps: RunStep[] = [];
  for (const part of parts) {
    if (part.type === 'step-start') steps.push({ ...unknown, ...times?.steps.get(steps.length + 1), calls: [] });
    if (!('toolCallId' in part)) continue;
    const { toolCallId } = part;
    const references = imageReferences(taskId, toolCallId);
    const answer = noted.find((image) => image.answer !== null && references.includes(image.reference))?.answer ?? null;
    const tookMs = times?.callsTookMs.get(toolCallId) ?? null;
    steps.at(-1)?.calls.push({ name: toolNameOf(part), tookMs, ...failureOf(part), answer });
  }
  if (status !== 'failed') return steps;
  const tookMs = times?.openStepMs() ?? null;
  // The step that failed may have shown nothing.
  const isUnseen = tookMs !== null && steps.at(-1)?.tookMs !== null;
  const last = isUnseen ? { ...unknown, calls: [] } : steps.pop();
  return last === undefined ? steps : [...steps, { ...last, tookMs: tookMs ?? last.tookMs, failure: error }];
}

function failureOf(part: UIMessage['parts'][number]) {
  if ('errorText' in part) return { failure: part.errorText ?? null };
  const { failure } = Object('output' in part ? part.output : undefined) as Partial<MediaOutput>;
  return { failure: failure?.message ?? null, code: failure?.code };
}

const makesImages: ReadonlySet<string> = new Set(['generateImage', 'editImage']);

/** For the list of images. A call that was refused before its price was known counts as one image. `undefined`: there was none. */
function imagesOf(
  timeline: readonly RunStep[],
  noted: readonly NotedImage[],
  made: readonly NotedImage[],
  credits: number,
): RunImages | undefined {
  const calls = timeline.flatMap((step) => step.calls).filter(({ name }) => makesImages.has(name));
  if (calls.length === 0) return undefined;
  const { failure = null, code, answer = null } = calls.find((call) => call.failure !== null) ?? {};
  const count = Math.max(noted.length, calls.length);
  return {
    model: noted[0]?.model ?? null,
    count,
    delivered: made.length,
    credits,
    costUsd: costOf(made),
    failure,
    code,
    answer,
  };
}

/** How the answer was made, without its content. */
function workOf({ parts, metadata, answer }: RunEnd) {
  const { answeredBy, finishReason } = metadata;
  return {
    steps: parts.filter(({ type }) => type === 'step-start').length,
    tools: parts.flatMap((part) => ('toolCallId' in part ? [toolNameOf(part)] : [])),
    ...(typeof answeredBy === 'string' && { answeredBy }),
    ...(typeof finishReason === 'string' && { finishReason }),
    ...(answer !== undefined && { answer }),
  };
}

const toolNameOf = (part: { readonly type: string }): string =>
  'toolName' in part ? String(part.toolName) : part.type.replace(/^tool-/, '');

/** What the answer cost before, and its tokens, are added. */
function withPrior(
  metadata: AnswerMetadata & { readonly usage: TokenUsage; readonly credits: number },
  prior: StoredMessage,
) {
  const { usage, credits = 0 } = prior.metadata as { usage?: TokenUsage; credits?: number };
  return {
    ...prior.metadata,
    ...metadata,
    usage: usage === undefined ? metadata.usage : addUsages(usage, metadata.usage),
    credits: credits + metadata.credits,
  };
}

/** A tool call that had ended before the run. */
function isIn(prior: UIMessage['parts'], part: UIMessage['parts'][number]): boolean {
  if (!('toolCallId' in part)) return false;
  const known = prior.find((other) => 'toolCallId' in other && other.toolCallId === part.toolCallId);
  return known !== undefined && 'state' in known && known.state !== 'approval-responded';
}

/** `delivered`: the references of the images that the run made. `credits`: all that it cost, without videos. */
async function settleRun(deps: AgentContext, tx: Tx<AgentTables>, { taskId, ownerId }: store.Run, end: RunEnd) {
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
  return { settlement, settled, delivered, credits: sumOf(settled) };
}

/** A text that has begun and is still empty shows nothing. */
export function isShown(part: UIMessage['parts'][number]): boolean {
  return part.type === 'text' || part.type === 'reasoning' ? part.text !== '' : part.type !== 'step-start';
}

/** 404: unknown or expired; 403: another user's. */
export async function readRun(deps: AgentContext, caller: Caller, taskId: string): Promise<store.Run> {
  const run = isUuid(taskId) ? await store.findRun(deps.db, taskId, deps.taskTtlS) : undefined;
  if (run === undefined) throw problems.not_found();
  if (caller.kind === 'user' && run.ownerId !== caller.userId) throw problems.forbidden();
  return run;
}

/** Throws 403 for the thread of another user than `userId`. */
export async function readCurrentTask(
  deps: AgentContext,
  userId: string | undefined,
  threadId: string,
  hasFailed: boolean,
): Promise<CurrentTask> {
  const thread = await findVisible(deps, userId, threadId);
  if (thread === undefined) return { task: null };
  const run = await store.findRunningOf(deps.db, threadId);
  const waiting = await store.listQueued(deps.db, threadId);
  const queued = waiting.flatMap(({ question, ...one }) =>
    question === null ? [] : [{ ...describeRun(one), message: { ...question, role: 'user' as const } }],
  );
  const last = hasFailed && run === undefined ? await store.findLastOf(deps.db, threadId, deps.taskTtlS) : undefined;
  return {
    task: run === undefined ? null : describeRun(run),
    ...(last?.status === 'failed' && { failed: describeRun(last) }),
    ...(queued.length > 0 && { queued }),
    ...(thread.isTemporary && { temporary: true as const }),
  };
}

export function describeRun(run: Omit<store.Run, 'fence' | 'epochMs'>): TaskInfo {
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
