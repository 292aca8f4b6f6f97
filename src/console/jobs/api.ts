/** Queues and jobs as the Jobs page sees them. */
import { z } from 'zod';
import type { QueueState } from '#platform/jobs/depth.ts';
import { isStorableJson } from '#platform/storable.ts';

export const searchedText = z
  .string()
  .max(200)
  .refine((text) => isStorableJson(text, 0), 'must not contain NUL or lone surrogates')
  .optional();

export interface ShownQueue extends Omit<QueueState, 'oldestDueAt'> {
  readonly oldestDueAt: string | null;
}
export interface QueueList {
  readonly queues: readonly ShownQueue[];
  /** Counts stop one above this number. */
  readonly largestCount: number;
}

const queueName = z.string().min(1).max(200);
export const jobQuery = z.object({
  queue: queueName,
  state: z.enum(['waiting', 'scheduled', 'failing', 'running', 'dead']),
  q: searchedText.describe('A part of the id, the request id, the reason or the payload, among the first 10,000 jobs.'),
});

/** Times are ISO 8601. */
export interface ShownJob {
  readonly id: string;
  /** It changes with each attempt. Send it with a retry. */
  readonly fence: number;
  readonly attempts: number;
  /** The reason of the last failure. */
  readonly reason: string | null;
  readonly about: JobSubject;
  /** JSON without secrets, shortened. */
  readonly payload: string;
  /** The service has handled the failure, so the job cannot be retried. */
  readonly isSettled: boolean;
  readonly requestId: string | null;
  readonly traceUrl: string | null;
  readonly createdAt: string;
  readonly dueAt: string;
  /** The start of the last attempt. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}
/** As far as the payload, its event and the lane name it. `taskId`: the run. */
export type JobSubject = Readonly<
  Partial<Record<'userId' | 'threadId' | 'taskId' | 'emailId' | 'event' | 'address', string | undefined>>
>;
export interface JobList {
  /** At most 100. Dead jobs are listed newest first, all other jobs by due time. */
  readonly jobs: readonly ShownJob[];
}

export const jobPath = z.object({ id: z.guid() });
export const seenJob = z.strictObject({ fence: z.int().min(0).describe('The fence of the job when it was shown.') });
export const deadOfQueue = z.strictObject({ queue: queueName });
export const retriedQueue = deadOfQueue.extend({
  failing: z.boolean().default(false).describe('Also the jobs whose next attempt is later.'),
});
export interface ChangedJobs {
  readonly count: number;
  /** The limit of one call was reached. Call again for the remaining jobs. */
  readonly hasMore: boolean;
}
