/** Appeals of owners, and the counts that operators see. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import { isUnanswered } from '../screening/incidentstore.ts';
import type { MediaTables } from '../tables.ts';

/** By the id of the incident or of the blocked asset: the newest of the owner. */
export function findOwnIncident(db: Db<MediaTables>, ownerId: string, id: string) {
  return (
    db
      .selectFrom('screening_incidents')
      .select(['incident_id as id', 'status'])
      .where('owner_id', '=', ownerId)
      .where((eb) => eb.or([eb('incident_id', '=', id), eb('asset_id', '=', id)]))
      // The owner does not know about a report before a decision, or about a flag that changed nothing.
      .where(
        sql<boolean>`(check_name not in ('report', 'flag') or decision is not null or exists (
        select from assets where assets.asset_id = screening_incidents.asset_id and restricted_at is not null
      ))`,
      )
      .orderBy('created_at', 'desc')
      .limit(1)
      .executeTakeFirst()
  );
}

/** `undefined`: there is an appeal already, or the incident is resolved. */
export async function writeAppeal(db: Db<MediaTables>, id: string, text: string): Promise<Date | undefined> {
  const row = await db
    .updateTable('screening_incidents')
    .set({ appeal: text, appealed_at: sql<Date>`clock_timestamp()` })
    .where('incident_id', '=', id)
    .where('appeal', 'is', null)
    .where('status', '<>', 'cleared')
    .returning('appealed_at as appealedAt')
    .executeTakeFirst();
  return row?.appealedAt ?? undefined;
}

export interface IncidentCount {
  readonly status: 'open' | 'upheld' | 'cleared';
  readonly list: string;
  readonly count: number;
}

export async function countByStatus(db: Db<MediaTables>): Promise<readonly IncidentCount[]> {
  // Reads only an index.
  const { rows } = await sql<IncidentCount>`
    select status, list, count(*)::int as count from screening_incidents group by status, list order by list, status
  `.execute(db);
  return rows;
}

export async function countOpenAppeals(db: Db<MediaTables>): Promise<number> {
  const { count } = await db
    .selectFrom('screening_incidents')
    .select(sql<number>`count(*)::int`.as('count'))
    .where(isUnanswered)
    .executeTakeFirstOrThrow();
  return count;
}

/** Where the same bytes may remain. */
export function findOrigin(db: Db<MediaTables>, id: string) {
  return db
    .selectFrom('screening_incidents')
    .select(['origin', 'asset_id as assetId', 'owner_id as ownerId'])
    .where('incident_id', '=', id)
    .executeTakeFirst();
}
