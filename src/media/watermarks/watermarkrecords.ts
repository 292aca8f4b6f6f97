/**
 * Whether a watermark file is of the bytes that are meant. Originals are written once, so any file beside one is; legacy
 * files are replaced in place, so it is noted which of their bytes a watermark file was made of.
 */
import type { Db } from '#platform/db/db.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import type { MediaTables } from '../assets/assetstore.ts';
import type { ResolvedAsset } from '../lookup/assetlookup.ts';
import { findWatermarkRecord, writeWatermarkRecord } from './watermarkstore.ts';

export interface WatermarkRecordsDeps {
  readonly db: Db<MediaTables>;
}

/** `version`: undefined for originals. */
export type WatermarkedSource = Pick<ResolvedAsset, 'objects' | 'version'>;

/** Throws `engine_unavailable`. */
export async function isWatermarkCurrent(
  { db }: WatermarkRecordsDeps,
  { objects, version }: WatermarkedSource,
  key: string,
): Promise<boolean> {
  const head = await objects.head(key);
  if (head === undefined || version === undefined) return head !== undefined;
  const mark = await findWatermarkRecord(db, objects.bucket, key);
  return mark?.etag === head.etag && mark.sourceEtag === version;
}

/** After the file was written: a process that dies in between leaves one that is made again. */
export async function recordWatermark(
  { db }: WatermarkRecordsDeps,
  { objects, version }: WatermarkedSource,
  key: string,
  written: ObjectHead,
): Promise<void> {
  if (version === undefined) return;
  await writeWatermarkRecord(db, objects.bucket, key, { etag: written.etag, sourceEtag: version });
}

/** A registered legacy file that was replaced is no longer the asset: its new bytes were never looked at. */
export function isReplaced({ etag, version }: Pick<ResolvedAsset, 'etag' | 'version'>): boolean {
  return etag !== undefined && version !== undefined && etag !== version;
}
