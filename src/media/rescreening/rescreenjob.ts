/** The job of `POST /v1/rescreen`. Each run handles some pages and enqueues the next one in the transaction in which it ends. */
import { z } from 'zod';
import { mapConcurrently } from '#platform/concurrency.ts';
import { transaction } from '#platform/db/db.ts';
import type { Job, Queue } from '#platform/jobs/jobs.ts';
import type { ScreeningContext } from '../context.ts';
import { removeDerivatives } from '../deletion/removal.ts';
import { bucketOf, currentRows } from '../lookup/assetlookup.ts';
import type { Refusal } from '../problems.ts';
import { blockRow, removeRefused } from '../registration/publishing.ts';
import { applyRule } from '../reports/deciding.ts';
import { blockAndDrop, blockAsset, refusalOf } from '../screening/incidentstore.ts';
import { decideBy } from '../screening/verdicts.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';
import { beginProgress, findScreened, type ScreenedRow, writeProgress } from './rescreenstore.ts';

const payload = z.object({
  cursor: z.string().nullable(),
  /** Of the pages before. */
  checked: z.int(),
  blocked: z.int(),
  withoutDigests: z.int(),
});
export type RescreenJob = z.output<typeof payload>;

export const rescreenQueue: Queue<RescreenJob> = { name: 'media/rescreen', payload };

const pagesPerJob = 10;
const nothing: RescreenCounts = { checked: 0, blocked: 0, withoutDigests: 0 };
const options = { key: 'rescreen' };

/** If a rescreening is running, returns it. */
export async function beginRescreening({ jobs, db }: ScreeningContext): Promise<{ readonly jobId: string }> {
  return transaction(db, async (tx) => {
    const { jobId, created } = await jobs.enqueue(tx, rescreenQueue, { cursor: null, ...nothing }, options);
    if (created) await beginProgress(tx);
    return { jobId };
  });
}

/** Throws as `rescreenPage`. */
export async function rescreenOn(deps: ScreeningContext, job: Job<RescreenJob>): Promise<void> {
  let { cursor, ...counts } = job.payload;
  for (let pages = 1; pages <= pagesPerJob; pages++) {
    const page = await rescreenPage(deps, cursor, job.signal);
    counts = addCounts(counts, page);
    cursor = page.cursor;
    if (cursor === null) break;
  }
  await transaction(deps.db, async (tx) => {
    await job.complete(tx);
    await writeProgress(tx, counts, cursor === null);
    if (cursor !== null) await deps.jobs.enqueue(tx, rescreenQueue, { cursor, ...counts }, options);
  });
  const { checked, blocked, withoutDigests } = counts;
  if (cursor === null) deps.log.info({ checked, blocked, withoutDigests }, 'matched the stored digests with the lists');
}

function addCounts(first: RescreenCounts, second: RescreenCounts): RescreenCounts {
  return {
    checked: first.checked + second.checked,
    blocked: first.blocked + second.blocked,
    withoutDigests: first.withoutDigests + second.withoutDigests,
  };
}

/** All pages at once, for `npm run rescreen`. */
export async function rescreenAll(deps: ScreeningContext): Promise<RescreenCounts> {
  let counts = nothing;
  let cursor: string | null = null;
  do {
    const page = await rescreenPage(deps, cursor);
    counts = addCounts(counts, page);
    cursor = page.cursor;
  } while (cursor !== null);
  return counts;
}

// Judges the stored digests and labels of all assets by today's lists and rules, as those of an upload
// (docs/specification/media.md#rescreening). Pages follow the ids of the assets; every page can be repeated, and a blocked
// asset that a process did not finish removing is removed by the next rescreening.

interface RescreenCounts {
  /** Assets whose digests were matched. */
  readonly checked: number;
  readonly blocked: number;
  /** Assets from before every upload was hashed. */
  readonly withoutDigests: number;
}

interface RescreenedPage extends RescreenCounts {
  /** The last id; `null`: this was the last page. */
  readonly cursor: string | null;
}

const rowsPerPage = 500;
/** Requests to the screening thread: enough that it never waits. */
const matchesAtOnce = 16;

/** Throws `screening_unavailable` and `engine_unavailable`. */
async function rescreenPage(
  deps: ScreeningContext,
  after: string | null,
  signal?: AbortSignal,
): Promise<RescreenedPage> {
  const rows = await findScreened(deps.db, after, rowsPerPage);
  const outcomes = await mapConcurrently(rows, matchesAtOnce, (row) => {
    signal?.throwIfAborted();
    return rescreen(deps, row);
  });
  const count = (outcome: Outcome) => outcomes.filter((each) => each === outcome).length;
  return {
    checked: rows.length - count('unhashed'),
    blocked: count('blocked'),
    withoutDigests: count('unhashed'),
    cursor: rows.length < rowsPerPage ? null : (rows.at(-1)?.assetId ?? null),
  };
}

type Outcome = 'passed' | 'blocked' | 'unhashed';

async function rescreen(deps: ScreeningContext, row: ScreenedRow): Promise<Outcome> {
  if (row.refusal !== null) {
    await removeBlocked(deps, row, row.refusal);
    return 'passed';
  }
  const { sha256, md5, pdq, pdqQuality } = row;
  if (sha256 === null || md5 === null) return 'unhashed';
  const digests = { sha256, md5, pdq, pdqQuality };
  const judgement = await deps.screening.judgeKnown(digests, row.labels ?? []);
  const { match, hit } = await decideBy(deps.db, sha256, judgement);
  if (hit !== undefined) await withInvalidation(deps, [row.assetId], () => applyRule(deps, row, hit));
  if (match === undefined) return 'passed';
  // A row whose file is missing is blocked too.
  const [{ assetId, bucket, storageKey, etag } = row] = await currentRows(deps, [row]);
  const isLegacy = row.backend === 'legacy';
  const finding = { etag, digests, match, origin: isLegacy ? `${bucket}/${storageKey}` : null };
  // The file of a legacy row stays, and the objects of another bucket.
  const removed = !isLegacy && bucket === deps.objects.bucket ? storageKey : undefined;
  const change = isLegacy ? blockAndDrop : blockAsset;
  // A row that has changed was screened with its new bytes.
  if (!(await blockRow(deps, change, { assetId, etag }, finding, removed))) return 'passed';
  await removeBlocked(deps, row, refusalOf(match));
  return 'blocked';
}

async function removeBlocked(deps: ScreeningContext, row: ScreenedRow, refusal: Refusal): Promise<void> {
  const objects = bucketOf(deps, row);
  // Objects in a bucket that is not configured cannot be removed. The unreadable row stays.
  if (objects === undefined) return;
  if (row.backend === 'legacy') await removeDerivatives(deps, { backend: 'legacy', objects }, [row.storageKey]);
  else await removeRefused(deps, { ...row, refusal });
}
