/** Whether memories are valid. A memory that another one has replaced is invalid, and can become valid again. */
import { sql } from 'kysely';
import type { Tx } from '#platform/db/db.ts';
import type { MemoryTables } from '../tables.ts';
import { markReplacementsUndone } from './historystore.ts';
import { memoryColumns, type StoredMemory } from './memorystore.ts';

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
