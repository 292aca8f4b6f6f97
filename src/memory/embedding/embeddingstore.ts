/** The vectors of memories after a change of the embedder. */
import { json, type Tx } from '#platform/db/db.ts';
import { memoryColumns, type StoredMemory, type VectorColumn, vectorValue } from '../memories/memorystore.ts';
import type { Handle, MemoryTables } from '../tables.ts';

/** Returns memories that another embedder embedded, ordered by id. */
export function findStale(
  db: Handle,
  embedder: string,
  after: string,
  limit: number,
): Promise<readonly StoredMemory[]> {
  return db
    .selectFrom('memories')
    .select(memoryColumns)
    .where('embedder', '<>', embedder)
    .where('memory_id', '>', after)
    .orderBy('memory_id')
    .limit(limit)
    .execute();
}

/** Does nothing if the memory has changed since it was read. */
export async function replaceEmbedding(
  tx: Tx<MemoryTables>,
  column: VectorColumn,
  seen: StoredMemory,
  embedder: string,
  embedding: Float32Array,
  version: number,
): Promise<void> {
  await tx
    .updateTable('memories')
    .set({ embedder, embedding: vectorValue(column, embedding), version })
    .where((eb) => eb.and({ memory_id: seen.id, version: seen.version }))
    .execute();
}

// The rows of calibrations, one for each embedder and edition of the pairs.

/** Cosines with their similarities, both rising. If it is empty, a cosine is the similarity. */
export type Points = readonly (readonly [cosine: number, similarity: number])[];

export interface Calibration {
  readonly points: Points;
  /** Is subtracted from the vectors of queries. Empty: nothing is. */
  readonly center: readonly number[];
  /** For the vectors of queries. */
  readonly queryPoints: Points;
}

export function findCalibration(db: Handle, embedder: string, edition: number): Promise<Calibration | undefined> {
  return db
    .selectFrom('memory_calibrations')
    .select(['points', 'center', 'query_points as queryPoints'])
    .where((eb) => eb.and({ embedder, edition }))
    .executeTakeFirst();
}

/** Does nothing if another process has inserted it: it measured the same. */
export async function insertCalibration(
  db: Handle,
  embedder: string,
  edition: number,
  { points, center, queryPoints }: Calibration,
): Promise<void> {
  await db
    .insertInto('memory_calibrations')
    .values({ embedder, edition, points: json(points), center: json(center), query_points: json(queryPoints) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
