/**
 * Has the memory service extract what to remember from the question and the answer of a completed run. The user is charged
 * nothing. The tokens count as used, and not as a run (docs/specification/agent.md#memories-from-conversations).
 */
import type { UIMessage } from 'ai';
import { z } from 'zod';
import { type Tx, transaction } from '#platform/db/db.ts';
import type { Job, Jobs, Queue } from '#platform/jobs/jobs.ts';
import { textsOf } from '../attachments.ts';
import { costOfTokens, unknownUsage } from '../billing/usage.ts';
import { addUsage } from '../billing/usagestore.ts';
import type { AgentContext } from '../context.ts';
import { modelOf } from '../providers/models.ts';
import type { Run } from '../runs/runstore.ts';
import { type ConversationMessage, extractMemories } from '../services/memory.ts';
import type { AgentTables } from '../tables.ts';
import { listMessagesOf } from '../threads/messagestore.ts';
import { holdThreadOf } from '../threads/threadstore.ts';

const payload = z.object({ threadId: z.string(), taskId: z.string(), ownerId: z.string() });
type RunToExtract = z.output<typeof payload>;

export const extractionQueue: Queue<RunToExtract> = {
  name: 'agent/extract-memories',
  payload,
  maxAttempts: 5,
  retryAfterMs: 10_000,
  isRoundRobin: true,
};

/** Requests an extraction in the transaction that ends the run. */
export async function requestExtraction(
  jobs: Jobs,
  tx: Tx<AgentTables>,
  { threadId, taskId, ownerId }: Run,
): Promise<void> {
  await jobs.enqueue(tx, extractionQueue, { threadId, taskId, ownerId }, { lane: ownerId });
}

export function workOnExtractions(deps: AgentContext): void {
  deps.jobs.work<RunToExtract, AgentTables>(extractionQueue, (job) => extract(deps, job), {
    concurrency: 2,
  });
}

async function extract(deps: AgentContext, job: Job<RunToExtract>): Promise<void> {
  const { threadId, taskId, ownerId } = job.payload;
  // The thread may have been deleted or rewound since.
  const stored = await listMessagesOf(deps.db, threadId, taskId);
  const saidAt = stored[0]?.createdAt;
  const messages = stored.flatMap(toText);
  if (saidAt === undefined || !messages.some(({ role }) => role === 'user')) return;
  const used = await extractMemories(deps, ownerId, { messages, threadId, saidAt }, job.signal);
  if (used === undefined) return;
  const { model, inputTokens, outputTokens } = used;
  // A model that only the memory service has costs nothing here.
  const costUsd = costOfTokens(modelOf(deps.models, model) ?? {}, used);
  await transaction(deps.db, async (tx) => {
    const usage = { userId: ownerId, model, inputTokens, outputTokens, credits: 0, costUsd };
    if (await holdThreadOf(tx, threadId, ownerId)) await addUsage(tx, usage);
    await job.complete(tx);
  });
  deps.metrics.tokensUsed(model, { ...unknownUsage, inputTokens, outputTokens });
}

function toText({ role, parts }: Pick<UIMessage, 'role' | 'parts'>): readonly ConversationMessage[] {
  const content = textsOf(parts).join('\n').trim();
  return content === '' || role === 'system' ? [] : [{ role, content }];
}
