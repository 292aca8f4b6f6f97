/** The lists of memories that operators see. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { EntityType, MemoryType } from '../api.ts';
import { findMemories, type StoredMemory } from '../memories/memorystore.ts';
import type { MemoryTables } from '../tables.ts';

export interface MemoryFilter {
  readonly entityId: string | undefined;
  readonly entityType: EntityType | undefined;
  readonly type: MemoryType | undefined;
  readonly q: string | undefined;
  /** Returns replaced memories too. */
  readonly includeInvalid: boolean;
  /** Returns only memories with a smaller sequence number. */
  readonly before: number | undefined;
  readonly limit: number;
}

/** Returns memories of all entities, the newest first. */
export async function listMemories(db: Db<MemoryTables>, filter: MemoryFilter): Promise<readonly StoredMemory[]> {
  const { entityId, entityType, type, q, includeInvalid, before, limit } = filter;
  const sought = `%${(q ?? '').toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
  const ids = await db
    .selectFrom('memories')
    .select('memory_id as id')
    .$if(entityId !== undefined, (query) => query.where('entity_id', '=', String(entityId)))
    .$if(entityType !== undefined, (query) => query.where('entity_type', '=', entityType as EntityType))
    .$if(type !== undefined, (query) => query.where('type', '=', type as MemoryType))
    .$if(q !== undefined, (query) => query.where(sql<boolean>`lower(content) like ${sought}`))
    .$if(!includeInvalid, (query) => query.where('invalid_at', 'is', null))
    .$if(before !== undefined, (query) => query.where('seq', '<', Number(before)))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  const memories = await findMemories(
    db,
    ids.map(({ id }) => id),
  );
  return memories.toSorted((left, right) => right.seq - left.seq);
}
