import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { cutWord, loadTable, type PieceTable, wordsOf } from './builtin.ts';

/** Cut by the tokenizer of the model itself (tools/embedder/record.py); `null` for what it does not know. */
const recorded: readonly (readonly [string, readonly (string | null)[]])[] = readFileSync(
  new URL('../../../test/memory/pieces.fixture.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('the tokenizer', () => {
  let table: PieceTable;
  let pieces: readonly string[];
  beforeAll(async () => {
    table = await loadTable();
    pieces = [...table.places.keys()];
  });
  const cut = (text: string) =>
    wordsOf(text).flatMap((word) => cutWord(word, table).map((place) => pieces[place] ?? null));

  it('cuts texts of every language as the model does', () => {
    const known = recorded.filter(([, expected]) =>
      expected.every((piece) => piece !== null && table.places.has(piece)),
    );
    expect(known.length).toBeGreaterThan(150);
    for (const [text, expected] of known) expect([text, cut(text)]).toEqual([text, expected]);
  });

  it('has nine tenths of the pieces that texts of its languages need', () => {
    const all = recorded.flatMap(([, expected]) => expected);
    const missing = all.filter((piece) => piece === null || !table.places.has(piece));
    expect(missing.length / all.length).toBeLessThan(0.1);
  });

  it.each(['\u{10FFFF}', '\uD800', 'ქართული', '\u0000', ''])('takes any text: %j', (text) => {
    expect(() => cut(text.toWellFormed())).not.toThrow();
  });
});
