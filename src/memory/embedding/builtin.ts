/**
 * The built-in embedder: the mean of static vectors of words and pieces of words, in the languages of its table
 * (tools/embedder). It downloads nothing, and needs well under a millisecond for a text.
 */

import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import type { LRUCache } from 'lru-cache';
import { createLru } from '#platform/cache/cache.ts';
import { hashText } from '../text.ts';
import { type Embedder, normalise } from './embedder.ts';

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

// The table of the built-in embedder: pieces of words with their vectors, distilled from a sentence model by
// `tools/embedder`, whose README.md describes the source, the license and the layout of the file.

export interface PieceTable {
  readonly dimensions: number;
  /** The index of each piece. `▁` marks the start of a word. */
  readonly places: ReadonlyMap<string, number>;
  /** Logarithms of probabilities. */
  readonly scores: Float32Array;
  /** The score of a character without a piece. */
  readonly unknownScore: number;
  /** The length of the longest piece in UTF-16 code units. */
  readonly longest: number;
  /** `dimensions` numbers for each piece, before multiplication by its scale. */
  readonly vectors: Int8Array;
  readonly scales: Float32Array;
}

const file = new URL('table.bin', import.meta.url);
const magic = 'ATLEMB01';
const headerBytes = 32;

let loading: Promise<PieceTable> | undefined;

/** Read when it is first needed, once per process. */
export function loadTable(): Promise<PieceTable> {
  loading ??= readTable();
  return loading;
}

async function readTable(): Promise<PieceTable> {
  if (endianness() !== 'LE') throw new Error('The built-in embedder needs a little-endian machine');
  const bytes = await readFile(file);
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw new Error(`${file.pathname} is not a table of pieces`);
  const count = bytes.readUInt32LE(8);
  const dimensions = bytes.readUInt32LE(12);
  const floats = (start: number) => new Float32Array(bytes.buffer, bytes.byteOffset + start, count);
  const vectorsStart = headerBytes + 8 * count;
  const textStart = vectorsStart + count * dimensions;
  const { places, longest } = readPieces(bytes.subarray(textStart));
  return {
    dimensions,
    unknownScore: bytes.readFloatLE(16),
    scores: floats(headerBytes),
    scales: floats(headerBytes + 4 * count),
    vectors: new Int8Array(bytes.buffer, bytes.byteOffset + vectorsStart, count * dimensions),
    places,
    longest,
  };
}

/** Decodes one piece after the other, because a single text and its parts would take memory that is not released. */
function readPieces(bytes: Buffer) {
  const places = new Map<string, number>();
  let longest = 0;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    const piece = bytes.toString('utf8', start, end === -1 ? bytes.length : end);
    places.set(piece, places.size);
    longest = Math.max(longest, piece.length);
    start = end === -1 ? bytes.length : end + 1;
  }
  return { places, longest };
}

// Cuts a text into the pieces of a unigram vocabulary, as SentencePiece does, so that the pieces are those of the model.

const wordStart = '▁';

/** Characters that SentencePiece replaces by a space, beyond NFKC. It removes other control characters. */
const controlSpaces = '\t\n\f\r';
const spaces = /[\s\u1680\u200B-\u200F\u2028\u2029\u2581\uFEFF\uFFFD]+/gu;

/** Returns the words of a text with the mark of their start. No piece crosses the border of a word. */
export function wordsOf(text: string): readonly string[] {
  const plain = text
    .replace(/\p{Cc}/gu, (control) => (controlSpaces.includes(control) ? ' ' : ''))
    .normalize('NFKC')
    .replace(spaces, ' ')
    .trim();
  return plain === '' ? [] : plain.split(' ').map((word) => `${wordStart}${word}`);
}

/** Returns the indexes of a word's pieces in the table, and -1 for a character without a piece. */
export function cutWord(word: string, table: Pick<PieceTable, 'places' | 'scores' | 'longest' | 'unknownScore'>) {
  const { places, scores, longest, unknownScore } = table;
  const best = new Float32Array(word.length + 1).fill(Number.NEGATIVE_INFINITY);
  const cameFrom = new Int32Array(word.length + 1);
  const pieceAt = new Int32Array(word.length + 1);
  best[0] = 0;
  const offer = (end: number, score: number, start: number, place: number) => {
    // Sums are rounded to 32 bits as in the model, so that equal scores stay equal.
    if (!(Math.fround(score) > (best[end] ?? 0))) return;
    best[end] = score;
    cameFrom[end] = start;
    pieceAt[end] = place;
  };
  for (let start = 0; start < word.length; start += 1) {
    const before = best[start] ?? 0;
    if (before === Number.NEGATIVE_INFINITY) continue;
    for (let end = start + 1; end <= word.length && end - start <= longest; end += 1) {
      const place = places.get(word.slice(start, end));
      if (place !== undefined) offer(end, before + (scores[place] ?? 0), start, place);
    }
    const character = (word.codePointAt(start) ?? 0) > 0xffff ? 2 : 1;
    offer(start + character, before + unknownScore, start, -1);
  }
  const pieces: number[] = [];
  for (let end = word.length; end > 0; end = cameFrom[end] ?? 0) pieces.push(pieceAt[end] ?? -1);
  return pieces.reverse();
}
