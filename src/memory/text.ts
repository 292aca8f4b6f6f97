/** Reads texts of the content languages: their words, language, search terms and months, and hashes of them. */
import { hash } from 'node:crypto';
import { stemmer as en } from '@orama/stemmers/english';
import { stemmer as fr } from '@orama/stemmers/french';
import { stemmer as de } from '@orama/stemmers/german';
import { stemmer as ms } from '@orama/stemmers/indonesian';
import { stemmer as it } from '@orama/stemmers/italian';
import { stemmer as pt } from '@orama/stemmers/portuguese';
import { stemmer as ru } from '@orama/stemmers/russian';
import { stemmer as es } from '@orama/stemmers/spanish';
import { stopwords as enStops } from '@orama/stopwords/english';
import { stopwords as frStops } from '@orama/stopwords/french';
import { stopwords as deStops } from '@orama/stopwords/german';
import { stopwords as msStops } from '@orama/stopwords/indonesian';
import { stopwords as itStops } from '@orama/stopwords/italian';
import { stopwords as ja } from '@orama/stopwords/japanese';
import { stopwords as zh } from '@orama/stopwords/mandarin';
import { stopwords as ptStops } from '@orama/stopwords/portuguese';
import { stopwords as ruStops } from '@orama/stopwords/russian';
import { stopwords as esStops } from '@orama/stopwords/spanish';
import { createLru } from '#platform/cache/cache.ts';

// Cuts a text into words in any script.

/** A run of one kind. `grams`: scripts without spaces, which are cut by characters. */
export interface Run {
  readonly kind: 'word' | 'number' | 'grams' | 'symbol';
  /** Normalized (NFKC), in lower case. */
  readonly text: string;
}

const unspaced = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\u30FC\\u3005';
/** An apostrophe stays within a word: don't, l'été. Points, colons and slashes stay within a number: 3.5, 10:30, 2026-05-01. */
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

/** Puts a space on either side of each word. Joins words of scripts without spaces, so that phrases are found within a run. */
export function plain(text: string): string {
  const runs = cutRuns(text);
  const isUnspaced = runs.some(({ kind }) => kind === 'grams');
  const words = runs.flatMap(({ kind, text: word }) => (kind === 'symbol' ? [] : word.split("'")));
  return isUnspaced ? words.join('') : ` ${words.join(' ')} `;
}

// Detects the language of a text for stems and stop words, among the content languages that are written in words.

/** Chinese, Japanese and Korean are not needed here, because they are cut by characters. */
const wordLanguages = ['en', 'de', 'es', 'fr', 'it', 'pt', 'ms', 'ru'] as const;
export type WordLanguage = (typeof wordLanguages)[number];

/** Malay uses the stop words and the stemmer of Indonesian, which are nearly the same. */
export const stopWords: Readonly<Record<WordLanguage, ReadonlySet<string>>> = {
  en: new Set(enStops),
  de: new Set(deStops),
  es: new Set(esStops),
  fr: new Set(frStops),
  it: new Set(itStops),
  pt: new Set(ptStops),
  ms: new Set([...msStops, 'saya', 'awak', 'ialah', 'sangat', 'kerana', 'boleh', 'nak', 'tak']),
  ru: new Set(ruStops),
};

const languagesByStopWord = new Map<string, WordLanguage[]>();
for (const language of wordLanguages) {
  for (const word of stopWords[language]) {
    const found = languagesByStopWord.get(word);
    if (found === undefined) languagesByStopWord.set(word, [language]);
    else found.push(language);
  }
}

/** Letters, and an elision, that only one of the languages uses. */
const distinctiveLetters: readonly (readonly [RegExp, WordLanguage])[] = [
  [/[ßäö]/, 'de'],
  [/[ñ¿¡]/, 'es'],
  [/[ãõ]/, 'pt'],
  [/[œêîûëï]/, 'fr'],
  [/[ìò]/, 'it'],
  [/^(?:j|qu|n|m)'/, 'fr'],
];

/**
 * Detects the language by stop words. A word that few languages share counts more. Returns English if nothing decides:
 * a wrong guess only costs a stem. `words` must be in lower case.
 */
export function detectLanguage(words: readonly string[]): WordLanguage {
  const votes = new Map<WordLanguage, number>();
  const vote = (language: WordLanguage, weight: number) => votes.set(language, (votes.get(language) ?? 0) + weight);
  for (const word of words) {
    if (/\p{Script=Cyrillic}/u.test(word)) vote('ru', 1);
    const languages = languagesByStopWord.get(word) ?? [];
    for (const language of languages) vote(language, 1 / languages.length);
    for (const [letters, language] of distinctiveLetters) if (letters.test(word)) vote(language, 0.6);
  }
  let best: WordLanguage = 'en';
  for (const [language, weight] of votes) if (weight > (votes.get(best) ?? 0)) best = language;
  return best;
}

// The search terms of texts: stems without stop words, and n-grams of characters for scripts without spaces.

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

interface Analysis {
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

/** Splits at apostrophes: l'été has an article, don't has two parts. The part before an apostrophe is usually a stop word. */
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

// Reads the months that a query names, in the content languages.

const languages = 'en de es fr it pt ru ms'.split(' ');
const numbered = /(?<!\d)(1[0-2]|[1-9]) ?[月월]/gu;
const years = /(?<!\d)(?:19|20)\d\d(?!\d)/g;

/** Endings of Russian months, whose names have cases. */
const endings = ['', ...'йьаяеюи'];

/** The numbers of months, from 0. Prepared on first use, because a start does not need them. */
let prepared: ReadonlyMap<string, number> | undefined;

function prepare(): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const language of languages) {
    const format = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
    for (let month = 0; month < 12; month += 1) {
      const name = format.format(Date.UTC(2024, month));
      const forms = language === 'ru' ? endings.map((ending) => name.replace(/[йь]$/, '') + ending) : [name];
      // Capitals as written, or at the beginning of a sentence: "may" and "march" are words too.
      for (const form of forms)
        for (const written of [form, form.slice(0, 1).toUpperCase() + form.slice(1)]) numbers.set(written, month);
    }
  }
  return numbers;
}

/** Returns whether a time is in one of the months that the text names, or `undefined` if it names none. */
export function readMonths(text: string): ((timeMs: number) => boolean) | undefined {
  prepared ??= prepare();
  const months = new Set<number>();
  for (const [word] of text.matchAll(/\p{L}+/gu)) {
    const month = prepared.get(word);
    if (month !== undefined) months.add(month);
  }
  for (const [, number] of text.matchAll(numbered)) months.add(Number(number) - 1);
  if (months.size === 0) return undefined;
  const inYears = new Set([...text.matchAll(years)].map(([year]) => Number(year)));
  return (timeMs) => {
    const time = new Date(timeMs);
    return months.has(time.getUTCMonth()) && (inYears.size === 0 || inYears.has(time.getUTCFullYear()));
  };
}

// Hashes of terms, and of whole contents.

/** Returns an evenly distributed hash of 32 bits, for terms and features. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  // FNV's low bits are poor for texts that differ at the end, so the hash is mixed again.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

// A hash that is equal for contents that differ only in case, width, spaces or final punctuation.

/** Retains a question mark, because a question is not a statement. Leaves text of punctuation only unchanged. */
function normaliseContent(content: string): string {
  const plain = content.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  return plain.replace(/(?<![\s.!,;:…。！、，；：])[\s.!,;:…。！、，；：]+$/u, '') || plain || content;
}

/** Returns the SHA-256 of the normalized content. */
export function hashContent(content: string): Buffer {
  return hash('sha256', normaliseContent(content), 'buffer');
}
