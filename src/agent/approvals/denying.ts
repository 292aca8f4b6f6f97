import type { UIMessage } from 'ai';
import type { Tx } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';
import { changeMessage, findMessage } from '../threads/messagestore.ts';
import { denyOpen } from './approvalstore.ts';

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
