/** The 12 languages of content, mail and profiles (docs/specification/content.md#language), and the choice among them for a reader. */
import { LRUCache } from 'lru-cache';

export const contentLanguages = ['en', 'zh_CN', 'zh_TW', 'ja', 'ko', 'de', 'es', 'fr', 'it', 'ms', 'pt', 'ru'] as const;

export type ContentLanguage = (typeof contentLanguages)[number];

/** Longer than the header of any browser. */
const maxHeaderLength = 1000;
/** Browsers send few different headers, and parsing one costs as much as the rest of a response. */
const negotiated = new LRUCache<string, ContentLanguage>({ max: 500 });

/**
 * Evaluates an `Accept-Language` header (docs/specification/content.md#language): the first supported range by q, then by position.
 * Malformed
 * ranges and ranges with q=0 are dropped. `*` and headers without a supported language result in English.
 */
export function negotiateLanguage(header = ''): ContentLanguage {
  const key = header.slice(0, maxHeaderLength);
  const cached = negotiated.get(key);
  if (cached !== undefined) return cached;
  const language = negotiate(key);
  negotiated.set(key, language);
  return language;
}

function negotiate(header: string): ContentLanguage {
  const ranges = header.split(',').flatMap(parseRange);
  // Sorting is stable, so equal weights keep their position.
  ranges.sort((one, other) => other.weight - one.weight);
  for (const { range } of ranges) {
    const language = toContentLanguage(range);
    if (language !== undefined) return language;
  }
  return 'en';
}

/** Maps one language tag of a browser, a profile or a mail. Returns `undefined` for an unsupported language. `*` is English. */
export function toContentLanguage(tag: string): ContentLanguage | undefined {
  const [primary = '', ...subtags] = tag.toLowerCase().replaceAll('_', '-').split('-');
  if (primary === '*') return 'en';
  if (['zh', 'cmn', 'yue'].includes(primary)) return chinese(primary, subtags);
  return contentLanguages.find((language) => language === primary);
}

/** The script takes precedence over the region, and the region over the language. Cantonese uses traditional characters. */
function chinese(primary: string, subtags: readonly string[]): ContentLanguage {
  if (subtags.includes('hans')) return 'zh_CN';
  if (subtags.includes('hant')) return 'zh_TW';
  if (primary === 'yue' || subtags.includes('yue')) return 'zh_TW';
  return subtags.some((subtag) => ['tw', 'hk', 'mo'].includes(subtag)) ? 'zh_TW' : 'zh_CN';
}

/** A weight has at most three decimals (RFC 9110 §12.4.2). */
const rangePattern =
  /^\s*(\*|[a-z]{1,8}(?:[-_](?:[a-z0-9]{1,8}|\*))*)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

function parseRange(text: string): { readonly range: string; readonly weight: number }[] {
  const match = rangePattern.exec(text);
  if (match === null) return [];
  const weight = Number(match[2] ?? 1);
  return weight === 0 ? [] : [{ range: match[1] ?? '', weight }];
}
