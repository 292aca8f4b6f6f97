/**
 * The built-in embedder: the mean of static vectors of words and pieces of words, in the languages of its table
 * (tools/embedder). It downloads nothing, and needs well under a millisecond for a text.
 */
import type { LRUCache } from 'lru-cache';
import { createLru } from '#platform/cache/cache.ts';
import { hashText } from '../text/hashing.ts';
import { type Embedder, normalise } from './embedder.ts';
import { loadTable, type PieceTable } from './table.ts';
import { cutWord, wordsOf } from './tokenizer.ts';

/** Characters that are embedded. The rest of a longer text is ignored. */
const longestText = 6_000;
const cachedWords = 20_000;

export function createBuiltinEmbedder(): Embedder {
  const pieces = createLru<string, readonly number[]>(cachedWords);
  const sumOf = async (text: string) => sumUp(text.slice(0, longestText), await loadTable(), pieces);
  return {
    name: 'builtin-5',
    searchWeight: 0.5,
    centering: 0,
    embed: (texts) => Promise.all(texts.map(async (text) => directed(await sumOf(text), text))),
    // A text without known pieces has a vector of zeros, which is similar to nothing.
    embedQuery: async (text) => normalise(await sumOf(text)),
    close: async () => undefined,
  };
}

function sumUp(text: string, table: PieceTable, known: LRUCache<string, readonly number[]>): Float32Array {
  const vector = new Float32Array(table.dimensions);
  for (const word of wordsOf(text.toWellFormed())) {
    let pieces = known.get(word);
    if (pieces === undefined) {
      pieces = cutWord(word, table);
      known.set(word, pieces);
    }
    for (const place of pieces) if (place >= 0) add(vector, table, place);
  }
  return vector;
}

/** If the table contains no piece of a text, only an equal text is similar. */
function directed(vector: Float32Array, text: string): Float32Array {
  if (vector.every((value) => value === 0)) vector[hashText(text.normalize('NFKC').trim()) % vector.length] = 1;
  return normalise(vector);
}

function add(vector: Float32Array, { dimensions, scales, vectors }: PieceTable, place: number): void {
  const scale = scales[place] ?? 0;
  const start = place * dimensions;
  for (let index = 0; index < dimensions; index += 1)
    vector[index] = (vector[index] ?? 0) + scale * (vectors[start + index] ?? 0);
}
