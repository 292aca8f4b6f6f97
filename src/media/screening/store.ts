/** Incident records: what was blocked, and why. */
import { type Generated, sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { MediaTables } from '../store.ts';
import type { Match, PictureDigests } from './screening.ts';

export interface IncidentsTable {
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
  pdq: string;
  pdq_quality: number;
  check_name: Match['check'];
  list: string;
  listed: string | null;
  distance: number | null;
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
  'etag',
] as const satisfies readonly (keyof IncidentsTable)[];

/**
 * Turns the row of these bytes (`etag`) into a refusal and writes the incident, in one statement: neither is ever without
 * the other. `false`: there is no such row, or it is being refused already. A ready row too: somebody else's screening of
 * the same bytes may have passed a moment before a list was changed. The same bytes under the same id are one incident.
 */
export async function condemnAsset(
  db: Db<MediaTables>,
  asset: { readonly assetId: string; readonly etag: string },
  digests: PictureDigests,
  match: Match,
): Promise<boolean> {
  const condemned = await db
    .with('condemned', (query) =>
      query
        .updateTable('assets')
        .set((eb) => ({ refusal: 'csam_blocked', ready_at: null, screened_at: null, version: eb('version', '+', 1) }))
        .where('asset_id', '=', asset.assetId)
        .where('etag', '=', asset.etag)
        .where('refusal', 'is', null)
        .returning(ofTheRow),
    )
    .with('written', (query) =>
      query
        .insertInto('screening_incidents')
        .columns([...ofTheRow, 'sha256', 'md5', 'pdq', 'pdq_quality', 'check_name', 'list', 'listed', 'distance'])
        .expression((rows) =>
          rows
            .selectFrom('condemned')
            .select([
              ...ofTheRow,
              sql<string>`${digests.sha256}`.as('sha256'),
              sql<string>`${digests.md5}`.as('md5'),
              sql<string>`${digests.pdq}`.as('pdq'),
              sql<number>`${digests.pdqQuality}::smallint`.as('pdq_quality'),
              sql<Match['check']>`${match.check}`.as('check_name'),
              sql<string>`${match.list}`.as('list'),
              sql<string | null>`${match.listed}::text`.as('listed'),
              sql<number | null>`${match.distance}::smallint`.as('distance'),
            ]),
        )
        .onConflict((conflict) => conflict.columns(['asset_id', 'sha256']).doNothing()),
    )
    .selectFrom('condemned')
    .select('asset_id')
    .execute();
  return condemned.length === 1;
}
