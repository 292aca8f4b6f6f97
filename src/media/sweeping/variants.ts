/**
 * Stored variants whose source is gone. Their keys are keyed hashes, which do not lead back to the source, but the keys
 * of all variants of a source have the same prefix. A sweep indexes the prefixes of old variants; then, bucket by bucket,
 * it drops the prefix of every source that exists; the prefixes that are left are verified and their variants removed. The
 * index is rows, so that there can be any number of them and any process can do the next page.
 *
 * Only variants whose mark names a bucket that was listed completely are removed: variants of URLs, of other installations
 * and of buckets that no row names stay. Whatever is created during a sweep is too young for it.
 */
import { randomUUID } from 'node:crypto';
import { partsOfVariantKey } from '#image/engine/keys.ts';
import { bucketStore, namedObject } from '#image/engine/sources.ts';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import { defaultLegacyBucket, type ListedObject, type Objects } from '#platform/objects/objects.ts';
import { headsAtOnce } from '../assets/buckets.ts';
import type { MediaStores } from '../context.ts';
import { removeAll } from '../deletion/removal.ts';
import type { SweepFinding } from './api.ts';
import { createLostBuckets, lostBucket } from './lostbuckets.ts';
import { oldBefore, type SweepPage, type SweepPageRequest } from './page.ts';
import { readStep, type Step, writeStep } from './steps.ts';
import {
  dropIndex,
  dropIndexed,
  dropOutdatedIndexes,
  findIndexed,
  findLegacyBuckets,
  hasIndexed,
  indexVariants,
} from './sweepstore.ts';

const keysPerPage = 1000;
const prefixesPerPage = 200;

type Indexing = Extract<Step, { name: 'index' }>;
type InBucket = Exclude<Step, Indexing>;

export async function sweepVariants(
  deps: MediaStores,
  { apply, acceptLostBuckets, after }: SweepPageRequest,
): Promise<SweepPage> {
  const step = after === undefined ? await begin(deps) : readStep(after);
  if (step === undefined) return { found: [], next: undefined };
  if (step.name === 'index') return pageOf(await indexVariantsPage(deps, step));
  if (step.name === 'diff') return pageOf(await diffSources(deps, step));
  const { found, following } = await verifyOrphans(deps, step, { apply, acceptLostBuckets });
  return pageOf(following, found);
}

const pageOf = (following: Step | undefined, found: readonly SweepFinding[] = []): SweepPage => ({
  found,
  next: following && writeStep(following),
});

async function begin({ db }: MediaStores): Promise<Indexing> {
  await dropOutdatedIndexes(db);
  return { name: 'index', sweepId: randomUUID(), after: undefined };
}

async function indexVariantsPage(deps: MediaStores, { sweepId, after }: Indexing): Promise<Step | undefined> {
  const listed = await pageFrom(deps.publicObjects.list('img/', after), keysPerPage);
  const before = oldBefore(deps.clock);
  const old = listed.filter(({ modifiedAt }) => modifiedAt < before);
  await indexVariants(
    deps.db,
    sweepId,
    old.flatMap(({ key }) => partsOfVariantKey(key) ?? []),
  );
  const last = listed.at(-1)?.key;
  if (last !== undefined && listed.length === keysPerPage) return { name: 'index', sweepId, after: last };
  return nextBucket(deps, sweepId, '');
}

/** After the last one, the index is deleted. */
async function nextBucket(deps: MediaStores, sweepId: string, after: string): Promise<InBucket | undefined> {
  const legacy = await findLegacyBuckets(deps.db);
  const buckets = new Set([deps.objects.bucket, defaultLegacyBucket, ...legacy]);
  for (const bucket of [...buckets].sort()) {
    if (bucket <= after || sourcesIn(deps, bucket) === undefined) continue;
    if (await hasIndexed(deps.db, sweepId, markOf(deps, bucket)))
      return { name: 'diff', sweepId, bucket, after: undefined };
  }
  await dropIndex(deps.db, sweepId);
  return undefined;
}

function sourcesIn({ objects, legacy }: MediaStores, bucket: string): Objects | undefined {
  return bucket === objects.bucket ? objects : legacy.bucket(bucket);
}

const markOf = ({ variants }: MediaStores, bucket: string) => variants.names.mark(bucketStore(bucket));

async function diffSources(deps: MediaStores, step: InBucket): Promise<Step | undefined> {
  const { sweepId, bucket, after } = step;
  const sources = sourcesIn(deps, bucket);
  if (sources === undefined) return nextBucket(deps, sweepId, bucket);
  const listed = await pageFrom(sources.list('', after), keysPerPage);
  const prefixes = listed.map(({ key }) => deps.variants.names.prefix(namedObject(bucket, key)));
  await dropIndexed(deps.db, sweepId, markOf(deps, bucket), prefixes);
  const last = listed.at(-1)?.key;
  if (last !== undefined && listed.length === keysPerPage) return { ...step, after: last };
  return { name: 'verify', sweepId, bucket, after: undefined };
}

async function verifyOrphans(
  deps: MediaStores,
  { sweepId, bucket, after }: InBucket,
  { apply, acceptLostBuckets }: Pick<SweepPageRequest, 'apply' | 'acceptLostBuckets'>,
): Promise<{ readonly found: readonly SweepFinding[]; readonly following: Step | undefined }> {
  const prefixes = await findIndexed(deps.db, sweepId, markOf(deps, bucket), after, prefixesPerPage);
  const before = oldBefore(deps.clock);
  const orphans = (await mapConcurrently(prefixes, headsAtOnce, (prefix) => orphansAt(deps, prefix, before))).flat();
  const backend = bucket === deps.objects.bucket ? 'objects' : 'legacy';
  const isLost = !acceptLostBuckets && orphans.length > 0 && (await createLostBuckets(deps)({ backend, bucket }));
  if (apply && !isLost && orphans.length > 0) {
    const keys = orphans.map(({ key }) => key);
    await removeAll(deps.publicObjects, keys);
  }
  const found = orphans.map(({ key, size }): SweepFinding => {
    const finding = { what: 'variant_without_source', key, byteSize: size } as const;
    if (isLost) return { ...finding, fate: 'left', why: lostBucket };
    return { ...finding, fate: apply ? 'removed' : 'found' };
  });
  const last = prefixes.length === prefixesPerPage ? prefixes.at(-1) : undefined;
  const following: Step | undefined =
    last === undefined ? await nextBucket(deps, sweepId, bucket) : { name: 'verify', sweepId, bucket, after: last };
  return { found, following };
}

/** Removes none while one of them is young: the source existed within the day, or exists again. */
async function orphansAt(
  { publicObjects }: MediaStores,
  prefix: string,
  before: Date,
): Promise<readonly ListedObject[]> {
  const listed = await pageFrom(publicObjects.list(prefix), keysPerPage);
  return listed.every(({ modifiedAt }) => modifiedAt < before) ? listed : [];
}

async function pageFrom(
  listing: AsyncIterable<ListedObject> | readonly ListedObject[],
  most: number,
): Promise<readonly ListedObject[]> {
  const page: ListedObject[] = [];
  for await (const object of listing) {
    page.push(object);
    if (page.length === most) break;
  }
  return page;
}
