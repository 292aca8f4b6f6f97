/** The rows that identify files by their ETags, and the data folder of these ETags. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';

type Handle = Db<MediaTables>;

export async function findFolder(db: Handle): Promise<string | undefined> {
  return (await db.selectFrom('data_folder').select('identity').executeTakeFirst())?.identity;
}

export async function noteFolder(db: Handle, identity: string): Promise<void> {
  await db
    .insertInto('data_folder')
    .values({ identity })
    .onConflict((conflict) => conflict.column('is_only').doUpdateSet({ identity }))
    .execute();
}

/** The facts of a file in its row. */
export interface PinnedRow {
  readonly assetId: string;
  readonly backend: 'objects' | 'legacy';
  readonly bucket: string;
  readonly storageKey: string;
  readonly etag: string;
  readonly byteSize: number;
}

export interface Pin {
  readonly etag: string;
  /** Hex. `null`: the row was registered without one. */
  readonly sha256: string | null;
}

/** Returns at most `limit` ready rows after `after`, ordered by id. */
export function findPinned(
  db: Handle,
  backends: readonly PinnedRow['backend'][],
  after: string | undefined,
  limit: number,
): Promise<readonly (PinnedRow & Pin)[]> {
  return db
    .selectFrom('assets')
    .select([
      'asset_id as assetId',
      'backend',
      'bucket',
      'storage_key as storageKey',
      'etag',
      'byte_size as byteSize',
      'sha256',
    ])
    .where('ready_at', 'is not', null)
    .where('backend', 'in', backends)
    .$if(after !== undefined, (query) => query.where('asset_id', '>', String(after)))
    .orderBy('asset_id')
    .limit(limit)
    .execute();
}

export function findPin(db: Handle, assetId: string): Promise<Pin | undefined> {
  return db
    .selectFrom('assets')
    .select(['etag', 'sha256'])
    .where('asset_id', '=', assetId)
    .where('ready_at', 'is not', null)
    .executeTakeFirst();
}

/** A file with the content of its row but another ETag. */
export interface FollowedFile {
  readonly assetId: string;
  readonly etag: string;
  readonly newEtag: string;
  readonly sha256: string;
}

/** Skips rows that have changed since. Adds the digest to a row without one. */
export async function followFiles(db: Handle, files: readonly FollowedFile[]): Promise<void> {
  const column = (name: keyof FollowedFile) => sql`${files.map((file) => file[name])}`;
  await sql`
    update assets
    set etag = file.new_etag, sha256 = coalesce(assets.sha256, file.sha256), version = version + 1
    from unnest(${column('assetId')}::uuid[], ${column('etag')}::text[], ${column('newEtag')}::text[],
      ${column('sha256')}::text[]) as file(asset_id, etag, new_etag, sha256)
    where assets.asset_id = file.asset_id and assets.etag = file.etag and assets.ready_at is not null`.execute(db);
}

// The digest and the ETag of a row whose object got another ETag.

export async function findSha256(db: Db<MediaTables>, assetId: string): Promise<string | undefined> {
  const row = await db.selectFrom('assets').select('sha256').where('asset_id', '=', assetId).executeTakeFirst();
  return row?.sha256 ?? undefined;
}

/** Does nothing if the row has changed. */
export async function writeEtag(db: Db<MediaTables>, assetId: string, from: string, to: string): Promise<void> {
  await sql`update assets set etag = ${to}, version = version + 1
    where asset_id = ${assetId} and etag = ${from} and ready_at is not null`.execute(db);
}
