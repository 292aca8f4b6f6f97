/**
 * Finds leftovers and removes them (docs/media.md#unused-objects-and-rows), one page at a time, so that a sweep can be bounded,
 * interrupted and resumed. Any number of sweeps can run concurrently with each other and with requests.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { partsOfVariantKey } from '#image/engine/keys.ts';
import { bucketStore, namedObject } from '#image/engine/sources.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import type { Job, Queue } from '#platform/jobs/jobs.ts';
import { defaultLegacyBucket, type ListedObject, type ObjectHead, type Objects } from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { type DeletableAsset, dropAssets } from '../assets/assetstore.ts';
import type { MediaStores } from '../context.ts';
import { deleteAssets } from '../deletion/deletion.ts';
import { removeDerivatives, removeListed, removeObjects } from '../deletion/removal.ts';
import { bucketOf, headsAtOnce } from '../lookup/assetlookup.ts';
import { findKept } from '../quarantine/evidencestore.ts';
import { quarantinePrefix } from '../quarantine/quarantine.ts';
import { settleEtag } from '../reconciling/settling.ts';
import { dropAndInvalidate } from '../signing/signedurlcache.ts';
import type { MediaTables } from '../tables.ts';
import { isExpiredTrash } from '../trash/trashstore.ts';
import * as api from './api.ts';
import {
  lastOf,
  oldBefore,
  pageOf,
  resumableOldBefore,
  type SweepPage,
  type SweepPageRequest,
  unfinishedVideos,
} from './page.ts';
import * as store from './sweepstore.ts';
import { sweepUploads } from './uploads.ts';

type Part = (typeof api.sweepParts)[number];

const parts: Readonly<Record<Part, (deps: MediaStores, page: SweepPageRequest) => Promise<SweepPage>>> = {
  // First, because the objects that it leaves are then found as uploads.
  registrations: sweepRegistrations,
  uploads: sweepUploads,
  resumable: sweepResumable,
  evidence: sweepEvidence,
  trash: sweepTrash,
  assets: sweepAssets,
  // Last, because the other parts remove the variants of what they remove.
  variants: sweepVariants,
};

/**
 * Sweeps one page from `cursor`, or the first. `aloneSince` as in SweepPageRequest; it excludes assets and variants,
 * because operators decide whether bytes are lost for good. Throws `engine_unavailable`. The same page can be repeated.
 */
export async function sweepPage(
  deps: MediaStores,
  { apply, acceptLostBuckets, cursor }: api.SweepRequest,
  aloneSince?: Date,
): Promise<api.Swept> {
  const wanted: readonly Part[] =
    aloneSince === undefined ? api.sweepParts : ['registrations', 'uploads', 'resumable', 'evidence', 'trash'];
  const { part, after } = cursor ?? { part: 'registrations', after: undefined };
  const { found, next } = await parts[part](deps, {
    apply,
    acceptLostBuckets,
    after,
    ...(aloneSince && { aloneSince }),
  });
  if (next !== undefined) return { found: [...found], cursor: `${part}:${next}` };
  const following = wanted[wanted.indexOf(part) + 1];
  return { found: [...found], cursor: following === undefined ? null : `${following}:` };
}

const uploadsPerPage = 1000;

/**
 * Sweeps the parts of uploads that were not completed, which no listing of objects shows. An upload without a byte for
 * this long has expired, and cannot be continued.
 */
async function sweepResumable(
  { objects, clock }: MediaStores,
  { apply, after }: Pick<SweepPageRequest, 'apply' | 'after'>,
): Promise<SweepPage> {
  const before = resumableOldBefore(clock);
  const { idle, next } = await objects.resumable.sweep({ before, apply: apply === true, after, limit: uploadsPerPage });
  const fate = apply ? 'removed' : 'found';
  return { found: idle.map((key): api.SweepFinding => ({ what: 'unfinished_upload', fate, key })), next };
}

// Assets that were in the trash for 30 days. They cannot be restored any longer, so a deletion that was interrupted goes on.

const trashedPerPage = 1000;

async function sweepTrash(
  deps: MediaStores,
  { apply, after }: Pick<SweepPageRequest, 'apply' | 'after'>,
): Promise<SweepPage> {
  const rows = await store.findPage(deps.db, isExpiredTrash, after, trashedPerPage);
  if (apply && rows.length > 0)
    await deleteAssets(
      deps,
      { kind: 'internal' },
      { ids: rows.map(({ assetId }) => assetId), legacyBucket: defaultLegacyBucket },
    );
  const fate = apply ? 'removed' : 'found';
  const found = rows.map(
    ({ assetId, storageKey: key }): api.SweepFinding => ({ what: 'expired_trash', assetId, key, fate }),
  );
  return { found, next: lastOf(rows, trashedPerPage)?.assetId };
}

// Copies of blocked objects that no incident names: the process died before the block, or the block was repeated.

const evidencePerPage = 1000;

async function sweepEvidence(
  { db, objects, clock }: MediaStores,
  { apply, after, aloneSince }: SweepPageRequest,
): Promise<SweepPage> {
  const listed = await pageOf(objects.list(quarantinePrefix, after), evidencePerPage);
  const named = await findKept(
    db,
    listed.map(({ key }) => key),
  );
  const before = oldBefore(clock);
  const orphans = listed.filter(
    ({ key, modifiedAt }) =>
      !named.has(key) && modifiedAt < before && (aloneSince === undefined || modifiedAt > aloneSince),
  );
  if (apply) await removeListed(objects, orphans);
  const found = orphans.map(
    ({ key, size }): api.SweepFinding => ({
      what: 'evidence_without_incident',
      fate: apply ? 'removed' : 'found',
      key,
      byteSize: size,
    }),
  );
  return { found, next: lastOf(listed, evidencePerPage)?.key };
}

// Registrations and copies that were never finished. The row is refused first if it has not changed, so that a call
// which continues with it does not become ready on bytes that are being removed. Then its bytes are removed, then the
// row.

const registrationsPerPage = 100;

async function sweepRegistrations(deps: MediaStores, { apply, after }: SweepPageRequest): Promise<SweepPage> {
  const rows = await store.findPage(deps.db, store.isUnready(oldBefore(deps.clock)), after, registrationsPerPage);
  const videos = await unfinishedVideos(deps, rows);
  const looked = await look(
    deps,
    rows.filter((row) => !videos.has(row.assetId)),
  );
  const abandoned = looked.filter(({ place }) => place === 'old' || place === 'none').map(({ row }) => row);
  const dropped = apply ? await removeUnfinished(deps, abandoned) : undefined;
  const found = looked.flatMap(({ row, place }): api.SweepFinding[] => {
    const { assetId, storageKey: key } = row;
    const finding = { what: 'unfinished_registration', assetId, key } as const;
    if (place === 'unknown') return [{ ...finding, fate: 'left', why: 'its bucket is not configured' }];
    if (place === 'young') return [];
    if (dropped === undefined) return [{ ...finding, fate: 'found' }];
    return [
      dropped.has(assetId) ? { ...finding, fate: 'removed' } : { ...finding, fate: 'left', why: 'it has changed' },
    ];
  });
  return { found, next: lastOf(rows, registrationsPerPage)?.assetId };
}

/** The state of its bytes. `young` ones belong to an upload, whatever the row is. The bytes of legacy files are never removed. */
type Bytes = 'none' | 'old' | 'young' | 'unknown';

function look(deps: MediaStores, rows: readonly DeletableAsset[]) {
  const before = oldBefore(deps.clock);
  return mapConcurrently(rows, headsAtOnce, async (row): Promise<{ row: DeletableAsset; place: Bytes }> => {
    if (row.backend === 'legacy') return { row, place: 'none' };
    const objects = bucketOf(deps, row);
    if (objects === undefined) return { row, place: 'unknown' };
    const head = await objects.head(row.storageKey);
    return { row, place: head === undefined ? 'none' : head.modifiedAt < before ? 'old' : 'young' };
  });
}

/** Ids of the rows that were dropped. Throws `engine_unavailable`: what is not confirmed gone keeps its row. */
async function removeUnfinished(deps: MediaStores, rows: readonly DeletableAsset[]): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const refused = new Map(
    (await store.refuseUnready(deps.db, rows)).map(({ assetId, revision }) => [assetId, revision]),
  );
  // Checked again: newer uploads stay, and can be registered without this row.
  const ours = await look(
    deps,
    rows.filter(({ assetId }) => refused.has(assetId)),
  );
  await removeObjects(
    deps,
    ours.flatMap(({ row, place }) => (row.backend === 'objects' && place !== 'young' ? [row] : [])),
  );
  const seen = [...refused].map(([assetId, revision]) => ({ assetId, revision }));
  return new Set((await dropAssets(deps.db, seen)).map(({ assetId }) => assetId));
}

// Assets whose bytes were removed by another system, or lost. Their rows are deleted, with all derivatives.

const assetsPerPage = 1000;

type ReadyRow = Awaited<ReturnType<typeof store.findPage>>[number];

type AssetBytes = 'there' | 'gone' | 'unknown' | 'lost' | 'others' | 'pending';

async function sweepAssets(
  deps: MediaStores,
  { apply, acceptLostBuckets, after }: SweepPageRequest,
): Promise<SweepPage> {
  const rows = await store.findPage(deps.db, store.isReady, after, assetsPerPage);
  const isLost = createLostBuckets(deps);
  const looked = await mapConcurrently(rows, headsAtOnce, async (row) => ({
    row,
    bytes: await lookFor(deps, isLost, row),
  }));
  const found: api.SweepFinding[] = [];
  for (const { row, bytes } of looked) {
    const { assetId, storageKey: key } = row;
    const finding = { what: 'asset_without_object', assetId, key } as const;
    if (bytes === 'there') continue;
    if (bytes === 'others' || bytes === 'pending')
      found.push({ what: 'asset_with_other_bytes', assetId, key, fate: 'left', why: reasons[bytes] });
    else if (bytes === 'unknown') found.push({ ...finding, fate: 'left', why: 'its bucket is not configured' });
    else if (bytes === 'lost' && !acceptLostBuckets) found.push({ ...finding, fate: 'left', why: lostBucket });
    else if (!apply) found.push({ ...finding, fate: 'found' });
    else if (await dropLost(deps, row)) found.push({ ...finding, fate: 'removed' });
    else found.push({ ...finding, fate: 'left', why: 'it has changed' });
  }
  return { found, next: lastOf(rows, assetsPerPage)?.assetId };
}

async function lookFor(
  deps: MediaStores,
  isLost: ReturnType<typeof createLostBuckets>,
  row: ReadyRow,
): Promise<AssetBytes> {
  const objects = bucketOf(deps, row);
  if (objects === undefined) return 'unknown';
  const head = await objects.head(row.storageKey);
  if (head !== undefined) return row.backend === 'legacy' ? 'there' : settle(deps, row, head);
  return (await isLost(row)) ? 'lost' : 'gone';
}

const reasons = {
  others: 'its object is not the one that was registered',
  pending: 'its digest is still being computed; sweep again',
} as const;

/** An object that another tool restored can have another ETag, and which its row gets if the bytes are the same. */
async function settle(deps: MediaStores, row: ReadyRow, head: ObjectHead): Promise<AssetBytes> {
  try {
    return (await settleEtag(deps, row, head)) === undefined ? 'others' : 'there';
  } catch (error) {
    if (error instanceof Problem && error.code === 'digest_pending') return 'pending';
    throw error;
  }
}

/**
 * Deletes the row if it has not changed since it was read, with its cached responses. The derivatives are removed
 * first, as in every deletion, so that a process which dies leaves the row.
 */
async function dropLost(deps: MediaStores, row: DeletableAsset): Promise<boolean> {
  const objects = bucketOf(deps, row);
  if (objects === undefined || (await objects.head(row.storageKey)) !== undefined) return false;
  await removeDerivatives(deps, { backend: row.backend, objects }, [row.storageKey]);
  return (await dropAndInvalidate(deps, [row])).length > 0;
}

// Stored variants whose source is gone. Their keys are keyed hashes, which do not lead back to the source, but the keys
// of all variants of a source have the same prefix. A sweep indexes the prefixes of old variants; then, bucket by bucket,
// it drops the prefix of every source that exists; the prefixes that are left are verified and their variants removed. The
// index is rows, so that there can be any number of them and any process can do the next page.
//
// Only variants whose mark names a bucket that was listed completely are removed: variants of URLs, of other installations
// and of buckets that no row names stay. Whatever is created during a sweep is too young for it.

const variantsPerPage = 1000;
const prefixesPerPage = 200;

async function sweepVariants(deps: MediaStores, page: SweepPageRequest): Promise<SweepPage> {
  const step = page.after === undefined ? await begin(deps) : api.readStep(page.after);
  if (step === undefined) return { found: [], next: undefined };
  const { found, next: after } =
    step.name === 'index'
      ? await indexVariants(deps, step)
      : step.name === 'diff'
        ? await dropSources(deps, step)
        : await verifyOrphans(deps, step, page);
  const following = after === undefined ? await stepAfter(deps, step) : { ...step, after };
  return { found, next: following && api.writeStep(following) };
}

async function begin({ db }: MediaStores): Promise<api.Step> {
  await store.dropOutdatedIndexes(db);
  return { sweepId: randomUUID(), name: 'index', bucket: '', after: undefined };
}

/** Bucket by bucket. After the last one, the index is deleted. */
async function stepAfter(deps: MediaStores, step: api.Step): Promise<api.Step | undefined> {
  if (step.name === 'diff') return { ...step, name: 'verify', after: undefined };
  const { db } = deps;
  const buckets = new Set([deps.objects.bucket, defaultLegacyBucket, ...(await store.findLegacyBuckets(db))]);
  for (const bucket of [...buckets].sort()) {
    if (bucket <= step.bucket || sourcesIn(deps, bucket) === undefined) continue;
    const [indexed] = await store.findIndexed(db, step.sweepId, markOf(deps, bucket), undefined, 1);
    if (indexed !== undefined) return { ...step, name: 'diff', bucket, after: undefined };
  }
  await store.dropIndex(db, step.sweepId);
  return undefined;
}

function sourcesIn({ objects, legacy }: MediaStores, bucket: string): Objects | undefined {
  return bucket === objects.bucket ? objects : legacy.bucket(bucket);
}

const markOf = ({ variants }: MediaStores, bucket: string) => variants.names.mark(bucketStore(bucket));

async function indexVariants(deps: MediaStores, { sweepId, after }: api.Step): Promise<SweepPage> {
  const listed = await pageOf(deps.publicObjects.list('img/', after), variantsPerPage);
  const before = oldBefore(deps.clock);
  const old = listed.filter(({ modifiedAt }) => modifiedAt < before);
  await store.indexVariants(
    deps.db,
    sweepId,
    old.flatMap(({ key }) => partsOfVariantKey(key) ?? []),
  );
  return { found: [], next: lastOf(listed, variantsPerPage)?.key };
}

/** Throws `engine_unavailable` if this process does not have the bucket: its variants must stay. */
async function dropSources(deps: MediaStores, { sweepId, bucket, after }: api.Step): Promise<SweepPage> {
  const sources = sourcesIn(deps, bucket);
  if (sources === undefined)
    throw problems.engine_unavailable({ cause: new Error(`bucket ${bucket} is not configured`) });
  const listed = await pageOf(sources.list('', after), variantsPerPage);
  const prefixes = listed.map(({ key }) => deps.variants.names.prefix(namedObject(bucket, key)));
  await store.dropIndexed(deps.db, sweepId, markOf(deps, bucket), prefixes);
  return { found: [], next: lastOf(listed, variantsPerPage)?.key };
}

async function verifyOrphans(
  deps: MediaStores,
  { sweepId, bucket, after }: api.Step,
  { apply, acceptLostBuckets }: SweepPageRequest,
): Promise<SweepPage> {
  const prefixes = await store.findIndexed(deps.db, sweepId, markOf(deps, bucket), after, prefixesPerPage);
  const before = oldBefore(deps.clock);
  const orphans = (await mapConcurrently(prefixes, headsAtOnce, (prefix) => orphansAt(deps, prefix, before))).flat();
  const backend = bucket === deps.objects.bucket ? 'objects' : 'legacy';
  const isKept = !acceptLostBuckets && orphans.length > 0 && (await isLost(deps, { backend, bucket }));
  if (apply && !isKept) await removeListed(deps.publicObjects, orphans);
  const found = orphans.map(({ key, size }): api.SweepFinding => {
    const finding = { what: 'variant_without_source', key, byteSize: size } as const;
    return isKept ? { ...finding, fate: 'left', why: lostBucket } : { ...finding, fate: apply ? 'removed' : 'found' };
  });
  return { found, next: lastOf(prefixes, prefixesPerPage) };
}

/** Removes none while one of them is young: the source existed within the day, or exists again. */
async function orphansAt(
  { publicObjects }: MediaStores,
  prefix: string,
  before: Date,
): Promise<readonly ListedObject[]> {
  const listed = await pageOf(publicObjects.list(prefix), variantsPerPage);
  return listed.every(({ modifiedAt }) => modifiedAt < before) ? listed : [];
}

// A folder that is not mounted, and an address of another server, look like a bucket that has lost everything. If a sweep
// believed it, it would delete every row. So a bucket counts as lost if it is empty, or if none of a sample of its assets
// has an object.

const sampleSize = 50;
/** Fewer assets can be lost one by one. */
const smallestSample = 5;

const lostBucket = 'its bucket is empty or has none of its assets; see --accept-lost-buckets';

/** Of one page: asked for each row, and looked up once for each bucket. */
function createLostBuckets(deps: MediaStores) {
  const known = new Map<string, Promise<boolean>>();
  return (row: Pick<DeletableAsset, 'backend' | 'bucket'>): Promise<boolean> => {
    const name = `${row.backend}/${row.bucket}`;
    const found = known.get(name) ?? isLost(deps, row);
    known.set(name, found);
    return found;
  };
}

async function isLost(deps: MediaStores, row: Pick<DeletableAsset, 'backend' | 'bucket'>): Promise<boolean> {
  const objects = bucketOf(deps, row);
  if (objects === undefined) return true;
  if ((await pageOf(objects.list(''), 1)).length === 0) return true;
  const keys = await store.findSample(deps.db, row, sampleSize);
  if (keys.length < smallestSample) return false;
  const heads = await mapConcurrently(keys, headsAtOnce, (key) => objects.head(key));
  return heads.every((head) => head === undefined);
}

// Sweeps unfinished registrations and unregistered uploads every six hours. One job at a time in all processes; each does
// some pages and enqueues the next one in the transaction in which it ends.

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
    const at = cursor === null ? undefined : api.sweepCursor.parse(cursor);
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
