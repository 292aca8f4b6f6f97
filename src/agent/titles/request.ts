/** The jobs that have a model make titles (docs/specification/agent.md#titles). */
import { z } from 'zod';
import type { Tx } from '#platform/db/db.ts';
import type { Jobs, Queue } from '#platform/jobs/jobs.ts';
import type { Run } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';
import { wantsTitle } from '../threads/threadstore.ts';

const payload = z.object({ threadId: z.string(), messageId: z.string(), ownerId: z.string(), model: z.string() });
export type TitleRequest = z.output<typeof payload>;

/** An attempt ends well even if the model fails; another one follows only if the process dies. */
export const titleQueue: Queue<TitleRequest> = {
  name: 'agent/make-title',
  payload,
  maxAttempts: 3,
  isRoundRobin: true,
};

/** Requests a title once the thread has its first answer, in the transaction that stores the answer. */
export async function requestTitle(
  jobs: Jobs,
  tx: Tx<AgentTables>,
  { threadId, messageId, ownerId, model }: Run,
): Promise<void> {
  if (!(await wantsTitle(tx, threadId))) return;
  await jobs.enqueue(tx, titleQueue, { threadId, messageId, ownerId, model }, { lane: ownerId });
}
