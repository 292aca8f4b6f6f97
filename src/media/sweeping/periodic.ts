/**
 * Sweeps unfinished registrations and unregistered uploads every six hours. One job at a time in all processes; each does
 * some pages and enqueues the next one in the transaction in which it ends.
 */
import { z } from 'zod';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import type { Job, Queue } from '#platform/jobs/jobs.ts';
import type { MediaStores } from '../context.ts';
import type { MediaTables } from '../tables.ts';
import { sweepCursor } from './api.ts';
import { sweepPage } from './sweep.ts';

const payload = z.object({
  /** When this database was first swept. Older objects are left to the operator. */
  since: z.iso.datetime(),
  cursor: z.string().nullable(),
});
export type SweepJob = z.output<typeof payload>;

export const sweepQueue: Queue<SweepJob> = { name: 'media/sweep', payload };

const everyMs = 6 * 3_600_000;
/** Waits, because a start has other work. */
const firstAfterMs = 60_000;
const pagesPerJob = 10;

/** Once at each start. If a job waits or runs, enqueues nothing. */
export async function beginSweeping({ jobs, db, clock }: MediaStores): Promise<void> {
  const since = new Date(clock.now()).toISOString();
  await jobs.enqueue(db, sweepQueue, { since, cursor: null }, { key: 'sweep', delayMs: firstAfterMs });
}

/** Throws `engine_unavailable`. Every page can be repeated. */
export async function sweepOn(deps: MediaStores, job: Job<SweepJob>): Promise<void> {
  const { since } = job.payload;
  let { cursor } = job.payload;
  let removed = 0;
  for (let page = 0; page < pagesPerJob; page++) {
    job.signal.throwIfAborted();
    const at = cursor === null ? undefined : sweepCursor.parse(cursor);
    const swept = await sweepPage(deps, { apply: true, acceptLostBuckets: false, cursor: at }, new Date(since));
    removed += swept.found.filter(({ fate }) => fate === 'removed').length;
    cursor = swept.cursor;
    if (cursor === null) break;
  }
  if (removed > 0) deps.log.info({ removed }, 'removed leftover registrations and uploads');
  await transaction(deps.db, async (tx) => {
    await job.complete(tx);
    await enqueueNext(deps, tx, { since, cursor });
  });
}

/** A sweep whose attempts all failed starts again at its next time. For `onDead`, too. */
export async function enqueueNext(
  { jobs }: MediaStores,
  tx: Tx<MediaTables> | Db<MediaTables>,
  { since, cursor }: SweepJob,
): Promise<void> {
  await jobs.enqueue(tx, sweepQueue, { since, cursor }, { key: 'sweep', delayMs: cursor === null ? everyMs : 0 });
}
