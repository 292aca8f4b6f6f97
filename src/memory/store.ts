/** The rows of entities and memories, and the lock under which they are written. */
import { type Generated, type RawBuilder, type Selectable, sql, type UpdateObject } from 'kysely';
import { type Db, json, type Tx } from '#platform/db/db.ts';
import type { Entity, EntityType, MemoryType, Metadata } from './api.ts';
import type { CalibrationTables } from './embedding/calibrationstore.ts';
import type { HistoryTables } from './history/store.ts';
import type { ProfileTables } from './profiles/store.ts';
import { toBytes, toLiteral, type VectorColumn } from './vectors.ts';

interface EntitiesTable {
  entity_type: EntityType;
  entity_id: string;
  version: Generated<number>;
  memory_count: Generated<number>;
  memory_bytes: Generated<number>;
}

interface MemoriesTable {
  memory_id: Generated<string>;
  seq: Generated<number>;
  entity_type: EntityType;
  entity_id: string;
  type: MemoryType;
  content: string;
  content_hash: Buffer;
  metadata: Metadata;
  embedder: string;
  embedding: Buffer;
  version: number;
  bytes: number;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface MemoryTables extends CalibrationTables, HistoryTables, ProfileTables {
  memory_erasures: {
    erasure_id: Generated<string>;
    salt: string;
    entity_digest: string;
    memory_count: number;
    created_at: Generated<Date>;
  };
  memory_entities: EntitiesTable;
  memories: MemoriesTable;
}

export type Handle = Db<MemoryTables> | Tx<MemoryTables>;

/** Which of the two the migration could make. */
export async function findVectorColumn(db: Handle): Promise<VectorColumn> {
  const { rows } = await sql<{ type: VectorColumn }>`
    select format_type(atttypid, null) as type from pg_attribute
    where attrelid = 'memories'::regclass and attname = 'embedding'`.execute(db);
  return rows[0]?.type ?? 'bytea';
}

export function vectorValue(column: VectorColumn, vector: Float32Array): RawBuilder<Buffer> {
  return column === 'bytea'
    ? sql<Buffer>`cast(${toBytes(vector)} as bytea)`
    : sql<Buffer>`cast(${toLiteral(vector)} as ${sql.raw(column)})`;
}

/**
 * The lock of an entity, held until the transaction ends, across processes; the row is made where there is none. Answers
 * the entity's new version, for the rows that are written under it, and what it holds so far.
 */
export function lockEntity(tx: Tx<MemoryTables>, { entityType, entityId }: Entity): Promise<EntityState> {
  return tx
    .insertInto('memory_entities')
    .values({ entity_type: entityType, entity_id: entityId })
    .onConflict((conflict) =>
      conflict.columns(['entity_type', 'entity_id']).doUpdateSet({ version: sql<number>`nextval('memory_versions')` }),
    )
    .returning(entityColumns)
    .executeTakeFirstOrThrow();
}

const entityColumns = ['version', 'memory_count as memoryCount', 'memory_bytes as memoryBytes'] as const;

export interface EntityState {
  readonly version: number;
  readonly memoryCount: number;
  readonly memoryBytes: number;
}

/** `undefined`: nothing is known of the entity. */
export function findEntity(db: Handle, entity: Entity): Promise<EntityState | undefined> {
  return db
    .selectFrom('memory_entities')
    .select(entityColumns)
    .where('entity_type', '=', entity.entityType)
    .where('entity_id', '=', entity.entityId)
    .executeTakeFirst();
}

export const memoryColumns = [
  'memory_id as id',
  'seq',
  'entity_type as entityType',
  'entity_id as entityId',
  'type',
  'content',
  'metadata',
  'embedder',
  'version',
  'bytes',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const;

export type StoredMemory = Pick<
  Selectable<MemoriesTable>,
  'seq' | 'type' | 'content' | 'metadata' | 'embedder' | 'version' | 'bytes'
> &
  Entity & { readonly id: string; readonly createdAt: Date; readonly updatedAt: Date };

export function findMemory(db: Handle, id: string): Promise<StoredMemory | undefined> {
  return db.selectFrom('memories').select(memoryColumns).where('memory_id', '=', id).executeTakeFirst();
}

/** Of all memories of the entity, in no order. */
export async function findIds(db: Handle, { entityType, entityId }: Entity): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('memories')
    .select('memory_id as id')
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .execute();
  return rows.map(({ id }) => id);
}

/** Those of `ids` that exist, in no order. */
export function findMemories(db: Handle, ids: readonly string[]): Promise<readonly StoredMemory[]> {
  return db.selectFrom('memories').select(memoryColumns).where(sql<boolean>`memory_id = any(${ids}::uuid[])`).execute();
}

export function findByHash(
  db: Handle,
  { entityType, entityId }: Entity,
  type: MemoryType,
  hash: Buffer,
): Promise<StoredMemory | undefined> {
  return db
    .selectFrom('memories')
    .select(memoryColumns)
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .where('type', '=', type)
    .where('content_hash', '=', hash)
    .executeTakeFirst();
}

/** All that a content comes down to. */
export interface Inscription {
  readonly type: MemoryType;
  readonly content: string;
  readonly hash: Buffer;
  readonly metadata: Metadata;
  readonly embedder: string;
  readonly embedding: Float32Array;
}

export async function insertMemory(
  tx: Tx<MemoryTables>,
  column: VectorColumn,
  entity: Entity,
  inscription: Inscription,
  version: number,
): Promise<StoredMemory> {
  const { entityType, entityId } = entity;
  const row = await tx
    .insertInto('memories')
    .values({ entity_type: entityType, entity_id: entityId, ...valuesOf(column, inscription), version })
    .returning(memoryColumns)
    .executeTakeFirstOrThrow();
  await countMemories(tx, entity, 1, row.bytes);
  return row;
}

/** The entity has to be locked. Throws a unique violation of `memories_once` when another memory says the same. */
export function updateMemory(
  tx: Tx<MemoryTables>,
  column: VectorColumn,
  before: StoredMemory,
  inscription: Inscription,
  version: number,
): Promise<StoredMemory> {
  return update(tx, before, { ...valuesOf(column, inscription), version });
}

/** Of a memory whose wording stays. The entity has to be locked. */
export function updateMetadata(
  tx: Tx<MemoryTables>,
  before: StoredMemory,
  metadata: Metadata,
  version: number,
): Promise<StoredMemory> {
  const bytes = sizeOf({ content: before.content, metadata });
  return update(tx, before, { metadata: json(metadata), bytes, version });
}

async function update(
  tx: Tx<MemoryTables>,
  before: StoredMemory,
  changes: UpdateObject<MemoryTables, 'memories'> & { readonly bytes: number },
): Promise<StoredMemory> {
  const row = await tx
    .updateTable('memories')
    .set({ ...changes, updated_at: sql<Date>`now()` })
    .where('memory_id', '=', before.id)
    .returning(memoryColumns)
    .executeTakeFirstOrThrow();
  if (row.bytes !== before.bytes) await countMemories(tx, before, 0, row.bytes - before.bytes);
  return row;
}

/** What a memory counts towards the limit of its entity. */
export function sizeOf({ content, metadata }: Pick<Inscription, 'content' | 'metadata'>): number {
  const text = JSON.stringify(metadata);
  return Buffer.byteLength(content) + (text === '{}' ? 0 : Buffer.byteLength(text));
}

function valuesOf(column: VectorColumn, inscription: Inscription) {
  const { type, content, hash, metadata, embedder, embedding } = inscription;
  return {
    type,
    content,
    content_hash: hash,
    metadata: json(metadata),
    bytes: sizeOf(inscription),
    embedder,
    embedding: vectorValue(column, embedding),
  };
}

/** The entity has to be locked. Its history and links go with it. */
export async function deleteMemory(tx: Tx<MemoryTables>, entity: Entity, id: string): Promise<void> {
  const row = await tx.deleteFrom('memories').where('memory_id', '=', id).returning('bytes').executeTakeFirst();
  if (row !== undefined) await countMemories(tx, entity, -1, -row.bytes);
}

async function countMemories(
  tx: Tx<MemoryTables>,
  { entityType, entityId }: Entity,
  more: number,
  moreBytes: number,
): Promise<void> {
  await tx
    .updateTable('memory_entities')
    .set((eb) => ({
      memory_count: eb('memory_count', '+', more),
      memory_bytes: eb('memory_bytes', '+', moreBytes),
    }))
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .execute();
}

export interface IndexRow {
  readonly id: string;
  readonly seq: number;
  readonly type: MemoryType;
  readonly content: string;
  readonly embedder: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Of `embedder`; `null` where similarities are the database's to compute, or the embedder is another. */
  readonly embedding: Buffer | null;
}

/** Rows of the entity written after `after`, the oldest first, at most `limit`. */
export function findChanged(
  db: Handle,
  { entityType, entityId }: Entity,
  column: VectorColumn,
  embedder: string,
  after: { readonly version: number; readonly seq: number },
  limit: number,
): Promise<readonly IndexRow[]> {
  const embedding =
    column === 'bytea'
      ? sql<Buffer | null>`case when embedder = ${embedder} then embedding end`.as('embedding')
      : sql<Buffer | null>`cast(null as bytea)`.as('embedding');
  return db
    .selectFrom('memories')
    .select([
      'memory_id as id',
      'seq',
      'type',
      'content',
      'embedder',
      'version',
      'created_at as createdAt',
      'updated_at as updatedAt',
      embedding,
    ])
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .where(sql<boolean>`(version, seq) > (${after.version}::bigint, ${after.seq}::bigint)`)
    .orderBy('version')
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** By pgvector: how alike each memory of the entity is that `embedder` embedded. An exact scan. */
export async function findSimilarities(
  db: Handle,
  column: Exclude<VectorColumn, 'bytea'>,
  { entityType, entityId }: Entity,
  embedder: string,
  vector: Float32Array,
): Promise<ReadonlyMap<string, number>> {
  const schema = column.slice(0, -'vector'.length);
  const [type, dimensions] = [sql.raw(column), sql.raw(`${schema}vector_dims`)];
  const distance = sql.raw(schema === '' ? '<=>' : `operator(${schema}<=>)`);
  const rows = await db
    .selectFrom('memories')
    .select([
      'memory_id as id',
      // Vectors of another embedder may have other dimensions, which is an error to the operator.
      sql<number | null>`case when embedder = ${embedder} and ${dimensions}(embedding::${type}) = ${vector.length}
        then 1 - (embedding::${type} ${distance} cast(${toLiteral(vector)} as ${type})) end`.as('similarity'),
    ])
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .where('embedder', '=', embedder)
    .execute();
  return new Map(rows.flatMap(({ id, similarity }) => (similarity === null ? [] : [[id, similarity]])));
}
