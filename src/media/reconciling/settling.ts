/**
 * Rows identify the bytes of their objects by ETags. An object can get another ETag with the same bytes: the ETag of a file
 * contains its inode and time, which differ in a copy of the data folder, and tools that restore a bucket upload large
 * objects in parts. The SHA-256 of the row decides, once: then the row gets the new ETag (docs/objects.md#copies-of-the-data-folder).
 */
import { createLru } from '#platform/cache/cache.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { findAsset, writeEtag } from '../assets/assetstore.ts';
import type { MediaStores, Pinned, Settler } from '../context.ts';
import { bucketOf, headsAtOnce } from '../lookup/assetlookup.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';

/** The smallest part of S3. No tool splits a smaller object. */
const smallestSplitBytes = 5 * 1024 ** 2;
const mostKnown = 100_000;

/** Settles rows when they are first read by this process. `files`: the backends whose objects are files of the data folder. */
export function createSettler(deps: MediaStores, files: readonly Pinned['backend'][]): Settler {
  const { log } = deps;
  /** The ETag of an asset whose object matches its row. */
  const known = createLru<string, string>(mostKnown);
  /** The ETag of the object that replaced the registered one, or `''`. */
  const lost = createLru<string, string>(mostKnown);

  async function current<Row extends Pinned>(row: Row): Promise<Row | undefined> {
    const { assetId, backend, bucket, byteSize, storageKey, etag: pinned } = row;
    const isFile = files.includes(backend);
    const isSplit = backend === 'objects' && bucket === deps.objects.bucket && byteSize >= smallestSplitBytes;
    const objects = bucketOf(deps, row);
    if (objects === undefined || !(isFile || isSplit) || known.get(assetId) === pinned) return row;
    try {
      const head = await objects.head(storageKey);
      const found = head?.etag ?? '';
      const etag = head && lost.get(assetId) !== found ? await settleEtag(deps, row, head) : undefined;
      if (etag !== undefined) {
        known.set(assetId, etag);
        return { ...row, etag };
      }
      if (head === undefined && lost.get(assetId) !== found)
        log.warn({ assetId, backend, bucket, storageKey }, 'the object of an asset is missing');
      lost.set(assetId, found);
      // Other systems can remove and replace legacy files.
      return isFile && backend === 'objects' ? undefined : row;
    } catch (error) {
      // S3 does not respond, or the digest takes longer. The next request tries again.
      if (!isFile && error instanceof Problem) return row;
      throw error;
    }
  }

  return {
    current: async (rows) => (await mapConcurrently(rows, headsAtOnce, current)).filter((row) => row !== undefined),
  };
}

/**
 * Returns the ETag of the registered bytes. `undefined`: the object has other bytes, or a legacy file has no digest. Throws
 * `engine_unavailable`, and `digest_pending` if the object is so large that a retry has to wait for its digest.
 */
export async function settleEtag(deps: MediaStores, row: Pinned, head: ObjectHead): Promise<string | undefined> {
  const { assetId, backend, storageKey, etag, byteSize } = row;
  if (head.etag === etag) return etag;
  const objects = bucketOf(deps, row) ?? deps.objects;
  const sha256 = head.size === byteSize ? (await findAsset(deps.db, assetId))?.sha256 : undefined;
  const digests = sha256 && (await deps.digester.digestsOf(objects, storageKey, head));
  // Version 1.0.0 computed no digests of videos, and other systems replace none of our own objects.
  if (!(digests ? digests.sha256 === sha256 : sha256 === null && backend === 'objects')) {
    deps.log.warn({ assetId, storageKey }, 'an object has other bytes than were registered, so it is not served');
    return undefined;
  }
  await withInvalidation(deps, [assetId], () => writeEtag(deps.db, assetId, etag, head.etag));
  deps.log.info({ assetId, storageKey, etag: head.etag }, 'an object has another ETag and the registered bytes');
  return head.etag;
}
