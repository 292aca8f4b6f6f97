/**
 * BM25 over the memories of one entity, with the document frequencies of this entity. Constants as measured
 * (docs/memory.md).
 */
import { createPacer } from '#platform/concurrency/mapconcurrently.ts';
import { hashText } from '../text/hashing.ts';

const k1 = 0.9;
const b = 0.4;

/** The terms of a document by their hashes, in six bytes each, because an entity can have millions. */
export interface Counted {
  /** In ascending order. */
  readonly hashes: Uint32Array;
  /** How often each term occurs in the document. */
  readonly counts: Uint16Array;
  readonly length: number;
}

export interface Collection {
  readonly documents: number;
  readonly totalLength: number;
  /** The number of documents that contain each of the sought terms. */
  readonly frequencies: ReadonlyMap<string, number>;
}

const mostCount = 0xffff;
/** Documents that are read before the next look at the clock. */
const betweenPauses = 64;

export function countTerms(terms: readonly string[]): Counted {
  const all = Uint32Array.from(terms, hashText).sort();
  const hashes = all.filter((hash, place) => hash !== all[place - 1]);
  const counts = new Uint16Array(hashes.length);
  let place = -1;
  for (const hash of all) {
    if (hash !== hashes[place]) place += 1;
    counts[place] = Math.min(mostCount, (counts[place] ?? 0) + 1);
  }
  return { hashes, counts, length: terms.length };
}

/** Calls `found` with the index in `sought` and the count, for each term of the document. */
type Lookup = (document: Counted, found: (place: number, count: number) => void) => void;

function lookUp(sought: readonly string[]): Lookup {
  const wanted = sought.map(hashText);
  const places = new Map(wanted.map((hash, place) => [hash, place]));
  return ({ hashes, counts }, found) => {
    // The shorter list is looked up in the longer one. Loops by index, because iterators take twice as long.
    if (wanted.length > hashes.length) {
      for (let at = 0; at < hashes.length; at += 1) {
        const place = places.get(hashes[at] ?? 0);
        if (place !== undefined) found(place, counts[at] ?? 0);
      }
      return;
    }
    for (let place = 0; place < wanted.length; place += 1) {
      const hash = wanted[place] ?? 0;
      const at = placeOf(hashes, hash);
      if (hashes[at] === hash) found(place, counts[at] ?? 0);
    }
  };
}

/** Returns the index of the first hash that is not less. */
function placeOf(ascending: Uint32Array, sought: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < sought) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the number of documents that contain each term. Omits terms that no document contains. */
export async function findFrequencies(
  documents: Iterable<Counted>,
  terms: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const pace = createPacer();
  const sought = [...new Set(terms)];
  const frequencies = new Uint32Array(sought.length);
  const eachIn = lookUp(sought);
  const count = (place: number) => {
    frequencies[place] = (frequencies[place] ?? 0) + 1;
  };
  let read = 0;
  for (const document of documents) {
    eachIn(document, count);
    read += 1;
    if (read % betweenPauses === 0) await pace();
  }
  return new Map(sought.flatMap((term, place) => (frequencies[place] ? [[term, frequencies[place]]] : [])));
}

/** Never negative. A term that no document contains has the highest value. */
export function inverseFrequency(collection: Collection, term: string): number {
  const { documents } = collection;
  const found = collection.frequencies.get(term) ?? 0;
  return Math.log(1 + (documents - found + 0.5) / (found + 0.5));
}

/**
 * Scores documents as a share of the highest possible score, from 0 (no shared term) to 1. So one list can contain
 * scores from two collections. `rarityPower`: the exponent of inverse frequencies, which is 1 in BM25.
 */
export function createScorer(
  collection: Collection,
  query: readonly string[],
  rarityPower = 1,
): (document: Counted) => number {
  const terms = [...new Set(query)];
  const weights = terms.map((term) => inverseFrequency(collection, term) ** rarityPower);
  const most = weights.reduce((sum, weight) => sum + weight * (k1 + 1), 0);
  const average = collection.totalLength / Math.max(1, collection.documents) || 1;
  const eachIn = lookUp(terms);
  return (document) => {
    if (most === 0) return 0;
    const norm = k1 * (1 - b + (b * document.length) / average);
    let score = 0;
    eachIn(document, (place, count) => {
      score += ((weights[place] ?? 0) * count * (k1 + 1)) / (count + norm);
    });
    return score / most;
  };
}
