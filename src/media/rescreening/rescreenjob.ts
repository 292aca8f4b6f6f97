/**
 * The job of `POST /v1/rescreen`. Each run handles some pages and enqueues the next one in the transaction in which it
 * ends.
 */
import { z } from 'zod';
import { type Db, transaction } from '#platform/db/db.ts';
import type { Job, Jobs, Queue } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { TaskTables } from '../tasks/taskstore.ts';
import { beginProgress, writeProgress } from './progressstore.ts';
import { type RescreenCounts, type RescreeningDeps, rescreenPage } from './rescreening.ts';

const payload = z.object({
  cursor: z.string().nullable(),
  /** Of the pages before. */
  checked: z.int(),
  blocked: z.int(),
  withoutDigests: z.int(),
});
export type RescreenJob = z.output<typeof payload>;

export const rescreenQueue: Queue<RescreenJob> = { name: 'media/rescreen', payload };

export interface RescreenJobDeps extends RescreeningDeps {
  readonly taskDb: Db<TaskTables>;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  readonly log: Pick<Log, 'info'>;
}

const pagesPerJob = 10;
const nothing: RescreenCounts = { checked: 0, blocked: 0, withoutDigests: 0 };
const options = { key: 'rescreen' };

/** If a rescreening is running, returns it. */
export async function beginRescreening({ jobs, taskDb }: RescreenJobDeps): Promise<{ readonly jobId: string }> {
  return transaction(taskDb, async (tx) => {
    const { jobId, created } = await jobs.enqueue(tx, rescreenQueue, { cursor: null, ...nothing }, options);
    if (created) await beginProgress(tx);
    return { jobId };
  });
}

/** Throws as `rescreenPage`. */
export async function rescreenOn(deps: RescreenJobDeps, job: Job<RescreenJob>): Promise<void> {
  let { cursor, ...counts } = job.payload;
  for (let pages = 1; pages <= pagesPerJob; pages++) {
    const page = await rescreenPage(deps, cursor, job.signal);
    counts = addCounts(counts, page);
    cursor = page.cursor;
    if (cursor === null) break;
  }
  await transaction(deps.taskDb, async (tx) => {
    await job.complete(tx);
    await writeProgress(tx, counts, cursor === null);
    if (cursor !== null) await deps.jobs.enqueue(tx, rescreenQueue, { cursor, ...counts }, options);
  });
  const { checked, blocked, withoutDigests } = counts;
  if (cursor === null) deps.log.info({ checked, blocked, withoutDigests }, 'matched the stored digests with the lists');
}

export function addCounts(first: RescreenCounts, second: RescreenCounts): RescreenCounts {
  return {
    checked: first.checked + second.checked,
    blocked: first.blocked + second.blocked,
    withoutDigests: first.withoutDigests + second.withoutDigests,
  };
}

/** All pages at once, for `npm run rescreen`. */
export async function rescreenAll(deps: RescreeningDeps): Promise<RescreenCounts> {
  let counts = nothing;
  let cursor: string | null = null;
  do {
    const page = await rescreenPage(deps, cursor);
    counts = addCounts(counts, page);
    cursor = page.cursor;
  } while (cursor !== null);
  return counts;
}
