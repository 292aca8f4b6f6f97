/**
 * The answers of a person to tool calls that wait for approval. A run with an id of its own goes on in the same message, free of the
 * price of a run. What is carried out is the call in the database, whatever a client sends.
 */
import { randomUUID } from 'node:crypto';
import type { UIMessage } from 'ai';
import { lockBalance } from '#accounts/ledger/credits.ts';
import { accountProblems } from '#accounts/problems.ts';
import { ensureProfile } from '#accounts/store.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { ApprovalAnswer } from '../api.ts';
import type { AgentContext, RunLease } from '../context.ts';
import { publishRunStart } from '../events.ts';
import { countInFlightOf } from '../generation/generationstore.ts';
import { agentProblems } from '../problems.ts';
import { takeKey } from '../runs/runs.ts';
import { findRun, findRunningOf, insertRun, type KeyedStart, listQueued, type Run } from '../runs/runstore.ts';
import { replayParts } from '../stream/chunks.ts';
import type { AgentTables } from '../tables.ts';
import { openThread } from '../threads/changes.ts';
import { changeMessage, findMessage } from '../threads/messagestore.ts';
import { findApprovals, recordAnswer } from './approvalstore.ts';

export interface Answers {
  readonly threadId: string;
  readonly approvals: readonly ApprovalAnswer[];
}

/**
 * Throws 400 for an approval that the thread does not have, 403 for another user's, 409 `approval_answered`, `task_running` and
 * `thread_deleting`, 429 `too_many_runs`, and KeyTaken; then nothing has changed.
 */
export async function startAnswered(
  deps: AgentContext,
  lease: RunLease,
  userId: string,
  { threadId, approvals }: Answers,
  keyed?: KeyedStart,
): Promise<Run> {
  const taskId = randomUUID();
  return transaction(deps.db, async (tx) => {
    await takeKey(tx, keyed, { taskId, threadId });
    await openThread(tx, threadId, userId);
    const messageId = await findAnswered(tx, userId, { threadId, approvals });
    const current = (await findRunningOf(tx, threadId)) ?? (await listQueued(tx, threadId))[0];
    if (current !== undefined)
      throw agentProblems.task_running({ fields: { reason: 'running', taskId: current.taskId } });
    const message = await findMessage(tx, threadId, messageId);
    if (message === undefined) throw answered();
    await admitRun(deps, tx, userId);
    for (const { approvalId, approved } of approvals) await recordAnswer(tx, approvalId, approved);
    const parts = answer(message.parts, approvals);
    await changeMessage(tx, { threadId, id: messageId, parts, metadata: message.metadata });
    const earlier = String(message.metadata.taskId ?? '');
    const options = isUuid(earlier) ? (await findRun(tx, earlier, deps.taskTtlS))?.options : undefined;
    const run = await insertRun(tx, {
      taskId,
      threadId,
      ownerId: userId,
      messageId,
      // The model that the answer was begun with, and paid for.
      model: String(message.metadata.model ?? ''),
      credits: 0,
      replayed: replayParts(messageId, parts).length,
      // The earlier run can have expired. A conversation without memory stays so.
      options: message.metadata.memory === false ? { ...options, memory: false } : (options ?? undefined),
      ...lease,
    });
    await publishRunStart(deps, tx, run);
    return run;
  });
}

/** Returns the message that the answers belong to. */
async function findAnswered(tx: Tx<AgentTables>, userId: string, { threadId, approvals }: Answers): Promise<string> {
  const ids = approvals.map(({ approvalId }) => approvalId);
  const rows = new Map((await findApprovals(tx, ids.filter(isUuid))).map((row) => [row.approvalId, row]));
  for (const [index, id] of ids.entries()) {
    const field = `body.approvals.${index}.approvalId`;
    const row = rows.get(id);
    if (row === undefined) throw invalid(field, 'must be an approval of this thread');
    if (row.ownerId !== userId) throw problems.forbidden();
    if (row.threadId !== threadId) throw invalid(field, 'must be an approval of this thread');
    if (ids.indexOf(id) !== index) throw invalid(field, 'must not be answered twice');
  }
  if ([...rows.values()].some(({ state }) => state !== 'open')) throw answered();
  const [first] = rows.values();
  if (first === undefined) throw invalid('body.approvals', 'must have an approval');
  return first.messageId;
}

const answered = () => agentProblems.approval_answered({ fields: { reason: 'approval_answered' } });

async function admitRun({ welcome, maxRunsPerUser }: AgentContext, tx: Tx<AgentTables>, userId: string): Promise<void> {
  const { blockedAt } = await ensureProfile(tx, { id: userId }, welcome);
  if (blockedAt !== null) throw accountProblems.account_blocked();
  // Starts of a user are counted one after the other.
  await lockBalance(tx, userId);
  if ((await countInFlightOf(tx, userId)) >= maxRunsPerUser) throw agentProblems.too_many_runs();
}

function answer(parts: UIMessage['parts'], approvals: readonly ApprovalAnswer[]): UIMessage['parts'] {
  return parts.map((part) => {
    const id = 'approval' in part ? part.approval?.id : undefined;
    const given = approvals.find(({ approvalId }) => approvalId === id);
    if (given === undefined) return part;
    const { approved, reason } = given;
    const approval = { id, approved, ...(typeof reason === 'string' && { reason }) };
    return { ...part, state: 'approval-responded', approval } as UIMessage['parts'][number];
  });
}
