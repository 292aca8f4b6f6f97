/** Incident records: which uploads were blocked, and why. */
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

/** A match and the bytes in which it was found. */
export interface Finding {
  /** Of the bytes. */
  readonly etag: string;
  readonly digests: Digests;
  readonly match: Match;
  /** Where the same bytes remain: the source asset, or the legacy file (`bucket/path`). */
  readonly origin: string | null;
}

/** A row, if it still has this ETag. */
interface Suspect {
  readonly assetId: string;
  readonly etag: string;
}

/**
 * Turns the row into a refusal and records the incident in one statement, so that there is never one without the other.
 * `false`: there is no such row, or it is being refused already. Ready rows are blocked too: another call's screening of the
 * same bytes can have passed a moment before a list was changed. The same bytes under the same id are one incident.
 */
export function blockAsset(db: Db<IncidentTables>, suspect: Suspect, finding: Finding): Promise<boolean> {
  const refused = sql`
    update assets set refusal = 'csam_blocked', ready_at = null, screened_at = null, version = version + 1
    where asset_id = ${suspect.assetId}::uuid and etag = ${suspect.etag} and refusal is null`;
  return writeIncident(db, refused, finding);
}

/** As `blockAsset`, of a row whose bytes must stay: the row is deleted. */
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

async function writeIncident(db: Db<IncidentTables>, change: RawBuilder<unknown>, finding: Finding): Promise<boolean> {
  const { etag, digests, match, origin } = finding;
  const columns = sql.join(ofTheRow.map((column) => sql.ref(column)));
  const { rows } = await sql`
    with blocked as (${change} returning ${columns}),
    written as (
      insert into screening_incidents (
        ${columns}, etag, sha256, md5, pdq, pdq_quality, check_name, list, listed, distance, origin
      )
      select ${columns}, ${etag}::text, ${digests.sha256}::text, ${digests.md5}::text, ${digests.pdq}::text,
        ${digests.pdqQuality}::smallint, ${match.check}::text, ${match.list}::text, ${match.listed}::text,
        ${match.distance}::smallint, ${origin}::text
      from blocked
      on conflict (asset_id, sha256) do nothing
    )
    select asset_id from blocked`.execute(db);
  return rows.length === 1;
}
