/**
 * Adds a memory without the lock of its entity. One statement compares the version of the entity with the one for which neighbors
 * were sought, and inserts the memory. Every write of an entity changes its version.
 */
import type { Entity } from '../api.ts';
import { insertIfUnchanged, type NewMemory, type StoredMemory } from '../memories/memorystore.ts';
import type { FindingDeps } from '../merging/finding.ts';
import { loadMerging } from '../merging/loading.ts';
import { isEvidence } from '../profiles/derivation.ts';
import { toIndexRow } from '../search/indexstore.ts';
import { limits, type WritingDeps } from './entitywrite.ts';

export interface UnlockedDeps extends WritingDeps, FindingDeps {
  /** A new memory is written together with a request for a judgement. */
  readonly requestJudgement?: unknown;
}

/**
 * Returns `undefined`, and writes nothing, if the addition needs the lock: another write came first, the entity has no memory or no
 * room, the content merges with another memory, or more than the memory has to be written.
 */
export async function addUnlocked(
  deps: UnlockedDeps,
  entity: Entity,
  incoming: NewMemory,
): Promise<StoredMemory | undefined> {
  const { db, column, indexes, since, requestJudgement } = deps;
  if (isEvidence(incoming.type) || since !== undefined || requestJudgement !== undefined) return undefined;
  const index = await indexes.getUnchecked(db, entity);
  if (index === undefined) return undefined;
  const { findNeighbours } = await loadMerging();
  const { twin, links } = await findNeighbours(deps, db, entity, index, incoming);
  if (twin !== undefined) return undefined;
  const memory = await insertIfUnchanged(db, column, { ...entity, version: index.version, ...limits }, incoming, links);
  if (memory !== undefined) indexes.append(entity, index, toIndexRow(memory, column, incoming.embedding));
  return memory;
}
