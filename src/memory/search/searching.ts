/** `POST /memory/search` and `POST /inject`: memories that are relevant to a query (docs/specification/memory.md#search). */

import { createPacer } from '#platform/concurrency.ts';
import {
  type Entity,
  type FoundMemory,
  type Injection,
  type InjectRequest,
  type MemoryType,
  type SearchRequest,
  type SearchResult,
  toEntity,
} from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { type CalibratedEmbedder, cosine } from '../embedding/embedder.ts';
import { findMemories, findSimilarities } from '../memories/memorystore.ts';
import { toFoundMemory, toProfile } from '../memories/presenting.ts';
import { memoryProblems } from '../problems.ts';
import type { Handle } from '../tables.ts';
import { analyse, hashContent, hashText, plain, readMonths } from '../text.ts';
import { createScorer, type EntityIndex, findFrequencies, type IndexedMemory } from './entityindex.ts';
import phrases from './overview.json' with { type: 'json' };

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
  const entity = toEntity(request);
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
  const own = toEntity(request);
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
  const rows = await findMemories(db, ids);
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

/** Prepared on first use, because a start does not need them. */
let plainPhrases: readonly string[] | undefined;

function requestsEverything(query: string): boolean {
  if (query.length > mostCharacters) return false;
  const text = plain(query);
  plainPhrases ??= phrases.map(plain);
  return plainPhrases.some((phrase) => text.includes(phrase));
}

// Ranks memories by BM25 and the similarity of vectors, with weights that depend on the embedder. Recency and the type
// of a memory have a small influence.

interface Ranked {
  readonly id: string;
  readonly score: number;
  readonly relevance: number;
}

interface Ranking {
  /** By descending score. */
  readonly ranked: readonly Ranked[];
  /** The embedder did not respond. The ranking uses the text only. */
  readonly degraded: boolean;
}

/** Characters of the query that are used. Longer messages state their subject within these. */
const longestQuery = 4_000;
const typeWeights: Readonly<Record<MemoryType, number>> = {
  instruction: 1.03,
  preference: 1.02,
  workflow: 1,
  episodic: 1,
};
const recencyWeight = 0.03;
const recencyDays = 60;
const dayMs = 24 * 3600 * 1000;
/**
 * In a conversation, a message often has its meaning from those around it. So episodic memories pass the score of their
 * text on to the ones before and after, less with each step. An answer gets more from its question.
 */
const neighbourWeight = 0.55;
const neighbourDecay = 0.6;
const answerWeight = 0.5;
/** A question states no fact. */
const questionPenalty = 0.1;
/** A message begins with its speaker, who counts more if the query names them. */
const speakerWeight = 0.25;
/** A memory of a month that the query names counts more. */
const monthWeight = 0.2;
/** Above 1, rare words count for more than BM25 has them. */
const rarityPower = 1.5;
const conversationMs = 30 * 60 * 1000;
/** The vector of a short text is mostly that of the names in it. Half of its similarity counts at this size. */
const shortText = 50;
/** Memories that are scored before the next look at the clock. */
const betweenPauses = 64;

interface RankingOptions {
  readonly limit: number;
  readonly type: MemoryType | undefined;
  readonly nowMs: number;
  /** Memories below this relevance are left out. */
  readonly leastRelevance: number;
}

export async function rank(
  deps: MemoryContext,
  entity: Entity,
  index: EntityIndex,
  query: string,
  options: RankingOptions,
): Promise<Ranking> {
  const text = query.slice(0, longestQuery).toWellFormed();
  const similarities = await similaritiesOf(deps, entity, index, text);
  const ranked = await rankIndex(deps.embedder, index, text, similarities, options);
  return { ranked, degraded: similarities === undefined };
}

/** Returns memories by descending score. Without `similarities`, ranks by text only. */
export async function rankIndex(
  { searchWeight }: Pick<CalibratedEmbedder, 'searchWeight'>,
  index: EntityIndex,
  text: string,
  similarities: ReadonlyMap<string, number> | undefined,
  options: RankingOptions,
): Promise<readonly Ranked[]> {
  const { terms, frequencies } = await queryTerms(index, text);
  const scoreText = createScorer(
    { documents: index.memories.size, totalLength: index.totalLength, frequencies },
    terms,
    rarityPower,
  );
  const speakers = new Set(terms.map(hashText));
  const isInMonth = readMonths(text);
  const scored: Scored[] = [];
  const pace = createPacer();
  let place = 0;
  for (const memory of index.memories.values()) {
    place += 1;
    if (place % betweenPauses === 0) await pace();
    const byText = scoreText(memory);
    const similarity = similarities?.get(memory.id);
    const isEpisode = memory.type === 'episodic';
    const trust = isEpisode ? memory.size / (memory.size + shortText) : 1;
    let score = byText + searchWeight * Math.max(0, similarity ?? 0) * trust;
    if (memory.isQuestion) score -= questionPenalty;
    if (isEpisode && speakers.has(memory.first)) score += speakerWeight;
    if (isInMonth?.(memory.saidAtMs)) score += monthWeight;
    scored.push({ memory, byText, similarity, passed: 0, score });
  }
  passOn(scored);
  const best = createBest(options.limit);
  for (const one of scored) {
    if (options.type !== undefined && one.memory.type !== options.type) continue;
    const relevance = relevanceOf(one);
    if (relevance < options.leastRelevance) continue;
    best.offer(one.memory.id, (one.score + one.passed) * priorOf(one.memory, options.nowMs), relevance);
  }
  return best.ranked;
}

interface Scored {
  readonly memory: IndexedMemory;
  readonly byText: number;
  /** `undefined`: the memory has no current vector. */
  readonly similarity: number | undefined;
  readonly score: number;
  /** What the neighbors of an episodic memory add to its score. */
  passed: number;
}

/** On the scale of calibrated similarities, where unrelated texts are near 0.3. A shared word counts in addition. */
function relevanceOf({ byText, similarity, passed }: Scored): number {
  const shared = Math.min(1, byText + passed);
  if (similarity === undefined) return shared === 0 ? 0 : sharedWord + (1 - sharedWord) * shared;
  const relevance = similarity + wordRelevance * shared;
  return byText > 0 ? Math.max(sharedWord, relevance) : relevance;
}

const wordRelevance = 0.35;
/** The least relevance of a memory that has a word of the query. */
const sharedWord = 0.3;

/** Few among thousands: keeping these in order is cheaper than sorting all. */
function createBest(limit: number) {
  const ranked: Ranked[] = [];
  const offer = (id: string, score: number, relevance: number) => {
    const isBefore = (other: Ranked | undefined) =>
      other !== undefined && (score > other.score || (score === other.score && id < other.id));
    let place = ranked.length;
    if (place >= limit && !isBefore(ranked[place - 1])) return;
    while (isBefore(ranked[place - 1])) place -= 1;
    ranked.splice(place, 0, { id, score, relevance });
    if (ranked.length > limit) ranked.pop();
  };
  return { ranked, offer };
}

/** A short query may look like another language. Of the stems of a word, this uses the one that the memories contain. */
async function queryTerms(index: EntityIndex, text: string) {
  const { language, terms } = analyse(text);
  const others = [...index.languages].filter((other) => other !== language).map((other) => analyse(text, other).terms);
  const variants = terms.flatMap(({ term, isStop }, place) =>
    isStop ? [] : [[term, ...others.map((variant) => variant[place]?.term ?? term)]],
  );
  // If the query has only stop words, they are used.
  const sought = variants.length > 0 ? variants : terms.map(({ term }) => [term]);
  const frequencies = await findFrequencies(index.memories.values(), sought.flat());
  return { terms: sought.map((among) => among.find((term) => frequencies.has(term)) ?? among[0] ?? ''), frequencies };
}

/** Returns `undefined` if the embedder does not respond. */
async function similaritiesOf(
  context: MemoryContext,
  entity: Entity,
  index: EntityIndex,
  text: string,
): Promise<ReadonlyMap<string, number> | undefined> {
  const { db, embedder } = context;
  let vector: Float32Array;
  try {
    vector = await embedder.embedQuery(text);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === unavailableCode) return undefined;
    throw error;
  }
  // A query without words is similar to nothing.
  if (vector.every((value) => value === 0)) return new Map();
  return compare(db, context, entity, index, vector, embedder.querySimilarityOf);
}

const unavailableCode = memoryProblems.embedder_unavailable().code;

/**
 * Returns the similarities of the entity's memories that the current embedder has embedded, to the vector of a text or,
 * with `querySimilarityOf`, of a query.
 */
export async function compare(
  db: Handle,
  { column, embedder }: MemoryContext,
  entity: Entity,
  index: EntityIndex,
  vector: Float32Array,
  similarityOf = embedder.similarityOf,
): Promise<ReadonlyMap<string, number>> {
  if (column === 'bytea') return compareHere(index, vector, similarityOf);
  return findSimilarities(db, column, entity, embedder.name, vector, similarityOf);
}

/** Computes similarities in this process, for databases that cannot. */
export function compareHere(
  index: EntityIndex,
  vector: Float32Array,
  similarityOf: CalibratedEmbedder['similarityOf'],
): ReadonlyMap<string, number> {
  const similarities = new Map<string, number>();
  for (const memory of index.memories.values()) {
    // Other dimensions: an embedder of the same name made this vector, but not the same model.
    if (memory.vector?.length !== vector.length) continue;
    similarities.set(memory.id, similarityOf(cosine(memory.vector, vector)));
  }
  return similarities;
}

/** Passes scores of texts on along each conversation, in both directions. */
function passOn(scored: readonly Scored[]): void {
  const episodes = scored.filter(({ memory }) => memory.type === 'episodic');
  episodes.sort((left, right) => left.memory.seq - right.memory.seq);
  let passed = 0;
  let before: Scored | undefined;
  for (const one of episodes) {
    passed = before && areNear(before, one) ? before.byText + neighbourDecay * passed : 0;
    one.passed += neighbourWeight * passed;
    if (before?.memory.isQuestion && passed > 0) one.passed += answerWeight * before.byText;
    before = one;
  }
  passed = 0;
  for (let place = episodes.length - 2; place >= 0; place -= 1) {
    const [one, after] = [episodes[place], episodes[place + 1]];
    if (one === undefined || after === undefined) continue;
    passed = areNear(one, after) ? after.byText + neighbourDecay * passed : 0;
    one.passed += neighbourWeight * passed;
  }
}

function areNear({ memory: one }: Scored, { memory: other }: Scored): boolean {
  return Math.abs(other.saidAtMs - one.saidAtMs) <= conversationMs && other.seq - one.seq <= nearestSeq;
}

/** All entities share one sequence, so neighbors may be a few numbers apart. */
const nearestSeq = 3;

function priorOf({ type, updatedAtMs }: IndexedMemory, nowMs: number): number {
  const days = Math.max(0, nowMs - updatedAtMs) / dayMs;
  return typeWeights[type] * (1 + recencyWeight * Math.exp(-days / recencyDays));
}
