/** Cuts a text into words in any script. */

/** A run of one kind. `grams`: scripts without spaces, which are cut by characters. */
export interface Run {
  readonly kind: 'word' | 'number' | 'grams' | 'symbol';
  /** Normalized (NFKC), in lower case. */
  readonly text: string;
}

const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\u30FC\\u3005';
/**
 * An apostrophe stays within a word: don't, l'été. Points, colons and slashes stay within a number: 3.5, 10:30,
 * 2026-05-01.
 */
const runs = new RegExp(
  [
    `(?<grams>[${unspaced}]+)`,
    `(?<number>\\p{Nd}+(?:[.,:/-]\\p{Nd}+)*)`,
    `(?<word>(?:(?![${unspaced}])[\\p{L}\\p{M}])+(?:['’](?:(?![${unspaced}])[\\p{L}\\p{M}])+)*)`,
    `(?<symbol>\\p{Extended_Pictographic}|\\p{S}|[#@&%*/\\\\§?？-])`,
  ].join('|'),
  'gu',
);

export function cutRuns(text: string): readonly Run[] {
  return [...text.normalize('NFKC').toLowerCase().matchAll(runs)].map(({ groups = {} }) => {
    if (groups.grams !== undefined) return { kind: 'grams', text: groups.grams };
    if (groups.number !== undefined) return { kind: 'number', text: groups.number };
    if (groups.word !== undefined) return { kind: 'word', text: groups.word.replaceAll('’', "'") };
    return { kind: 'symbol', text: groups.symbol ?? '' };
  });
}

// Makes texts comparable with listed phrases of any language.

/**
 * Puts a space on either side of each word. Joins words of scripts without spaces, so that phrases are found within a
 * run.
 */
export function plain(text: string): string {
  const runs = cutRuns(text);
  const isUnspaced = runs.some(({ kind }) => kind === 'grams');
  const words = runs.flatMap(({ kind, text: word }) => (kind === 'symbol' ? [] : word.split("'")));
  return isUnspaced ? words.join('') : ` ${words.join(' ')} `;
}
