/**
 * Cuts a text into the pieces of a unigram vocabulary, as SentencePiece does, so that the pieces are those of the
 * model.
 */
import type { PieceTable } from './table.ts';

export const wordStart = '▁';

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
