/** The rows that a rescreening reads. */
import type { Db } from '#platform/db/db.ts';
import type { MediaTables } from '../assets/assetstore.ts';

export interface ScreenedRow {
  readonly assetId: string;
  readonly backend: 'objects' | 'legacy';
  readonly bucket: string;
  readonly storageKey: string;
  readonly etag: string;
  readonly sha256: string | null;
  readonly md5: string | null;
  readonly pdq: string | null;
  readonly pdqQuality: number | null;
  /** Blocked before, and not removed yet. */
  readonly isBlocked: boolean;
}

/** Returns at most `limit` ready and blocked rows after `after`, ordered by id. */
export async function findScreened(
  db: Db<MediaTables>,
  after: string | null,
  limit: number,
): Promise<readonly ScreenedRow[]> {
  const rows = await db
    .selectFrom('assets')
    .select([
      'asset_id as assetId',
      'backend',
      'bucket',
      'storage_key as storageKey',
      'etag',
      'sha256',
      'md5',
      'pdq',
      'pdq_quality as pdqQuality',
      'refusal',
    ])
    .where((eb) => eb.or([eb('ready_at', 'is not', null), eb('refusal', '=', 'csam_blocked')]))
    .$if(after !== null, (query) => query.where('asset_id', '>', String(after)))
    .orderBy('asset_id')
    .limit(limit)
    .execute();
  return rows.map(({ refusal, ...row }) => ({ ...row, isBlocked: refusal !== null }));
}
