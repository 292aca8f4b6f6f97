import { type RawBuilder, sql } from 'kysely';
import { holdName, type Tx } from '#platform/db/db.ts';
import { searchable } from '#platform/storable.ts';
import { isThumbnail } from '../assets/assetstore.ts';
import { dropSharesOfThread } from '../shares/sharestore.ts';
import { type Handle, keyOfCollection, type MediaTables } from '../tables.ts';
import type { Collection, CollectionChange } from './api.ts';

type Times = 'createdAt' | 'updatedAt';
type CollectionRow = Readonly<Omit<Collection, Times> & Record<Times, Date>>;

export interface CollectionFilter {
  readonly ownerId: string;
  readonly collectionId?: string | undefined;
  readonly assetId?: string | undefined;
  /** In their searchable form. */
  readonly words?: readonly string[];
}

/** What the library lists of a collection. */
const isListed = sql`ready_at is not null and trashed_at is null and not ${isThumbnail}`;

/** Last changed first. */
export async function listCollections(
  db: Handle,
  { ownerId, collectionId, assetId, words = [] }: CollectionFilter,
): Promise<readonly CollectionRow[]> {
  const conditions = [
    sql`owner_id = ${ownerId}::uuid`,
    ...(collectionId === undefined ? [] : [sql`collection_id = ${collectionId}::uuid`]),
    ...(assetId === undefined
      ? []
      : [
          sql`exists (
            select from collection_assets as placed
            where placed.collection_id = collections.collection_id and placed.asset_id = ${assetId}::uuid
          )`,
        ]),
    ...words.map((word) => sql`strpos(title_search, ${word}) > 0`),
  ];
  const { rows } = await sql<CollectionRow>`
    select collection_id as "collectionId", title, created_at as "createdAt", updated_at as "updatedAt",
      (select count(*)::int from collection_assets as placed join assets using (asset_id)
        where placed.collection_id = collections.collection_id and ${isListed}) as "count",
      cover.asset_id as "coverAssetId", cover.mime as "coverMime"
    from collections left join lateral (
      select assets.asset_id, mime from collection_assets as placed join assets using (asset_id)
      where placed.collection_id = collections.collection_id and ${isListed} and (mime like 'image/%' or mime like 'video/%')
      order by asset_id = cover_asset_id desc nulls last, added_at desc, assets.created_at desc, asset_id desc limit 1
    ) as cover on true
    where ${sql.join(conditions, sql` and `)}
    order by updated_at desc, collection_id desc`.execute(db);
  return rows;
}

/** `from`: a table with a condition. */
async function countRows(db: Handle, from: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from ${from}`.execute(db);
  return rows[0]?.n ?? 0;
}

/** The number of the owner's collections. Holds the owner's collections until the transaction ends. */
export async function countCollections(tx: Tx<MediaTables>, ownerId: string): Promise<number> {
  await holdName(tx, `collections ${ownerId}`);
  return countRows(tx, sql`collections where owner_id = ${ownerId}::uuid`);
}

export const countAssetsOf = (tx: Tx<MediaTables>, collectionId: string) =>
  countRows(tx, sql`collection_assets where collection_id = ${collectionId}::uuid`);

/** How many of `assetIds` are readable assets of the owner. */
export const countOwn = (db: Handle, ownerId: string, assetIds: readonly string[]) =>
  countRows(db, sql`assets where ${isOwn(ownerId, assetIds)}`);

const isOwn = (ownerId: string, assetIds: readonly string[]) =>
  sql`asset_id = any(${assetIds}::uuid[]) and owner_id = ${ownerId}::uuid and ready_at is not null`;

export async function insertCollection(
  tx: Tx<MediaTables>,
  { collectionId, ownerId, title }: { readonly collectionId: string; readonly ownerId: string; readonly title: string },
): Promise<void> {
  await sql`
    insert into collections (collection_id, owner_id, title, title_search)
    values (${collectionId}::uuid, ${ownerId}::uuid, ${title}, ${searchable(title)})`.execute(tx);
}

/** Locks the collection. `false`: the owner has no such collection. `title`, `coverAssetId`: the new ones. */
export async function touchCollection(
  tx: Tx<MediaTables>,
  ownerId: string,
  collectionId: string,
  { title, coverAssetId }: Pick<CollectionChange, 'title' | 'coverAssetId'>,
): Promise<boolean> {
  const naming = title === undefined ? sql`` : sql`, title = ${title}, title_search = ${searchable(title)}`;
  const covering = coverAssetId === undefined ? sql`` : sql`, cover_asset_id = ${coverAssetId}::uuid`;
  const { numAffectedRows } = await sql`
    update collections set updated_at = now() ${naming} ${covering}
    where collection_id = ${collectionId}::uuid and owner_id = ${ownerId}::uuid`.execute(tx);
  return numAffectedRows === 1n;
}

/** Adds assets of the owner. Assets that are in the collection already stay. */
export async function addToCollection(
  tx: Tx<MediaTables>,
  ownerId: string,
  collectionId: string,
  assetIds: readonly string[],
): Promise<void> {
  await sql`
    insert into collection_assets (collection_id, asset_id)
    select ${collectionId}::uuid, asset_id from assets where ${isOwn(ownerId, assetIds)}
    order by asset_id for key share
    on conflict do nothing`.execute(tx);
}

export async function removeFromCollection(
  tx: Tx<MediaTables>,
  collectionId: string,
  assetIds: readonly string[],
): Promise<void> {
  await sql`
    delete from collection_assets
    where collection_id = ${collectionId}::uuid and asset_id = any(${assetIds}::uuid[])`.execute(tx);
}

/** Ends its share, too. `false`: the owner has no such collection. */
export async function dropCollection(tx: Tx<MediaTables>, ownerId: string, collectionId: string): Promise<boolean> {
  await dropSharesOfThread(tx, ownerId, keyOfCollection(collectionId));
  const { numAffectedRows } = await sql`
    delete from collections where collection_id = ${collectionId}::uuid and owner_id = ${ownerId}::uuid`.execute(tx);
  return numAffectedRows === 1n;
}

export async function dropCollectionsOf(db: Handle, ownerId: string): Promise<number> {
  const { numAffectedRows } = await sql`delete from collections where owner_id = ${ownerId}::uuid`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** Marks assets of the owner, in the order in which deletions lock them. Returns how many changed. */
export async function markFavorites(
  db: Handle,
  ownerId: string,
  assetIds: readonly string[],
  isFavorite: boolean,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update assets set is_favorite = ${isFavorite} where asset_id in (
      select asset_id from assets where ${isOwn(ownerId, assetIds)} and is_favorite <> ${isFavorite}
      order by asset_id for update
    )`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
