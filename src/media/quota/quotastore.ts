/** The bytes of an owner's assets. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';

/** The name that every change of the bytes of an owner holds. */
export const ownerLock = (ownerId: string) => `media bytes ${ownerId}`;

/** Counts readable assets, from an index alone. */
export async function sumBytes(db: Db<MediaTables> | Tx<MediaTables>, ownerId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('assets')
    .select(sql<number>`coalesce(sum(byte_size), 0)::bigint`.as('bytes'))
    .where('owner_id', '=', ownerId)
    .where('ready_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return bytes;
}

/** Returns the number of an owner's assets and their bytes, from an index alone. */
export function sumAssets(
  db: Db<MediaTables>,
  ownerId: string,
): Promise<{ readonly assets: number; readonly bytes: number }> {
  return db
    .selectFrom('assets')
    .select([sql<number>`count(*)::bigint`.as('assets'), sql<number>`coalesce(sum(byte_size), 0)::bigint`.as('bytes')])
    .where('owner_id', '=', ownerId)
    .where('ready_at', 'is not', null)
    .executeTakeFirstOrThrow();
}
