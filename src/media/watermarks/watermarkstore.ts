/** The rows of watermark files in the legacy backend, with the bytes that they were made of. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import type { ResolvedAsset } from '../lookup/assetlookup.ts';
import type { MediaTables } from '../tables.ts';

interface WatermarkRecord {
  /** Of the watermark file. */
  readonly etag: string;
  readonly sourceEtag: string;
}

async function findWatermarkRecord(
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

// Decides whether a watermark file was made of the current bytes. Originals are written once, so any file next to one
// is current. Legacy files are replaced in place, so a record contains the version that a watermark file was made of, or
// that its source had when the file was first seen.

/** `version`: undefined for originals. */
type WatermarkedSource = Pick<ResolvedAsset, 'objects' | 'version'>;

/** Throws `engine_unavailable`. */
export async function isWatermarkCurrent(
  db: Db<MediaTables>,
  { objects, version }: WatermarkedSource,
  key: string,
): Promise<boolean> {
  const head = await objects.head(key);
  if (head === undefined || version === undefined) return head !== undefined;
  const mark = await findWatermarkRecord(db, objects.bucket, key);
  if (mark !== undefined) return mark.etag === head.etag && mark.sourceEtag === version;
  // Of the previous backend, or of a process that died before it recorded the file. It counts until its source changes.
  await writeWatermarkRecord(db, objects.bucket, key, { etag: head.etag, sourceEtag: version });
  return true;
}

/** Called after the file was written. */
export async function recordWatermark(
  db: Db<MediaTables>,
  { objects, version }: WatermarkedSource,
  key: string,
  written: ObjectHead,
): Promise<void> {
  if (version === undefined) return;
  await writeWatermarkRecord(db, objects.bucket, key, { etag: written.etag, sourceEtag: version });
}

/** A registered legacy file that was replaced is no longer the asset: its new bytes were never inspected. */
export function isReplaced({ etag, version }: Pick<ResolvedAsset, 'etag' | 'version'>): boolean {
  return etag !== undefined && version !== undefined && etag !== version;
}
