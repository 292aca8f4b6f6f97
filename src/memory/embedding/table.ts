/**
 * The table of the built-in embedder: pieces of words with their vectors, distilled from a sentence model by
 * `tools/embedder`, whose README.md describes the source, the license and the layout of the file.
 */
import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';

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
