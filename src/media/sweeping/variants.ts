/**
 * Stored variants whose source is gone. Their keys are keyed hashes, so nobody comes from a variant to its source; but all
 * variants of a source begin alike. So the beginnings of old variants are noted; then, bucket by bucket, each source that is
 * there strikes its own; what is left then belongs to nothing. The notes are rows, so that there may be any number of them
 * and every page may be done by another process.
 *
 * Only variants whose mark says that their source lay in a bucket that was gone through are judged: those of addresses, of
 * other installations and of buckets that nobody names any more stay. Whatever comes while a sweep is under way is younger
 * than what it judges.
 */
import { randomUUID } from 'node:crypto';
import { partsOfVariantKey } from '#image/engine/keys.ts';
import { bucketStore, namedObject } from '#image/engine/sources.ts';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import { defaultLegacyBucket, type ListedObject, type Objects } from '#platform/objects/objects.ts';
import { headsAtOnce } from '../locating.ts';
import { removeAll } from '../removal.ts';
import type { SweepFinding } from './api.ts';
import { readStep, type Step, writeStep } from './steps.ts';
import {
  dropNotes,
  dropOutdatedNotes,
  findLegacyBuckets,
  findNoted,
  hasNoted,
  noteVariants,
  strikeVariants,
} from './store.ts';
import { oldBefore, type SweepDeps, type SweepPage, type SweepTurn } from './turns.ts';

const keysPerPage = 1000;
const judgedPerPage = 200;

type Noting = Extract<Step, { name: 'note' }>;
type InBucket = Exclude<Step, Noting>;

export async function sweepVariants(deps: SweepDeps, { apply, after }: SweepTurn): Promise<SweepPage> {
  const step = after === undefined ? await begin(deps) : readStep(after);
  if (step === undefined) return { found: [], next: undefined };
  if (step.name === 'note') return pageOf(await note(deps, step));
  if (step.name === 'strike') return pageOf(await strike(deps, step));
  const { found, following } = await judge(deps, step, apply);
  return pageOf(following, found);
}

const pageOf = (following: Step | undefined, found: readonly SweepFinding[] = []): SweepPage => ({
  found,
  next: following && writeStep(following),
});

async function begin({ db }: SweepDeps): Promise<Noting> {
  await dropOutdatedNotes(db);
  return { name: 'note', sweepId: randomUUID(), after: undefined };
}

async function note(deps: SweepDeps, { sweepId, after }: Noting): Promise<Step | undefined> {
  const listed = await pageFrom(deps.publicObjects.list('img/', after), keysPerPage);
  const before = oldBefore(deps.clock);
  const old = listed.filter(({ modifiedAt }) => modifiedAt < before);
  await noteVariants(
    deps.db,
    sweepId,
    old.flatMap(({ key }) => partsOfVariantKey(key) ?? []),
  );
  const last = listed.at(-1)?.key;
  if (last !== undefined && listed.length === keysPerPage) return { name: 'note', sweepId, after: last };
  return nextBucket(deps, sweepId, '');
}

/** After the last one the notes go. */
async function nextBucket(deps: SweepDeps, sweepId: string, after: string): Promise<InBucket | undefined> {
  const legacy = await findLegacyBuckets(deps.db);
  const buckets = new Set([deps.objects.bucket, defaultLegacyBucket, ...legacy]);
  for (const bucket of [...buckets].sort()) {
    if (bucket <= after || sourcesIn(deps, bucket) === undefined) continue;
    if (await hasNoted(deps.db, sweepId, markOf(deps, bucket)))
      return { name: 'strike', sweepId, bucket, after: undefined };
  }
  await dropNotes(deps.db, sweepId);
  return undefined;
}

function sourcesIn({ objects, legacy }: SweepDeps, bucket: string): Objects | undefined {
  return bucket === objects.bucket ? objects : legacy.bucket(bucket);
}

const markOf = ({ variants }: SweepDeps, bucket: string) => variants.names.mark(bucketStore(bucket));

async function strike(deps: SweepDeps, step: InBucket): Promise<Step | undefined> {
  const { sweepId, bucket, after } = step;
  const sources = sourcesIn(deps, bucket);
  if (sources === undefined) return nextBucket(deps, sweepId, bucket);
  const listed = await pageFrom(sources.list('', after), keysPerPage);
  const prefixes = listed.map(({ key }) => deps.variants.names.prefix(namedObject(bucket, key)));
  await strikeVariants(deps.db, sweepId, markOf(deps, bucket), prefixes);
  const last = listed.at(-1)?.key;
  if (last !== undefined && listed.length === keysPerPage) return { ...step, after: last };
  return { name: 'judge', sweepId, bucket, after: undefined };
}

async function judge(
  deps: SweepDeps,
  { sweepId, bucket, after }: InBucket,
  apply: boolean,
): Promise<{ readonly found: readonly SweepFinding[]; readonly following: Step | undefined }> {
  const prefixes = await findNoted(deps.db, sweepId, markOf(deps, bucket), after, judgedPerPage);
  const before = oldBefore(deps.clock);
  const strays = (await mapConcurrently(prefixes, headsAtOnce, (prefix) => straysAt(deps, prefix, before))).flat();
  const isEmpty = strays.length > 0 && (await pageFrom(sourcesIn(deps, bucket)?.list('') ?? [], 1)).length === 0;
  if (apply && !isEmpty && strays.length > 0) {
    const keys = strays.map(({ key }) => key);
    await removeAll(deps.publicObjects, keys);
  }
  const found = strays.map(({ key, size }): SweepFinding => {
    const finding = { what: 'variant_without_source', key, byteSize: size } as const;
    // A bucket that is not there reads as an empty one: a wrong address must not cost every variant.
    if (isEmpty) return { ...finding, fate: 'left', why: 'the bucket of its source is empty or not there' };
    return { ...finding, fate: apply ? 'removed' : 'found' };
  });
  const last = prefixes.length === judgedPerPage ? prefixes.at(-1) : undefined;
  const following: Step | undefined =
    last === undefined ? await nextBucket(deps, sweepId, bucket) : { name: 'judge', sweepId, bucket, after: last };
  return { found, following };
}

/** None while one of them is young: the source was there within the day, or is there again. */
async function straysAt({ publicObjects }: SweepDeps, prefix: string, before: Date): Promise<readonly ListedObject[]> {
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
