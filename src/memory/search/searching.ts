/**
 * `POST /memory/search` and `POST /inject`: memories that are relevant to a query
 * (docs/specification/memory.md#search).
 */
import type { Entity, FoundMemory, Injection, InjectRequest, MemoryType, SearchRequest, SearchResult } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { hashContent } from '../memories/contenthash.ts';
import { findMemories } from '../memories/memorystore.ts';
import { toFoundMemory, toProfile } from '../memories/presenting.ts';
import type { EntityIndex, IndexedMemory } from './entityindex.ts';
import { requestsEverything } from './everything.ts';
import { rank } from './ranking.ts';

/** A search, and `/inject` where nothing is relevant, reach down to this share of it, because words for one thing may differ. */
const leastShare = 0.36;

/** docs/specification/memory.md#search. */
const groupLimit = 3;

/** While the entity is paused, only its user finds something (`isOwn`): servers search for a model. */
export async function searchMemories(
  deps: MemoryContext,
  request: SearchRequest,
  { isOwn }: { readonly isOwn: boolean },
): Promise<SearchResult> {
  const entity: Entity = { entityType: request.entity_type, entityId: request.entity_id };
  const found = await deps.indexes.get(deps.db, entity);
  const index = isOwn ? found : unlessPaused(found);
  const shown = (memory: FoundMemory) => (isOwn ? memory : withoutOrigin(memory));
  const { query, limit, type_filter: type } = request;
  if (index !== undefined && requestsEverything(query)) {
    const newest = newestOf(index, limit, (memory) => type === undefined || memory.type === type);
    return { memories: (await readMemories(deps, newest.map(asFallback))).map(shown) };
  }
  const { memories, degraded } = await search(deps, entity, index, query, limit, { type });
  return { memories: memories.map(shown), ...(degraded && { degraded: true }) };
}

/** Models need not know where a fact comes from. */
const withoutOrigin = ({ added_by: _, thread_id: __, ...memory }: FoundMemory): FoundMemory => memory;

/** A paused entity is unknown to models. */
const unlessPaused = (index: EntityIndex | undefined) => (index?.isPaused ? undefined : index);

export async function inject(deps: MemoryContext, request: InjectRequest): Promise<Injection> {
  const { query, limit } = request;
  const own: Entity = { entityType: request.entity_type, entityId: request.entity_id };
  const group: Entity | undefined =
    request.group_id === undefined ? undefined : { entityType: 'group', entityId: request.group_id };
  const [ownIndex, groupIndex] = await Promise.all([
    deps.indexes.get(deps.db, own).then(unlessPaused),
    group && deps.indexes.get(deps.db, group).then(unlessPaused),
  ]);
  // A group's own request returns its memories once.
  const isSame = group !== undefined && own.entityType === 'group' && own.entityId === group.entityId;
  const [ownFound, groupFound] = await Promise.all([
    searchOrFallBack(deps, own, ownIndex, query, limit),
    group === undefined || isSame ? nothing : search(deps, group, groupIndex, query, groupLimit, { isStrict: true }),
  ]);
  const ownTexts = new Set(ownFound.memories.map(normalForm));
  const ofGroup = groupFound.memories.filter((memory) => !ownTexts.has(normalForm(memory)));
  const memories = [...ownFound.memories, ...ofGroup]
    .map(withoutOrigin)
    .toSorted((left, right) => right.score - left.score);
  const degraded = ownFound.degraded || groupFound.degraded;
  return {
    profile: ownIndex?.profile === undefined ? null : toProfile(ownIndex.profile),
    group_profile: groupIndex?.profile === undefined ? null : toProfile(groupIndex.profile),
    memories,
    ...(degraded && { degraded: true }),
  };
}

/** Equal for contents that are one memory of an entity. */
const normalForm = ({ content }: FoundMemory) => hashContent(content).toString('hex');

/**
 * Fills the remaining places with the newest instructions and preferences, which apply to every turn. For a question
 * about everything, these come first.
 */
async function searchOrFallBack(
  deps: MemoryContext,
  entity: Entity,
  index: EntityIndex | undefined,
  query: string,
  limit: number,
): Promise<Found> {
  if (index === undefined || query.trim() === '') return nothing;
  const first = requestsEverything(query) ? newestValid(index, limit, new Set()) : [];
  const { memories, degraded } = await search(deps, entity, index, query, limit, { isStrict: true });
  const reserved = new Set(first.map(({ id }) => id));
  const found = memories.filter(({ id }) => !reserved.has(id)).slice(0, limit - first.length);
  const missing = limit - first.length - found.length;
  const rest = newestValid(index, missing, new Set([...reserved, ...found.map(({ id }) => id)]));
  const fallback = [...first, ...rest].map(asFallback);
  return { memories: [...found, ...(await readMemories(deps, fallback))], degraded };
}

const asFallback = ({ id }: IndexedMemory) => ({ id, score: 0, fallback: true as const });

/** Returns at most `most` instructions and preferences, the newest first, without those in `known`. */
function newestValid(index: EntityIndex, most: number, known: ReadonlySet<string>): readonly IndexedMemory[] {
  return newestOf(index, most, ({ id, type }) => (type === 'instruction' || type === 'preference') && !known.has(id));
}

function newestOf(
  index: EntityIndex,
  most: number,
  isWanted: (memory: IndexedMemory) => boolean,
): readonly IndexedMemory[] {
  if (most <= 0) return [];
  return [...index.memories.values()]
    .filter(isWanted)
    .toSorted((left, right) => right.updatedAtMs - left.updatedAtMs || right.seq - left.seq)
    .slice(0, most);
}

/** Returns memories in the given order. Omits memories that were deleted since. */
async function readMemories(
  { db }: MemoryContext,
  items: readonly Pick<FoundMemory, 'id' | 'score' | 'fallback'>[],
): Promise<FoundMemory[]> {
  if (items.length === 0) return [];
  const ids = items.map(({ id }) => id);
  const rows = new Map((await findMemories(db, ids)).map((row) => [row.id, row]));
  return items.flatMap((item) => {
    const row = rows.get(item.id);
    return row === undefined || row.invalidAt !== null ? [] : [toFoundMemory(row, item)];
  });
}

interface Found {
  readonly memories: readonly FoundMemory[];
  readonly degraded: boolean;
}

const nothing: Found = { memories: [], degraded: false };

async function search(
  deps: MemoryContext,
  entity: Entity,
  index: EntityIndex | undefined,
  query: string,
  limit: number,
  { type, isStrict = false }: { readonly type?: MemoryType | undefined; readonly isStrict?: boolean },
): Promise<Found> {
  if (index === undefined || index.memories.size === 0 || query.trim() === '') return nothing;
  const { minRelevance, clock } = deps;
  const options = { limit, type, nowMs: clock.now(), leastRelevance: leastShare * minRelevance };
  const { ranked, degraded } = await rank(deps, entity, index, query, options);
  const relevant = isStrict ? ranked.filter(({ relevance }) => relevance >= minRelevance) : ranked;
  const found = (relevant.length > 0 ? relevant : ranked.slice(0, 1)).map(({ id, score }) => ({ id, score }));
  return { memories: await readMemories(deps, found), degraded };
}
