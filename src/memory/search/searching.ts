/**
 * `POST /memory/search` and `POST /inject`: memories that are relevant to a query
 * (docs/specification/memory.md#search).
 */
import type { Entity, FoundMemory, Injection, InjectRequest, MemoryType, SearchRequest, SearchResult } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { findMemories } from '../memories/memorystore.ts';
import { toFoundMemory, toProfile } from '../memories/presenting.ts';
import { hashContent } from '../text/hashing.ts';
import { plain } from '../text/words.ts';
import type { EntityIndex, IndexedMemory } from './entityindex.ts';
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

// Recognizes questions about all memories, such as "What do you know about me?".

/** A longer message contains another question too. */
const mostCharacters = 120;

const phrases = [
  'what do you know about me',
  'what do you know of me',
  'what do you remember',
  'what have you remembered',
  'what have you saved about me',
  'everything you know about me',
  'everything you remember',
  'tell me about myself',
  'what you know about me',
  'was weißt du über mich',
  'was wissen sie über mich',
  'was hast du dir gemerkt',
  'alles was du über mich weißt',
  'qué sabes de mí',
  'qué sabes sobre mí',
  'qué recuerdas de mí',
  'todo lo que sabes de mí',
  'que sais tu de moi',
  'que sais tu sur moi',
  'qu est ce que tu sais de moi',
  'qu est ce que tu sais sur moi',
  'tout ce que tu sais de moi',
  'cosa sai di me',
  'che cosa sai di me',
  'cosa ricordi di me',
  'tutto quello che sai di me',
  'o que você sabe sobre mim',
  'o que sabes sobre mim',
  'o que você lembra de mim',
  'tudo o que você sabe sobre mim',
  'apa yang awak tahu tentang saya',
  'apa yang anda tahu tentang saya',
  'apa yang kamu tahu tentang saya',
  'что ты знаешь обо мне',
  'что вы знаете обо мне',
  'что ты помнишь обо мне',
  'всё что ты знаешь обо мне',
  'wat weet je over mij',
  'wat weet je van mij',
  'vad vet du om mig',
  'co o mnie wiesz',
  'co wiesz o mnie',
  'benim hakkımda ne biliyorsun',
  'hakkımda ne biliyorsun',
  'bạn biết gì về tôi',
  'ماذا تعرف عني',
  'מה אתה יודע עליי',
  'מה אתה יודע עלי',
  'तुम मेरे बारे में क्या जानते हो',
  'आप मेरे बारे में क्या जानते हैं',
  '저에 대해 무엇을 알고',
  '나에 대해 뭘 알아',
  '저에 대해 뭘 알고',
  '나에 대해 아는',
  '你知道我什么',
  '你知道我的什么',
  '你对我了解多少',
  '你了解我多少',
  '关于我你知道什么',
  '關於我你知道什麼',
  '你記得我什麼',
  '你记得我什么',
  '私について何を知って',
  '私のことを何か知って',
  '私のこと何を知って',
  'คุณรู้อะไรเกี่ยวกับฉัน',
];
/** Prepared on first use, because a start does not need them. */
let plainPhrases: readonly string[] | undefined;

function requestsEverything(query: string): boolean {
  if (query.length > mostCharacters) return false;
  const text = plain(query);
  plainPhrases ??= phrases.map(plain);
  return plainPhrases.some((phrase) => text.includes(phrase));
}
