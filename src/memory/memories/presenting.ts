/** A memory for callers. */
import type { Memory } from '../api.ts';
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
  };
}
