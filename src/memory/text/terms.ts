/** The search terms of texts: stems without stop words, and n-grams of characters for scripts without spaces. */

import { stemmer as en } from '@orama/stemmers/english';
import { stemmer as fr } from '@orama/stemmers/french';
import { stemmer as de } from '@orama/stemmers/german';
import { stemmer as ms } from '@orama/stemmers/indonesian';
import { stemmer as it } from '@orama/stemmers/italian';
import { stemmer as pt } from '@orama/stemmers/portuguese';
import { stemmer as ru } from '@orama/stemmers/russian';
import { stemmer as es } from '@orama/stemmers/spanish';
import { stopwords as ja } from '@orama/stopwords/japanese';
import { stopwords as zh } from '@orama/stopwords/mandarin';
import { createLru } from '#platform/cache/cache.ts';
import { detectLanguage, stopWords, type WordLanguage } from './languages.ts';
import { cutRuns } from './words.ts';

const stemmers: Readonly<Record<WordLanguage, (word: string) => string>> = { en, de, es, fr, it, pt, ms, ru };
const stopGrams = new Set([...ja, ...zh]);

const stems = createLru<string, string>(50_000);
/** Longer words are cut here before stemming, because stemmers are slow on them. */
const longestWord = 64;

function stem(word: string, language: WordLanguage): string {
  const key = `${language} ${word}`;
  let found = stems.get(key);
  if (found === undefined) {
    // Accents are removed after stemming, which needs them, because queries often omit them.
    found = stemmers[language](word).normalize('NFKD').replace(/\p{M}/gu, '');
    stems.set(key, found);
  }
  return found;
}

export interface Term {
  /** The form that is compared. */
  readonly term: string;
  /** The original form in lower case. */
  readonly word: string;
  readonly isStop: boolean;
}

export interface Analysis {
  readonly language: WordLanguage;
  /** In order, with repetitions. */
  readonly terms: readonly Term[];
}

/** If `language` is missing, detects it. */
export function analyse(text: string, language?: WordLanguage): Analysis {
  const runs = cutRuns(text);
  const taken = language ?? detectLanguage(runs.flatMap(({ kind, text: word }) => (kind === 'word' ? [word] : [])));
  const asTerm = (term: string): Term => ({ term, word: term, isStop: false });
  const terms = runs.flatMap(({ kind, text: run }): readonly Term[] => {
    if (kind === 'grams') return gramsOf(run).map(asTerm);
    if (kind === 'number') return [asTerm(run)];
    if (kind === 'symbol') return /\p{Extended_Pictographic}/u.test(run) ? [asTerm(run)] : [];
    if (/\p{Script=Hangul}/u.test(run)) return hangulGrams(run).map(asTerm);
    return wordsOf(run).map((word) => ({
      term: stem(word.slice(0, longestWord), taken),
      word,
      isStop: stopWords[taken].has(word),
    }));
  });
  return { language: taken, terms };
}

/**
 * Splits at apostrophes: l'été has an article, don't has two parts. The part before an apostrophe is usually a stop
 * word.
 */
function wordsOf(run: string): readonly string[] {
  if (!run.includes("'")) return [run];
  const parts = run.split("'").filter((part) => part.length > 1);
  return parts.length === 0 ? [run.replaceAll("'", '')] : parts;
}

/** Returns single characters and pairs, so that a word of one character is found within any run. */
function gramsOf(run: string): readonly string[] {
  const characters = [...run];
  const singles = characters.filter((character) => /\p{Script=Han}/u.test(character) && !stopGrams.has(character));
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return [...singles, ...pairs.filter((pair) => !stopGrams.has(pair))];
}

/** Returns the pairs of a word, because Korean appends particles to it. */
function hangulGrams(word: string): readonly string[] {
  const characters = [...word];
  if (characters.length < 3) return [word];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
