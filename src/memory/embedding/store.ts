/** The vectors of memories after a change of the embedder. */
import type { Db, Tx } from '#platform/db/db.ts';
import { type MemoryTables, memoryColumns, type StoredMemory, vectorValue } from '../store.ts';
import type { VectorColumn } from '../vectors.ts';

type Handle = Db<MemoryTables> | Tx<MemoryTables>;

/** Memories that another embedder embedded, of one entity after the other. */
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

/** Only as long as the content is the one that was embedded. */
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
