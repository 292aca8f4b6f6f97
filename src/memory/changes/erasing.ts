/**
 * Erases an entity (docs/specification/memory.md#erasure). One transaction deletes its rows, histories and links, so no
 * content or id remains. Other processes hold numbers and stems of the entity until their next request for it, and never
 * return them. Work that began before the erasure, such as an extraction, then writes nothing (`assertNotErased`).
 */
import type { Entity } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { deleteEntity } from '../memories/entitystore.ts';
import { holdErasures, insertErasure } from '../memories/erasurestore.ts';
import { writeEntity } from './entitywrite.ts';

/** Does nothing for an unknown entity, so it can be repeated. */
export async function eraseEntity(deps: MemoryContext, entity: Entity): Promise<void> {
  await writeEntity(deps, entity, async ({ tx }) => {
    await holdErasures(tx, entity);
    await insertErasure(tx, entity, await deleteEntity(tx, entity));
  });
  deps.indexes.forget(entity);
}
