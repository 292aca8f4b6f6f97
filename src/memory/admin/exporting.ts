/** Exports everything that is stored about an entity (docs/specification/memory.md#admin-api). */
import { problems } from '#platform/problem.ts';
import type { Entity } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { findEntity, pauseOf } from '../memories/entitystore.ts';
import { findRevisions, listMemories, type StoredMemory } from '../memories/memorystore.ts';
import { findProfile } from '../profiles/profilestore.ts';
import type { EntityExport } from './api.ts';
import { toAdminProfile } from './profiles.ts';
import { showMemories, toRevision } from './viewing.ts';

const pageSize = 200;

/** Returns one document, read from the database in pages. Throws 404. */
export async function exportEntity(deps: MemoryContext, entity: Entity, nowMs: number): Promise<EntityExport> {
  const { db } = deps;
  const state = await findEntity(db, entity);
  if (state === undefined) throw problems.not_found();
  const profile = await findProfile(db, entity);
  const memories: EntityExport['memories'] = [];
  let before: number | undefined;
  for (;;) {
    const page: readonly StoredMemory[] = await listMemories(db, {
      ...entity,
      type: undefined,
      q: undefined,
      includeInvalid: true,
      before,
      limit: pageSize,
    });
    const shown = await showMemories(deps, page);
    const revisions = Map.groupBy(
      await findRevisions(
        db,
        page.map(({ id }) => id),
      ),
      ({ memoryId }) => memoryId,
    );
    for (const memory of shown) memories.push({ ...memory, history: (revisions.get(memory.id) ?? []).map(toRevision) });
    before = page.at(-1)?.seq;
    if (page.length < pageSize) break;
  }
  return {
    entity_type: entity.entityType,
    entity_id: entity.entityId,
    exported_at: new Date(nowMs).toISOString(),
    paused_at: pauseOf(state)?.toISOString() ?? null,
    profile: profile === undefined ? null : toAdminProfile(profile),
    memories,
  };
}
