/** BM25 over the memories of one entity: document frequencies are the entity's own. Constants as measured (docs/memory.md). */

const k1 = 0.9;
const b = 0.4;

export interface Counted {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

export interface Collection {
  readonly documents: number;
  readonly totalLength: number;
  /** In how many documents each term stands. */
  readonly frequencies: ReadonlyMap<string, number>;
}

export function countTerms(terms: readonly string[]): Counted {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { counts, length: terms.length };
}

/** Never negative; the highest for a term that stands nowhere. */
export function inverseFrequency(collection: Collection, term: string): number {
  const { documents } = collection;
  const found = collection.frequencies.get(term) ?? 0;
  return Math.log(1 + (documents - found + 0.5) / (found + 0.5));
}

/**
 * Scores documents for a query, as a share of what a document could have at most: 0 (no term in common) to 1, so that
 * scores from two collections can stand in one list.
 */
export function createScorer(collection: Collection, query: readonly string[]): (document: Counted) => number {
  const weights = [...new Set(query)].map((term) => ({ term, weight: inverseFrequency(collection, term) }));
  const most = weights.reduce((sum, { weight }) => sum + weight * (k1 + 1), 0);
  const average = collection.totalLength / Math.max(1, collection.documents) || 1;
  return ({ counts, length }) => {
    if (most === 0) return 0;
    const norm = k1 * (1 - b + (b * length) / average);
    let score = 0;
    for (const { term, weight } of weights) {
      const count = counts.get(term);
      if (count !== undefined) score += (weight * count * (k1 + 1)) / (count + norm);
    }
    return score / most;
  };
}
