/** The rows of entities: the lock under which their memories are written, and their usage. */
import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { holdName, inCamelCase, type Tx } from '#platform/db/db.ts';
import { type Entity, fieldsOf } from '../api.ts';
import { memoryProblems } from '../problems.ts';
import type { Handle, MemoryTables } from '../tables.ts';

const entityColumns = inCamelCase('version memory_count memory_bytes paused_at resumed_at');

export type EntityState = NonNullable<Awaited<ReturnType<typeof findEntity>>>;

export interface LockedEntity {
  /** For the rows that are written under the lock. Greater than every version that the entity had. */
  readonly version: number;
  /** The state before the lock. */
  readonly before: EntityState;
}

/** Locks an entity across processes until the transaction ends, and inserts its row if it is missing. */
export async function lockEntity(tx: Tx<MemoryTables>, entity: Entity): Promise<LockedEntity> {
  for (;;) {
    const locked = await lockExistingEntity(tx, entity);
    if (locked !== undefined) return locked;
    await tx
      .insertInto('memory_entities')
      .values(fieldsOf(entity))
      .onConflict((conflict) => conflict.columns(['entity_type', 'entity_id']).doNothing())
      .execute();
  }
}

/** As `lockEntity`. Returns `undefined` for an entity that does not exist, such as an erased one. */
export async function lockExistingEntity(
  tx: Tx<MemoryTables>,
  { entityType, entityId }: Entity,
): Promise<LockedEntity | undefined> {
  // Draws the version under the lock. Otherwise, a later commit could have a smaller one.
  const { rows } = await sql<EntityState & { readonly lockVersion: number }>`
    with locked as materialized (
      select version from memory_entities where entity_type = ${entityType} and entity_id = ${entityId} for update
    )
    update memory_entities set version = nextval('memory_versions') from locked
    where entity_type = ${entityType} and entity_id = ${entityId}
    returning memory_entities.version as "lockVersion", locked.version, memory_count as "memoryCount",
      memory_bytes as "memoryBytes", paused_at as "pausedAt", resumed_at as "resumedAt"`.execute(tx);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { lockVersion, ...before } = row;
  return { version: lockVersion, before };
}

/** Returns `undefined` for an entity without memories and profile. */
export function findEntity(db: Handle, entity: Entity) {
  return db
    .selectFrom('memory_entities')
    .select(entityColumns)
    .where((eb) => eb.and(fieldsOf(entity)))
    .executeTakeFirst();
}

/** Adds to the usage of an entity. Requires its lock. */
export async function addUsage(
  tx: Tx<MemoryTables>,
  entity: Entity,
  added: { readonly memories: number; readonly bytes: number },
): Promise<void> {
  await tx
    .updateTable('memory_entities')
    .set((eb) => ({
      memory_count: eb('memory_count', '+', added.memories),
      memory_bytes: eb('memory_bytes', '+', added.bytes),
    }))
    .where((eb) => eb.and(fieldsOf(entity)))
    .execute();
}

/** Deletes an entity with its memories, their histories and links, and its profile. Requires its lock. Returns the number of memories. */
export async function deleteEntity(tx: Tx<MemoryTables>, entity: Entity): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('memories')
    .where((eb) => eb.and(fieldsOf(entity)))
    .executeTakeFirst();
  for (const table of ['memory_model_calls', 'memory_profiles', 'memory_entities'] as const)
    await tx
      .deleteFrom(table)
      .where((eb) => eb.and(fieldsOf(entity)))
      .execute();
  return Number(numDeletedRows);
}

// Pauses: nothing is remembered of an entity, and nothing that is known of it is used.

/** When the pause of the entity began. `null`: it is not paused. */
export const pauseOf = (state: EntityState | undefined): Date | null =>
  state === undefined || state.resumedAt !== null ? null : state.pausedAt;

export const isPaused = (state: EntityState | undefined): boolean => pauseOf(state) !== null;

/** Begins or ends a pause. Requires the lock of the entity. */
export async function setPaused(tx: Tx<MemoryTables>, entity: Entity, paused: boolean) {
  const now = sql<Date>`clock_timestamp()`;
  await tx
    .updateTable('memory_entities')
    .set(paused ? { paused_at: now, resumed_at: null } : { resumed_at: now })
    .where((eb) => eb.and(fieldsOf(entity)))
    .execute();
}

/** Throws 409 `memory_paused` during a pause, and for work on messages that were written during the last one. */
export async function assertNotPaused(db: Handle, entity: Entity, since: Since | undefined): Promise<void> {
  const pause = await db
    .selectFrom('memory_entities')
    .select('entity_id')
    .where((eb) => eb.and(fieldsOf(entity)))
    .where(sql<boolean>`paused_at is not null and (resumed_at is null
      or cast(${since ?? null} as timestamptz) between paused_at and resumed_at)`)
    .executeTakeFirst();
  if (pause !== undefined) throw memoryProblems.memory_paused();
}

// Erasures, and whether an entity was erased since some work on it began. Its id is not stored: a salted hash records the
// erasure, so only a caller who knows the id can find it.

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
