/** Pairs of contents that never merge, because a merge of them was undone. Requires the lock of the entity. */
import type { Tx } from '#platform/db/db.ts';
import type { Entity, MemoryType } from '../api.ts';
import type { Handle, MemoryTables } from '../tables.ts';

export async function insertDistinction(
  tx: Tx<MemoryTables>,
  { entityType, entityId }: Entity,
  type: MemoryType,
  [one, other]: readonly [Buffer, Buffer],
): Promise<void> {
  const row = { entity_type: entityType, entity_id: entityId, type };
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
  { entityType, entityId }: Entity,
  type: MemoryType,
  hash: Buffer,
): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom('memory_distinctions')
    .select('other_hash as otherHash')
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .where('type', '=', type)
    .where('content_hash', '=', hash)
    .execute();
  return new Set(rows.map(({ otherHash }) => Buffer.from(otherHash).toString('hex')));
}
