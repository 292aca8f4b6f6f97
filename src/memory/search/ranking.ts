/**
 * Ranks memories by BM25 and the similarity of vectors, with weights that depend on the embedder. Recency and the type
 * of a memory have a small influence.
 */
import { createPacer } from '#platform/concurrency/pacing.ts';
import type { Entity, MemoryType } from '../api.ts';
import type { CalibratedEmbedder } from '../embedding/calibration.ts';
import { cosine } from '../embedding/embedder.ts';
import type { VectorColumn } from '../memories/vectors.ts';
import { memoryProblems } from '../problems.ts';
import type { Handle } from '../tables.ts';
import { analyse } from '../text/terms.ts';
import { createScorer, findFrequencies } from './bm25.ts';
import type { EntityIndex, IndexedMemory } from './entityindex.ts';
import { findSimilarities } from './indexstore.ts';

export interface RankingDeps {
  readonly db: Handle;
  readonly column: VectorColumn;
  readonly embedder: CalibratedEmbedder;
}

export interface Ranked {
  readonly id: string;
  readonly score: number;
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
/** Raises the memories right before and after a result. Applies to episodic memories only, not to settled facts. */
const neighbourWeight = 0.15;
const conversationMs = 30 * 60 * 1000;
/** Memories that are scored before the next look at the clock. */
const betweenPauses = 64;

export interface RankingOptions {
  readonly limit: number;
  readonly type: MemoryType | undefined;
  readonly nowMs: number;
}

export async function rank(
  deps: RankingDeps,
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
  { searchWeight, searchFloor }: Pick<CalibratedEmbedder, 'searchWeight' | 'searchFloor'>,
  index: EntityIndex,
  text: string,
  similarities: ReadonlyMap<string, number> | undefined,
  options: RankingOptions,
): Promise<readonly Ranked[]> {
  const { terms, frequencies } = await queryTerms(index, text);
  const scoreText = createScorer(
    { documents: index.memories.size, totalLength: index.totalLength, frequencies },
    terms,
  );
  const found: Scored[] = [];
  const pace = createPacer();
  let place = 0;
  for (const memory of index.memories.values()) {
    place += 1;
    if (place % betweenPauses === 0) await pace();
    const byText = scoreText(memory);
    const similarity = similarities?.get(memory.id);
    const byVector = similarity !== undefined && similarity > searchFloor ? Math.max(0, similarity) : undefined;
    if (byText === 0 && byVector === undefined) continue;
    // A memory without a current vector is ranked by its text, which then has the full weight.
    const score = similarity === undefined ? byText : (1 - searchWeight) * byText + searchWeight * (byVector ?? 0);
    found.push({ memory, score, gain: 0 });
  }
  raiseNeighbours(found);
  const best = createBest(options.limit);
  for (const { memory, score, gain } of found) {
    if (options.type !== undefined && memory.type !== options.type) continue;
    best.offer({ id: memory.id, score: (score + gain) * priorOf(memory, options.nowMs) });
  }
  return best.ranked;
}

interface Scored {
  readonly memory: IndexedMemory;
  readonly score: number;
  gain: number;
}

/** Few among thousands: keeping these in order is cheaper than sorting all. */
function createBest(limit: number) {
  const ranked: Ranked[] = [];
  const isBefore = (left: Ranked, right: Ranked) =>
    left.score > right.score || (left.score === right.score && left.id < right.id);
  const offer = (item: Ranked) => {
    const last = ranked.at(-1);
    if (ranked.length >= limit && (last === undefined || !isBefore(item, last))) return;
    let place = ranked.length;
    while (place > 0 && isBefore(item, ranked[place - 1] ?? item)) place -= 1;
    ranked.splice(place, 0, item);
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
  { db, column, embedder }: RankingDeps,
  entity: Entity,
  index: EntityIndex,
  text: string,
): Promise<ReadonlyMap<string, number> | undefined> {
  let vector: Float32Array;
  try {
    vector = await embedder.embedQuery(text);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === unavailableCode) return undefined;
    throw error;
  }
  // A query without words is similar to nothing.
  if (vector.every((value) => value === 0)) return new Map();
  return compare({ db, column, embedder }, entity, index, vector, embedder.querySimilarityOf);
}

const unavailableCode = memoryProblems.embedder_unavailable().code;

/**
 * Returns the similarities of the entity's memories that the current embedder has embedded, to the vector of a text or,
 * with `querySimilarityOf`, of a query.
 */
export async function compare(
  { db, column, embedder }: RankingDeps,
  entity: Entity,
  index: EntityIndex,
  vector: Float32Array,
  similarityOf = embedder.similarityOf,
): Promise<ReadonlyMap<string, number>> {
  if (column === 'bytea') return compareHere(index, vector, similarityOf);
  const cosines = await findSimilarities(db, column, entity, embedder.name, vector);
  const similarities = new Map<string, number>();
  for (const [id, value] of cosines) similarities.set(id, similarityOf(value));
  return similarities;
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

function raiseNeighbours(found: readonly Scored[]): void {
  const episodes = found.filter(({ memory }) => memory.type === 'episodic');
  const isInOrder = episodes.every(({ memory }, place) => (episodes[place - 1]?.memory.seq ?? 0) <= memory.seq);
  if (!isInOrder) episodes.sort((left, right) => left.memory.seq - right.memory.seq);
  for (const [place, one] of episodes.entries()) {
    const next = episodes[place + 1];
    if (next === undefined || next.memory.createdAtMs - one.memory.createdAtMs > conversationMs) continue;
    if (next.memory.seq - one.memory.seq > nearestSeq) continue;
    one.gain += neighbourWeight * next.score;
    next.gain += neighbourWeight * one.score;
  }
}

/** All entities share one sequence, so neighbors may be a few numbers apart. */
const nearestSeq = 3;

function priorOf({ type, updatedAtMs }: IndexedMemory, nowMs: number): number {
  const days = Math.max(0, nowMs - updatedAtMs) / dayMs;
  return typeWeights[type] * (1 + recencyWeight * Math.exp(-days / recencyDays));
}
