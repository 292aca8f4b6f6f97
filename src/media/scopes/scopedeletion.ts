/**
 * `DELETE /v1/scope` (docs/specification/media.md#scopes): an owner's assets of one scope, of one scope kind, or all. Page by page
 * rows are selected and their objects removed; when all are gone, the rows that have not changed since are dropped. No
 * transaction is open in between.
 */
import type { Caller } from '#platform/access/caller.ts';
import { transaction } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { retryWhileChanging } from '#platform/resilience.ts';
import type { ScopeDeleted, ScopeDeletion } from '../api.ts';
import * as store from '../assets/assetstore.ts';
import { assertOwnLegacyPaths, ownerFor } from '../assets/ownership.ts';
import { sourceKeyOf } from '../assets/storagekey.ts';
import type { MediaStores } from '../context.ts';
import { countObjects, forgetVariants, removeObjects, rowsPerBatch } from '../deletion/removal.ts';
import { publishTaskEnd } from '../events.ts';
import { mediaProblems } from '../problems.ts';
import { dropAndInvalidate } from '../signing/signedurlcache.ts';
import { withdrawVideos } from '../tasks/processing.ts';
import { cancelRuns } from '../tasks/taskstore.ts';
import { dropWatermarkRecords } from '../watermarks/watermarkstore.ts';

/** Each pass finds what was registered since the one before. */
const maxLooks = 5;

/**
 * Throws 400 and 403 as `ownerFor`, 403 for legacy prefixes of another user, and 503, after which every row is still
 * there and the call can be retried. Legacy files that cannot be removed by their prefix are no failure.
 */
export async function deleteScope(deps: MediaStores, caller: Caller, request: ScopeDeletion): Promise<ScopeDeleted> {
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
async function removeObjectsOf(deps: MediaStores, scope: store.AssetScope) {
  const rows: store.SeenAsset[] = [];
  const removed = { objects: 0, legacy: 0 };
  let after: store.DeletableAsset | undefined;
  for (;;) {
    const page = await store.findDeletableOf(deps.db, scope, after, rowsPerBatch);
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

async function dropAll(deps: MediaStores, rows: readonly store.SeenAsset[]): Promise<number> {
  let dropped = 0;
  for (let start = 0; start < rows.length; start += rowsPerBatch)
    dropped += (await dropAndInvalidate(deps, rows.slice(start, start + rowsPerBatch))).length;
  return dropped;
}

// Cancels the video tasks of a scope that is deleted.

/** Once it has resolved, none of these tasks makes an asset readable. */
async function cancelVideoTasks(deps: MediaStores, scope: store.AssetScope): Promise<void> {
  const { db, jobs } = deps;
  const { ownerId, scopeKind, scopeId } = scope;
  // The prefix of the storage keys of the uploads.
  const prefix = ['u', ownerId, scopeKind, scopeId].filter((part) => part !== undefined).join('/');
  await transaction(db, async (tx) => {
    const tasks = await cancelRuns(tx, ownerId, `${prefix}/`);
    for (const { taskId, wasUnfinished } of tasks)
      if (wasUnfinished) await publishTaskEnd(deps, tx, { taskId, ownerId }, { status: 'failed', error: 'cancelled' });
    await withdrawVideos(
      jobs,
      tx,
      tasks.map(({ taskId }) => taskId),
    );
  });
}

// Removes all legacy files with a prefix (docs/specification/media.md#scopes), best effort, because no record shows
// which files exist. Failures are logged, and a retry finds the files again.

/**
 * Returns how many files were removed, watermark files included. Does not remove a registered file with its watermark
 * files: it is deleted with its row, which can belong to another owner. Throws only if the database cannot return the
 * registered files.
 */
async function removePrefixes(deps: MediaStores, legacyBucket: string, prefixes: readonly string[]): Promise<number> {
  const files = deps.legacy.bucket(legacyBucket);
  if (files === undefined) return 0;
  let removed = 0;
  for (const prefix of new Set(prefixes)) {
    try {
      for await (const keys of batchesOf(files, prefix)) removed += await removeFiles(deps, files, keys);
    } catch (error) {
      if (!(error instanceof StoreSilence)) throw error;
      deps.log.warn({ err: error.cause }, 'not all legacy files of a prefix could be removed');
    }
  }
  return removed;
}

/** The legacy store, or the store of the variants, does not respond. */
class StoreSilence extends Error {}

function silence(error: unknown): never {
  throw error instanceof Problem ? new StoreSilence('a store does not respond', { cause: error }) : error;
}

async function removeFiles(deps: MediaStores, files: Objects, keys: readonly string[]): Promise<number> {
  const registered = await store.findDeletableAt(deps.db, files.bucket, [
    ...new Set(keys.map((key) => sourceKeyOf('legacy', key))),
  ]);
  const spared = new Set(registered.map(({ storageKey }) => storageKey));
  const loose = keys.filter((key) => !spared.has(key) && !spared.has(sourceKeyOf('legacy', key)));
  const { removed, failed } = await files.remove(loose).catch(silence);
  if (failed.length > 0)
    deps.log.warn({ count: failed.length, reason: failed[0]?.reason }, 'legacy files could not be removed');
  await forgetVariants(deps, files, removed).catch(silence);
  await dropWatermarkRecords(deps.db, files.bucket, removed);
  return removed.length;
}

async function* batchesOf(files: Objects, prefix: string): AsyncGenerator<readonly string[]> {
  let keys: string[] = [];
  try {
    for await (const { key } of files.list(prefix)) {
      keys.push(key);
      if (keys.length < rowsPerBatch) continue;
      yield keys;
      keys = [];
    }
  } catch (error) {
    silence(error);
  }
  if (keys.length > 0) yield keys;
}
