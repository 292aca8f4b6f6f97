/** A profile as it is shown: what operators wrote stands over what was derived. */
import type { AdminProfile } from '../admin/api.ts';
import type { Profile } from '../api.ts';
import type { StoredProfile } from './store.ts';

export function toProfile(row: StoredProfile): Profile {
  const derived = Object.entries(row.derived).map(([fact, { value }]) => [fact, value]);
  const facts: Record<string, string> = { ...Object.fromEntries(derived), ...row.facts };
  return {
    entity_id: row.entityId,
    entity_type: row.entityType,
    summary: row.summary,
    facts,
    language: row.language ?? facts.language ?? null,
    updated_at: row.updatedAt.toISOString(),
  };
}

export function toAdminProfile(row: StoredProfile): AdminProfile {
  return { ...toProfile(row), locked: Object.keys(row.facts), derived: { ...row.derived } };
}
