/** Finds the language of a content by the words that the lists of the languages have. */
import { detectLanguage, stopWords } from '../text/languages.ts';
import type { Run } from '../text/words.ts';
import { type Lexicon, lexicons } from './lexicon.ts';

const letterWeight = 1.5;
const stopWordWeight = 0.5;
const defaultWeight = 0.4;

const scriptsOfOne = /[\p{Script=Hangul}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}]/u;

/** How much speaks for each language. */
export type Votes = ReadonlyMap<string, number>;

export function voteForLanguages(runs: readonly Run[]): Votes {
  const { all, listedBy } = lexicons();
  const words = runs.flatMap(({ kind, text }) => (kind === 'word' ? text.split("'") : []));
  const votes = new Map<string, number>();
  const vote = (code: string, weight: number) => votes.set(code, (votes.get(code) ?? 0) + weight);
  for (const word of words) {
    const codes = listedBy.get(word) ?? [];
    for (const code of codes) vote(code, 1 / codes.length);
  }
  const joined = words.join(' ');
  const weight = scriptsOfOne.test(joined) ? 2 * letterWeight : letterWeight;
  for (const { language } of all) if (language.letters?.test(joined) === true) vote(language.code, weight);
  const guess = detectLanguage(words);
  const isKnown = words.some((word) => stopWords[guess].has(word));
  if (words.length > 0) vote(guess, isKnown ? stopWordWeight : defaultWeight);
  return votes;
}

/** Returns the language that most speaks for, and English if nothing does. */
export function electLexicon(...ballots: readonly Votes[]): Lexicon {
  const sums = new Map<string, number>();
  for (const votes of ballots) for (const [code, weight] of votes) sums.set(code, (sums.get(code) ?? 0) + weight);
  let best = 'en';
  for (const [code, weight] of sums) if (weight > (sums.get(best) ?? 0)) best = code;
  return lexiconFor(lexicons().byCode.has(best) ? best : 'en');
}

/** The language of a run without spaces. Japanese has kana somewhere in the text. */
export function lexiconOf(run: string, text: string): Lexicon {
  if (/\p{Script=Thai}/u.test(run)) return lexiconFor('th');
  return lexiconFor(/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? 'ja' : 'zh');
}

function lexiconFor(code: string): Lexicon {
  const lexicon = lexicons().byCode.get(code);
  if (lexicon === undefined) throw new Error(`The word lists of the language ${code} are missing`);
  return lexicon;
}
