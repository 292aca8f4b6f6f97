/** Ranks contents as `/memory/search` does, without a database: for sets that are measured with several embedders. */
import {
  type CalibratedEmbedder,
  type Embedder,
  measureCalibration,
  withCalibration,
} from '#memory/embedding/embedder.ts';
import { toBytes } from '#memory/memories/memorystore.ts';
import { indexRows } from '#memory/search/entityindex.ts';
import { compareHere, rankIndex } from '#memory/search/searching.ts';
import type { Search } from './recall.fixture.ts';

export async function calibrated(embedder: Embedder): Promise<CalibratedEmbedder> {
  const calibration = await measureCalibration(embedder);
  return withCalibration(embedder, () => calibration);
}

const batch = 32;

interface Origin {
  readonly type?: 'preference' | 'episodic';
  readonly atMs?: number;
}

/** `said`: as what the contents were added, and when. */
export async function rankContents(
  embedder: CalibratedEmbedder,
  contents: readonly string[],
  originOf: (place: number) => Origin = () => ({}),
): Promise<Search> {
  const vectors: Float32Array[] = [];
  // A local model has a deadline for each text, also for those that wait.
  for (let start = 0; start < contents.length; start += batch)
    vectors.push(...(await embedder.embed(contents.slice(start, start + batch))));
  const index = indexRows(
    contents.map((content, place) => {
      const { type = 'preference', atMs = 0 } = originOf(place);
      return {
        id: String(place).padStart(6, '0'),
        seq: place,
        type,
        content,
        embedder: embedder.name,
        isInvalid: false,
        version: 1,
        saidAt: new Date(atMs),
        updatedAt: new Date(atMs),
        embedding: toBytes(vectors[place] ?? new Float32Array()),
      };
    }),
  );
  return async (question, limit) => {
    const similarities = compareHere(index, await embedder.embedQuery(question), embedder.querySimilarityOf);
    const options = { limit, type: undefined, nowMs: 0, leastRelevance: 0.2 };
    const ranked = await rankIndex(embedder, index, question, similarities, options);
    return ranked.map(({ id }) => contents[Number(id)] ?? '');
  };
}
