/**
 * Writes to an entity: in the queue of this process, in one transaction, under the lock of the entity. The profile is derived again at
 * the end. Slow work, such as embedding, must be done before.
 */
import { transaction } from '#platform/db/db.ts';
import type { Entity } from '../api.ts';
import type { MemoryContext, Writing } from '../context.ts';
import { type EntityState, lockEntity } from '../memories/entitystore.ts';
import { assertNotErased } from '../memories/erasurestore.ts';
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

export function writeEntity<Result>(
  deps: MemoryContext,
  entity: Entity,
  work: (writing: Writing) => Promise<Result>,
): Promise<Result> {
  return deps.queue(`${entity.entityType} ${entity.entityId}`, () =>
    transaction(deps.db, async (tx) => {
      const { version, before: state } = await lockEntity(tx, entity);
      if (deps.since !== undefined) await assertNotErased(tx, entity, deps.since);
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
