/** The jobs that have memories extracted from runs (docs/specification/agent.md#memories-from-conversations). */
import { z } from 'zod';
import type { Tx } from '#platform/db/db.ts';
import type { Jobs, Queue } from '#platform/jobs/jobs.ts';
import type { Run } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';

const payload = z.object({ threadId: z.string(), taskId: z.string(), ownerId: z.string() });
export type RunToExtract = z.output<typeof payload>;

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
