/**
 * What every write of an entity has around it: the queue of this process, one transaction, the entity's lock, and at its
 * end the profile derived anew. Whatever takes long (embedding) is done before.
 */
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import type { Entity, MemoryType } from './api.ts';
import { deriveProfile, isEvidence } from './profiles/promotion.ts';
import type { EntityQueue } from './queueing.ts';
import { type EntityState, lockEntity, type MemoryTables } from './store.ts';

export interface WritingDeps {
  readonly db: Db<MemoryTables>;
  readonly queue: EntityQueue;
}

export type Held = Omit<EntityState, 'version'>;

/** What one entity holds at most; metadata count too. */
const mostMemories = 10_000;
const mostBytes = 16 * 1024 * 1024;

/** What does not grow always fits: an entity that is full can be tidied up. */
export function hasRoom(
  { memoryCount, memoryBytes }: Held,
  more: { readonly memories: number; readonly bytes: number },
) {
  if (more.memories > 0 && memoryCount + more.memories > mostMemories) return false;
  return more.bytes <= 0 || memoryBytes + more.bytes <= mostBytes;
}

export interface Writing {
  readonly tx: Tx<MemoryTables>;
  /** Of the lock: every row that is written carries it. */
  readonly version: number;
  /** Of the entity, before this write. */
  readonly held: Held;
  /** A memory of these types came, went or changed: the profile is derived anew if it may rest on it. */
  readonly changed: (...types: readonly MemoryType[]) => void;
}

export function writeEntity<Result>(
  deps: WritingDeps,
  entity: Entity,
  work: (writing: Writing) => Promise<Result>,
): Promise<Result> {
  return deps.queue(`${entity.entityType} ${entity.entityId}`, () =>
    transaction(deps.db, async (tx) => {
      const { version, ...held } = await lockEntity(tx, entity);
      let isToDerive = false;
      const result = await work({
        tx,
        version,
        held,
        changed: (...types) => {
          isToDerive ||= types.some(isEvidence);
        },
      });
      if (isToDerive) await deriveProfile(tx, entity);
      return result;
    }),
  );
}
