/**
 * The physical half of a deletion: the objects of rows, the watermark files beside them, and their variants. Objects go
 * before rows, so whatever a process dies between, a row still tells of what is left, and a repeat finishes it. What is
 * gone already is no failure.
 */
import { objectSource } from '#image/engine/sources.ts';
import { StoreFault, type VariantMaker } from '#image/engine/variants.ts';
import type { Db } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { watermarkKeysOf } from './storagekey.ts';
import type { DeletableAsset, MediaTables } from './store.ts';

export interface RemovalDeps {
  readonly db: Db<MediaTables>;
  readonly objects: Objects;
  readonly variants: Pick<VariantMaker, 'forgetAll'>;
}

/** With two watermark files each, as many keys as S3 removes in one call. */
export const rowsPerBatch = 333;

/** Of a row that changes between being read and being dropped, again and again. */
export const maxTries = 5;
export const pauseMs = 50;

/**
 * At most `rowsPerBatch` rows. Throws `engine_unavailable` unless every object, watermark file and variant is confirmed
 * gone; no row may be dropped then.
 */
export async function removeObjects({ objects, variants }: RemovalDeps, rows: readonly DeletableAsset[]) {
  assertReachable(objects, rows);
  await removeKeys(objects, rows.flatMap(keysOf));
  // After their sources: what is still being made is then taken back by its maker.
  await forgetVariants(
    { objects, variants },
    rows.map(({ storageKey }) => storageKey),
  );
}

/** One object alone; gone already is no failure. Throws `engine_unavailable`. */
export function removeObject({ objects }: Pick<RemovalDeps, 'objects'>, storageKey: string): Promise<void> {
  return removeKeys(objects, [storageKey]);
}

/** The watermark files and variants of an object that is removed already. Throws `engine_unavailable`. */
export async function removeKin(deps: Pick<RemovalDeps, 'objects' | 'variants'>, storageKey: string): Promise<void> {
  await removeKeys(deps.objects, watermarkKeysOf(storageKey));
  await forgetVariants(deps, [storageKey]);
}

async function removeKeys(objects: Objects, keys: readonly string[]): Promise<void> {
  const [failure] = (await objects.remove(keys)).failed;
  if (failure) throw problems.engine_unavailable({ cause: new Error(`${failure.key}: ${failure.reason}`) });
}

async function forgetVariants(
  { objects, variants }: Pick<RemovalDeps, 'objects' | 'variants'>,
  storageKeys: readonly string[],
): Promise<void> {
  await variants.forgetAll(storageKeys.map((key) => objectSource(objects, key))).catch((error: unknown) => {
    throw error instanceof StoreFault ? problems.engine_unavailable({ cause: error }) : error;
  });
}

/**
 * How many objects of `rows` there are, watermark files included. One listing, of what lies between the first key and the
 * last.
 */
export async function countObjects({ objects }: Pick<RemovalDeps, 'objects'>, rows: readonly DeletableAsset[]) {
  const keys = rows.flatMap(keysOf).sort();
  const [first, last] = [keys[0], keys.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const wanted = new Set(keys);
  let count = 0;
  for await (const { key } of objects.list(commonStart(first, last))) {
    if (key > last) break;
    if (wanted.has(key)) count += 1;
  }
  return count;
}

function keysOf({ storageKey }: DeletableAsset): readonly string[] {
  return [storageKey, ...watermarkKeysOf(storageKey)];
}

/** A row of another bucket or backend is not dropped for bytes that were never looked for. */
function assertReachable({ bucket }: Objects, rows: readonly DeletableAsset[]): void {
  const far = rows.find((row) => row.backend !== 'objects' || row.bucket !== bucket);
  if (far === undefined) return;
  const cause = new Error(`asset ${far.assetId} lies in ${far.backend} bucket ${far.bucket}, which is not configured`);
  throw problems.engine_unavailable({ cause });
}

function commonStart(first: string, last: string): string {
  let length = 0;
  while (length < first.length && first[length] === last[length]) length += 1;
  return first.slice(0, length);
}
