/**
 * Finds assets and their bytes: in the object store, or in the legacy backend, where other systems can remove files, so
 * that every lookup sends a HEAD request (docs/specification/media.md#ownership).
 */
import type { Caller } from '#platform/access/caller.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { isUuid } from '#platform/ids.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { findReadyAssets } from '../assets/assetstore.ts';
import { mayRead, mayReadPath } from '../assets/ownership.ts';
import type { MediaContext, MediaStores, Pinned } from '../context.ts';
import { mimeOfFile, mimeOfPath } from '../reading/legacymime.ts';
import { isLegacyPath } from '../refs.ts';
import { findBlockedPaths } from '../screening/incidentstore.ts';

export type ReadyAsset = Awaited<ReturnType<typeof findReadyAssets>>[number];

/** An asset whose bytes exist. */
export interface ResolvedAsset
  extends Pick<
    ReadyAsset,
    'backend' | 'storageKey' | 'mime' | 'byteSize' | 'width' | 'height' | 'durationMs' | 'blurhash'
  > {
  /** Its bucket. */
  readonly objects: Objects;
  /** The ETag of the registered bytes. `undefined`: a legacy path, which means its current bytes. */
  readonly etag: string | undefined;
  /** Of a legacy file: the current ETag. */
  readonly version?: string | undefined;
  /** `undefined`: a legacy path without a row. */
  readonly row: ReadyAsset | undefined;
}

/** The target of a reference: enough to decide who can read it, before its bytes are looked up. */
export type AssetReference = { readonly row: ReadyAsset } | { readonly path: string };

/**
 * Resolves by reference, as in the request: one query for assets, one for blocked paths, and one HEAD for each legacy
 * file that `isWanted`. Omits references that are invalid, unknown, not ready, not wanted or blocked. Without
 * `isWanted` the caller decides who can read it. Throws `engine_unavailable`.
 */
export async function lookUpAssets(
  deps: MediaStores,
  refs: readonly string[],
  legacyBucket: string,
  isWanted: (reference: AssetReference) => boolean = () => true,
): Promise<ReadonlyMap<string, ResolvedAsset>> {
  const assetIds = new Set(refs.filter(isUuid).map((ref) => ref.toLowerCase()));
  const rows = assetIds.size > 0 ? await findReadyAssets(deps.db, [...assetIds]) : [];
  const readable = await currentRows(
    deps,
    rows.filter((row) => isWanted({ row })),
  );
  const wanted = new Map(readable.map((row) => [row.assetId, row]));
  const paths = new Set(refs.filter((ref) => isLegacyPath(ref) && isWanted({ path: ref })));
  const blocked = await findBlockedPaths(deps.db, legacyBucket, [...paths]);
  const found = new Map<string, ResolvedAsset>();
  const add = (ref: string, resolved: ResolvedAsset | undefined) => resolved && found.set(ref, resolved);
  const heads: (() => Promise<unknown>)[] = [];
  for (const ref of new Set(refs)) {
    const row = wanted.get(ref.toLowerCase());
    if (row?.backend === 'legacy') heads.push(async () => add(ref, await lookUpRow(deps, row)));
    else if (row !== undefined) add(ref, describe(deps, row));
    else if (paths.has(ref) && !blocked.has(ref))
      heads.push(async () => add(ref, await lookUpPath(deps, legacyBucket, ref)));
  }
  await mapConcurrently(heads, headsAtOnce, (head) => head());
  return found;
}

/** See `Settler.current`. Every row whose ETag is used goes through here. */
export async function currentRows<Row extends Pinned>({ settler }: MediaStores, rows: readonly Row[]) {
  return settler === undefined ? rows : settler.current(rows);
}

/** `undefined`: a file that no longer exists. */
export async function lookUpRow(deps: MediaStores, row: ReadyAsset): Promise<ResolvedAsset | undefined> {
  const [current] = await currentRows(deps, [row]);
  const resolved = current && describe(deps, current);
  if (resolved?.backend !== 'legacy') return resolved;
  const head = await resolved.objects.head(resolved.storageKey);
  return head && { ...resolved, version: head.etag };
}

function describe(deps: MediaStores, row: ReadyAsset): ResolvedAsset | undefined {
  const objects = bucketOf(deps, row);
  if (objects === undefined) return undefined;
  const { backend, storageKey, etag, mime, byteSize, width, height, durationMs, blurhash } = row;
  return { backend, objects, storageKey, etag, mime, byteSize, width, height, durationMs, blurhash, row };
}

/** For a file that is replaced during the lookup. */
const maxTries = 3;

/** A legacy file without a row: only its store, its first bytes and its name are known. */
export async function lookUpPath(deps: MediaStores, bucket: string, path: string): Promise<ResolvedAsset | undefined> {
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

// The buckets of assets: one for originals, and those of the legacy backend.

/** Concurrent HEAD requests of one call: half of the connections that an S3 client has. */
export const headsAtOnce = 32;

/** The bucket that a row names. `undefined`: it is not configured, so nothing is known about the bytes. */
export function bucketOf(
  { objects, legacy }: MediaStores,
  row: { readonly backend: 'objects' | 'legacy'; readonly bucket: string },
): Objects | undefined {
  if (row.backend === 'legacy') return legacy.bucket(row.bucket);
  return row.bucket === objects.bucket ? objects : undefined;
}

// Resolves references to the assets that the caller can read (docs/specification/media.md#ownership).

/** Keyed by reference, as in the request. Omits references that are invalid, unknown, not ready or not readable. */
export function resolveRefs(
  deps: MediaContext,
  caller: Caller,
  refs: readonly string[],
  legacyBucket: string,
): Promise<ReadonlyMap<string, ResolvedAsset>> {
  // Checked before the lookup, so that paths of other users cost no request.
  return lookUpAssets(deps, refs, legacyBucket, (named) => isReadable(deps, caller, named));
}

/** Of a ready row, or of a legacy path. */
export function isReadable(deps: MediaContext, caller: Caller, named: AssetReference): boolean {
  return 'row' in named
    ? mayRead(caller, named.row, deps.publicScopes)
    : mayReadPath(caller, named.path, deps.publicScopes);
}

/** For the resizer. A legacy file that is replaced gets other URLs. */
export function sourceOf({ objects, storageKey, etag, version }: ResolvedAsset) {
  return { bucket: objects.bucket, key: storageKey, etag: etag ?? version };
}
