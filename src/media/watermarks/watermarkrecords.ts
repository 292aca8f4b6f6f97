/**
 * Decides whether a watermark file was made of the current bytes. Originals are written once, so any file next to one
 * is current. Legacy files are replaced in place, so a record contains the version that a watermark file was made of, or
 * that its source had when the file was first seen.
 */
import type { Db } from '#platform/db/db.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import type { ResolvedAsset } from '../lookup/assetlookup.ts';
import type { MediaTables } from '../tables.ts';
import { findWatermarkRecord, writeWatermarkRecord } from './watermarkstore.ts';

/** `version`: undefined for originals. */
export type WatermarkedSource = Pick<ResolvedAsset, 'objects' | 'version'>;

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
