/** A profile for callers. Facts that operators wrote replace derived ones. */
import type { Profile } from '../api.ts';
import type { StoredProfile } from './profilestore.ts';

export function toProfile(row: StoredProfile): Profile {
  const derived = Object.entries(row.derived).map(([fact, { value }]) => [fact, value]);
  const facts: Record<string, string> = { ...Object.fromEntries(derived), ...row.facts };
  return {
    entity_id: row.entityId,
    entity_type: row.entityType,
    summary: row.summary,
    facts,
    evidence: Object.fromEntries(
      Object.entries(row.derived).flatMap(([fact, { evidence }]) => (fact in row.facts ? [] : [[fact, evidence]])),
    ),
    language: row.language ?? facts.language ?? null,
    updated_at: row.updatedAt.toISOString(),
  };
}
