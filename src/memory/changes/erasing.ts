/**
 * Erases an entity (docs/specification/memory.md#erasure). One transaction deletes its rows, histories and links, so no
 * content or id remains. Other processes hold numbers and stems of the entity until their next request for it, and never
 * return them. Work that began before the erasure, such as an extraction, then writes nothing (`assertNotErased`).
 */
import type { Entity } from '../api.ts';
import { deleteEntity } from '../memories/entitystore.ts';
import { holdErasures, insertErasure } from '../memories/erasurestore.ts';
import type { EntityIndexes } from '../search/entityindex.ts';
import { type WritingDeps, writeEntity } from './entitywrite.ts';

export interface ErasingDeps extends WritingDeps {
  readonly indexes: EntityIndexes;
}

/** Does nothing for an unknown entity, so it can be repeated. */
export async function eraseEntity(deps: ErasingDeps, entity: Entity): Promise<void> {
  await writeEntity(deps, entity, async ({ tx }) => {
    await holdErasures(tx, entity);
    await insertErasure(tx, entity, await deleteEntity(tx, entity));
  });
  deps.indexes.forget(entity);
}
