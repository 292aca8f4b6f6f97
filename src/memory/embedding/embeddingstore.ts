/** The vectors of memories after a change of the embedder. */
import type { Tx } from '#platform/db/db.ts';
import { memoryColumns, type StoredMemory, vectorValue } from '../memories/memorystore.ts';
import type { VectorColumn } from '../memories/vectors.ts';
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
    .where('memory_id', '=', seen.id)
    .where('version', '=', seen.version)
    .execute();
}
