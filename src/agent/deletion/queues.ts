/** The jobs that finish the deletion of threads if the process that began it cannot. */
import { z } from 'zod';
import type { Queue } from '#platform/jobs/jobs.ts';

const deletion = z.object({ ownerId: z.string() });
export type Deletion = z.output<typeof deletion>;

/** Removes the hidden threads of one user. */
export const deletionQueue: Queue<Deletion> = {
  name: 'agent/delete-threads',
  payload: deletion,
  retryAfterMs: 5000,
  // Hidden threads must not stay, however long another service is away.
  maxAttempts: 1000,
  isRoundRobin: true,
};

const clearing = z.object({
  threadId: z.string(),
  ownerId: z.string(),
  taskIds: z.array(z.string()),
  deletesAssets: z.boolean(),
});
export type Clearing = z.output<typeof clearing>;

/** Removes what a process that was late wrote outside the database after the thread was deleted. */
export const clearingQueue: Queue<Clearing> = {
  name: 'agent/clear-deleted-thread',
  payload: clearing,
  retryAfterMs: 5000,
  maxAttempts: 1000,
  isRoundRobin: true,
};
