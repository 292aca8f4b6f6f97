/** The rows that a rescreening reads. */
import type { Db } from '#platform/db/db.ts';
import type { Refusal } from '../problems.ts';
import type { Label } from '../screening/labels.ts';
import type { MediaTables } from '../tables.ts';

export interface ScreenedRow {
  readonly assetId: string;
  readonly ownerId: string;
  readonly backend: 'objects' | 'legacy';
  readonly bucket: string;
  readonly storageKey: string;
  readonly etag: string;
  readonly sha256: string | null;
  readonly md5: string | null;
  readonly pdq: string | null;
  readonly pdqQuality: number | null;
  readonly restrictedAt: Date | null;
  readonly labels: readonly Label[] | null;
  /** A block. It was not removed yet. */
  readonly refusal: Refusal | null;
}

/** Returns at most `limit` ready and blocked rows after `after`, ordered by id. */
export function findScreened(
  db: Db<MediaTables>,
  after: string | null,
  limit: number,
): Promise<readonly ScreenedRow[]> {
  return db
    .selectFrom('assets')
    .select([
      'asset_id as assetId',
      'owner_id as ownerId',
      'backend',
      'bucket',
      'storage_key as storageKey',
      'etag',
      'sha256',
      'md5',
      'pdq',
      'pdq_quality as pdqQuality',
      'restricted_at as restrictedAt',
      'labels',
      'refusal',
    ])
    .where((eb) => eb.or([eb('ready_at', 'is not', null), eb('refusal', 'in', ['csam_blocked', 'content_blocked'])]))
    .$if(after !== null, (query) => query.where('asset_id', '>', String(after)))
    .orderBy('asset_id')
    .limit(limit)
    .execute();
}
