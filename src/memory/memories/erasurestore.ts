/**
 * Erasures, and whether an entity was erased since some work on it began. Its id is not stored: a salted hash records the
 * erasure, so only a caller who knows the id can find it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { holdName, type Tx } from '#platform/db/db.ts';
import type { Entity } from '../api.ts';
import type { Handle, MemoryTables } from '../tables.ts';

/** The entity was erased after the work on it began. */
export class EntityErased extends Error {}

/** When work began, by the clock of the database, which also dates erasures. As text, because it has microseconds. */
export type Since = string;

/** Returns the present time, or `before` if that is earlier. */
export async function readTime(db: Handle, before: string | undefined = undefined): Promise<Since> {
  const { rows } = await sql<{ since: string }>`
    select least(cast(${before ?? null} as timestamptz), clock_timestamp())::text as since`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no time');
  return row.since;
}

/**
 * Excludes erasures of the entity until the transaction ends. Unlike the lock of the entity's row, this creates no row.
 * The holder of both must take the row first.
 */
export function holdErasures(tx: Tx<MemoryTables>, { entityType, entityId }: Entity): Promise<void> {
  return holdName(tx, `memory erasure ${entityType} ${entityId}`);
}

/** Excludes erasures, and throws EntityErased if there was one at `since` or later. */
export async function assertNotErased(tx: Tx<MemoryTables>, entity: Entity, since: Since): Promise<void> {
  await holdErasures(tx, entity);
  const text = `${entity.entityType} ${entity.entityId}`;
  const erasure = await tx
    .selectFrom('memory_erasures')
    .select('erasure_id')
    .where(sql<boolean>`created_at >= cast(${since} as timestamptz)`)
    .where(sql<boolean>`entity_digest = encode(sha256(convert_to(salt || ' ' || ${text}, 'UTF8')), 'hex')`)
    .limit(1)
    .executeTakeFirst();
  if (erasure !== undefined) throw new EntityErased('The entity was erased in the meantime');
}

/** Requires `holdErasures`. */
export async function insertErasure(
  tx: Tx<MemoryTables>,
  { entityType, entityId }: Entity,
  memoryCount: number,
): Promise<void> {
  const salt = randomBytes(16).toString('hex');
  const digest = createHash('sha256').update(`${salt} ${entityType} ${entityId}`).digest('hex');
  await tx
    .insertInto('memory_erasures')
    .values({ salt, entity_digest: digest, memory_count: memoryCount, created_at: sql<Date>`clock_timestamp()` })
    .execute();
}
