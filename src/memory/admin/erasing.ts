/**
 * The end of an entity, and all that is kept of it before (docs/specification/memory.md#erasure). Erasing leaves no trace of content or id: rows,
 * history and links go in one transaction; other processes keep numbers and stems of an entity only until they next ask
 * for it, and never show them. That an erasure happened stays, under a salted hash: whoever knows the id can check it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { problems } from '#platform/problem.ts';
import type { Entity } from '../api.ts';
import type { EntityIndexes } from '../entityindex.ts';
import { findRevisions } from '../history/store.ts';
import { toAdminProfile } from '../profiles/presenting.ts';
import { findProfile } from '../profiles/store.ts';
import { findEntity, type StoredMemory } from '../store.ts';
import { type WritingDeps, writeEntity } from '../writing.ts';
import type { EntityExport } from './api.ts';
import { deleteEntity, insertErasure, listMemories } from './store.ts';
import { showMemories, toRevision } from './viewing.ts';

export interface ErasingDeps extends WritingDeps {
  readonly indexes: EntityIndexes;
}

/** May be repeated; an entity of which nothing is known is as good as erased. */
export async function eraseEntity(deps: ErasingDeps, entity: Entity): Promise<void> {
  await writeEntity(deps, entity, async ({ tx }) => {
    const memoryCount = await deleteEntity(tx, entity);
    const salt = randomBytes(16).toString('hex');
    const digest = createHash('sha256').update(`${salt} ${entity.entityType} ${entity.entityId}`).digest('hex');
    await insertErasure(tx, { salt, digest, memoryCount });
  });
  deps.indexes.forget(entity);
}

const pageSize = 200;

/** Everything of an entity, in pages from the database, as one document. Throws 404. */
export async function exportEntity(deps: ErasingDeps, entity: Entity, nowMs: number): Promise<EntityExport> {
  const { db } = deps;
  if ((await findEntity(db, entity)) === undefined) throw problems.not_found();
  const profile = await findProfile(db, entity);
  const memories: EntityExport['memories'] = [];
  let before: number | undefined;
  for (;;) {
    const page: readonly StoredMemory[] = await listMemories(db, {
      ...entity,
      type: undefined,
      q: undefined,
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
    profile: profile === undefined ? null : toAdminProfile(profile),
    memories,
  };
}
