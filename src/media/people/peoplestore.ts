/** What the media service stores about an owner beside assets. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';

/** The owner of incidents whose owner was erased. */
export const nobody = '00000000-0000-0000-0000-000000000000';

/**
 * Deletes the tasks of the owner and the records of removed files, and takes the owner's name out of incidents: their
 * digests stay, because they decide which content passes. Reported and flagged content is deleted, so its incidents close. Returns how many rows of each.
 */
export async function forgetOwner(db: Db<MediaTables>, ownerId: string): Promise<Record<string, number>> {
  const inPath = `%${ownerId}%`;
  const count = ({ numAffectedRows }: { readonly numAffectedRows?: bigint }) => Number(numAffectedRows ?? 0);
  await sql`delete from upload_reservations where owner_id = ${ownerId}`.execute(db);
  const tasks = await sql`delete from media_tasks where owner_id = ${ownerId}`.execute(db);
  // Earlier versions wrote these rows. In the order in which they lock them.
  const removals = await sql`
    delete from legacy_removals where (bucket, path) in (
      select bucket, path from legacy_removals where path like ${inPath} order by bucket, path for update
    )`.execute(db);
  const watermarks = await sql`
    delete from legacy_watermarks where (bucket, storage_key) in (
      select bucket, storage_key from legacy_watermarks where storage_key like ${inPath}
      order by bucket, storage_key for update
    )`.execute(db);
  const incidents = await sql`
    update screening_incidents set owner_id = ${nobody}, scope_kind = '', scope_id = '', note = null, appeal = null,
      thread_id = null, share_id = null, statement = null, earlier = '[]', title = null, generation = null,
      status = case when status = 'open' and check_name in ('report', 'flag') then 'upheld' else status end,
      resolved_at = case when status = 'open' and check_name in ('report', 'flag') then now() else resolved_at end,
      origin = case when origin like ${inPath} then null else origin end
    where owner_id = ${ownerId} or origin like ${inPath}`.execute(db);
  return {
    tasks: count(tasks),
    legacy_records: count(removals) + count(watermarks),
    incidents_anonymized: count(incidents),
  };
}
