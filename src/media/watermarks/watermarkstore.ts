/** The rows of watermark files in the legacy backend, with the bytes that they were made of. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';

export interface WatermarkRecord {
  /** Of the watermark file. */
  readonly etag: string;
  readonly sourceEtag: string;
}

export async function findWatermarkRecord(
  db: Db<MediaTables>,
  bucket: string,
  storageKey: string,
): Promise<WatermarkRecord | undefined> {
  const { rows } = await sql<WatermarkRecord>`
    select etag, source_etag as "sourceEtag" from legacy_watermarks
    where bucket = ${bucket} and storage_key = ${storageKey}`.execute(db);
  return rows[0];
}

export async function writeWatermarkRecord(
  db: Db<MediaTables>,
  bucket: string,
  storageKey: string,
  mark: WatermarkRecord,
): Promise<void> {
  await sql`
    insert into legacy_watermarks (bucket, storage_key, etag, source_etag)
    values (${bucket}, ${storageKey}, ${mark.etag}, ${mark.sourceEtag})
    on conflict (bucket, storage_key) do update set etag = excluded.etag, source_etag = excluded.source_etag`.execute(
    db,
  );
}

/** Locks the rows in the order of their keys, so that concurrent deletions do not wait for each other. */
export async function dropWatermarkRecords(
  db: Db<MediaTables>,
  bucket: string,
  storageKeys: readonly string[],
): Promise<void> {
  await sql`
    with dropped as materialized (
      select storage_key from legacy_watermarks where bucket = ${bucket} and storage_key = any(${storageKeys}::text[])
      order by storage_key for update
    )
    delete from legacy_watermarks using dropped
    where bucket = ${bucket} and legacy_watermarks.storage_key = dropped.storage_key`.execute(db);
}
