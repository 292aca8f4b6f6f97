/** `POST /memory/search` and `POST /inject`: what is remembered, as far as it belongs to a query (docs/specification/memory.md#search). */
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import type { Entity, FoundMemory, Injection, InjectRequest, MemoryType, SearchRequest, SearchResult } from './api.ts';
import type { EntityIndex, EntityIndexes } from './entityindex.ts';
import { toMemory } from './presenting.ts';
import { toProfile } from './profiles/presenting.ts';
import { type RankingDeps, rank } from './ranking.ts';
import { findMemories, type MemoryTables } from './store.ts';

export interface SearchingDeps extends RankingDeps {
  readonly db: Db<MemoryTables>;
  readonly indexes: EntityIndexes;
  readonly clock: Clock;
}

/** docs/specification/memory.md#search. */
const groupLimit = 3;

export async function searchMemories(deps: SearchingDeps, request: SearchRequest): Promise<SearchResult> {
  const entity: Entity = { entityType: request.entity_type, entityId: request.entity_id };
  const index = await deps.indexes.look(deps.db, entity);
  const { memories, degraded } = await search(deps, entity, index, request.query, request.limit, request.type_filter);
  return { memories: [...memories], ...(degraded && { degraded: true }) };
}

export async function inject(deps: SearchingDeps, request: InjectRequest): Promise<Injection> {
  const { query, limit } = request;
  const own: Entity = { entityType: request.entity_type, entityId: request.entity_id };
  const group: Entity | undefined =
    request.group_id === undefined ? undefined : { entityType: 'group', entityId: request.group_id };
  const [ownIndex, groupIndex] = await Promise.all([
    deps.indexes.look(deps.db, own),
    group && deps.indexes.look(deps.db, group),
  ]);
  // A group that asks for itself has its memories once.
  const isSame = group !== undefined && own.entityType === 'group' && own.entityId === group.entityId;
  const [ownFound, groupFound] = await Promise.all([
    search(deps, own, ownIndex, query, limit, undefined),
    group === undefined || isSame ? nothing : search(deps, group, groupIndex, query, groupLimit, undefined),
  ]);
  const memories = [...ownFound.memories, ...groupFound.memories].toSorted((left, right) => right.score - left.score);
  const degraded = ownFound.degraded || groupFound.degraded;
  return {
    profile: ownIndex?.profile === undefined ? null : toProfile(ownIndex.profile),
    group_profile: groupIndex?.profile === undefined ? null : toProfile(groupIndex.profile),
    memories,
    ...(degraded && { degraded: true }),
  };
}

interface Found {
  readonly memories: readonly FoundMemory[];
  readonly degraded: boolean;
}

const nothing: Found = { memories: [], degraded: false };

async function search(
  deps: SearchingDeps,
  entity: Entity,
  index: EntityIndex | undefined,
  query: string,
  limit: number,
  type: MemoryType | undefined,
): Promise<Found> {
  if (index === undefined || index.memories.size === 0 || query.trim() === '') return nothing;
  const { ranked, degraded } = await rank(deps, entity, index, query, { limit, type, nowMs: deps.clock.now() });
  const rows = new Map(
    (
      await findMemories(
        deps.db,
        ranked.map(({ id }) => id),
      )
    ).map((row) => [row.id, row]),
  );
  // What went meanwhile is not shown.
  const memories = ranked.flatMap(({ id, score }) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ ...toMemory(row), score }];
  });
  return { memories, degraded };
}
