/**
 * Removes all legacy files with a prefix (docs/specification/media.md#scopes), best effort, because no record shows
 * which files exist. Failures are logged, and a retry finds the files again.
 */
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { findDeletableAt } from '../assets/assetstore.ts';
import { sourceKeyOf } from '../assets/storagekey.ts';
import { forgetVariants, type RemovalDeps } from '../deletion/removal.ts';
import { dropWatermarkRecords } from '../watermarks/watermarkstore.ts';

export interface PrefixRemovalDeps extends RemovalDeps {
  readonly log: Pick<Log, 'warn'>;
}

/** As many keys as S3 removes in one call. */
const filesPerBatch = 1000;

/**
 * Returns how many files were removed, watermark files included. Does not remove a registered file with its watermark
 * files: it is deleted with its row, which can belong to another owner. Throws only if the database cannot return the
 * registered files.
 */
export async function removePrefixes(
  deps: PrefixRemovalDeps,
  legacyBucket: string,
  prefixes: readonly string[],
): Promise<number> {
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

async function removeFiles(deps: PrefixRemovalDeps, files: Objects, keys: readonly string[]): Promise<number> {
  const registered = await findDeletableAt(deps.db, files.bucket, [
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
      if (keys.length < filesPerBatch) continue;
      yield keys;
      keys = [];
    }
  } catch (error) {
    silence(error);
  }
  if (keys.length > 0) yield keys;
}
