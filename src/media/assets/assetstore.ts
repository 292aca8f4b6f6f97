/** The rows of assets. */
import { type InsertObject, type RawBuilder, sql } from 'kysely';
import { type Db, hasChanged, inCamelCase, json } from '#platform/db/db.ts';
import { isDeadlock, isUniqueViolation } from '#platform/db/errors.ts';
import type { Generated as Mark } from '#platform/metadata/xmp.ts';
import { searchable } from '#platform/storable.ts';
import type { AssetChange, Lineage } from '../api.ts';
import type { Refusal } from '../problems.ts';
import { flagAsset } from '../screening/incidentstore.ts';
import type { Verdict } from '../screening/verdicts.ts';
import type { Handle, MediaTables } from '../tables.ts';

/** What identifies a registration: a replay with other values is a conflict. */
export interface AssetIdentity {
  readonly assetId: string;
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly kind: string;
  readonly requestedMime: string;
}

/** The facts that the bytes of an asset show, or that the caller declared. */
export interface AssetFacts {
  readonly mime: string;
  readonly sha256: string | null;
  readonly md5: string | null;
  readonly pdq: string | null;
  readonly pdqQuality: number | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly blurhash: string | null;
  /** `null`: it is no image, or was registered before this was read. */
  readonly animated: boolean | null;
  readonly thumbAssetId: string | null;
  readonly prompt: string | null;
  readonly model: string | null;
  readonly generated: Mark | null;
  /** The name of the file. */
  readonly name: string | null;
  readonly generation?: Lineage | null;
}

export interface AssetPlace {
  /** By default, the object store. */
  readonly backend?: 'objects' | 'legacy';
  readonly bucket: string;
  readonly storageKey: string;
  readonly etag: string;
  readonly byteSize: number;
}

export type StoredAsset = NonNullable<Awaited<ReturnType<typeof findAsset>>>;

/** A thumbnail of another owner is not shown (docs/specification/media.md#signing). */
const visibleThumb = sql<string | null>`
  case when exists (
    select from assets as thumb where thumb.asset_id = assets.thumb_asset_id and thumb.owner_id <> assets.owner_id
  ) then null else assets.thumb_asset_id end`.as('thumbAssetId');

/** The owner has published it: it is in a feed, or a copy of it is. */
const isPublished = sql<boolean>`(assets.scope_kind = 'feed' or exists (
  select from assets as copy
  where copy.copied_from = assets.asset_id and copy.owner_id = assets.owner_id and copy.scope_kind = 'feed'
    and copy.ready_at is not null and copy.trashed_at is null
))`.as('published');

export const assetColumns = [
  ...inCamelCase(
    'asset_id owner_id scope_kind scope_id kind requested_mime mime storage_key etag byte_size',
    'width height duration_ms blurhash animated sha256',
  ),
  visibleThumb,
  isPublished,
  'is_favorite as favorite',
  ...inCamelCase('prompt model generated name generation labels created_at ready_at restricted_at trashed_at refusal'),
] as const;

export function factColumns({ pdqQuality, durationMs, thumbAssetId, generation, prompt, name, ...facts }: AssetFacts) {
  const { mime, sha256, md5, pdq, width, height, blurhash, animated, model, generated } = facts;
  return {
    ...{ mime, sha256, md5, pdq, width, height, blurhash, animated, model, generated, prompt },
    pdq_quality: pdqQuality,
    duration_ms: durationMs,
    thumb_asset_id: thumbAssetId,
    ...nameColumns(prompt, name),
    generation: generation ? sql<string>`${json(generation)}` : null,
    derived_from: generation?.references.length ? generation.references : null,
  };
}

/** Searches find the words of the prompt and of the name. */
function nameColumns(prompt: string | null, name: string | null) {
  const texts = [prompt, name].filter((text) => text !== null);
  return { name, prompt_search: texts.length === 0 ? null : searchable(texts.join('\n')) };
}

/** Of a video that is shown itself. For queries of `assets`. */
export const isThumbnail = sql<boolean>`exists (
  select from assets as video
  where video.thumb_asset_id = assets.asset_id and video.owner_id = assets.owner_id and video.ready_at is not null
)`;

/** The assets `ids`, everything that was copied from them, and everything that was copied from the same sources. */
export const isCopyOf = (ids: readonly string[]) => {
  const named = sql`${ids}::uuid[]`;
  const origins = sql`(${named} || array(select copied_from from assets where asset_id = any(${named}) and copied_from is not null))`;
  return sql<boolean>`(asset_id = any(${origins}) or copied_from = any(${origins}))`;
};

/** Content that was restricted before stays restricted in every further copy or upload of its owner. */
export function restrictedAgain(sha256: RawBuilder<unknown> = sql`assets.sha256`) {
  return sql<Date | null>`coalesce(assets.restricted_at, (
    select max(known.restricted_at) from assets as known
    where known.owner_id = assets.owner_id and known.restricted_at is not null
      and (known.sha256 = ${sha256} or known.asset_id = assets.copied_from)
  ))`;
}

/** In any state. */
export function findAsset(db: Handle, assetId: string) {
  return db.selectFrom('assets').select(assetColumns).where('asset_id', '=', assetId).executeTakeFirst();
}

export const signingColumns = [
  'asset_id as assetId',
  'owner_id as ownerId',
  // Restricted content, and content in the trash, is in no public scope, whatever its own scope is.
  sql<string>`case when restricted_at is null and trashed_at is null then scope_kind else '' end`.as('scopeKind'),
  ...inCamelCase(
    'mime backend bucket storage_key etag byte_size width height duration_ms blurhash animated',
    'generated',
  ),
  sql<boolean>`trashed_at is not null`.as('isTrashed'),
  // As registered: its owner must be checked before it is shown.
  'thumb_asset_id as namedThumbId',
  'playback',
] as const;

/** Returns the ready assets of `assetIds` in one query, in no order. Callers check who can read them. */
export function findReadyAssets(db: Handle, assetIds: readonly string[]) {
  return (
    db
      .selectFrom('assets')
      .select(signingColumns)
      // One parameter for any number of ids, so one prepared statement.
      .where(sql<boolean>`asset_id = any(${assetIds}::uuid[])`)
      .where('ready_at', 'is not', null)
      .execute()
  );
}

/**
 * Writes the row of a registration that is in progress, over the row of an earlier attempt. With a `refusal`, writes
 * the row of an object that will be removed. Writes nothing and returns `false` if the row is ready, is being refused,
 * was registered with other values, or is being written for the same legacy file.
 */
export async function draftAsset(
  db: Handle,
  identity: AssetIdentity,
  place: AssetPlace,
  facts: AssetFacts,
  refusal: Refusal | null = null,
): Promise<boolean> {
  const learnt = {
    ...factColumns(facts),
    bucket: place.bucket,
    etag: place.etag,
    byte_size: place.byteSize,
    screened_at: null,
    refusal,
  } satisfies Partial<InsertObject<MediaTables, 'assets'>>;
  const drafting = db
    .insertInto('assets')
    .values({
      asset_id: identity.assetId,
      owner_id: identity.ownerId,
      scope_kind: identity.scopeKind,
      scope_id: identity.scopeId,
      kind: identity.kind,
      requested_mime: identity.requestedMime,
      backend: place.backend ?? 'objects',
      storage_key: place.storageKey,
      ready_at: null,
      ...learnt,
    })
    .onConflict((conflict) =>
      conflict
        .column('asset_id')
        .doUpdateSet((eb) => ({ ...learnt, version: eb('assets.version', '+', 1) }))
        .where('assets.ready_at', 'is', null)
        .where('assets.refusal', 'is', null)
        .where('assets.owner_id', '=', identity.ownerId)
        .where('assets.scope_kind', '=', identity.scopeKind)
        .where('assets.scope_id', '=', identity.scopeId)
        .where('assets.kind', '=', identity.kind)
        .where('assets.requested_mime', '=', identity.requestedMime),
    );
  try {
    return await drafting.$call(hasChanged);
  } catch (error) {
    // `on conflict` covers one index: the second of two concurrent inserts can fail at the other index first, and some of
    // several can wait for one another.
    if (isUniqueViolation(error, 'assets_in_legacy') || isDeadlock(error)) return false;
    throw error;
  }
}

export interface Screened extends Pick<Verdict, 'labels' | 'hit'> {
  /** It is an image that passed its screening. */
  readonly isScreened: boolean;
}

/** The columns of labels and of the restriction that they cause. A video has those of its poster too. */
export function labelColumns({ labels, hit }: Omit<Screened, 'isScreened'>, again = restrictedAgain()) {
  const poster = (column: RawBuilder<unknown>) => sql`(
    select ${column} from assets as poster
    where poster.asset_id = assets.thumb_asset_id and poster.owner_id = assets.owner_id
  )`;
  return {
    labels: labels.length > 0 ? sql<string>`${json(labels)}` : sql<string>`${poster(sql`poster.labels`)}`,
    restricted_at:
      hit?.action === 'restrict'
        ? sql<Date>`now()`
        : sql<Date | null>`coalesce(${again}, ${poster(sql`poster.restricted_at`)})`,
  };
}

/**
 * Makes the asset readable if the row still has the ETag that was inspected, or returns `undefined`. One of several
 * concurrent calls gets the row. With a rule that applies, a transaction.
 */
export async function markReady(
  handle: Handle,
  assetId: string,
  etag: string,
  screened: Screened = { labels: [], isScreened: false },
) {
  const row = await handle
    .updateTable('assets')
    .set({
      ready_at: sql<Date>`now()`,
      screened_at: screened.isScreened ? sql<Date>`now()` : null,
      ...labelColumns(screened),
    })
    .where((eb) => eb.and({ asset_id: assetId, etag }))
    .where('ready_at', 'is', null)
    .where('refusal', 'is', null)
    .returning(assetColumns)
    .executeTakeFirst();
  if (row !== undefined && (screened.hit ?? row.thumbAssetId) !== null)
    await flagAsset(handle, assetId, screened.hit?.label);
  return row;
}

/** For a readable asset whose object was written again with the same bytes. */
export async function renewEtag(db: Handle, assetId: string, sha256: string, etag: string): Promise<void> {
  await db
    .updateTable('assets')
    .set((eb) => ({ etag, version: eb('version', '+', 1) }))
    .where((eb) => eb.and({ asset_id: assetId, sha256 }))
    .where('ready_at', 'is not', null)
    .execute();
}

/** Deletes a row that never became ready and has this ETag. */
export async function dropUnready(db: Handle, assetId: string, etag: string): Promise<void> {
  await db
    .deleteFrom('assets')
    .where((eb) => eb.and({ asset_id: assetId, etag }))
    .where('ready_at', 'is', null)
    .execute();
}

/** A row as it was read: `revision` changes with every write and is never reused. */
export interface SeenAsset {
  readonly assetId: string;
  readonly revision: string;
}

export type DeletableAsset = Awaited<ReturnType<typeof findDeletable>>[number];

export const deletableColumns = [
  ...inCamelCase('asset_id owner_id backend bucket storage_key thumb_asset_id'),
  // The transaction that wrote the row.
  sql<string>`xmin::text`.as('revision'),
] as const;

/** Returns the existing rows of `assetIds` in any state, in no order. */
export async function findDeletable(db: Handle, assetIds: readonly string[]) {
  if (assetIds.length === 0) return [];
  return db
    .selectFrom('assets')
    .select(deletableColumns)
    .where(sql<boolean>`asset_id = any(${assetIds}::uuid[])`)
    .execute();
}

/** Returns the rows that are registered at these paths of a legacy bucket, in any state, in no order. */
export async function findDeletableAt(db: Handle, bucket: string, paths: readonly string[]) {
  if (paths.length === 0) return [];
  return db
    .selectFrom('assets')
    .select(deletableColumns)
    .where((eb) => eb.and({ backend: 'legacy', bucket }))
    .where(sql<boolean>`storage_key = any(${paths}::text[])`)
    .execute();
}

/** All assets of an owner, of one scope kind, or of one scope. */
export interface AssetScope {
  readonly ownerId: string;
  readonly scopeKind: string | undefined;
  readonly scopeId: string | undefined;
}

/** At most `limit` rows after `after`, in any state, by storage key in the byte order of object store listings. */
export function findDeletableOf(
  db: Handle,
  scope: AssetScope,
  after: Pick<DeletableAsset, 'storageKey' | 'assetId'> | undefined,
  limit: number,
) {
  const { ownerId, scopeKind, scopeId } = scope;
  const byBytes = sql<string>`storage_key collate "C"`;
  return (
    db
      .selectFrom('assets')
      .select(deletableColumns)
      .where('owner_id', '=', ownerId)
      .$if(scopeKind !== undefined, (query) => query.where('scope_kind', '=', String(scopeKind)))
      .$if(scopeId !== undefined, (query) => query.where('scope_id', '=', String(scopeId)))
      // Two legacy buckets can contain the same path.
      .$if(after !== undefined, (query) =>
        query.where(sql<boolean>`(${byBytes}, asset_id) > (${after?.storageKey}, ${after?.assetId}::uuid)`),
      )
      .orderBy(byBytes)
      .orderBy('asset_id')
      .limit(limit)
      .execute()
  );
}

/** Deletes the rows that have not changed since they were read, locked in one order. Resolves with the deleted ones. */
export function dropAssets(db: Handle, seen: readonly SeenAsset[]) {
  const assetIds = seen.map(({ assetId }) => assetId);
  const revisions = seen.map(({ revision }) => revision);
  return db
    .with(
      (cte) => cte('dropped').materialized(),
      () => sql<{ asset_id: string }>`(
        select assets.asset_id from assets join unnest(${assetIds}::uuid[], ${revisions}::text[]) as seen(asset_id, revision)
          on assets.asset_id = seen.asset_id and assets.xmin::text = seen.revision
        order by assets.asset_id for update of assets)`,
    )
    .deleteFrom('assets')
    .using('dropped')
    .whereRef('assets.asset_id', '=', 'dropped.asset_id')
    .returning([
      'assets.asset_id as assetId',
      'assets.owner_id as ownerId',
      'assets.scope_kind as scopeKind',
      'assets.scope_id as scopeId',
      'assets.kind as kind',
      sql<boolean>`assets.ready_at is not null`.as('isReady'),
    ])
    .execute();
}

/** For a row whose object got another ETag. Does nothing if the row has changed. */
export async function writeEtag(db: Db<MediaTables>, assetId: string, from: string, to: string): Promise<void> {
  await sql`update assets set etag = ${to}, version = version + 1
    where asset_id = ${assetId} and etag = ${from} and ready_at is not null`.execute(db);
}

// Changes of the facts that callers declare.

/** `undefined`: there is no such asset, or it is not ready. */
export function changeFacts(
  db: Db<MediaTables>,
  { assetId, prompt }: Pick<StoredAsset, 'assetId' | 'prompt'>,
  { thumbAssetId, width, height, durationMs, blurhash, name }: AssetChange,
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
