/** The rows of shares. */
import { type RawBuilder, sql } from 'kysely';
import { holdName, inCamelCase, json, type Tx } from '#platform/db/db.ts';
import { createdAtUs, isBelow, type Place } from '#platform/db/paging.ts';
import { isThumbnail, signingColumns } from '../assets/assetstore.ts';
import { type Handle, isLive, keyOfCollection, type MediaTables, type Snapshot } from '../tables.ts';
import type { GalleryListing } from './api.ts';

const columns = [
  'share_id as id',
  ...inCamelCase('owner_id asset_id thread_id show_prompt author created_at expires_at'),
  'is_indexed as index',
  'show_attachments as attachments',
  sql<Date>`coalesce(shown_at, created_at)`.as('shownAt'),
  sql<string | null>`left(coalesce(
    (select coalesce(shown.name, shown.prompt) from assets as shown where shown.asset_id = shares.asset_id),
    snapshot ->> 'title'
  ), 200)`.as('title'),
] as const;

const isReadable = sql`ready_at is not null and restricted_at is null and trashed_at is null`;
const isMedia = sql`(mime like 'image/%' or mime like 'video/%')`;
/** Posters are shown with their video. */
const isIn = (collectionId: string | RawBuilder<unknown>) => sql<boolean>`(not ${isThumbnail} and asset_id in (
  select asset_id from collection_assets where collection_id = ${collectionId}::uuid
))`;
/** Of the assets of its owner. */
const countOf = (condition: RawBuilder<unknown>) =>
  sql<number>`(select count(*)::int from assets where owner_id = shares.owner_id and ${isReadable} and ${condition})`;
const isInSnapshot = sql`asset_id in (
  select (part ->> 'assetId')::uuid
  from jsonb_path_query(shares.snapshot, '$.messages[*].parts[*] ? (@.type == "media")') as part
)`;
const albumId = sql`(
  case when shares.thread_id like ${keyOfCollection('%')}::text then split_part(shares.thread_id, ':', 2)::uuid end
)`;
const isInAlbum = isIn(albumId);

/** With counts, which pages do not need. */
const countedColumns = [
  ...columns,
  countOf(sql`${isInSnapshot} and (${albumId} is null or ${isInAlbum})`).as('items'),
  countOf(sql`${isInAlbum} and ${isMedia} and not ${isInSnapshot}`).as('newItems'),
] as const;

export type StoredShare = Omit<Awaited<ReturnType<typeof listShares>>[number], 'createdAtUs'>;

export interface NewShare {
  readonly id: string;
  readonly ownerId: string;
  readonly target: { readonly assetId: string } | { readonly threadId: string; readonly snapshot: Snapshot };
  readonly expiresInS: number | null;
  readonly showPrompt: boolean;
  readonly index: boolean;
  readonly attachments: boolean;
  readonly author: string | null;
}

/**
 * Inserts a share, or sets the options of the one that the asset or the thread has. The snapshot of a live share stays without
 * `isUpdate`; a share that has expired is replaced. The asset must exist.
 */
export async function putShare(
  tx: Tx<MediaTables>,
  share: NewShare,
  isUpdate: boolean,
): Promise<StoredShare & { readonly isNew: boolean }> {
  const { id, ownerId, target, expiresInS, showPrompt, index, attachments, author } = share;
  const isSame =
    'assetId' in target
      ? sql<boolean>`asset_id = ${target.assetId}::uuid`
      : sql<boolean>`owner_id = ${ownerId}::uuid and thread_id = ${target.threadId}`;
  await tx.deleteFrom('shares').where(isSame).where(sql<boolean>`not ${isLive}`).execute();
  const options = {
    show_prompt: showPrompt,
    is_indexed: index,
    show_attachments: attachments,
    author,
    expires_at: expiresInS === null ? null : sql<Date>`now() + make_interval(secs => ${expiresInS})`,
  };
  const shown =
    'assetId' in target
      ? { asset_id: target.assetId }
      : { thread_id: target.threadId, snapshot: json(target.snapshot) };
  const inserted = await tx
    .insertInto('shares')
    .values({ share_id: id, owner_id: ownerId, ...shown, ...options })
    .onConflict((conflict) => conflict.doNothing())
    .returning(countedColumns)
    .executeTakeFirst();
  if (inserted !== undefined) return { ...inserted, isNew: true };
  const changed = await tx
    .updateTable('shares')
    .set(isUpdate ? { ...options, ...shown, shown_at: sql<Date>`now()` } : options)
    .where(isSame)
    .returning(countedColumns)
    .executeTakeFirstOrThrow();
  return { ...changed, isNew: false };
}

/** Live ones only. */
export function findShare(db: Handle, id: string) {
  return db
    .selectFrom('shares')
    .select([...columns, 'snapshot'])
    .where('share_id', '=', id)
    .where(isLive)
    .executeTakeFirst();
}

export interface ShareFilter {
  readonly ownerId: string;
  readonly assetId: string | undefined;
  readonly threadId: string | undefined;
  readonly withoutCopies: boolean;
}

/** Live ones, newest first. `after`: starts below this place. */
export function listShares(
  db: Handle,
  { ownerId, assetId, threadId, withoutCopies }: ShareFilter,
  after: Place | undefined,
  limit: number,
) {
  return db
    .selectFrom('shares')
    .select([...countedColumns, createdAtUs])
    .where('owner_id', '=', ownerId)
    .where(isLive)
    .$if(assetId !== undefined, (query) => query.where('asset_id', '=', String(assetId)))
    .$if(threadId !== undefined, (query) => query.where('thread_id', '=', String(threadId)))
    .$if(withoutCopies, (query) =>
      query.where(sql<boolean>`not exists (
        select from assets as copy where copy.asset_id = shares.asset_id and copy.scope_kind = 'feed'
      )`),
    )
    .where(isBelow('share_id', after, 'text'))
    .orderBy('created_at', 'desc')
    .orderBy('share_id', 'desc')
    .limit(limit)
    .execute();
}

/** `undefined`: there is no such share. Otherwise its owner. */
export async function findOwnerOfShare(db: Handle, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('shares').select('owner_id').where('share_id', '=', id).executeTakeFirst();
  return row?.owner_id;
}

/** Whether operators have ended the share of this conversation. A dismissal since then lets it be shared again. */
export async function isThreadRestricted(db: Handle, ownerId: string, threadId: string): Promise<boolean> {
  const row = await db
    .selectFrom('screening_incidents')
    .select('decision')
    .where((eb) => eb.and({ owner_id: ownerId, thread_id: threadId }))
    .where('decision', 'is not', null)
    .orderBy('resolved_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined && row.decision !== 'dismiss';
}

/** A share that is made at the same time as a decision comes before it and is hidden, or after it and is refused. */
export const holdShare = (tx: Tx<MediaTables>, ownerId: string, threadId: string) =>
  holdName(tx, `share ${ownerId} ${threadId}`);

/** Their pages end, until they are shown again. `assetIds`: also those of these assets. */
export async function hideShares(
  tx: Tx<MediaTables>,
  ownerId: string,
  threadId: string | null,
  assetIds: readonly string[],
  isHidden: boolean,
): Promise<void> {
  if (threadId !== null) await holdShare(tx, ownerId, threadId);
  await sql`
    update shares set hidden_at = ${isHidden ? sql`coalesce(hidden_at, now())` : null}
    where asset_id = any(${assetIds}::uuid[])
      or (owner_id = ${ownerId}::uuid and thread_id = ${threadId}::text)`.execute(tx);
}

export const dropShare = (db: Handle, id: string) => drop(db, sql`share_id = ${id}`);

export const dropSharesOfThread = (db: Handle, ownerId: string, threadId: string) =>
  drop(db, sql`owner_id = ${ownerId}::uuid and thread_id = ${threadId}`);

/** A hidden one only expires, without its texts, because a later decision is also about the images that it showed. */
async function drop(db: Handle, isDropped: RawBuilder<unknown>): Promise<void> {
  await sql`delete from shares where ${isDropped} and hidden_at is null`.execute(db);
  await sql`
    update shares set expires_at = now(), snapshot = jsonb_set(
      '{"title": null, "messages": [{"role": "assistant"}]}', '{messages,0,parts}',
      jsonb_path_query_array(snapshot, '$.messages[*].parts[*] ? (@.type == "media")')
    ) where ${isDropped}`.execute(db);
}

/** Those of conversations. Those of assets end with their asset. */
export async function dropSharesOfOwner(db: Handle, ownerId: string): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('shares').where('owner_id', '=', ownerId).executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

export async function dropExpiredShares(db: Handle): Promise<void> {
  await db.deleteFrom('shares').where(sql<boolean>`expires_at <= now() and hidden_at is null`).execute();
}

/** Live shares that search engines may find, oldest first. */
export function listIndexedShares(db: Handle, after: string | undefined, limit: number) {
  const position = sql`(select (created_at, share_id) from shares where share_id = ${after})`;
  return db
    .selectFrom('shares')
    .select(['share_id as id', 'created_at as updatedAt'])
    .where('is_indexed', '=', true)
    .where(isLive)
    .$if(after !== undefined, (query) => query.where(sql<boolean>`(created_at, share_id) > ${position}`))
    .orderBy('created_at')
    .orderBy('share_id')
    .limit(limit)
    .execute();
}

const shownColumns = [...signingColumns, 'prompt', 'created_at as createdAt'] as const;

export type ShownAsset = Awaited<ReturnType<typeof findShownAssets>>[number];

const isReadableOf = (ownerId: string) => sql<boolean>`owner_id = ${ownerId}::uuid and ${isReadable}`;

/** The readable assets of `ownerId` among `assetIds` that are still in the collection, if one is given. In no order. */
export function findShownAssets(db: Handle, ownerId: string, assetIds: readonly string[], collectionId?: string) {
  return db
    .selectFrom('assets')
    .select(shownColumns)
    .where(sql<boolean>`asset_id = any(${assetIds}::uuid[])`)
    .$if(collectionId !== undefined, (query) => query.where(isIn(String(collectionId))))
    .where(isReadableOf(ownerId))
    .execute();
}

/** The images and videos of a collection, newest first, as the library lists them. */
export async function listMediaOf(db: Handle, ownerId: string, collectionId: string, limit: number) {
  const rows = await db
    .selectFrom('assets')
    .select('asset_id as id')
    .where(isIn(collectionId))
    .where(sql<boolean>`${isMedia}`)
    .where(isReadableOf(ownerId))
    .orderBy('created_at', 'desc')
    .orderBy('asset_id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** An asset has at most one. */
const liveShare = sql`select shares.author from shares
  where shares.asset_id = assets.asset_id and ${isLive}`;

/** Everyone can read these words. */
const shownWords = sql`lower(concat_ws(' ', (${liveShare}), (select assets.prompt where exists (${liveShare} and shares.show_prompt))))`;

/** Those of the owner are not remixes. */
const remixes = sql<number>`(select count(distinct made.owner_id)::int from assets as made
  where made.derived_from @> array[assets.asset_id] and made.owner_id <> assets.owner_id)`;

const shapes = {
  wide: sql<boolean>`width > height`,
  tall: sql<boolean>`width < height`,
  square: sql<boolean>`width = height`,
};

/** Each is counted, so there is an end to them. */
const countedMost = sql<boolean>`asset_id in (
  select asset_id from assets where scope_kind = 'feed' and ready_at is not null
  order by created_at desc, asset_id desc limit 1000
)`;

/** Images and videos in the feed, without the posters of videos that are in the feed themselves. */
export function listFeed(
  db: Handle,
  { kind, shape, sort }: Pick<GalleryListing, 'kind' | 'shape' | 'sort'>,
  words: readonly string[],
  after: Place | undefined,
  limit: number,
) {
  return db
    .selectFrom('assets')
    .select([
      ...shownColumns,
      createdAtUs,
      sql<boolean>`exists (${liveShare} and shares.show_prompt)`.as('showsPrompt'),
      sql<string | null>`(${liveShare})`.as('author'),
      remixes.as('remixes'),
    ])
    .where('scope_kind', '=', 'feed')
    .where(sql<boolean>`${isReadable}`)
    .where((eb) => eb.and(words.map((word) => sql<boolean>`strpos(${shownWords}, ${word}) > 0`)))
    .where(kind === undefined ? sql<boolean>`${isMedia}` : sql<boolean>`mime like ${`${kind}/%`}`)
    .where(
      sql<boolean>`not exists (
        select from assets as video where video.thumb_asset_id = assets.asset_id and video.owner_id = assets.owner_id
      )`,
    )
    .$if(shape !== undefined, (query) => query.where(shapes[shape ?? 'square']))
    .$if(sort === 'remixed', (query) => query.where(countedMost).orderBy('remixes', 'desc'))
    .where(isBelow('asset_id', after))
    .orderBy('created_at', 'desc')
    .orderBy('asset_id', 'desc')
    .limit(limit)
    .execute();
}
