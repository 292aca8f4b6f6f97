/** Queues and jobs as the Jobs page sees them. */
import { z } from 'zod';
import { isStorableJson } from '#platform/storable.ts';

export const searchedText = z
  .string()
  .max(200)
  .refine((text) => isStorableJson(text, 0), 'must not contain NUL or lone surrogates')
  .optional();

const jobState = z.enum(['waiting', 'scheduled', 'failing', 'running', 'dead']);

export const queueState = z.object({
  queue: z.string(),
  waiting: z.int().describe('Due now.'),
  scheduled: z.int().describe('Due later, for the first time.'),
  failing: z.int().describe('Due later, after an attempt that failed.'),
  running: z.int(),
  dead: z.int(),
  oldestDueAt: z.iso.datetime().nullable().describe('The due time of the first waiting job. `null`: none is waiting.'),
});
export const queueList = z.object({
  queues: z.array(queueState),
  largestCount: z.int().describe('Counts stop one above this number.'),
});
export type QueueList = z.output<typeof queueList>;

const queueName = z.string().min(1).max(200);
export const jobQuery = z.object({
  queue: queueName,
  state: jobState,
  q: searchedText.describe('A part of the id, the request id, the reason or the payload, among the first 10,000 jobs.'),
});

const job = z.object({
  id: z.string(),
  fence: z.int().describe('It changes with each attempt. Send it with a retry.'),
  attempts: z.int(),
  reason: z.string().nullable().describe('The reason of the last failure.'),
  about: z
    .object({
      ...{ userId: z.string(), threadId: z.string(), taskId: z.string().describe('The run.') },
      ...{ emailId: z.string(), event: z.string(), address: z.string() },
    })
    .partial()
    .describe('The subject of the job, as far as the payload, its event and the lane name it.'),
  payload: z.string().describe('JSON without secrets, shortened.'),
  isSettled: z.boolean().describe('The service has handled the failure, so the job cannot be retried.'),
  requestId: z.string().nullable(),
  traceUrl: z.string().nullable(),
  createdAt: z.iso.datetime(),
  dueAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable().describe('The start of the last attempt.'),
  endedAt: z.iso.datetime().nullable(),
});
export const jobList = z.object({
  jobs: z.array(job).describe('At most 100. Dead jobs are listed newest first, all other jobs by due time.'),
});
export type JobList = z.output<typeof jobList>;
export type ShownJob = JobList['jobs'][number];

export const jobPath = z.object({ id: z.guid() });
export const seenJob = z.strictObject({ fence: z.int().min(0).describe('The fence of the job when it was shown.') });
export const deadOfQueue = z.strictObject({ queue: queueName });
export const retriedQueue = deadOfQueue.extend({
  failing: z.boolean().default(false).describe('Also the jobs whose next attempt is later.'),
});
export const changedJobs = z.object({
  count: z.int(),
  hasMore: z.boolean().describe('The limit of one call was reached. Call again for the remaining jobs.'),
});
export type ChangedJobs = z.output<typeof changedJobs>;
