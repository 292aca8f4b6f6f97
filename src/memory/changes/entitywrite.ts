/**
 * Writes to an entity: in the queue of this process, in one transaction, under the lock of the entity. The profile is derived again at
 * the end. Slow work, such as embedding, must be done before.
 */
import { transaction } from '#platform/db/db.ts';
import type { Entity } from '../api.ts';
import type { MemoryContext, Writing } from '../context.ts';
import {
  assertNotErased,
  assertNotPaused,
  deleteEntity,
  type EntityState,
  findEntity,
  holdErasures,
  insertErasure,
  isPaused,
  lockEntity,
  pauseOf,
  setPaused,
} from '../memories/entitystore.ts';
import { deriveProfile, isEvidence } from '../profiles/derivation.ts';

type Usage = Pick<EntityState, 'memoryCount' | 'memoryBytes'>;

/** Of one entity. Metadata count too. */
const limits = { mostMemories: 10_000, mostBytes: 16 * 1024 * 1024 };

/** Accepts every write that does not grow, so that users can delete and shorten the memories of a full entity. */
export function hasRoom(
  { memoryCount, memoryBytes }: Usage,
  more: { readonly memories: number; readonly bytes: number },
) {
  if (more.memories > 0 && memoryCount + more.memories > limits.mostMemories) return false;
  return more.bytes <= 0 || memoryBytes + more.bytes <= limits.mostBytes;
}

/** Throws 409 `memory_paused` for a write that `adds` something, while the entity is paused. */
export function writeEntity<Result>(
  deps: MemoryContext,
  entity: Entity,
  work: (writing: Writing) => Promise<Result>,
  { adds = false }: { readonly adds?: boolean } = {},
): Promise<Result> {
  return deps.queue(`${entity.entityType} ${entity.entityId}`, () =>
    transaction(deps.db, async (tx) => {
      const { version, before: state } = await lockEntity(tx, entity);
      if (deps.since !== undefined) await assertNotErased(tx, entity, deps.since);
      if (adds && state.pausedAt !== null) await assertNotPaused(tx, entity, deps.since);
      let affectsProfile = false;
      const result = await work({
        tx,
        version,
        state,
        recordChange: (...types) => {
          affectsProfile ||= types.some(isEvidence);
        },
      });
      if (affectsProfile) await deriveProfile(tx, entity);
      return result;
    }),
  );
}

/** Begins or ends a pause. Does nothing if it has begun or ended before. Returns when it began; `null`: there is none. */
export async function pauseEntity(deps: MemoryContext, entity: Entity, paused: boolean): Promise<Date | null> {
  const state = await writeEntity(deps, entity, async ({ tx, state }) => {
    if (isPaused(state) !== paused) await setPaused(tx, entity, paused);
    return findEntity(tx, entity);
  });
  await deps.announce(entity);
  return pauseOf(state);
}

// Erases an entity (docs/specification/memory.md#erasure). One transaction deletes its rows, histories and links, so no
// content or id remains. Other processes hold numbers and stems of the entity until their next request for it, and never
// return them. Work that began before the erasure, such as an extraction, then writes nothing (`assertNotErased`).

/** Does nothing for an unknown entity, so it can be repeated. */
export async function eraseEntity(deps: MemoryContext, entity: Entity): Promise<void> {
  await writeEntity(deps, entity, async ({ tx }) => {
    await holdErasures(tx, entity);
    await insertErasure(tx, entity, await deleteEntity(tx, entity));
  });
  deps.indexes.forget(entity);
  await deps.announce(entity);
}
