/**
 * The queues of sends. A send whose caller waits is tried in `notify/send`. All other sends are tried in
 * `notify/send-later`, including those whose first attempt was lost or failed, so that no backlog delays a mail that is
 * requested now.
 */
import { z } from 'zod';
import type { Tx } from '#platform/db/db.ts';
import type { Job, Jobs, Queue } from '#platform/jobs/jobs.ts';
import type { NotifyTables } from './tables.ts';

const sendJob = z.object({ sendId: z.guid() });
export type SendJob = z.output<typeof sendJob>;

/** A send ends as failed after a day (docs/notify.md). Until then there are fewer attempts than this. */
const pace = { maxAttempts: 1000, retryAfterMs: 4000, longestRetryMs: 600_000 };

export const sendQueue: Queue<SendJob> = { name: 'notify/send', payload: sendJob, ...pace };
export const laterQueue: Queue<SendJob> = { name: 'notify/send-later', payload: sendJob, ...pace };
const queues = [sendQueue, laterQueue];
export const queueNames = queues.map(({ name }) => name);

type Handle = Tx<NotifyTables>;

export async function enqueueSend(jobs: Jobs, tx: Handle, sendId: string): Promise<void> {
  await jobs.enqueue(tx, sendQueue, { sendId }, { key: sendId });
}

/** `at`: the earliest time. By default, at once. */
export async function enqueueLater(jobs: Jobs, tx: Handle, sendId: string, at?: Date): Promise<void> {
  await jobs.enqueue(tx, laterQueue, { sendId }, { key: sendId, ...(at === undefined ? {} : { at }) });
}

export async function moveToLater(jobs: Jobs, tx: Handle, job: Job<SendJob>): Promise<void> {
  await job.complete(tx);
  await enqueueLater(jobs, tx, job.payload.sendId);
}

/** Makes the next attempt due now. */
export async function expediteSend(jobs: Jobs, tx: Handle, sendId: string): Promise<void> {
  for (const queue of queues) await jobs.hasten(tx, queue, sendId);
}

/** Also ends an attempt that is running. */
export async function cancelSend(jobs: Jobs, tx: Handle, sendId: string): Promise<void> {
  for (const queue of queues) await jobs.cancel(tx, queue, sendId);
}
