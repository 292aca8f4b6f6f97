/** What searches read of an entity's memories: rows for its index, and similarities computed by the database. */

import { sql } from 'kysely';
import { inCamelCase } from '#platform/db/db.ts';
import type { Entity, MemoryType } from '../api.ts';
import { toLiteral, type VectorColumn } from '../memories/memorystore.ts';
import type { Handle } from '../tables.ts';

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
      ...inCamelCase('seq type content embedder version said_at updated_at'),
      sql<boolean>`invalid_at is not null`.as('isInvalid'),
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

/** Computes similarities to the memories that `embedder` embedded, by an exact scan with pgvector. */
export async function findSimilarities(
  db: Handle,
  column: Exclude<VectorColumn, 'bytea'>,
  { entityType, entityId }: Entity,
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
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .where('embedder', '=', embedder)
    .where('invalid_at', 'is', null)
    .execute();
  const similarities = new Map<string, number>();
  for (const { id, similarity } of rows) if (similarity !== null) similarities.set(id, similarityOf(similarity));
  return similarities;
}

/** Returns the ids of all memories of the entity, in no order. */
export async function findIds(db: Handle, { entityType, entityId }: Entity): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('memories')
    .select('memory_id as id')
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .execute();
  return rows.map(({ id }) => id);
}
