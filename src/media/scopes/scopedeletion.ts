/**
 * `DELETE /v1/scope` (docs/specification/media.md#scopes): an owner's assets of one scope, of one scope kind, or all. Page by page
 * rows are selected and their objects removed; when all are gone, the rows that have not changed since are dropped. No
 * transaction is open in between.
 */
import type { Caller } from '#platform/access/caller.ts';
import { retryWhileChanging } from '#platform/resilience/retry.ts';
import type { ScopeDeleted, ScopeDeletion } from '../api.ts';
import { type AssetScope, type DeletableAsset, findDeletableOf, type SeenAsset } from '../assets/assetstore.ts';
import { assertOwnLegacyPaths, ownerFor } from '../assets/ownership.ts';
import { countObjects, type RemovalDeps, removeObjects, rowsPerBatch } from '../deletion/removal.ts';
import { mediaProblems } from '../problems.ts';
import { dropAndInvalidate } from '../signing/signedurlcache.ts';
import { type CancellingDeps, cancelVideoTasks } from '../tasks/cancelling.ts';
import { type PrefixRemovalDeps, removePrefixes } from './prefixremoval.ts';

export type ScopeDeletionDeps = PrefixRemovalDeps & CancellingDeps;

/** Each pass finds what was registered since the one before. */
const maxLooks = 5;

/**
 * Throws 400 and 403 as `ownerFor`, 403 for legacy prefixes of another user, and 503, after which every row is still
 * there and the call can be retried. Legacy files that cannot be removed by their prefix are no failure.
 */
export async function deleteScope(
  deps: ScopeDeletionDeps,
  caller: Caller,
  request: ScopeDeletion,
): Promise<ScopeDeleted> {
  const scope = {
    ownerId: ownerFor(caller, request.ownerId),
    scopeKind: request.scopeKind,
    scopeId: request.scopeId,
  };
  const { legacyBucket, legacyPrefixes = [] } = request;
  assertOwnLegacyPaths(caller, legacyPrefixes);
  // Before the assets: what a job has published by then is found among them.
  await cancelVideoTasks(deps, scope);
  let r2Deleted = 0;
  let legacyDeleted = await removePrefixes(deps, legacyBucket, legacyPrefixes);
  let dbDeleted = 0;
  return retryWhileChanging(async () => {
    for (let looks = 1; looks <= maxLooks; looks++) {
      const { rows, removed } = await removeObjectsOf(deps, scope);
      r2Deleted += removed.objects;
      legacyDeleted += removed.legacy;
      const dropped = await dropAll(deps, rows);
      dbDeleted += dropped;
      // Changed by a registration, or dropped by another call.
      if (dropped < rows.length) return undefined;
      // A copy of a deleted asset may have begun before the deletion, so it ends only when a pass finds nothing.
      if (rows.length === 0) break;
    }
    return { r2Deleted, legacyDeleted, dbDeleted };
  }, mediaProblems.asset_changing);
}

/** Returns the rows whose objects are removed, and the number of objects. */
async function removeObjectsOf(deps: RemovalDeps, scope: AssetScope) {
  const rows: SeenAsset[] = [];
  const removed = { objects: 0, legacy: 0 };
  let after: DeletableAsset | undefined;
  for (;;) {
    const page = await findDeletableOf(deps.db, scope, after, rowsPerBatch);
    const last = page.at(-1);
    if (last === undefined) return { rows, removed };
    const counts = await countObjects(deps, page);
    await removeObjects(deps, page);
    removed.objects += counts.objects;
    removed.legacy += counts.legacy;
    // Only what the deletion needs, because there can be many.
    rows.push(...page.map(({ assetId, revision }) => ({ assetId, revision })));
    after = last;
  }
}

async function dropAll(deps: RemovalDeps, rows: readonly SeenAsset[]): Promise<number> {
  let dropped = 0;
  for (let start = 0; start < rows.length; start += rowsPerBatch)
    dropped += (await dropAndInvalidate(deps, rows.slice(start, start + rowsPerBatch))).length;
  return dropped;
}
