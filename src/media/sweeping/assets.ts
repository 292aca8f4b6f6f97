/** Assets whose bytes were removed by another system, or lost. Their rows are deleted, with all derivatives. */

import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import type { DeletableAsset } from '../assets/assetstore.ts';
import { bucketOf, headsAtOnce } from '../assets/buckets.ts';
import type { MediaStores } from '../context.ts';
import { removeDerivatives } from '../deletion/removal.ts';
import { settleEtag } from '../reconciling/settling.ts';
import { dropAndInvalidate } from '../signing/signedurlcache.ts';
import type { SweepFinding } from './api.ts';
import { createLostBuckets, lostBucket } from './lostbuckets.ts';
import type { SweepPage, SweepPageRequest } from './page.ts';
import { findReady } from './sweepstore.ts';

const rowsPerPage = 1000;

type ReadyRow = Awaited<ReturnType<typeof findReady>>[number];

type Bytes = 'there' | 'gone' | 'unknown' | 'lost' | 'others' | 'pending';

export async function sweepAssets(
  deps: MediaStores,
  { apply, acceptLostBuckets, after }: SweepPageRequest,
): Promise<SweepPage> {
  const rows = await findReady(deps.db, after, rowsPerPage);
  const next = rows.length < rowsPerPage ? undefined : rows.at(-1)?.assetId;
  const isLost = createLostBuckets(deps);
  const looked = await mapConcurrently(rows, headsAtOnce, async (row) => ({
    row,
    bytes: await lookFor(deps, isLost, row),
  }));
  const found: SweepFinding[] = [];
  for (const { row, bytes } of looked) {
    const { assetId, storageKey: key } = row;
    const finding = { what: 'asset_without_object', assetId, key } as const;
    if (bytes === 'there') continue;
    if (bytes === 'others' || bytes === 'pending')
      found.push({ what: 'asset_with_other_bytes', assetId, key, fate: 'left', why: reasons[bytes] });
    else if (bytes === 'unknown') found.push({ ...finding, fate: 'left', why: 'its bucket is not configured' });
    else if (bytes === 'lost' && !acceptLostBuckets) found.push({ ...finding, fate: 'left', why: lostBucket });
    else if (!apply) found.push({ ...finding, fate: 'found' });
    else if (await dropLost(deps, row)) found.push({ ...finding, fate: 'removed' });
    else found.push({ ...finding, fate: 'left', why: 'it has changed' });
  }
  return { found, next };
}

async function lookFor(deps: MediaStores, isLost: ReturnType<typeof createLostBuckets>, row: ReadyRow): Promise<Bytes> {
  const objects = bucketOf(deps, row);
  if (objects === undefined) return 'unknown';
  const head = await objects.head(row.storageKey);
  if (head !== undefined) return row.backend === 'legacy' ? 'there' : settle(deps, row, head);
  return (await isLost(row)) ? 'lost' : 'gone';
}

const reasons = {
  others: 'its object is not the one that was registered',
  pending: 'its digest is still being computed; sweep again',
} as const;

/** An object that another tool restored can have another ETag, and which its row gets if the bytes are the same. */
async function settle(deps: MediaStores, row: ReadyRow, head: ObjectHead): Promise<Bytes> {
  try {
    return (await settleEtag(deps, row, head)) === undefined ? 'others' : 'there';
  } catch (error) {
    if (error instanceof Problem && error.code === 'digest_pending') return 'pending';
    throw error;
  }
}

/**
 * Deletes the row if it has not changed since it was read, with its cached responses. The derivatives are removed
 * first, as in every deletion, so that a process which dies leaves the row.
 */
async function dropLost(deps: MediaStores, row: DeletableAsset): Promise<boolean> {
  const objects = bucketOf(deps, row);
  if (objects === undefined || (await objects.head(row.storageKey)) !== undefined) return false;
  await removeDerivatives(deps, { backend: row.backend, objects }, [row.storageKey]);
  return (await dropAndInvalidate(deps, [row])).length > 0;
}
