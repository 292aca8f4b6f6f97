/** Tool calls that wait for a person, or have been answered. */

import type { UIMessage } from 'ai';
import { sql } from 'kysely';
import { inCamelCase, type Tx } from '#platform/db/db.ts';
import type { Run } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';
import { changeMessage, findMessage } from '../threads/messagestore.ts';
import type { PendingApproval } from './rules.ts';

const columns = inCamelCase('approval_id thread_id owner_id message_id tool_call_id state');

export async function insertApprovals(
  tx: Tx<AgentTables>,
  { threadId, ownerId, messageId }: Run,
  approvals: readonly PendingApproval[],
): Promise<void> {
  if (approvals.length === 0) return;
  const rows = approvals.map(({ approvalId, toolCallId }) => ({
    approval_id: approvalId,
    thread_id: threadId,
    owner_id: ownerId,
    message_id: messageId,
    tool_call_id: toolCallId,
  }));
  await tx.insertInto('agent_approvals').values(rows).execute();
}

/** The thread has to be locked, so that no other request answers them. */
export function findApprovals(tx: Tx<AgentTables>, approvalIds: readonly string[]) {
  return tx
    .selectFrom('agent_approvals')
    .select(columns)
    .where(sql<boolean>`approval_id = any(${approvalIds}::uuid[])`)
    .execute();
}

/** Denies the open ones of a thread, and returns them. */
function denyOpen(tx: Tx<AgentTables>, threadId: string) {
  return tx
    .updateTable('agent_approvals')
    .set({ state: 'denied', answered_at: sql<Date>`clock_timestamp()` })
    .where((eb) => eb.and({ thread_id: threadId, state: 'open' }))
    .returning(columns)
    .execute();
}

export async function recordAnswer(tx: Tx<AgentTables>, approvalId: string, approved: boolean): Promise<void> {
  await tx
    .updateTable('agent_approvals')
    .set({ state: approved ? 'approved' : 'denied', answered_at: sql<Date>`clock_timestamp()` })
    .where('approval_id', '=', approvalId)
    .execute();
}

export async function deleteApprovals(tx: Tx<AgentTables>, threadId: string): Promise<void> {
  await tx.deleteFrom('agent_approvals').where('thread_id', '=', threadId).execute();
}

/** A new question denies open approvals. The thread has to be locked. */
export async function denyUnanswered(tx: Tx<AgentTables>, threadId: string): Promise<void> {
  const denied = await denyOpen(tx, threadId);
  for (const id of new Set(denied.map(({ messageId }) => messageId))) {
    const message = await findMessage(tx, threadId, id);
    if (message === undefined) continue;
    const ids = new Set(denied.map(({ approvalId }) => approvalId));
    const parts = message.parts.map((part) =>
      'approval' in part && part.approval !== undefined && ids.has(part.approval.id)
        ? ({ ...part, state: 'output-denied', approval: { id: part.approval.id, approved: false } } as typeof part)
        : part,
    );
    await changeMessage(tx, { threadId, id, parts: parts as UIMessage['parts'], metadata: message.metadata });
  }
}
