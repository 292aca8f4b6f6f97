/** How often the language model is called for an entity. */
import { sql } from 'kysely';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import type { Entity } from '../api.ts';
import { assertNotErased, type Since } from '../memories/entitystore.ts';
import type { MemoryTables } from '../tables.ts';

/**
 * Counts a call before it is made. Returns `false` if the entity has had `limit` calls today, in UTC. Throws EntityErased
 * if the entity was erased since the work began, because the row contains its id.
 */
export function takeCall(db: Db<MemoryTables>, entity: Entity, limit: number, since: Since): Promise<boolean> {
  return transaction(db, async (tx) => {
    await assertNotErased(tx, entity, since);
    return count(tx, entity, limit);
  });
}

async function count(tx: Tx<MemoryTables>, { entityType, entityId }: Entity, limit: number): Promise<boolean> {
  const today = sql<string>`(now() at time zone 'UTC')::date`;
  const row = await tx
    .insertInto('memory_model_calls')
    .values({ entity_type: entityType, entity_id: entityId, day: today, calls: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['entity_type', 'entity_id'])
        .doUpdateSet({
          day: today,
          calls: sql<number>`case when memory_model_calls.day = excluded.day then memory_model_calls.calls + 1 else 1 end`,
        })
        .where(sql<boolean>`memory_model_calls.day <> excluded.day or memory_model_calls.calls < ${limit}`),
    )
    .returning('calls')
    .executeTakeFirst();
  return row !== undefined;
}
