/**
 * Makes similarities of different embedders comparable. Two phrasings of one fact have a cosine of .8 with one model and
 * .95 with another. So each embedder embeds a shipped set of pairs once. A rising function then maps cosines to
 * similarities: unrelated texts are near 0.3, and the border between one fact and two is 0.9.
 */
import { withDeadline } from '#platform/resilience/deadline.ts';
import { memoryProblems } from '../problems.ts';
import type { Handle } from '../tables.ts';
import { different, edition, type Pair, same } from './calibrationpairs.ts';
import { type Calibration, findCalibration, insertCalibration } from './calibrationstore.ts';
import { cosine, type Embedder } from './embedder.ts';

export interface CalibratedEmbedder extends Embedder {
  /** Valid after the first text was embedded. */
  similarityOf(cosine: number): number;
}

const unrelatedSimilarity = 0.3;
const borderSimilarity = 0.9;
/** Below this separation, the pairs do not calibrate an embedder. */
const leastSeparation = 0.5;
/** The limit of a search, which can fall back to text. */
const queryTimeoutMs = 3_000;

/** Measures the calibration when it is first needed, and stores it in the database. */
export function calibrateEmbedder(embedder: Embedder, db: Handle): CalibratedEmbedder {
  let finding: Promise<void> | undefined;
  let calibration: Calibration = [];
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
  return {
    ...embedder,
    embed: async (texts) => {
      const vectors = await embedder.embed(texts);
      await ready();
      return vectors;
    },
    embedQuery: async (text) => {
      const vector = await embedder.embedQuery(text);
      await withDeadline(queryTimeoutMs, ready).catch((cause: unknown) => {
        throw memoryProblems.embedder_unavailable({ cause });
      });
      return vector;
    },
    similarityOf: (value) => interpolate(calibration, value),
  };
}

/** Throws `embedder_unavailable`. */
export async function measureCalibration(embedder: Pick<Embedder, 'embed'>): Promise<Calibration> {
  const texts = [...new Set([...same, ...different].flat())];
  const vectors = await embedder.embed(texts);
  const places = new Map(texts.map((text, place) => [text, place]));
  const empty = new Float32Array();
  const cosineOf = ([left, right]: Pair) =>
    cosine(vectors[places.get(left) ?? -1] ?? empty, vectors[places.get(right) ?? -1] ?? empty);
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

/** Returns the cosine that best separates the two sets, from the middle of the gap between them. */
function findBorder(alike: readonly number[], apart: readonly number[]) {
  const sorted = [...alike, ...apart].toSorted((left, right) => left - right);
  let found = { border: 1, separation: 0 };
  for (const [place, value] of sorted.entries()) {
    const border = (value + (sorted[place + 1] ?? value)) / 2;
    const share = (values: readonly number[]) => values.filter((one) => one > border).length / values.length;
    const separation = share(alike) - share(apart);
    if (separation > found.separation) found = { border, separation };
  }
  return found;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export function interpolate(points: Calibration, value: number): number {
  for (const [place, [end, top]] of points.entries()) {
    const [start, bottom] = points[place - 1] ?? [end, top];
    if (value > end) continue;
    return end === start ? top : bottom + ((value - start) / (end - start)) * (top - bottom);
  }
  return points.at(-1)?.[1] ?? value;
}
