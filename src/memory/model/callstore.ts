/** How often the language model is called for an entity. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { Entity } from '../api.ts';
import type { MemoryTables } from '../tables.ts';

/** Counts a call before it is made. Returns `false` if the entity has had `limit` calls today, in UTC. */
export async function takeCall(
  db: Db<MemoryTables>,
  { entityType, entityId }: Entity,
  limit: number,
): Promise<boolean> {
  const today = sql<string>`(now() at time zone 'UTC')::date`;
  const row = await db
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
