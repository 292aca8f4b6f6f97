/** The rows that sweeps read, and the rows by which they block registrations. */
import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { type DeletableAsset, deletableColumns, type SeenAsset } from '../assets/assetstore.ts';
import type { StorageKeyParts } from '../assets/storagekey.ts';
import type { Handle } from '../tables.ts';

// Which assets a part of a sweep looks at, for `findPage`.

export const isReady = sql<boolean>`ready_at is not null`;
export const isUnready = (createdBefore: Date) => sql<boolean>`(ready_at is null and created_at < ${createdBefore})`;

/** Returns at most `limit` assets after the id `after`, ordered by id. */
export function findPage(db: Handle, isWanted: RawBuilder<boolean>, after: string | undefined, limit: number) {
  return db
    .selectFrom('assets')
    .select([...deletableColumns, 'etag', 'byte_size as byteSize'])
    .where(isWanted)
    .$if(after !== undefined, (query) => query.where('asset_id', '>', String(after)))
    .orderBy('asset_id')
    .limit(limit)
    .execute();
}

/** Prevents these rows from becoming ready. Resolves with the rows that had not changed, with their new revisions. */
export async function refuseUnready(db: Handle, seen: readonly SeenAsset[]): Promise<readonly SeenAsset[]> {
  const { rows } = await sql<SeenAsset>`
    with unready as materialized (
      select assets.asset_id from assets
      join unnest(${seen.map(({ assetId }) => assetId)}::uuid[], ${seen.map(({ revision }) => revision)}::text[])
        as seen(asset_id, revision)
        on assets.asset_id = seen.asset_id and assets.xmin::text = seen.revision and assets.ready_at is null
      order by assets.asset_id for update of assets
    )
    update assets set refusal = coalesce(refusal, 'object_not_found'), version = version + 1
    from unready where assets.asset_id = unready.asset_id
    returning assets.asset_id as "assetId", assets.xmin::text as revision`.execute(db);
  return rows;
}

/** An object without a row. */
export interface Unregistered extends Omit<StorageKeyParts, 'mime'> {
  readonly storageKey: string;
  /** `''`: there are derivatives only. */
  readonly etag: string;
  readonly byteSize: number;
}

/**
 * Rows that keep every registration from becoming ready on these objects, of a kind that no request can name. Resolves
 * with those whose ids were free: a concurrent registration of one finds it refused, or waits for this statement.
 */
export async function claimUnregistered(
  db: Handle,
  bucket: string,
  objects: readonly Unregistered[],
): Promise<readonly SeenAsset[]> {
  return db
    .insertInto('assets')
    .values(
      objects.map(({ assetId, ownerId, scopeKind, scopeId, storageKey, etag, byteSize }) => ({
        asset_id: assetId,
        owner_id: ownerId,
        scope_kind: scopeKind,
        scope_id: scopeId,
        kind: '',
        requested_mime: '',
        mime: '',
        backend: 'objects' as const,
        bucket,
        storage_key: storageKey,
        etag,
        byte_size: byteSize,
        ready_at: null,
        refusal: 'object_not_found' as const,
      })),
    )
    .onConflict((conflict) => conflict.column('asset_id').doNothing())
    .returning(['asset_id as assetId', sql<string>`xmin::text`.as('revision')])
    .execute();
}

export interface IndexedPrefix {
  /** The prefix of all variants of one source. */
  readonly prefix: string;
  /** The mark of the source's store. */
  readonly mark: string;
}

export async function indexVariants(db: Handle, sweepId: string, indexed: readonly IndexedPrefix[]): Promise<void> {
  await sql`
    insert into stray_variants (sweep_id, mark, prefix)
    select ${sweepId}::uuid, mark, prefix
    from unnest(${indexed.map(({ mark }) => mark)}::text[], ${indexed.map(({ prefix }) => prefix)}::text[])
      as indexed(mark, prefix)
    on conflict do nothing`.execute(db);
}

/** Returns at most `limit` prefixes after `after`, in order. */
export async function findIndexed(
  db: Handle,
  sweepId: string,
  mark: string,
  after: string | undefined,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ prefix: string }>`
    select prefix from stray_variants
    where sweep_id = ${sweepId}::uuid and mark = ${mark} and prefix > ${after ?? ''}
    order by prefix limit ${limit}`.execute(db);
  return rows.map(({ prefix }) => prefix);
}

/** Removes the prefixes of sources that exist. */
export async function dropIndexed(
  db: Handle,
  sweepId: string,
  mark: string,
  prefixes: readonly string[],
): Promise<void> {
  await sql`
    delete from stray_variants
    where sweep_id = ${sweepId}::uuid and mark = ${mark} and prefix = any(${prefixes}::text[])`.execute(db);
}

export async function dropIndex(db: Handle, sweepId: string): Promise<void> {
  await sql`delete from stray_variants where sweep_id = ${sweepId}::uuid`.execute(db);
}

/** Removes the prefixes of interrupted sweeps. No sweep takes this long. */
export async function dropOutdatedIndexes(db: Handle): Promise<void> {
  await sql`delete from stray_variants where noted_at < now() - interval '7 days'`.execute(db);
}

/** Returns readable rows of a bucket: the newest, and those that follow a random id. */
export async function findSample(
  db: Handle,
  { backend, bucket }: Pick<DeletableAsset, 'backend' | 'bucket'>,
  limit: number,
): Promise<readonly string[]> {
  const sample = (after: string) => sql`
    (select storage_key from assets where backend = ${backend} and bucket = ${bucket} and ready_at is not null
      and asset_id >= ${after}::uuid order by asset_id limit ${limit})`;
  const { rows } = await sql<{ key: string }>`
    select distinct storage_key as key from (${sample(randomUUID())} union all ${sample(nil)}) as sampled
  `.execute(db);
  return rows.map(({ key }) => key);
}

const nil = '00000000-0000-0000-0000-000000000000';

/** The buckets that rows name. */
export async function findLegacyBuckets(db: Handle): Promise<readonly string[]> {
  const rows = await db.selectFrom('assets').select('bucket').distinct().where('backend', '=', 'legacy').execute();
  return rows.map(({ bucket }) => bucket);
}
