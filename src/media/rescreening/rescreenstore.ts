/** The rows that a rescreening reads. */
import { sql } from 'kysely';
import { type Db, inCamelCase, type Tx } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';

export type ScreenedRow = Awaited<ReturnType<typeof findScreened>>[number];

/** Returns at most `limit` ready and blocked rows after `after`, ordered by id. */
export function findScreened(db: Db<MediaTables>, after: string | null, limit: number) {
  return db
    .selectFrom('assets')
    .select(
      inCamelCase(
        'asset_id owner_id backend bucket storage_key etag byte_size sha256 md5 pdq pdq_quality',
        'restricted_at labels refusal',
      ),
    )
    .where((eb) => eb.or([eb('ready_at', 'is not', null), eb('refusal', 'in', ['csam_blocked', 'content_blocked'])]))
    .$if(after !== null, (query) => query.where('asset_id', '>', String(after)))
    .orderBy('asset_id')
    .limit(limit)
    .execute();
}

// The progress of the newest rescreening.

/** Forgets the rescreening before. */
export async function beginProgress<Tables>(db: Db<Tables> | Tx<Tables>): Promise<void> {
  await sql`
    insert into rescreenings (started_at, total)
    values (clock_timestamp(), (select count(*) from assets where ready_at is not null))
    on conflict (is_only) do update set started_at = excluded.started_at, finished_at = null, total = excluded.total,
      checked = 0, blocked = 0, without_digests = 0`.execute(db);
}

export async function writeProgress<Tables>(
  tx: Tx<Tables>,
  counts: { readonly checked: number; readonly blocked: number; readonly withoutDigests: number },
  isFinished: boolean,
): Promise<void> {
  await sql`
    update rescreenings set checked = ${counts.checked}, blocked = ${counts.blocked},
      without_digests = ${counts.withoutDigests},
      finished_at = ${isFinished ? sql`clock_timestamp()` : sql`null`}`.execute(tx);
}

export function readProgress(db: Db<MediaTables>) {
  return db
    .selectFrom('rescreenings')
    .select(inCamelCase('started_at finished_at total checked blocked without_digests'))
    .executeTakeFirst();
}
