/** Incident records: what was blocked, and why. */
import { type Generated, type RawBuilder, sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { Digests, Match } from './screening.ts';

export interface IncidentTables {
  screening_incidents: IncidentsTable;
}

interface IncidentsTable {
  incident_id: Generated<string>;
  asset_id: string;
  owner_id: string;
  scope_kind: string;
  scope_id: string;
  kind: string;
  mime: string;
  byte_size: number;
  etag: string;
  sha256: string;
  md5: string;
  pdq: string | null;
  pdq_quality: number | null;
  check_name: Match['check'];
  list: string;
  listed: string | null;
  distance: number | null;
  origin: string | null;
  created_at: Generated<Date>;
}

const ofTheRow = [
  'asset_id',
  'owner_id',
  'scope_kind',
  'scope_id',
  'kind',
  'mime',
  'byte_size',
] as const satisfies readonly (keyof IncidentsTable)[];

/** What was found in which bytes. */
export interface Finding {
  /** Of the bytes. */
  readonly etag: string;
  readonly digests: Digests;
  readonly match: Match;
  /** Where the same bytes go on to lie: the asset, or the legacy file (`bucket/path`), that they came from. */
  readonly origin: string | null;
}

/** A row, as long as it stands for these bytes. */
interface Suspect {
  readonly assetId: string;
  readonly etag: string;
}

/**
 * Turns the row into a refusal and writes the incident, in one statement: neither is ever without the other. `false`:
 * there is no such row, or it is being refused already. A ready row too: somebody else's screening of the same bytes may
 * have passed a moment before a list was changed. The same bytes under the same id are one incident.
 */
export function blockAsset(db: Db<IncidentTables>, suspect: Suspect, finding: Finding): Promise<boolean> {
  const refused = sql`
    update assets set refusal = 'csam_blocked', ready_at = null, screened_at = null, version = version + 1
    where asset_id = ${suspect.assetId}::uuid and etag = ${suspect.etag} and refusal is null`;
  return writeIncident(db, refused, finding);
}

/** As `blockAsset`, of a row whose bytes are not ours to remove: nothing of it stays. */
export function blockAndDrop(db: Db<IncidentTables>, suspect: Suspect, finding: Finding): Promise<boolean> {
  const dropped = sql`delete from assets where asset_id = ${suspect.assetId}::uuid and etag = ${suspect.etag}`;
  return writeIncident(db, dropped, finding);
}

/** Those of `paths` of a legacy bucket that an incident names as the origin of what was blocked. */
export async function findBlockedPaths(
  db: Db<IncidentTables>,
  bucket: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const origins = paths.map((path) => `${bucket}/${path}`);
  const rows = await db
    .selectFrom('screening_incidents')
    .select('origin')
    .where(sql<boolean>`origin = any(${origins}::text[])`)
    .execute();
  return new Set(rows.flatMap(({ origin }) => origin?.slice(bucket.length + 1) ?? []));
}

async function writeIncident(db: Db<IncidentTables>, condemn: RawBuilder<unknown>, finding: Finding): Promise<boolean> {
  const { etag, digests, match, origin } = finding;
  const columns = sql.join(ofTheRow.map((column) => sql.ref(column)));
  const { rows } = await sql`
    with condemned as (${condemn} returning ${columns}),
    written as (
      insert into screening_incidents (
        ${columns}, etag, sha256, md5, pdq, pdq_quality, check_name, list, listed, distance, origin
      )
      select ${columns}, ${etag}::text, ${digests.sha256}::text, ${digests.md5}::text, ${digests.pdq}::text,
        ${digests.pdqQuality}::smallint, ${match.check}::text, ${match.list}::text, ${match.listed}::text,
        ${match.distance}::smallint, ${origin}::text
      from condemned
      on conflict (asset_id, sha256) do nothing
    )
    select asset_id from condemned`.execute(db);
  return rows.length === 1;
}
