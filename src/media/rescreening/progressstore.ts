/** The progress of the newest rescreening. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';

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
    .select([
      'started_at as startedAt',
      'finished_at as finishedAt',
      'total',
      'checked',
      'blocked',
      'without_digests as withoutDigests',
    ])
    .executeTakeFirst();
}
