/**
 * Starts, ends and describes runs (docs/specification/agent.md#runs). A start and an end are one transaction each: the
 * run's row, its messages and its credits change together, or nothing does.
 */

import { randomUUID } from 'node:crypto';
import type { UIMessage } from 'ai';
import type { Plan } from '#accounts/api.ts';
import { closeCredits, type LedgerTables, reserveCredits } from '#accounts/ledger/credits.ts';
import { ensureProfile } from '#accounts/store.ts';
import type { Caller } from '#platform/access/caller.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { invalid, problems } from '#platform/problem.ts';
import { publishAccount } from '#webhooks/accounts.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { TaskInfo, TaskRequest } from '../api.ts';
import { pictureCost } from '../billing/prices.ts';
import { runReference } from '../billing/references.ts';
import type { TokenUsage } from '../billing/usage.ts';
import { publishRunEnd } from '../events.ts';
import { agentProblems } from '../problems.ts';
import { appendMessage, deleteMessagesFrom, findMessage } from '../store/messagestore.ts';
import {
  countRunningOf,
  findRun,
  findRunningOf,
  insertRun,
  lockThread,
  markEnded,
  type Run,
  type RunStatus,
  type RunTables,
} from '../store/runstore.ts';
import { countCallsOf, type ToolCallTables } from '../store/toolcallstore.ts';
import { addUsage, type UsageTables } from '../store/usagestore.ts';
import type { VideoTables } from '../store/videostore.ts';
import { checkThread } from '../threads/access.ts';
import { endVideosOf } from '../videos/videos.ts';

export interface RunsDeps {
  readonly db: Db<RunTables & LedgerTables & VideoTables & UsageTables & ToolCallTables>;
  /** AGENT_TASK_TTL_SECS. */
  readonly ttlS: number;
  /** AGENT_MAX_RUNS_PER_USER. */
  readonly maxRunsPerUser: number;
  readonly jobs: Jobs;
  readonly webhooks?: Webhooks | undefined;
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

/**
 * Throws 403 for another user's thread, 400 for an unknown `rewindTo`, 409 `task_running`, 429 `too_many_runs`, 402
 * `insufficient_credits` or `insufficient_plan`, 409 `thread_full`; then nothing has changed.
 */
export async function startRun(
  deps: RunsDeps,
  lease: RunLease,
  userId: string,
  request: TaskRequest,
  chosen: RunPrice,
): Promise<Run> {
  const { threadId } = request;
  return transaction(deps.db, async (tx) => {
    if ((await lockThread(tx, threadId, userId)) !== userId) throw problems.forbidden();
    const from = request.rewindTo ? await findMessage(tx, threadId, request.rewindTo) : undefined;
    if (request.rewindTo && from === undefined) throw invalid('body.rewindTo', 'must be a message of the thread');
    const running = await findRunningOf(tx, threadId);
    if (running !== undefined) {
      throw agentProblems.task_running({ fields: { taskId: running.taskId, reason: 'running' } });
    }
    const taskId = randomUUID();
    await payForRun(deps, tx, taskId, userId, chosen);
    if (from !== undefined) await deleteMessagesFrom(tx, threadId, from.seq);
    await appendQuestion(tx, userId, request);
    return insertRun(tx, {
      taskId,
      threadId,
      ownerId: userId,
      messageId: randomUUID(),
      model: chosen.id,
      credits: chosen.credits,
      ...lease,
    });
  });
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
  const inFlight = (await countRunningOf(tx, userId)) + (await countCallsOf(tx, userId));
  if (inFlight >= maxRunsPerUser) throw agentProblems.too_many_runs();
  if (!reserved) throw agentProblems.insufficient_credits({ fields: { required: credits, balance } });
}

async function appendQuestion(tx: Tx<RunTables>, ownerId: string, request: TaskRequest): Promise<void> {
  const { threadId, message } = request;
  const parts = message?.parts ?? [{ type: 'text' as const, text: request.text ?? '' }];
  // The id of a client's message has to be unique in its thread.
  const isTaken = message?.id !== undefined && (await findMessage(tx, threadId, message.id)) !== undefined;
  const question = {
    threadId,
    id: message?.id === undefined || isTaken ? randomUUID() : message.id,
    ownerId,
    role: 'user' as const,
    parts: parts as UIMessage['parts'],
    metadata: message?.metadata ?? {},
  };
  if (!(await appendMessage(tx, question, questionLimits))) throw agentProblems.thread_full();
}

export type AnswerMetadata = Readonly<Record<string, unknown>>;

export interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>;
  /** A sentence for the user, of a failure. */
  readonly error: string | null;
  /** Everything that readers were shown. */
  readonly parts: UIMessage['parts'];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly usage: TokenUsage;
  /** Ledger references of what the message delivers: its pictures. */
  readonly delivered: readonly string[];
}

/**
 * Ends the run, stores its answer and settles its credits: a failed run is free, and so is an aborted one that has shown
 * nothing of its answer; media that it delivered are charged. Returns the answer's metadata. Returns `undefined`, and
 * changes nothing, if the run has ended before or another process executes it.
 */
export async function endRun(deps: RunsDeps, run: Run, end: RunEnd): Promise<AnswerMetadata | undefined> {
  return transaction(deps.db, async (tx) => {
    await lockThread(tx, run.threadId, run.ownerId);
    if (!(await markEnded(tx, run, end.status, end.error))) return undefined;
    // Videos are locked before credits, as in their worker.
    const parts = [...end.parts, ...(await endVideosOf(deps, tx, run.taskId, end))];
    const isCharged = end.status === 'completed' || (end.status === 'aborted' && end.parts.some(isShown));
    const images = end.delivered.length;
    const credits = (isCharged ? run.credits : 0) + images * pictureCost;
    const { threadId, ownerId, messageId: id, taskId } = run;
    const { status, error, usage } = end;
    const metadata = { ...end.metadata, taskId, status, ...(error !== null && { error }), usage, credits };
    if (parts.some(({ type }) => type !== 'step-start')) {
      await appendMessage(tx, { threadId, id, ownerId, role: 'assistant', parts, metadata }, undefined);
    }
    await closeCredits(tx, run.taskId, isCharged ? [runReference(run.taskId), ...end.delivered] : end.delivered);
    const { inputTokens, outputTokens } = end.usage;
    await addUsage(tx, { userId: run.ownerId, model: run.model, runs: 1, inputTokens, outputTokens, images, credits });
    await publishRunEnd(deps.webhooks, tx, run, end);
    return metadata;
  });
}

/** A text that has begun and is still empty shows nothing. */
function isShown(part: UIMessage['parts'][number]): boolean {
  return part.type === 'text' || part.type === 'reasoning' ? part.text !== '' : part.type !== 'step-start';
}

/** 404: unknown or expired; 403: another user's. */
export async function readRun(deps: RunsDeps, caller: Caller, taskId: string): Promise<Run> {
  const run = isUuid(taskId) ? await findRun(deps.db, taskId, deps.ttlS) : undefined;
  if (run === undefined) throw problems.not_found();
  if (caller.kind === 'user' && run.ownerId !== caller.userId) throw problems.forbidden();
  return run;
}

export async function readCurrentTask(deps: RunsDeps, caller: Caller, threadId: string): Promise<TaskInfo | null> {
  await checkThread(deps, caller, threadId);
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
  };
}
