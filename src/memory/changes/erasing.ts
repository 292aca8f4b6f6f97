/**
 * Erases an entity (docs/specification/memory.md#erasure). One transaction deletes its rows, histories and links, so no
 * content or id remains. Other processes hold numbers and stems of the entity until their next request for it, and never
 * return them. A salted hash records the erasure: if you know the id, you can check it.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Entity } from '../api.ts';
import { deleteEntity, insertErasure } from '../memories/entitystore.ts';
import type { EntityIndexes } from '../search/entityindex.ts';
import { type WritingDeps, writeEntity } from './entitywrite.ts';

export interface ErasingDeps extends WritingDeps {
  readonly indexes: EntityIndexes;
}

/** Does nothing for an unknown entity, so it can be repeated. */
export async function eraseEntity(deps: ErasingDeps, entity: Entity): Promise<void> {
  await writeEntity(deps, entity, async ({ tx }) => {
    const memoryCount = await deleteEntity(tx, entity);
    const salt = randomBytes(16).toString('hex');
    const digest = createHash('sha256').update(`${salt} ${entity.entityType} ${entity.entityId}`).digest('hex');
    await insertErasure(tx, { salt, digest, memoryCount });
  });
  deps.indexes.forget(entity);
}
