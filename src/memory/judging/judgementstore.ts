/** The memories that wait for the judge, and the key by which its jobs name an entity. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import { type Entity, fieldsOf } from '../api.ts';
import { memoryColumns, type StoredMemory } from '../memories/memorystore.ts';
import type { Handle, MemoryTables } from '../tables.ts';

export async function insertJudgement(tx: Tx<MemoryTables>, memoryId: string, delayMs: number): Promise<void> {
  await tx
    .insertInto('memory_judgements')
    .values({ memory_id: memoryId, due_at: sql<Date>`now() + ${delayMs} * interval '1 millisecond'` })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteJudgements(tx: Tx<MemoryTables>, memoryIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('memory_judgements').where(sql<boolean>`memory_id = any(${memoryIds}::uuid[])`).execute();
}

/** Returns memories of the entity that wait, the oldest first: those of `ids`, or else those that are due. */
export function findWaiting(
  db: Db<MemoryTables>,
  entity: Entity,
  limit: number,
  ids: readonly string[] | undefined,
): Promise<readonly StoredMemory[]> {
  const isWanted =
    ids === undefined
      ? sql<boolean>`memory_id in (select memory_id from memory_judgements where due_at <= now())`
      : sql<boolean>`memory_id in (select memory_id from memory_judgements where memory_id = any(${ids}::uuid[]))`;
  return db
    .selectFrom('memories')
    .select(memoryColumns)
    .where((eb) => eb.and(fieldsOf(entity)))
    .where(isWanted)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Returns in how many milliseconds the next memory of the entity is due; at most 0 if one is. */
export async function findNextDue(tx: Tx<MemoryTables>, entity: Entity): Promise<number | undefined> {
  const row = await tx
    .selectFrom('memory_judgements')
    .innerJoin('memories', 'memories.memory_id', 'memory_judgements.memory_id')
    .select(sql<number | null>`(extract(epoch from min(due_at) - clock_timestamp()) * 1000)::float8`.as('ms'))
    .where((eb) => eb.and(fieldsOf(entity)))
    .executeTakeFirst();
  return row?.ms ?? undefined;
}

export async function findJudgingKey(db: Handle, entity: Entity): Promise<string> {
  const row = await db
    .selectFrom('memory_entities')
    .select('judging_key as key')
    .where((eb) => eb.and(fieldsOf(entity)))
    .executeTakeFirstOrThrow();
  return row.key;
}

const byKey = (db: Handle, key: string) =>
  db
    .selectFrom('memory_entities')
    .select(['entity_type as entityType', 'entity_id as entityId'])
    .where('judging_key', '=', key);

/** Returns `undefined` once the entity is erased. */
export const findByJudgingKey = (db: Handle, key: string): Promise<Entity | undefined> =>
  byKey(db, key).executeTakeFirst();

/** As `findByJudgingKey`. Until the transaction ends, nothing is added to the entity. */
export const lockByJudgingKey = (tx: Tx<MemoryTables>, key: string): Promise<Entity | undefined> =>
  byKey(tx, key).forUpdate().executeTakeFirst();
