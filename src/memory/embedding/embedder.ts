/** Turns texts into vectors. `open.ts` chooses one of three drivers: `builtin.ts`, `local/local.ts` and `remote.ts` (OpenAI-compatible). */

import { withDeadline } from '#platform/resilience.ts';
import type { Handle } from '../tables.ts';
import { asUnavailable } from './batches.ts';
import pairs from './calibration.json' with { type: 'json' };
import { type Calibration, findCalibration, insertCalibration, type Points } from './embeddingstore.ts';

export interface Embedder {
  /** Stored with every vector. Vectors of different names are never compared. */
  readonly name: string;
  /** The weight of the calibrated similarity in a score. The share of shared words weighs 1. */
  readonly searchWeight: number;
  /**
   * The share of the mean vector that is subtracted from the vector of a query, from 0 to 1. The vectors of some models
   * have a large common part, which hides the differences between texts.
   */
  readonly centering: number;
  /** Returns one vector of length 1 for each text. Throws `embedder_unavailable`. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  /** Embeds the query of a search. Some models distinguish queries from passages. */
  embedQuery(text: string): Promise<Float32Array>;
  close(): Promise<void>;
}

export function cosine(left: Float32Array, right: Float32Array): number {
  // Two sums, because each addition waits for the one before it. This takes half of the time of one sum.
  let [even, odd] = [0, 0];
  for (let index = 0; index < left.length; index += 2) {
    even += (left[index] ?? 0) * (right[index] ?? 0);
    odd += (left[index + 1] ?? 0) * (right[index + 1] ?? 0);
  }
  return even + odd;
}

/** Scales a vector to length 1, in place. Leaves a vector of zeros unchanged. */
export function normalise(vector: Float32Array): Float32Array {
  const length = Math.sqrt(cosine(vector, vector));
  if (length > 0) for (let index = 0; index < vector.length; index += 1) vector[index] = (vector[index] ?? 0) / length;
  return vector;
}

export async function embedOne(embedder: Pick<Embedder, 'embed'>, text: string): Promise<Float32Array> {
  const [vector] = await embedder.embed([text]);
  if (vector === undefined) throw new Error('An embedder gave no vector for a text');
  return vector;
}

// What is known of models, by their names: the prefixes that they expect, and how their vectors are best compared.

interface ModelTraits {
  /** Before a search query, according to the documentation of the model. */
  readonly query: string;
  /** Before a stored text. */
  readonly passage: string;
  /** `Embedder.centering`. */
  readonly centering: number;
  /** `Embedder.searchWeight`. */
  readonly searchWeight: number;
  /** Part of the name of the embedder. Change it if stored vectors must be made again. */
  readonly suffix: string;
}

const plain: ModelTraits = { query: '', passage: '', centering: 0, searchWeight: 1, suffix: '' };

/** The first match applies. */
const known: readonly (readonly [name: RegExp, traits: ModelTraits])[] = [
  // For example, multilingual-e5-large-instruct and e5-mistral expect a task instead.
  [/instruct|mistral/i, plain],
  [
    /(?:^|[/_-])e5[_-]/i,
    // Memories are single statements, and `passage: ` is for articles: the documentation recommends `query: ` on both
    // sides for texts of one kind. Measured on the tuned half of test/memory/meaning.fixture.ts, as are the weights.
    { query: 'query: ', passage: 'query: ', centering: 0.5, searchWeight: 1.2, suffix: '+2' },
  ],
  [/nomic-embed-text/i, { ...plain, query: 'search_query: ', passage: 'search_document: ' }],
  [/arctic-embed(?:2|-[ml]-v2)/i, { ...plain, query: 'query: ' }],
];

export function traitsOf(model: string): ModelTraits {
  return known.find(([name]) => name.test(model))?.[1] ?? plain;
}

// Makes similarities of different embedders comparable. Two phrasings of one fact have a cosine of .8 with one model and
// .95 with another. So each embedder embeds a shipped set of pairs once. A rising function then maps cosines to
// similarities: unrelated texts are near 0.3, and the border between one fact and two is 0.9. Queries have a function of
// their own, because a share of the mean vector is subtracted from theirs (`Embedder.centering`).

/** The functions are valid after the first text was embedded. */
export interface CalibratedEmbedder extends Embedder {
  /** Of two texts. */
  similarityOf(cosine: number): number;
  /** Of a text and a vector from `embedQuery`. */
  querySimilarityOf(cosine: number): number;
}

// The texts that calibrate embedders. After a change of them, raise the edition.

const edition = 4;

type Pair = readonly [string, string];

/** One fact in two phrasings. */
export const same = Object.entries(pairs.same);
/** Two facts about one subject. */
export const different = Object.entries(pairs.different);
/** Questions that concern none of these facts. */
const { unrelated } = pairs;

const uncalibrated: Calibration = { points: [], center: [], queryPoints: [] };
const unrelatedSimilarity = 0.3;
const borderSimilarity = 0.9;
/** MEMORY_MIN_RELEVANCE. */
const reachSimilarity = 0.55;
/** Below this separation, the pairs do not calibrate an embedder. */
const leastSeparation = 0.5;
/** The limit of a search, which can fall back to text. */
const queryTimeoutMs = 1_000;

/** Measures the calibration when it is first needed, and stores it in the database. */
export function calibrateEmbedder(embedder: Embedder, db: Handle): CalibratedEmbedder {
  let finding: Promise<void> | undefined;
  let calibration = uncalibrated;
  const find = async () => {
    const known = await findCalibration(db, embedder.name, edition);
    calibration = known ?? (await measureCalibration(embedder));
    if (known === undefined) await insertCalibration(db, embedder.name, edition, calibration);
  };
  const ready = () => {
    finding ??= find().catch((error: unknown) => {
      finding = undefined;
      throw error;
    });
    return finding;
  };
  const prepared: Embedder = {
    ...embedder,
    embed: async (texts) => {
      const vectors = await embedder.embed(texts);
      await ready();
      return vectors;
    },
    embedQuery: async (text) => {
      const vector = await embedder.embedQuery(text);
      await withDeadline(queryTimeoutMs, ready).catch(asUnavailable);
      return vector;
    },
  };
  return withCalibration(prepared, () => calibration);
}

export function withCalibration(embedder: Embedder, current: () => Calibration): CalibratedEmbedder {
  return {
    ...embedder,
    embedQuery: async (text) => centered(await embedder.embedQuery(text), current().center),
    similarityOf: (value) => interpolate(current().points, value),
    querySimilarityOf: (value) => interpolate(current().queryPoints, value),
  };
}

/** Leaves a vector of zeros unchanged: the query has no words. */
function centered(vector: Float32Array, center: readonly number[]): Float32Array {
  if (center.length !== vector.length || vector.every((value) => value === 0)) return vector;
  return normalise(vector.map((value, index) => value - (center[index] ?? 0)));
}

/** Throws `embedder_unavailable`. */
export async function measureCalibration(embedder: Pick<Embedder, 'embed' | 'centering'>): Promise<Calibration> {
  const texts = [...new Set([...same, ...different, unrelated].flat())];
  const vectors = await embedder.embed(texts);
  const places = new Map(texts.map((text, place) => [text, place]));
  const vectorOf = (text: string) => vectors[places.get(text) ?? -1] ?? new Float32Array();
  const points = measurePoints(([left, right]) => cosine(vectorOf(left), vectorOf(right)));
  if (points.length === 0) return { points, center: [], queryPoints: points };
  const center = embedder.centering === 0 ? [] : [...meanOf(vectors)].map((value) => embedder.centering * value);
  const queryCosine = ([query, text]: Pair) => cosine(centered(vectorOf(query), center), vectorOf(text));
  const queryPoints = withReach(center.length === 0 ? points : measurePoints(queryCosine), queryCosine);
  return queryPoints.length === 0 ? { points, center: [], queryPoints: points } : { points, center, queryPoints };
}

/** Adds the cosine that no question reaches with a text that does not concern it. */
function withReach(points: Points, cosineOf: (pair: Pair) => number): Points {
  const reach = Math.max(...unrelated.flatMap((question) => same.map(([fact]) => cosineOf([question, fact]))));
  const [start, ground = [], border = [], end] = points;
  const fits = start && end && (ground[0] ?? 1) < reach && reach < (border[0] ?? -1);
  return fits ? [start, ground as Points[number], [reach, reachSimilarity], border as Points[number], end] : points;
}

/** Returns no points if the cosines do not separate the pairs. */
function measurePoints(cosineOf: (pair: Pair) => number): Points {
  const unrelated = same.map(([left], index): Pair => [left, same[(index + 5) % same.length]?.[1] ?? '']);
  const [alike, apart, far] = [same.map(cosineOf), different.map(cosineOf), unrelated.map(cosineOf)];
  const { border, separation } = findBorder(alike, apart);
  const ground = median(far);
  if (separation < leastSeparation || !(ground < border && border < 1)) return [];
  return [
    [-1, -1],
    [ground, unrelatedSimilarity],
    [border, borderSimilarity],
    [1, 1],
  ];
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors)
    for (const [index, value] of vector.entries()) mean[index] = (mean[index] ?? 0) + value / vectors.length;
  return mean;
}

const roundingError = 1e-9;

/** Returns the cosine that best separates the two sets, from the middle of the gap between them. */
function findBorder(alike: readonly number[], apart: readonly number[]) {
  const sorted = [...alike, ...apart].toSorted((left, right) => left - right);
  let found = { border: 1, separation: 0 };
  for (const [place, value] of sorted.entries()) {
    const border = (value + (sorted[place + 1] ?? value)) / 2;
    const share = (values: readonly number[]) => values.filter((one) => one > border).length / values.length;
    const separation = share(alike) - share(apart);
    // Of equal ones the highest, because a wrong merge is worse than two wordings of one fact.
    if (separation >= found.separation - roundingError) found = { border, separation };
  }
  return found;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** A search calls this for each memory, so it has no iterators, which take several times as long. */
export function interpolate(points: Points, value: number): number {
  let before = points[0];
  for (let place = 0; place < points.length; place += 1) {
    const point = points[place];
    if (before === undefined || point === undefined) break;
    if (value <= point[0]) {
      const width = point[0] - before[0];
      return width === 0 ? point[1] : before[1] + ((value - before[0]) / width) * (point[1] - before[1]);
    }
    before = point;
  }
  return before?.[1] ?? value;
}
