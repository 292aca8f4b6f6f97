/**
 * Where the bytes of an asset lie: in the object store, or in the legacy backend, whose files others put there and may
 * take away, so that they are looked for every time (docs/specification/media.md#ownership).
 */

import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import type { Db } from '#platform/db/db.ts';
import type { LegacyObjects, Objects } from '#platform/objects/objects.ts';
import { mimeOfFile, mimeOfPath } from './legacymime.ts';
import type { Reading, Reconciler } from './reconciling/reconciling.ts';
import { isLegacyPath, isUuid } from './refs.ts';
import { findBlockedPaths } from './screening/store.ts';
import { findReadyAssets, type MediaTables } from './store.ts';

export interface PlacesDeps {
  /** Originals. */
  readonly objects: Objects;
  readonly legacy: Pick<LegacyObjects, 'bucket'>;
}

export interface LocatingDeps extends PlacesDeps {
  readonly db: Db<MediaTables>;
  /** `undefined`: no asset is a file of the data folder. */
  readonly reconciler?: Pick<Reconciler, 'startReading'> | undefined;
}

export type ReadyAsset = Awaited<ReturnType<typeof findReadyAssets>>[number];

/** An asset that is there, with what is known about its bytes. */
export interface Located {
  readonly backend: 'objects' | 'legacy';
  /** The bucket that it lies in. */
  readonly objects: Objects;
  readonly storageKey: string;
  /** Of the bytes that were registered, and are meant; `undefined`: a legacy path, which stands for whatever lies there. */
  readonly etag: string | undefined;
  /** Of a legacy file: the etag of the bytes that lie there now. */
  readonly version?: string | undefined;
  readonly mime: string;
  readonly byteSize: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly blurhash: string | null;
  /** `undefined`: a legacy path, of which nothing is written down. */
  readonly row: ReadyAsset | undefined;
}

/** What a ref names, before anything is known of its bytes: enough to judge who may read it. */
export type Named = { readonly row: ReadyAsset } | { readonly path: string };

/** Of the heads that one request needs of the legacy backend: half of the connections that S3 is given. */
export const headsAtOnce = 32;

/**
 * The bucket that a row names. `undefined`: it is not one of those that are configured, and nothing is known of the bytes.
 */
export function bucketOf(
  { objects, legacy }: PlacesDeps,
  row: { readonly backend: 'objects' | 'legacy'; readonly bucket: string },
): Objects | undefined {
  if (row.backend === 'legacy') return legacy.bucket(row.bucket);
  return row.bucket === objects.bucket ? objects : undefined;
}

/**
 * By ref as it was given; one query for assets and one for paths, and a head for each legacy file that `isWanted`. What
 * does not exist, is not ready, is not wanted, is blocked or is no ref at all is not in it. Without `isWanted` who may have it is for the caller to judge. Throws
 * `engine_unavailable`.
 */
export async function locateAll(
  deps: LocatingDeps,
  refs: readonly string[],
  legacyBucket: string,
  isWanted: (named: Named) => boolean = () => true,
): Promise<ReadonlyMap<string, Located>> {
  const assetIds = new Set(refs.filter(isUuid).map((ref) => ref.toLowerCase()));
  const reading = startReading(deps);
  const rows = assetIds.size > 0 ? await findReadyAssets(deps.db, [...assetIds]) : [];
  const readable = await reading.current(rows.filter((row) => isWanted({ row })));
  const wanted = new Map(readable.map((row) => [row.assetId, row]));
  const paths = new Set(refs.filter((ref) => isLegacyPath(ref) && isWanted({ path: ref })));
  const blocked = await findBlockedPaths(deps.db, legacyBucket, [...paths]);
  const found = new Map<string, Located>();
  const note = (ref: string, located: Located | undefined) => located && found.set(ref, located);
  const heads: (() => Promise<unknown>)[] = [];
  for (const ref of new Set(refs)) {
    const row = wanted.get(ref.toLowerCase());
    if (row?.backend === 'legacy') heads.push(async () => note(ref, await locateRow(deps, row)));
    else if (row !== undefined) note(ref, describe(deps, row));
    else if (paths.has(ref) && !blocked.has(ref))
      heads.push(async () => note(ref, await locatePath(deps, legacyBucket, ref)));
  }
  await mapConcurrently(heads, headsAtOnce, (head) => head());
  return found;
}

/** To be called before rows are read; tells which of them still have their files. */
export function startReading({ reconciler }: Pick<LocatingDeps, 'reconciler'>): Reading {
  return reconciler?.startReading() ?? { current: async (rows) => rows };
}

/** Of a row in the legacy backend it is asked whether the file is still there. */
export async function locateRow(deps: PlacesDeps, row: ReadyAsset): Promise<Located | undefined> {
  const located = describe(deps, row);
  if (located?.backend !== 'legacy') return located;
  const head = await located.objects.head(located.storageKey);
  return head && { ...located, version: head.etag };
}

function describe(deps: PlacesDeps, row: ReadyAsset): Located | undefined {
  const objects = bucketOf(deps, row);
  if (objects === undefined) return undefined;
  const { backend, storageKey, etag, mime, byteSize, width, height, durationMs, blurhash } = row;
  return { backend, objects, storageKey, etag, mime, byteSize, width, height, durationMs, blurhash, row };
}

/** Of a file that is replaced while it is looked at. */
const maxTries = 3;

/** A legacy file that is no row: what the store, its first bytes and its name say, and nothing else. */
export async function locatePath(deps: PlacesDeps, bucket: string, path: string): Promise<Located | undefined> {
  const objects = deps.legacy.bucket(bucket);
  for (let tries = 1; objects !== undefined; tries++) {
    const head = await objects.head(path);
    if (head === undefined) return undefined;
    const mime = await mimeOfFile(objects, path, head);
    if (mime === undefined && tries < maxTries) continue;
    return {
      backend: 'legacy',
      objects,
      storageKey: path,
      etag: undefined,
      version: head.etag,
      mime: mime ?? mimeOfPath(path),
      byteSize: head.size,
      width: null,
      height: null,
      durationMs: null,
      blurhash: null,
      row: undefined,
    };
  }
  return undefined;
}
