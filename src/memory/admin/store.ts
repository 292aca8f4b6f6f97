/** What operators see over all entities, and the end of an entity. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type { Entity, EntityType, MemoryType } from '../api.ts';
import { findMemories, type MemoryTables, type StoredMemory } from '../store.ts';

export interface MemoryFilter {
  readonly entityId: string | undefined;
  readonly entityType: EntityType | undefined;
  readonly type: MemoryType | undefined;
  readonly q: string | undefined;
  /** Only what came before this. */
  readonly before: number | undefined;
  readonly limit: number;
}

/** The newest first. */
export async function listMemories(db: Db<MemoryTables>, filter: MemoryFilter): Promise<readonly StoredMemory[]> {
  const { entityId, entityType, type, q, before, limit } = filter;
  const sought = `%${(q ?? '').toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
  const ids = await db
    .selectFrom('memories')
    .select('memory_id as id')
    .$if(entityId !== undefined, (query) => query.where('entity_id', '=', String(entityId)))
    .$if(entityType !== undefined, (query) => query.where('entity_type', '=', entityType as EntityType))
    .$if(type !== undefined, (query) => query.where('type', '=', type as MemoryType))
    .$if(q !== undefined, (query) => query.where(sql<boolean>`lower(content) like ${sought}`))
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

/** The entity has to be locked. Histories and links go with their memories. */
export async function deleteEntity(tx: Tx<MemoryTables>, { entityType, entityId }: Entity): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('memories')
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .executeTakeFirst();
  await tx
    .deleteFrom('memory_profiles')
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .execute();
  await tx
    .deleteFrom('memory_entities')
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .execute();
  return Number(numDeletedRows);
}

export async function insertErasure(
  tx: Tx<MemoryTables>,
  erasure: { readonly salt: string; readonly digest: string; readonly memoryCount: number },
): Promise<void> {
  await tx
    .insertInto('memory_erasures')
    .values({ salt: erasure.salt, entity_digest: erasure.digest, memory_count: erasure.memoryCount })
    .execute();
}
