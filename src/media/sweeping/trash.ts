/** Assets that were in the trash for 30 days. They cannot be restored any longer, so a deletion that was interrupted goes on. */
import { defaultLegacyBucket } from '#platform/objects/objects.ts';
import type { MediaStores } from '../context.ts';
import { deleteAssets } from '../deletion/deletion.ts';
import { findExpiredTrash } from '../trash/trashstore.ts';
import type { SweepFinding } from './api.ts';
import type { SweepPage, SweepPageRequest } from './page.ts';

const rowsPerPage = 1000;

export async function sweepTrash(
  deps: MediaStores,
  { apply, after }: Pick<SweepPageRequest, 'apply' | 'after'>,
): Promise<SweepPage> {
  const rows = await findExpiredTrash(deps.db, after, rowsPerPage);
  if (apply && rows.length > 0)
    await deleteAssets(
      deps,
      { kind: 'internal' },
      { ids: rows.map(({ assetId }) => assetId), legacyBucket: defaultLegacyBucket },
    );
  const fate = apply ? 'removed' : 'found';
  const found = rows.map(
    ({ assetId, storageKey: key }): SweepFinding => ({ what: 'expired_trash', assetId, key, fate }),
  );
  return { found, next: rows.length < rowsPerPage ? undefined : rows.at(-1)?.assetId };
}
