/** Changes of the facts that callers declare. */
import type { Db } from '#platform/db/db.ts';
import { assetColumns, nameColumns, type StoredAsset } from '../assets/assetstore.ts';
import type { MediaTables } from '../tables.ts';

/** Changes only fields that are present; `null` clears a field. */
export interface FactChanges {
  readonly thumbAssetId?: string | null | undefined;
  readonly width?: number | null | undefined;
  readonly height?: number | null | undefined;
  readonly durationMs?: number | null | undefined;
  readonly blurhash?: string | null | undefined;
  readonly name?: string | null | undefined;
}

/** `undefined`: there is no such asset, or it is not ready. */
export function changeFacts(
  db: Db<MediaTables>,
  { assetId, prompt }: Pick<StoredAsset, 'assetId' | 'prompt'>,
  { thumbAssetId, width, height, durationMs, blurhash, name }: FactChanges,
): Promise<StoredAsset | undefined> {
  return db
    .updateTable('assets')
    .set((eb) => ({
      ...(thumbAssetId !== undefined && { thumb_asset_id: thumbAssetId }),
      ...(width !== undefined && { width }),
      ...(height !== undefined && { height }),
      ...(durationMs !== undefined && { duration_ms: durationMs }),
      ...(blurhash !== undefined && { blurhash }),
      ...(name !== undefined && nameColumns(prompt, name)),
      version: eb('version', '+', 1),
    }))
    .where('asset_id', '=', assetId)
    .where('ready_at', 'is not', null)
    .returning(assetColumns)
    .executeTakeFirst();
}
