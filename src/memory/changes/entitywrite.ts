/**
 * Writes to an entity: in the queue of this process, in one transaction, under the lock of the entity. The profile is derived again at
 * the end. Slow work, such as embedding, must be done before.
 */
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import type { Entity, MemoryType } from '../api.ts';
import { type EntityState, lockEntity } from '../memories/entitystore.ts';
import { assertNotErased, type Since } from '../memories/erasurestore.ts';
import { deriveProfile, isEvidence } from '../profiles/derivation.ts';
import type { MemoryTables } from '../tables.ts';
import type { EntityQueue } from './entityqueue.ts';

export interface WritingDeps {
  readonly db: Db<MemoryTables>;
  readonly queue: EntityQueue;
  /** When the work began. If the entity was erased since, writes throw EntityErased and change nothing. */
  readonly since?: Since;
}

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

export interface Writing {
  readonly tx: Tx<MemoryTables>;
  /** The version of the lock. Every row that is written carries it. */
  readonly version: number;
  /** The state of the entity before this write. */
  readonly state: EntityState;
  /** Records that memories of these types changed. Their profile is derived again if it can depend on them. */
  readonly recordChange: (...types: readonly MemoryType[]) => void;
}

export function writeEntity<Result>(
  deps: WritingDeps,
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
