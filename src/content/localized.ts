/**
 * Texts and URLs of the CMS, with one field for each language: `title_en`, `title_zh_CN`, … A field is looked up in the
 * reader's language, then in English, then without a suffix. `null` and an empty text count as missing
 * (docs/specification/content.md#fields).
 */
import { z } from 'zod';
import { type ContentLanguage, contentLanguages } from '#platform/language.ts';

/** An invalid text counts as missing, so it affects the readers of its language only. */
const text = z.string().nullish().catch(undefined);

/** The schema of an object with its texts in every language. */
export function texts(...fields: readonly string[]) {
  const names = fields.flatMap((field) => [field, ...contentLanguages.map((language) => `${field}_${language}`)]);
  return Object.fromEntries(names.map((name) => [name, text]));
}

export type Texts = Readonly<Record<string, unknown>>;

export function lookUp(texts: Texts, field: string, language: ContentLanguage): string {
  const found = [`${field}_${language}`, `${field}_en`, field].map((name) => texts[name]);
  return found.find((value): value is string => typeof value === 'string' && value !== '') ?? '';
}
