/**
 * A folder that is not mounted, and an address of another server, look like a bucket that has lost everything. If a sweep
 * believed it, it would delete every row. So a bucket counts as lost if it is empty, or if none of a sample of its assets
 * has an object.
 */
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { DeletableAsset } from '../assets/assetstore.ts';
import type { MediaStores } from '../context.ts';
import { bucketOf, headsAtOnce } from '../lookup/assetlookup.ts';
import { findSample } from './sweepstore.ts';

const sampleSize = 50;
/** Fewer assets can be lost one by one. */
const smallestSample = 5;

export const lostBucket = 'its bucket is empty or has none of its assets; see --accept-lost-buckets';

/** Of one page: asked for each row, and looked up once for each bucket. */
export function createLostBuckets(deps: MediaStores) {
  const known = new Map<string, Promise<boolean>>();
  return (row: Pick<DeletableAsset, 'backend' | 'bucket'>): Promise<boolean> => {
    const name = `${row.backend}/${row.bucket}`;
    const found = known.get(name) ?? isLost(deps, row);
    known.set(name, found);
    return found;
  };
}

async function isLost(deps: MediaStores, row: Pick<DeletableAsset, 'backend' | 'bucket'>): Promise<boolean> {
  const objects = bucketOf(deps, row);
  if (objects === undefined) return true;
  if (await isEmpty(objects)) return true;
  const keys = await findSample(deps.db, row, sampleSize);
  if (keys.length < smallestSample) return false;
  const heads = await mapConcurrently(keys, headsAtOnce, (key) => objects.head(key));
  return heads.every((head) => head === undefined);
}

async function isEmpty(objects: Objects): Promise<boolean> {
  for await (const _ of objects.list('')) return false;
  return true;
}
