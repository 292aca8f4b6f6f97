/** Thumbnails of videos, and the videos that show them. */
import { sql } from 'kysely';
import { signingColumns } from '../assets/assetstore.ts';
import type { Handle } from '../tables.ts';

/** As `findReadyAssets`, in any state: the owner decides whether a thumbnail is shown, ready or not. */
export function findThumbs(db: Handle, assetIds: readonly string[]) {
  return db
    .selectFrom('assets')
    .select([...signingColumns, sql<boolean>`ready_at is not null`.as('isReady')])
    .where(sql<boolean>`asset_id = any(${assetIds}::uuid[])`)
    .execute();
}

/** Ids of the assets that name one of `assetIds` as their thumbnail. */
export async function findShowing(db: Handle, assetIds: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('assets')
    .select('asset_id as assetId')
    .where(sql<boolean>`thumb_asset_id = any(${assetIds}::uuid[])`)
    .execute();
  return rows.map(({ assetId }) => assetId);
}
