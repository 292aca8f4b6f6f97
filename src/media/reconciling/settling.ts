/**
 * Objects on S3 whose ETag differs from their row's, although their bytes are the registered ones: tools that restore a
 * bucket upload large objects in parts, and the server derives the ETag from the parts. The SHA-256 of the row decides,
 * once: then the row gets the new ETag.
 */
import { LRUCache } from 'lru-cache';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import type { MediaStores } from '../context.ts';
import { headsAtOnce } from '../lookup/assetlookup.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';
import { findSha256, writeEtag } from './folderstore.ts';
import type { Reconciler } from './reconciling.ts';

/** A ready row. */
interface Pinned {
  readonly assetId: string;
  readonly backend: 'objects' | 'legacy';
  readonly bucket: string;
  readonly storageKey: string;
  readonly etag: string;
  readonly byteSize: number;
}

/** The smallest part of S3. No tool splits a smaller object. */
const smallestSplitBytes = 5 * 1024 ** 2;
const mostKnown = 100_000;

/** Settles the rows of large objects when they are first read by this process. */
export function createSettler(deps: MediaStores): Pick<Reconciler, 'startReading'> {
  const known = new LRUCache<string, string>({ max: mostKnown });

  async function current<Row extends Pinned>(row: Row): Promise<Row> {
    const { assetId, backend, bucket, byteSize, storageKey } = row;
    const isDue = backend === 'objects' && bucket === deps.objects.bucket && byteSize >= smallestSplitBytes;
    if (!isDue || known.get(assetId) === row.etag) return row;
    try {
      const head = await deps.objects.head(storageKey);
      if (head === undefined) return row;
      const etag = await settleEtag(deps, row, head);
      if (etag === undefined) return row;
      known.set(assetId, etag);
      return { ...row, etag };
    } catch (error) {
      // The store does not respond, or the digest takes longer. The next request tries again.
      if (error instanceof Problem) return row;
      throw error;
    }
  }

  return { startReading: () => ({ current: async (rows) => mapConcurrently(rows, headsAtOnce, current) }) };
}

/**
 * Returns the ETag of the registered bytes. `undefined`: the object has other bytes, or its row has no digest. Throws
 * `engine_unavailable`, and `digest_pending` if the object is so large that a retry has to wait for its digest.
 */
export async function settleEtag(deps: MediaStores, row: Pinned, head: ObjectHead): Promise<string | undefined> {
  const { assetId, storageKey, etag, byteSize } = row;
  if (head.etag === etag) return etag;
  const sha256 = head.size === byteSize ? await findSha256(deps.db, assetId) : undefined;
  const digests = sha256 && (await deps.digester.digestsOf(deps.objects, storageKey, head));
  if (!digests || digests.sha256 !== sha256) {
    deps.log.warn(
      { assetId, storageKey },
      'an object has other bytes than were registered, so its previews do not work',
    );
    return undefined;
  }
  await withInvalidation(deps, [assetId], () => writeEtag(deps.db, assetId, etag, head.etag));
  deps.log.info({ assetId, storageKey, etag: head.etag }, 'an object has another ETag and the registered bytes');
  return head.etag;
}
