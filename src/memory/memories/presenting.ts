/** A memory for callers. */
import type { FoundMemory, Memory, Profile } from '../api.ts';
import type { StoredProfile } from '../profiles/profilestore.ts';
import { plain } from '../text.ts';
import dates from './dates.json' with { type: 'json' };
import type { StoredMemory } from './memorystore.ts';

export function toMemory(row: StoredMemory): Memory {
  return {
    id: row.id,
    entity_id: row.entityId,
    entity_type: row.entityType,
    type: row.type,
    content: row.content,
    metadata: { ...row.metadata },
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    said_at: row.saidAt.toISOString(),
    invalid_at: row.invalidAt === null ? null : row.invalidAt.toISOString(),
    replaced_by: row.replacedBy,
    added_by: row.addedBy,
    thread_id: row.threadId,
  };
}

export function toFoundMemory(row: StoredMemory, found: Pick<FoundMemory, 'score' | 'fallback'>): FoundMemory {
  const { invalid_at: _, replaced_by: __, ...memory } = toMemory(row);
  const when = resolveDate(row.content, row.saidAt);
  return { ...memory, ...found, ...(when !== undefined && { when }) };
}

// Resolves relative dates, such as "next month", by the time of the statement.

/**
 * Phrases of the content languages, by unit and distance. The first one that a content has counts. Prepared on first use,
 * because a start does not need them.
 */
let prepared: readonly (readonly [unit: string, distance: number, phrases: readonly string[]])[] | undefined;

const dayMs = 24 * 3600 * 1000;
const iso = (time: number) => new Date(time).toISOString().slice(0, 10);

/** Returns a day, a month, a year, or the first and the last day of a week (in UTC), in ISO 8601. */
function resolveDate(content: string, saidAt: Date): string | undefined {
  prepared ??= dates.map(({ unit, distance, phrases }) => [unit, distance, phrases.split(', ').map(plain)] as const);
  const text = plain(content);
  const [unit, distance] = prepared.find(([, , list]) => list.some((phrase) => text.includes(phrase))) ?? [];
  if (unit === undefined || distance === undefined) return undefined;
  if (unit === 'day') return iso(saidAt.getTime() + distance * dayMs);
  if (unit === 'year') return String(saidAt.getUTCFullYear() + distance);
  if (unit === 'month') return iso(Date.UTC(saidAt.getUTCFullYear(), saidAt.getUTCMonth() + distance)).slice(0, 7);
  const monday = saidAt.getTime() - ((saidAt.getUTCDay() + 6) % 7) * dayMs + distance * 7 * dayMs;
  return `${iso(monday)}/${iso(monday + 6 * dayMs)}`;
}

// A profile for callers. Facts that operators wrote replace derived ones.

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
