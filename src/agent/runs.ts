/**
 * Runs: the truth about what is in flight (docs/specification/agent.md#runs). A start and an end are one transaction each: the run's
 * row, its messages and its credits change together, or nothing does.
 */

import { randomUUID } from 'node:crypto';
import type { UIMessage } from 'ai';
import { closeCredits, type LedgerTables, reserveCredits } from '#accounts/ledger/credits.ts';
import { ensureProfile } from '#accounts/store.ts';
import type { Caller } from '#platform/access/caller.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { TaskInfo, TaskRequest } from './api.ts';
import { appendMessage, deleteMessagesFrom, findMessage } from './messagestore.ts';
import { agentProblems } from './problems.ts';
import {
  countRunningOf,
  findRun,
  findRunningOf,
  findThreadOwner,
  insertRun,
  lockThread,
  markEnded,
  type Run,
  type RunStatus,
  type RunTables,
} from './store.ts';

import type { VideoTables } from './videos/store.ts';

export type { Run } from './store.ts';

export interface RunsDeps {
  readonly db: Db<RunTables & LedgerTables & VideoTables>;
  /** AGENT_TASK_TTL_SECS. */
  readonly ttlS: number;
  /** AGENT_MAX_RUNS_PER_USER. */
  readonly maxRunsPerUser: number;
  /** What becomes of the videos that it had ordered, in the transaction of its end: parts that are to be told beside `end`'s. */
  readonly endVideos?: (
    tx: Tx<RunTables & LedgerTables & VideoTables>,
    taskId: string,
    end: Pick<RunEnd, 'status' | 'parts'>,
  ) => Promise<UIMessage['parts']>;
}

/** Who holds a lease, and for how long after the last sign of life. */
export interface Holding {
  readonly holder: string;
  readonly leaseMs: number;
}

/** docs/specification/agent.md#runs. */
const runCost = 1;
/** A question needs room for its answer too. The bytes of an answer are not limited by its thread, so none is lost. */
const questionLimits = { messages: 2000 - 1, bytes: 32 * 1024 * 1024 };
export const runReference = (taskId: string): string => `run:${taskId}`;

/**
 * Throws 403 for another user's thread, 400 for an unknown `rewindTo`, 409 `task_running`, 429 `too_many_runs`, 402
 * `insufficient_credits`, 409 `thread_full`; then nothing has changed.
 */
export async function startRun(deps: RunsDeps, holding: Holding, userId: string, request: TaskRequest): Promise<Run> {
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
    await payForRun(tx, taskId, userId, deps.maxRunsPerUser);
    if (from !== undefined) await deleteMessagesFrom(tx, threadId, from.seq);
    await appendQuestion(tx, userId, request);
    return insertRun(tx, { taskId, threadId, ownerId: userId, messageId: randomUUID(), ...holding });
  });
}

async function payForRun(
  tx: Tx<RunTables & LedgerTables>,
  taskId: string,
  userId: string,
  maxRuns: number,
): Promise<void> {
  await ensureProfile(tx, { id: userId });
  const reference = runReference(taskId);
  const { reserved, balance } = await reserveCredits(tx, { reference, scope: taskId, userId, amount: runCost });
  // The reservation has locked the user's row, so that starts at the same time are counted one after the other.
  if ((await countRunningOf(tx, userId)) >= maxRuns) throw agentProblems.too_many_runs();
  if (!reserved) throw agentProblems.insufficient_credits({ fields: { required: runCost, balance } });
}

async function appendQuestion(tx: Tx<RunTables>, ownerId: string, request: TaskRequest): Promise<void> {
  const { threadId, message } = request;
  const parts = message?.parts ?? [{ type: 'text' as const, text: request.text ?? '' }];
  // A client may name its message; two of one name cannot be told apart in a list.
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

export interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>;
  /** A sentence for the user, of a failure. */
  readonly error: string | null;
  /** All that readers were shown. */
  readonly parts: UIMessage['parts'];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** References of what was done under way and is to be paid: pictures that are in the message. */
  readonly done: readonly string[];
}

/**
 * Ends the run, keeps its answer and settles what is to be paid: a failed run is free, an aborted one if it has shown
 * nothing of its answer; what they have made is paid. `false`: it ended before, or is in other hands; nothing has changed.
 */
export async function endRun(deps: RunsDeps, run: Run, end: RunEnd): Promise<boolean> {
  return transaction(deps.db, async (tx) => {
    await lockThread(tx, run.threadId, run.ownerId);
    if (!(await markEnded(tx, run, end.status, end.error))) return false;
    // Videos before credits, as their worker locks them.
    const parts = [...end.parts, ...((await deps.endVideos?.(tx, run.taskId, end)) ?? [])];
    if (parts.some(({ type }) => type !== 'step-start')) {
      const { threadId, ownerId, messageId: id, taskId } = run;
      const metadata = { ...end.metadata, taskId, status: end.status, ...(end.error ? { error: end.error } : {}) };
      await appendMessage(tx, { threadId, id, ownerId, role: 'assistant', parts, metadata }, undefined);
    }
    const isPaid = end.status === 'completed' || (end.status === 'aborted' && end.parts.some(isShown));
    await closeCredits(tx, run.taskId, isPaid ? [runReference(run.taskId), ...end.done] : end.done);
    return true;
  });
}

/** A text that has begun and has no character yet shows nothing. */
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

/** The owner; `undefined` if there is no such thread. Throws 403 for another user's thread. */
export async function checkThread(deps: RunsDeps, caller: Caller, threadId: string): Promise<string | undefined> {
  const ownerId = await findThreadOwner(deps.db, threadId);
  if (caller.kind === 'user' && ownerId !== undefined && ownerId !== caller.userId) throw problems.forbidden();
  return ownerId;
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
