/**
 * Ranks memories by BM25 and the similarity of vectors, with weights that depend on the embedder. Recency and the type
 * of a memory have a small influence.
 */
import { createPacer } from '#platform/concurrency.ts';
import type { Entity, MemoryType } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import type { CalibratedEmbedder } from '../embedding/calibration.ts';
import { cosine } from '../embedding/embedder.ts';
import { memoryProblems } from '../problems.ts';
import type { Handle } from '../tables.ts';
import { hashText } from '../text/hashing.ts';
import { readMonths } from '../text/months.ts';
import { analyse } from '../text/terms.ts';
import { createScorer, type EntityIndex, findFrequencies, type IndexedMemory } from './entityindex.ts';
import { findSimilarities } from './indexstore.ts';

export interface Ranked {
  readonly id: string;
  readonly score: number;
  readonly relevance: number;
}

export interface Ranking {
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

export interface RankingOptions {
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

/**
 * A short query may look like another language. Of the stems of a word, this uses the one that the memories contain.
 */
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
