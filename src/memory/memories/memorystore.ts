/** The rows of memories. */
import { type RawBuilder, type Selectable, sql, type UpdateObject } from 'kysely';
import { type Db, inCamelCase, json, type Tx } from '#platform/db/db.ts';
import {
  type Entity,
  type EntityType,
  fieldsOf,
  type LinkKind,
  type MemoryContent,
  type MemoryType,
  type Metadata,
} from '../api.ts';
import type { Handle, MemoryTables } from '../tables.ts';
import { addUsage } from './entitystore.ts';

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
  ...inCamelCase(
    'seq entity_type entity_id type content metadata embedder version bytes created_at updated_at',
    'said_at invalid_at replaced_by added_by thread_id',
  ),
] as const;

export type StoredMemory = NonNullable<Awaited<ReturnType<typeof findMemory>>>;

export function findMemory(db: Handle, id: string) {
  return db.selectFrom('memories').select(memoryColumns).where('memory_id', '=', id).executeTakeFirst();
}

/** Returns the memories of `ids` that exist, by their ids. */
export async function findMemories(db: Handle, ids: readonly string[]): Promise<ReadonlyMap<string, StoredMemory>> {
  const isSought = sql<boolean>`memory_id = any(${ids}::uuid[])`;
  const rows = await db.selectFrom('memories').select(memoryColumns).where(isSought).execute();
  return new Map(rows.map((row) => [row.id, row]));
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
  entity: Entity,
  type: MemoryType,
  hash: Buffer,
): Promise<StoredMemory | undefined> {
  return db
    .selectFrom('memories')
    .select(memoryColumns)
    .where((eb) => eb.and({ ...fieldsOf(entity), type, content_hash: hash }))
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
  const row = await tx
    .insertInto('memories')
    .values({ ...fieldsOf(entity), ...valuesOf(column, added), version })
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

export interface MemoryFilter {
  readonly entityId?: string | undefined;
  readonly entityType?: EntityType | undefined;
  readonly type?: MemoryType | undefined;
  readonly q?: string | undefined;
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
  return ids.flatMap(({ id }) => memories.get(id) ?? []);
}

// The rows of the history of memories, and of the links between them.

type RevisionRow = Selectable<MemoryTables['memory_revisions']>;
type NewRevision = Omit<RevisionRow, 'memory_id' | 'number' | 'reason' | 'created_at' | 'undone_at'> & {
  /** The reason of the decision of the language model. */
  readonly reason?: string;
};

/** Requires the lock of the entity, under which revisions are numbered. */
export async function insertRevision(tx: Tx<MemoryTables>, memoryId: string, revision: NewRevision): Promise<void> {
  await tx
    .insertInto('memory_revisions')
    .values((eb) => ({
      memory_id: memoryId,
      number: eb
        .selectFrom('memory_revisions')
        .where('memory_id', '=', memoryId)
        .select(sql<number>`coalesce(max(number), 0) + 1`.as('number')),
      ...revision,
      before: json(revision.before),
      after: json(revision.after),
      incoming: revision.incoming === null ? null : json(revision.incoming),
      reason: revision.reason ?? null,
      undone_at: null,
    }))
    .execute();
}

const revisionColumns = inCamelCase(
  'memory_id number action actor before after incoming similarity embedder reason created_at',
  'undone_at',
);

export type StoredRevision = Awaited<ReturnType<typeof findRevisions>>[number];

/** Returns the revisions of memories, the newest first. */
export function findRevisions(db: Handle, memoryIds: readonly string[]) {
  return db
    .selectFrom('memory_revisions')
    .select(revisionColumns)
    .where(sql<boolean>`memory_id = any(${memoryIds}::uuid[])`)
    .orderBy('number', 'desc')
    .execute();
}

export function findUndoable(db: Handle, memoryId: string): Promise<StoredRevision | undefined> {
  return db
    .selectFrom('memory_revisions')
    .select(revisionColumns)
    .where('memory_id', '=', memoryId)
    .where('undone_at', 'is', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export async function markUndone(tx: Tx<MemoryTables>, memoryId: string, number: number): Promise<void> {
  await tx
    .updateTable('memory_revisions')
    .set({ undone_at: sql<Date>`now()` })
    .where((eb) => eb.and({ memory_id: memoryId, number }))
    .execute();
}

/** Marks replacements as undone once the memory is valid again. */
async function markReplacementsUndone(tx: Tx<MemoryTables>, memoryId: string): Promise<void> {
  await tx
    .updateTable('memory_revisions')
    .set({ undone_at: sql<Date>`now()` })
    .where((eb) => eb.and({ memory_id: memoryId, action: 'replace' }))
    .where('undone_at', 'is', null)
    .execute();
}

export interface Link {
  readonly id: string;
  readonly kind: LinkKind;
}

export async function insertLinks(tx: Tx<MemoryTables>, memoryId: string, links: readonly Link[]): Promise<void> {
  if (links.length === 0) return;
  await tx
    .insertInto('memory_links')
    .values(links.map(({ id, kind }) => ({ memory_id: memoryId, other_id: id, kind })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deletes the links of a memory in both directions. */
export async function deleteLinks(tx: Tx<MemoryTables>, memoryId: string): Promise<void> {
  await tx
    .deleteFrom('memory_links')
    .where((eb) => eb.or([eb('memory_id', '=', memoryId), eb('other_id', '=', memoryId)]))
    .execute();
}

/** Returns the links of each memory in both directions, by memory id, the oldest first. */
export async function findLinks(db: Handle, memoryIds: readonly string[]): Promise<ReadonlyMap<string, Link[]>> {
  const rows = await db
    .selectFrom('memory_links')
    .select(['memory_id as memoryId', 'other_id as otherId', 'kind'])
    .where(sql<boolean>`memory_id = any(${memoryIds}::uuid[]) or other_id = any(${memoryIds}::uuid[])`)
    .orderBy('created_at')
    .orderBy('other_id')
    .execute();
  const links = new Map<string, Link[]>(memoryIds.map((id) => [id, []]));
  for (const { memoryId, otherId, kind } of rows) {
    links.get(memoryId)?.push({ id: otherId, kind });
    links.get(otherId)?.push({ id: memoryId, kind });
  }
  return links;
}

// Pairs of contents that never merge, because a merge of them was undone. Requires the lock of the entity.

export async function insertDistinction(
  tx: Tx<MemoryTables>,
  entity: Entity,
  type: MemoryType,
  [one, other]: readonly [Buffer, Buffer],
): Promise<void> {
  const row = { ...fieldsOf(entity), type };
  await tx
    .insertInto('memory_distinctions')
    .values([
      { ...row, content_hash: one, other_hash: other },
      { ...row, content_hash: other, other_hash: one },
    ])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns the hashes, in hexadecimal, of the contents that differ from the one with this hash. */
export async function findDistinctions(
  tx: Handle,
  entity: Entity,
  type: MemoryType,
  hash: Buffer,
): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom('memory_distinctions')
    .select('other_hash as otherHash')
    .where((eb) => eb.and({ ...fieldsOf(entity), type, content_hash: hash }))
    .execute();
  return new Set(rows.map(({ otherHash }) => Buffer.from(otherHash).toString('hex')));
}

// The form of vectors in the database: pgvector's type if the server has it, or else little-endian floats.

/**
 * The type of the column. With `bytea`, this process computes similarities; otherwise the database does. If the schema of
 * `vector` is not on the search path, the name contains it, as in Supabase's `extensions.vector`.
 */
export type VectorColumn = 'vector' | `${string}.vector` | 'bytea';

export function toBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let index = 0; index < vector.length; index += 1) bytes.writeFloatLE(vector[index] ?? 0, index * 4);
  return bytes;
}

export function fromBytes(bytes: Buffer): Float32Array {
  const vector = new Float32Array(bytes.length / 4);
  for (let index = 0; index < vector.length; index += 1) vector[index] = bytes.readFloatLE(index * 4);
  return vector;
}

/** Formats a vector for pgvector. */
function toLiteral(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}

// What searches read of an entity's memories: rows for its index, and similarities computed by the database.

export interface IndexRow {
  readonly id: string;
  readonly seq: number;
  readonly type: MemoryType;
  readonly content: string;
  readonly embedder: string;
  /** Another memory has replaced it. */
  readonly isInvalid: boolean;
  readonly version: number;
  readonly saidAt: Date;
  readonly updatedAt: Date;
  /** `null` if the database computes similarities, or if another embedder made the vector. */
  readonly embedding: Buffer | null;
}

/** Returns at most `limit` rows of the entity that were written after `after`, the oldest first. */
export function findChanged(
  db: Handle,
  entity: Entity,
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
      ...inCamelCase('seq type content embedder version said_at updated_at'),
      sql<boolean>`invalid_at is not null`.as('isInvalid'),
      embedding,
    ])
    .where((eb) => eb.and(fieldsOf(entity)))
    .where(sql<boolean>`(version, seq) > (${after.version}::bigint, ${after.seq}::bigint)`)
    .orderBy('version')
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Computes similarities to the memories that `embedder` embedded, by an exact scan with pgvector. */
export async function findSimilarities(
  db: Handle,
  column: Exclude<VectorColumn, 'bytea'>,
  entity: Entity,
  embedder: string,
  vector: Float32Array,
  similarityOf: (cosine: number) => number,
): Promise<ReadonlyMap<string, number>> {
  const schema = column.slice(0, -'vector'.length);
  const [type, dimensions] = [sql.raw(column), sql.raw(`${schema}vector_dims`)];
  const distance = sql.raw(schema === '' ? '<=>' : `operator(${schema}<=>)`);
  const rows = await db
    .selectFrom('memories')
    .select([
      'memory_id as id',
      // Vectors of another embedder may have other dimensions, for which the operator throws.
      sql<number | null>`case when embedder = ${embedder} and ${dimensions}(embedding::${type}) = ${vector.length}
        then 1 - (embedding::${type} ${distance} cast(${toLiteral(vector)} as ${type})) end`.as('similarity'),
    ])
    .where((eb) => eb.and(fieldsOf(entity)))
    .where('embedder', '=', embedder)
    .where('invalid_at', 'is', null)
    .execute();
  const similarities = new Map<string, number>();
  for (const { id, similarity } of rows) if (similarity !== null) similarities.set(id, similarityOf(similarity));
  return similarities;
}

/** Returns the ids of all memories of the entity, in no order. */
export async function findIds(db: Handle, entity: Entity): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('memories')
    .select('memory_id as id')
    .where((eb) => eb.and(fieldsOf(entity)))
    .execute();
  return rows.map(({ id }) => id);
}
