import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';

const keptDays = 30;
/** Nothing can be restored in the hour before its deletion, so no deletion takes what was just restored. */
const untilDeletedHours = 1;

/** Of assets that can be restored. */
export const isInTrash = sql<boolean>`assets.trashed_at > now() - make_interval(days => ${keptDays})`;

/** Moves assets of the owner, with the thumbnails of videos, in the order in which deletions lock them. */
export async function markTrashed(
  db: Db<MediaTables>,
  ownerId: string,
  assetIds: readonly string[],
  isTrashed: boolean,
): Promise<readonly string[]> {
  const { rows } = await sql<{ assetId: string }>`
    update assets set trashed_at = ${isTrashed ? sql`now()` : sql`null`}, version = version + 1
    where asset_id in (
      select asset_id from assets
      where owner_id = ${ownerId}::uuid and ready_at is not null
        and ${isTrashed ? sql`trashed_at is null` : isInTrash}
        and asset_id = any(${assetIds}::uuid[] || array(
          select video.thumb_asset_id from assets as video
          where video.asset_id = any(${assetIds}::uuid[]) and video.owner_id = ${ownerId}::uuid
            and video.thumb_asset_id is not null
        ))
      order by asset_id for update
    )
    returning asset_id as "assetId"`.execute(db);
  return rows.map(({ assetId }) => assetId);
}

/** Of assets whose time in the trash is over. */
export const isExpiredTrash = sql<boolean>`
  (trashed_at < now() - make_interval(days => ${keptDays}, hours => ${untilDeletedHours}))`;
