/** The incidents whose blocked bytes are retained. */
import { sql } from 'kysely';
import type { Handle } from '../tables.ts';

export interface EvidenceRow {
  readonly incidentId: string;
  readonly key: string;
}

/** As `evidenceKeyOf` in quarantine.ts. */
const key = sql<string>`'quarantine/' || asset_id || '/' || sha256 || case check_name when 'label' then '-label' else '' end`;

const kept = (db: Handle) =>
  db
    .selectFrom('screening_incidents')
    .select(['incident_id as incidentId', key.as('key')])
    .where('evidence_until', 'is not', null);

/** `undefined`: there is no such incident. `key: null`: nothing of it is retained. */
export function findEvidence(db: Handle, incidentId: string) {
  return db
    .selectFrom('screening_incidents')
    .select(sql<string | null>`case when evidence_until is not null then ${key} end`.as('key'))
    .where('incident_id', '=', incidentId)
    .executeTakeFirst();
}

export function findExpired(db: Handle, now: Date, limit: number): Promise<readonly EvidenceRow[]> {
  return kept(db).where('evidence_until', '<=', now).orderBy('evidence_until').limit(limit).execute();
}

export function findLabeled(db: Handle, ownerId: string, limit: number): Promise<readonly EvidenceRow[]> {
  return kept(db).where('owner_id', '=', ownerId).where('check_name', '=', 'label').limit(limit).execute();
}

/** Those of `keys` that an incident names. */
export async function findKept(db: Handle, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await kept(db).where(sql<boolean>`${key} = any(${keys}::text[])`).execute();
  return new Set(rows.map((row) => row.key));
}

export async function dropEvidence(db: Handle, rows: readonly EvidenceRow[]): Promise<void> {
  await db
    .updateTable('screening_incidents')
    .set({ evidence_until: null })
    .where(sql<boolean>`incident_id = any(${rows.map(({ incidentId }) => incidentId)}::uuid[])`)
    .execute();
}
