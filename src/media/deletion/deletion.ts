/**
 * `DELETE /v1/assets` (docs/specification/media.md#deletion): objects first, rows last. A row is dropped only if it has not changed
 * since it was read: a registration that changed it may have a new object, so both are read again. A concurrent deletion and
 * registration are thus serialized, and no ready row is left without its object.
 */

import type { Caller } from '#platform/access/caller.ts';
import { isUuid } from '#platform/ids.ts';
import { defaultLegacyBucket } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { retryWhileChanging } from '#platform/resilience.ts';
import type { AssetsDeleted, AssetsDeletion } from '../api.ts';
import { type DeletableAsset, findDeletable, findDeletableAt } from '../assets/assetstore.ts';
import { assertOwnLegacyPaths } from '../assets/ownership.ts';
import type { MediaStores } from '../context.ts';
import { mediaProblems } from '../problems.ts';
import { dropAndInvalidate } from '../signing/signedurlcache.ts';
import { findExisting, removeObjects, rowsPerBatch } from './removal.ts';

/**
 * Throws 403 (an asset or path of another user: nothing is deleted) and 503, after which the call can be retried: what was
 * not confirmed gone still has its row. Without a legacy backend paths are not counted.
 */
export async function deleteAssets(deps: MediaStores, caller: Caller, request: AssetsDeletion): Promise<AssetsDeleted> {
  const { legacyBucket } = request;
  const paths = [...new Set(request.ids.filter((id) => !isUuid(id)))];
  assertOwnLegacyPaths(caller, paths);
  const named = new Set(request.ids.filter(isUuid));
  const legacy = deps.legacy.bucket(legacyBucket);
  const files = legacy === undefined ? [] : paths;
  // The row of a registered file is deleted with it.
  const { db } = deps;
  const found = [...(await findDeletable(db, [...named])), ...(await findDeletableAt(db, legacyBucket, files))];
  assertOwn(caller, found);
  const target = { named, legacyBucket, files };
  const existing = legacy === undefined ? [] : await findExisting(legacy, files);
  return { deletedNew: await deleteAll(deps, caller, target, found), deletedLegacy: existing.length };
}

/** Returns the number of assets. Skips assets of other owners, because callers can write any id into metadata. */
export async function deleteAssetsOfOwner(
  deps: MediaStores,
  ownerId: string,
  named: readonly string[],
): Promise<number> {
  let deleted = 0;
  // The limit of one deletion.
  for (let start = 0; start < named.length; start += 1000) {
    const rows = await findDeletable(deps.db, named.slice(start, start + 1000));
    const ids = rows.filter((row) => row.ownerId === ownerId).map(({ assetId }) => assetId);
    if (ids.length === 0) continue;
    const request = { ids, legacyBucket: defaultLegacyBucket };
    deleted += (await deleteAssets(deps, { kind: 'internal' }, request)).deletedNew;
  }
  return deleted;
}

interface Target {
  readonly named: ReadonlySet<string>;
  readonly legacyBucket: string;
  /** Paths. */
  readonly files: readonly string[];
}

/** The number of named rows that were deleted. */
async function deleteAll(
  deps: MediaStores,
  caller: Caller,
  { named, legacyBucket, files }: Target,
  first: readonly DeletableAsset[],
): Promise<number> {
  let found = first;
  let deletedNew = 0;
  return retryWhileChanging(async () => {
    const rows = uniqueById([...(await findThumbs(deps, found)), ...found]);
    const dropped = await deleteRows(deps, rows);
    deletedNew += [...dropped].filter((assetId) => named.has(assetId)).length;
    // At most as many as a request can name.
    await removeObjects(
      deps,
      files.map((storageKey) => ({ backend: 'legacy', bucket: legacyBucket, storageKey })),
    );
    const changed = await findDeletable(
      deps.db,
      rows.flatMap(({ assetId }) => (dropped.has(assetId) ? [] : [assetId])),
    );
    assertOwn(caller, changed);
    // Some files may have been registered just before they were removed.
    found = [...changed, ...(await findDeletableAt(deps.db, legacyBucket, files))];
    return found.length === 0 ? deletedNew : undefined;
  }, mediaProblems.asset_changing);
}

/** Ids of the rows that were dropped; the others were changed or dropped by another call. */
async function deleteRows(deps: MediaStores, rows: readonly DeletableAsset[]): Promise<ReadonlySet<string>> {
  const dropped = new Set<string>();
  for (let start = 0; start < rows.length; start += rowsPerBatch) {
    const batch = rows.slice(start, start + rowsPerBatch);
    await removeObjects(deps, batch);
    for (const assetId of await dropAndInvalidate(deps, batch)) dropped.add(assetId);
  }
  return dropped;
}

/** Only those of the video's own owner. They are deleted first: without the video's row, no row names its thumbnail. */
async function findThumbs(deps: MediaStores, videos: readonly DeletableAsset[]): Promise<readonly DeletableAsset[]> {
  const owners = new Map(
    videos.flatMap(({ ownerId, thumbAssetId }) =>
      thumbAssetId === null ? [] : [[`${thumbAssetId} ${ownerId}`, thumbAssetId]],
    ),
  );
  const thumbs = await findDeletable(deps.db, [...new Set(owners.values())]);
  return thumbs.filter(({ assetId, ownerId }) => owners.has(`${assetId} ${ownerId}`));
}

function assertOwn(caller: Caller, rows: readonly DeletableAsset[]): void {
  if (caller.kind === 'user' && rows.some(({ ownerId }) => ownerId !== caller.userId))
    throw problems.forbidden({ message: 'ids name an asset of another user.' });
}

/** In the order of first occurrence. */
function uniqueById(rows: readonly DeletableAsset[]): readonly DeletableAsset[] {
  return [...new Map(rows.map((row) => [row.assetId, row])).values()];
}
