/** The rows of memories. */
import { type RawBuilder, type Selectable, sql, type UpdateObject } from 'kysely';
import { type Db, json, type Tx } from '#platform/db/db.ts';
import type { Actor, Entity, EntityType, MemoryContent, MemoryType, Metadata } from '../api.ts';
import type { Handle, MemoryTables } from '../tables.ts';
import { addUsage } from './entitystore.ts';
import { markReplacementsUndone } from './historystore.ts';
import { toBytes, toLiteral, type VectorColumn } from './vectors.ts';

/** Returns the type of the column of vectors, which depends on the extensions of the database. */
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
  'said_at as saidAt',
  'invalid_at as invalidAt',
  'replaced_by as replacedBy',
  'added_by as addedBy',
  'thread_id as threadId',
] as const;

export type StoredMemory = Pick<
  Selectable<MemoryTables['memories']>,
  'seq' | 'type' | 'content' | 'metadata' | 'embedder' | 'version' | 'bytes'
> &
  Entity & {
    readonly id: string;
    readonly createdAt: Date;
    readonly updatedAt: Date;
    readonly saidAt: Date;
    /** `null`: it is valid. */
    readonly invalidAt: Date | null;
    readonly replacedBy: string | null;
    /** `null`: unknown. */
    readonly addedBy: Actor | null;
    readonly threadId: string | null;
  };

export function findMemory(db: Handle, id: string): Promise<StoredMemory | undefined> {
  return db.selectFrom('memories').select(memoryColumns).where('memory_id', '=', id).executeTakeFirst();
}

/** Returns the memories of `ids` that exist, in no order. */
export function findMemories(db: Handle, ids: readonly string[]): Promise<readonly StoredMemory[]> {
  return db.selectFrom('memories').select(memoryColumns).where(sql<boolean>`memory_id = any(${ids}::uuid[])`).execute();
}

/** Only the contents, since the other columns take longer to read. */
export async function findContents(db: Handle, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('memories')
    .select(['memory_id as id', 'content'])
    .where(sql<boolean>`memory_id = any(${ids}::uuid[])`)
    .execute();
  return new Map(rows.map(({ id, content }) => [id, content]));
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

/** When and where a fact was stated. If a field is missing, a new memory has the present time, and an existing one keeps its own. */
export interface Statement {
  readonly saidAt?: Date | undefined;
  readonly origin?: Pick<StoredMemory, 'addedBy' | 'threadId'> | undefined;
}

export interface NewMemory extends Readonly<MemoryContent>, Statement {
  readonly hash: Buffer;
  readonly embedder: string;
  readonly embedding: Float32Array;
}

export async function insertMemory(
  tx: Tx<MemoryTables>,
  column: VectorColumn,
  entity: Entity,
  added: NewMemory,
  version: number,
): Promise<StoredMemory> {
  const { entityType, entityId } = entity;
  const row = await tx
    .insertInto('memories')
    .values({ entity_type: entityType, entity_id: entityId, ...valuesOf(column, added), version })
    .returning(memoryColumns)
    .executeTakeFirstOrThrow();
  await addUsage(tx, entity, { memories: 1, bytes: row.bytes });
  return row;
}

/**
 * Requires the lock of the entity. Throws a unique violation of `memories_once` if another memory has the content. Without
 * `isNews`, `updated_at` stays.
 */
export function updateMemory(
  tx: Tx<MemoryTables>,
  column: VectorColumn,
  before: StoredMemory,
  after: NewMemory,
  { version, isNews = true }: { readonly version: number; readonly isNews?: boolean },
): Promise<StoredMemory> {
  return update(tx, before, { ...valuesOf(column, after), version }, isNews);
}

/** Replaces the metadata of a memory. Requires the lock of the entity. */
export function updateMetadata(
  tx: Tx<MemoryTables>,
  before: StoredMemory,
  metadata: Metadata,
  version: number,
  statement: Statement = {},
): Promise<StoredMemory> {
  const bytes = sizeOf({ content: before.content, metadata });
  return update(tx, before, { metadata: json(metadata), bytes, version, ...columnsOf(statement) });
}

async function update(
  tx: Tx<MemoryTables>,
  before: StoredMemory,
  changes: UpdateObject<MemoryTables, 'memories'> & { readonly bytes: number },
  isNews = true,
): Promise<StoredMemory> {
  const row = await tx
    .updateTable('memories')
    .set({ ...changes, ...(isNews && { updated_at: sql<Date>`clock_timestamp()` }) })
    .where('memory_id', '=', before.id)
    .returning(memoryColumns)
    .executeTakeFirstOrThrow();
  if (row.bytes !== before.bytes) await addUsage(tx, before, { memories: 0, bytes: row.bytes - before.bytes });
  return row;
}

/** Returns the bytes that a memory adds to the usage of its entity. */
export function sizeOf({ content, metadata }: Pick<MemoryContent, 'content' | 'metadata'>): number {
  const text = JSON.stringify(metadata);
  return Buffer.byteLength(content) + (text === '{}' ? 0 : Buffer.byteLength(text));
}

function valuesOf(column: VectorColumn, memory: NewMemory) {
  const { type, content, hash, metadata, embedder, embedding } = memory;
  return {
    type,
    content,
    content_hash: hash,
    metadata: json(metadata),
    bytes: sizeOf(memory),
    embedder,
    embedding: vectorValue(column, embedding),
    ...columnsOf(memory),
  };
}

function columnsOf({ saidAt, origin }: Statement) {
  return {
    ...(saidAt !== undefined && { said_at: saidAt }),
    ...(origin !== undefined && { added_by: origin.addedBy, thread_id: origin.threadId }),
  };
}

/** Deletes a memory with its history and links. Requires the lock of the entity. */
export async function deleteMemory(tx: Tx<MemoryTables>, entity: Entity, id: string): Promise<void> {
  const row = await tx.deleteFrom('memories').where('memory_id', '=', id).returning('bytes').executeTakeFirst();
  if (row !== undefined) await addUsage(tx, entity, { memories: -1, bytes: -row.bytes });
}

// Whether memories are valid. A memory that another one has replaced is invalid, and can become valid again.

/** Requires the lock of the entity, whose `version` makes all processes read the change. */
export async function invalidate(
  tx: Tx<MemoryTables>,
  memory: StoredMemory,
  replacedBy: string,
  version: number,
): Promise<void> {
  await tx
    .updateTable('memories')
    .set({ invalid_at: sql<Date>`clock_timestamp()`, replaced_by: replacedBy, version })
    .where('memory_id', '=', memory.id)
    .execute();
}

/** Makes a memory valid again, and marks its replacement as undone. Requires the lock of the entity. */
export async function revalidate(tx: Tx<MemoryTables>, memory: StoredMemory, version: number): Promise<StoredMemory> {
  await markReplacementsUndone(tx, memory.id);
  return tx
    .updateTable('memories')
    .set({ invalid_at: null, replaced_by: null, version })
    .where('memory_id', '=', memory.id)
    .returning(memoryColumns)
    .executeTakeFirstOrThrow();
}

// The lists of memories that operators see.

interface MemoryFilter {
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
