/**
 * The physical half of a deletion: the objects of rows, the derivatives next to them, and their variants. Objects go
 * before rows: whenever the process dies, a row still names what is left, and a retry finishes it. An object that is gone
 * already is no failure.
 */
import { objectSource } from '#image/engine/sources.ts';
import { StoreFault } from '#image/engine/variants.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { gather } from '#platform/objects/gathering.ts';
import { isSafeKey, type Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { derivativeStartOf, sourceKeyOf } from '../assets/storagekey.ts';
import type { MediaStores } from '../context.ts';
import { bucketOf, headsAtOnce } from '../lookup/assetlookup.ts';
import { dropWatermarkRecords } from '../watermarks/watermarkstore.ts';

/** The place of an original according to its row. */
export interface Place {
  readonly backend: 'objects' | 'legacy';
  readonly bucket: string;
  readonly storageKey: string;
}

/** As many keys as S3 removes in one call. */
export const rowsPerBatch = 1000;

/**
 * At most `rowsPerBatch` places, of any bucket. Throws `engine_unavailable` unless every object, derivative and
 * variant is confirmed gone; no row may be dropped then.
 */
export async function removeObjects(deps: MediaStores, places: readonly Place[]): Promise<void> {
  const groups = groupByBucket(deps, places);
  for (const { objects, storageKeys } of groups) await removeAll(objects, storageKeys);
  // After their sources: a derivative that is still being made is then removed by the call that makes it.
  for (const { storageKeys, ...store } of groups) await removeDerivatives(deps, store, storageKeys);
}

/** Removes one object. A missing one is no failure. Throws `engine_unavailable`. */
export function removeObject(objects: Objects, storageKey: string): Promise<void> {
  return removeAll(objects, [storageKey]);
}

/** A bucket of one of the two backends. */
export interface Store {
  readonly backend: Place['backend'];
  readonly objects: Objects;
}

/** The watermark files, renditions and variants of objects that are removed already. Throws `engine_unavailable`. */
export async function removeDerivatives(
  deps: MediaStores,
  store: Store,
  storageKeys: readonly string[],
): Promise<void> {
  await Promise.all([removeFilesBeside(deps, store, storageKeys), forgetVariants(deps, store.objects, storageKeys)]);
}

async function removeFilesBeside({ db }: MediaStores, store: Store, storageKeys: readonly string[]): Promise<void> {
  const found = await findDerivatives(store, storageKeys);
  // Before the files, which a retry would find again.
  if (store.backend === 'legacy') await dropWatermarkRecords(db, store.objects.bucket, found);
  await removeAll(store.objects, found);
}

/** Listed, since few sources have any: one listing is cheaper than removing absent keys. */
async function findDerivatives(
  { backend, objects }: Store,
  storageKeys: readonly string[],
): Promise<readonly string[]> {
  const sources = new Set(storageKeys);
  // The longest names leave no room for the suffix.
  const starts = storageKeys.map((key) => derivativeStartOf(backend, key)).filter((start) => isSafeKey(`${start}.jpg`));
  const found = await gather(objects, starts);
  return found.filter((key) => !sources.has(key) && sources.has(sourceKeyOf(backend, key)));
}

/** Throws `engine_unavailable` unless all are confirmed gone. */
async function removeAll(objects: Objects, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const { failed } = await objects.remove(keys);
  const [failure] = failed;
  if (failure) throw problems.engine_unavailable({ cause: new Error(`${failure.key}: ${failure.reason}`) });
}

/** Removes objects. Missing ones are no failure. Throws `engine_unavailable`. */
export function removeListed(objects: Objects, listed: readonly { readonly key: string }[]): Promise<void> {
  return removeAll(
    objects,
    listed.map(({ key }) => key),
  );
}

/** Throws `engine_unavailable` unless all of them are confirmed gone. */
export async function forgetVariants(
  { variants }: MediaStores,
  objects: Objects,
  storageKeys: readonly string[],
): Promise<void> {
  await variants.forgetAll(storageKeys.map((key) => objectSource(objects, key))).catch((error: unknown) => {
    throw error instanceof StoreFault ? problems.engine_unavailable({ cause: error }) : error;
  });
}

/** Counts the objects at `places`, derivatives included. */
export async function countObjects(deps: MediaStores, places: readonly Place[]) {
  const counts = { objects: 0, legacy: 0 };
  for (const { backend, objects, storageKeys } of groupByBucket(deps, places)) {
    const wanted = new Set(storageKeys);
    counts[backend] +=
      backend === 'objects'
        ? (await gather(objects, storageKeys)).filter((key) => wanted.has(sourceKeyOf(backend, key))).length
        : (await findExisting(objects, storageKeys)).length +
          (await findDerivatives({ backend, objects }, storageKeys)).length;
  }
  return counts;
}

/** Returns those of `keys` that exist, by one HEAD request each, because legacy files of one owner can be anywhere in their bucket. */
export async function findExisting(
  objects: Pick<Objects, 'head'>,
  keys: readonly string[],
): Promise<readonly string[]> {
  const heads = await mapConcurrently(keys, headsAtOnce, (key) => objects.head(key));
  return keys.filter((_key, index) => heads[index] !== undefined);
}

interface Group extends Store {
  readonly storageKeys: string[];
}

/** Throws for a bucket that is not configured: its rows must not be dropped without removing their bytes. */
function groupByBucket(deps: MediaStores, places: readonly Place[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const place of places) {
    const { backend, bucket, storageKey } = place;
    const objects = bucketOf(deps, place);
    if (objects === undefined)
      throw problems.engine_unavailable({ cause: new Error(`${backend} bucket ${bucket} is not configured`) });
    const name = `${backend}/${bucket}`;
    const group = groups.get(name) ?? { backend, objects, storageKeys: [] };
    group.storageKeys.push(storageKey);
    groups.set(name, group);
  }
  return [...groups.values()];
}
