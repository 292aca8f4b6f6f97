/**
 * Registrations and copies that were never finished. The row is refused first if it has not changed, so that a call
 * which continues with it does not become ready on bytes that are being removed. Then its bytes are removed, then the
 * row.
 */
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import { type DeletableAsset, dropAssets } from '../assets/assetstore.ts';
import { bucketOf, headsAtOnce } from '../assets/buckets.ts';
import type { MediaStores } from '../context.ts';
import { removeObjects } from '../deletion/removal.ts';
import type { SweepFinding } from './api.ts';
import { oldBefore, type SweepPage, type SweepPageRequest } from './page.ts';
import { findUnready, refuseUnready } from './sweepstore.ts';
import { unfinishedVideos } from './usage.ts';

const rowsPerPage = 100;

export async function sweepRegistrations(deps: MediaStores, { apply, after }: SweepPageRequest): Promise<SweepPage> {
  const rows = await findUnready(deps.db, oldBefore(deps.clock), after, rowsPerPage);
  const next = rows.length < rowsPerPage ? undefined : rows.at(-1)?.assetId;
  const videos = await unfinishedVideos(deps, rows);
  const looked = await look(
    deps,
    rows.filter((row) => !videos.has(row.assetId)),
  );
  const abandoned = looked.filter(({ place }) => place === 'old' || place === 'none').map(({ row }) => row);
  const dropped = apply ? await removeAll(deps, abandoned) : undefined;
  const found = looked.flatMap(({ row, place }): SweepFinding[] => {
    const { assetId, storageKey: key } = row;
    const finding = { what: 'unfinished_registration', assetId, key } as const;
    if (place === 'unknown') return [{ ...finding, fate: 'left', why: 'its bucket is not configured' }];
    if (place === 'young') return [];
    if (dropped === undefined) return [{ ...finding, fate: 'found' }];
    return [
      dropped.has(assetId) ? { ...finding, fate: 'removed' } : { ...finding, fate: 'left', why: 'it has changed' },
    ];
  });
  return { found, next };
}

/**
 * The state of its bytes. `young` ones belong to an upload, whatever the row is. The bytes of legacy files are never
 * removed.
 */
type Bytes = 'none' | 'old' | 'young' | 'unknown';

function look(deps: MediaStores, rows: readonly DeletableAsset[]) {
  const before = oldBefore(deps.clock);
  return mapConcurrently(rows, headsAtOnce, async (row): Promise<{ row: DeletableAsset; place: Bytes }> => {
    if (row.backend === 'legacy') return { row, place: 'none' };
    const objects = bucketOf(deps, row);
    if (objects === undefined) return { row, place: 'unknown' };
    const head = await objects.head(row.storageKey);
    return { row, place: head === undefined ? 'none' : head.modifiedAt < before ? 'old' : 'young' };
  });
}

/** Ids of the rows that were dropped. Throws `engine_unavailable`: what is not confirmed gone keeps its row. */
async function removeAll(deps: MediaStores, rows: readonly DeletableAsset[]): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const refused = new Map((await refuseUnready(deps.db, rows)).map(({ assetId, revision }) => [assetId, revision]));
  // Checked again: newer uploads stay, and can be registered without this row.
  const ours = await look(
    deps,
    rows.filter(({ assetId }) => refused.has(assetId)),
  );
  await removeObjects(
    deps,
    ours.flatMap(({ row, place }) => (row.backend === 'objects' && place !== 'young' ? [row] : [])),
  );
  const seen = [...refused].map(([assetId, revision]) => ({ assetId, revision }));
  return new Set((await dropAssets(deps.db, seen)).map(({ assetId }) => assetId));
}
