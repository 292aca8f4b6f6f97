/** A memory for callers. */
import type { FoundMemory, Memory } from '../api.ts';
import { resolveDate } from '../text/relativedates.ts';
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
  };
}

export function toFoundMemory(row: StoredMemory, found: Pick<FoundMemory, 'score' | 'fallback'>): FoundMemory {
  const { invalid_at: _, replaced_by: __, ...memory } = toMemory(row);
  const when = resolveDate(row.content, row.saidAt);
  return { ...memory, ...found, ...(when !== undefined && { when }) };
}
