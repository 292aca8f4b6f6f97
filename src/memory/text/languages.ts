/** Detects the language of a text for stems and stop words, among the content languages that are written in words. */

import { stopwords as en } from '@orama/stopwords/english';
import { stopwords as fr } from '@orama/stopwords/french';
import { stopwords as de } from '@orama/stopwords/german';
import { stopwords as ms } from '@orama/stopwords/indonesian';
import { stopwords as it } from '@orama/stopwords/italian';
import { stopwords as pt } from '@orama/stopwords/portuguese';
import { stopwords as ru } from '@orama/stopwords/russian';
import { stopwords as es } from '@orama/stopwords/spanish';

/** Chinese, Japanese and Korean are not needed here, because they are cut by characters. */
export const wordLanguages = ['en', 'de', 'es', 'fr', 'it', 'pt', 'ms', 'ru'] as const;
export type WordLanguage = (typeof wordLanguages)[number];

/** Malay uses the stop words and the stemmer of Indonesian, which are nearly the same. */
export const stopWords: Readonly<Record<WordLanguage, ReadonlySet<string>>> = {
  en: new Set(en),
  de: new Set(de),
  es: new Set(es),
  fr: new Set(fr),
  it: new Set(it),
  pt: new Set(pt),
  ms: new Set([...ms, 'saya', 'awak', 'ialah', 'sangat', 'kerana', 'boleh', 'nak', 'tak']),
  ru: new Set(ru),
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
