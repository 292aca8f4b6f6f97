/** The 12 languages of content, mails and profiles (docs/specification/content.md#language), and which of them a reader asks for. */
import { LRUCache } from 'lru-cache';

export const contentLanguages = ['en', 'zh_CN', 'zh_TW', 'ja', 'ko', 'de', 'es', 'fr', 'it', 'ms', 'pt', 'ru'] as const;

export type ContentLanguage = (typeof contentLanguages)[number];

/** More than any browser sends. */
const maxHeaderLength = 1000;
/** Browsers send few different ones, and reading one costs as much as the rest of an answer. */
const negotiated = new LRUCache<string, ContentLanguage>({ max: 500 });

/**
 * Judges an `Accept-Language` header (docs/specification/content.md#language): by q, then by place, the first range that is one of ours. Malformed
 * ranges and those with q=0 are dropped; `*` and nothing acceptable are English.
 */
export function negotiateLanguage(header = ''): ContentLanguage {
  const judged = header.slice(0, maxHeaderLength);
  const known = negotiated.get(judged);
  if (known !== undefined) return known;
  const language = negotiate(judged);
  negotiated.set(judged, language);
  return language;
}

function negotiate(header: string): ContentLanguage {
  const ranges = header.split(',').flatMap(parseRange);
  // Sorting is stable: equal weights keep their place.
  ranges.sort((one, other) => other.weight - one.weight);
  for (const { range } of ranges) {
    const language = toContentLanguage(range);
    if (language !== undefined) return language;
  }
  return 'en';
}

/** One language tag, of a browser, a profile or a mail; `undefined`: none of ours. `*` is English. */
export function toContentLanguage(tag: string): ContentLanguage | undefined {
  const [primary = '', ...subtags] = tag.toLowerCase().replaceAll('_', '-').split('-');
  if (primary === '*') return 'en';
  if (['zh', 'cmn', 'yue'].includes(primary)) return chinese(primary, subtags);
  return contentLanguages.find((language) => language === primary);
}

/** The script beats the region, the region the language; Cantonese is written in traditional characters. */
function chinese(primary: string, subtags: readonly string[]): ContentLanguage {
  if (subtags.includes('hans')) return 'zh_CN';
  if (subtags.includes('hant')) return 'zh_TW';
  if (primary === 'yue' || subtags.includes('yue')) return 'zh_TW';
  return subtags.some((subtag) => ['tw', 'hk', 'mo'].includes(subtag)) ? 'zh_TW' : 'zh_CN';
}

const rangePattern =
  /^\s*(\*|[a-z]{1,8}(?:[-_](?:[a-z0-9]{1,8}|\*))*)\s*(?:;\s*q=(0(?:\.\d*)?|1(?:\.0*)?|\.\d+)\s*)?$/i;

function parseRange(text: string): { readonly range: string; readonly weight: number }[] {
  const match = rangePattern.exec(text);
  if (match === null) return [];
  const weight = Number(match[2] ?? 1);
  return weight === 0 ? [] : [{ range: match[1] ?? '', weight }];
}
