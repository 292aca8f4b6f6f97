/** The digest and the ETag of a row whose object got another ETag. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';

export async function findSha256(db: Db<MediaTables>, assetId: string): Promise<string | undefined> {
  const row = await db.selectFrom('assets').select('sha256').where('asset_id', '=', assetId).executeTakeFirst();
  return row?.sha256 ?? undefined;
}

/** Does nothing if the row has changed. */
export async function writeEtag(db: Db<MediaTables>, assetId: string, from: string, to: string): Promise<void> {
  await sql`update assets set etag = ${to}, version = version + 1
    where asset_id = ${assetId} and etag = ${from} and ready_at is not null`.execute(db);
}
