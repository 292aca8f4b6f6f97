import { sql } from 'kysely';
import { type Db, json } from '#platform/db/db.ts';
import { createdAtUs, isBelow, type Place } from '#platform/db/paging.ts';
import { assetColumns, isCopyOf, isThumbnail } from '../assets/assetstore.ts';
import type { MediaTables } from '../tables.ts';
import { isInTrash } from '../trash/trashstore.ts';
import type { AssetListing } from './api.ts';

type Filters = Omit<AssetListing, 'ownerId' | 'q' | 'limit' | 'cursor'>;

interface Wanted extends Filters {
  readonly ownerId: string;
  /** In their searchable form. Each has to occur in the prompt or the name. */
  readonly words: readonly string[];
}

const types = {
  image: sql<boolean>`mime like 'image/%'`,
  video: sql<boolean>`mime like 'video/%'`,
  other: sql<boolean>`mime not like 'image/%' and mime not like 'video/%'`,
};

/** Of an asset that is shown itself. */
const isPublishedCopy = sql<boolean>`(scope_kind = 'feed' and exists (
  select from assets as source
  where source.asset_id = assets.copied_from and source.owner_id = assets.owner_id and source.ready_at is not null
    and source.trashed_at is null
))`;

/** The number of assets in each month, newest first. */
export async function countByMonth(
  db: Db<MediaTables>,
  ownerId: string,
  utcOffset: number,
): Promise<readonly { readonly month: string; readonly count: number }[]> {
  const { rows } = await sql<{ month: string; count: number }>`
    select to_char(created_at at time zone 'UTC' + make_interval(mins => ${utcOffset}), 'YYYY-MM') as month,
      count(*)::int as count
    from assets
    where owner_id = ${ownerId}::uuid and ready_at is not null and trashed_at is null and not ${isThumbnail} and not ${isPublishedCopy}
    group by 1 order by 1 desc`.execute(db);
  return rows;
}

/** Returns readable assets after `after`, by time. */
export function listReadyAssets(db: Db<MediaTables>, wanted: Wanted, after: Place | undefined, limit: number) {
  const { ownerId, scopeKind, scopeId, kind, type, words, createdFrom, createdBefore } = wanted;
  const { collectionId, derivedFrom, copiesOf, label } = wanted;
  const order = wanted.sort === 'oldest' ? 'asc' : 'desc';
  const holds = words.map((word) => sql<boolean>`strpos(prompt_search, ${word}) > 0`);
  return db
    .selectFrom('assets')
    .select([...assetColumns, createdAtUs])
    .where('owner_id', '=', ownerId)
    .where('ready_at', 'is not', null)
    .where(wanted.trashed ? isInTrash : sql<boolean>`trashed_at is null`)
    .$if(scopeKind !== undefined, (query) => query.where('scope_kind', '=', String(scopeKind)))
    .$if(scopeId !== undefined, (query) => query.where('scope_id', '=', String(scopeId)))
    .$if(kind !== undefined, (query) => query.where('kind', '=', String(kind)))
    .$if(type !== undefined, (query) => query.where(types[type ?? 'other']))
    .$if(wanted.thumbnails === 'false', (query) => query.where(sql<boolean>`not ${isThumbnail}`))
    .$if(wanted.copies === 'false', (query) => query.where(sql<boolean>`not ${isPublishedCopy}`))
    .$if(holds.length > 0, (query) => query.where((eb) => eb.and(holds)))
    .$if(wanted.favorite !== undefined, (query) => query.where('is_favorite', '=', true))
    .$if(collectionId !== undefined, (query) =>
      query.where(sql<boolean>`asset_id in (
        select placed.asset_id from collection_assets as placed join collections using (collection_id)
        where collection_id = ${collectionId}::uuid and collections.owner_id = ${ownerId}::uuid
      )`),
    )
    .$if(derivedFrom !== undefined, (query) => query.where(sql<boolean>`derived_from @> array[${derivedFrom}::uuid]`))
    .$if(label !== undefined, (query) => query.where(sql<boolean>`labels @> ${json([{ name: label }])}`))
    .$if(copiesOf !== undefined, (query) => query.where(isCopyOf([String(copiesOf)])))
    .$if(createdFrom !== undefined, (query) => query.where(sql<boolean>`created_at >= ${createdFrom}::timestamptz`))
    .$if(createdBefore !== undefined, (query) => query.where(sql<boolean>`created_at < ${createdBefore}::timestamptz`))
    .where(isBelow('asset_id', after, 'uuid', order === 'asc' ? '>' : '<'))
    .orderBy('created_at', order)
    .orderBy('asset_id', order)
    .limit(limit)
    .execute();
}
