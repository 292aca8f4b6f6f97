/** Versions of a thread: what an edit or another answer has replaced (docs/specification/agent.md#branches). */
import { transaction } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import type { ReplacedMessages, ThreadBranches } from '../api.ts';
import { denyUnanswered } from '../approvals/approvalstore.ts';
import type { AgentContext } from '../context.ts';
import { agentProblems } from '../problems.ts';
import { findRunningOf, listQueued } from '../runs/runstore.ts';
import { listForks, listReplaced } from './branchstore.ts';
import { checkThread, openThread, switchBranch } from './changes.ts';

/** Throws 404 for an unknown thread, and 403 for the thread of another user than `userId`. */
export async function readBranches(
  deps: AgentContext,
  userId: string | undefined,
  threadId: string,
): Promise<ThreadBranches> {
  if ((await checkThread(deps, userId, threadId)) === undefined) throw problems.not_found();
  const forks = await listForks(deps.db, threadId);
  return {
    forks: forks.map(({ messageId, seq, branches }) => {
      const others = branches.map(({ branchId, firstSeq, createdAt }) => ({
        seq: firstSeq,
        version: { branchId, createdAt: new Date(createdAt).toISOString() },
      }));
      const shown = { seq, version: { branchId: null, createdAt: null } };
      return {
        messageId,
        branches: [...others, shown].toSorted((one, other) => one.seq - other.seq).map(({ version }) => version),
      };
    }),
  };
}

/** One page is loaded at once. */
const pageBytes = 256 * 1024;

/** Throws as `readBranches`. */
export async function readReplaced(
  deps: AgentContext,
  userId: string | undefined,
  threadId: string,
  cursor = '0',
): Promise<ReplacedMessages> {
  if ((await checkThread(deps, userId, threadId)) === undefined) throw problems.not_found();
  const rows = await listReplaced(deps.db, threadId, Number(cursor), pageBytes);
  return {
    messages: rows.map(({ seq: _seq, createdAt, ...row }) => ({ ...row, createdAt: createdAt.toISOString() })),
    // An empty page is the last one.
    next_cursor: rows.at(-1)?.seq.toString() ?? null,
  };
}

/** Throws as `readBranches`, 404 for a branch that is not at the present messages, and 409 during a run. */
export async function chooseBranch(
  deps: AgentContext,
  userId: string | undefined,
  { threadId, branchId }: { readonly threadId: string; readonly branchId: string },
): Promise<void> {
  const ownerId = await checkThread(deps, userId, threadId);
  if (ownerId === undefined) throw problems.not_found();
  await transaction(deps.db, async (tx) => {
    await openThread(tx, threadId, ownerId);
    const busy = (await findRunningOf(tx, threadId)) ?? (await listQueued(tx, threadId))[0];
    if (busy !== undefined) throw agentProblems.task_running({ fields: { reason: 'running', taskId: busy.taskId } });
    await denyUnanswered(tx, threadId);
    await switchBranch(deps, tx, { threadId, ownerId, branchId });
  });
}
