/** Parses lists of the CMS: omits an invalid item and retains the others (docs/specification/content.md#fields). */
import { z } from 'zod';
import { type ContentLanguage, contentLanguages } from '#platform/language.ts';

// Texts and URLs of the CMS, with one field for each language: `title_en`, `title_zh_CN`, … A field is looked up in the
// reader's language, then in English, then without a suffix. `null` and an empty text count as missing
// (docs/specification/content.md#fields).

/** An invalid text counts as missing, so it affects the readers of its language only. */
const text = z.string().nullish().catch(undefined);

/** The schema of an object with its texts in every language. */
export function texts(...fields: readonly string[]) {
  const names = fields.flatMap((field) => [field, ...contentLanguages.map((language) => `${field}_${language}`)]);
  return Object.fromEntries(names.map((name) => [name, text]));
}

type Texts = Readonly<Record<string, unknown>>;

export function lookUp(texts: Texts, field: string, language: ContentLanguage): string {
  const found = [`${field}_${language}`, `${field}_en`, field].map((name) => texts[name]);
  return found.find((value): value is string => typeof value === 'string' && value !== '') ?? '';
}

/** Absent and `null` mean the default. Other values are invalid, including audio, which is retired. */
export function enumOr<const Values extends readonly [string, ...string[]]>(values: Values, otherwise: Values[number]) {
  return z
    .enum(values)
    .nullish()
    .transform((value): Values[number] => value ?? otherwise);
}

export function fitting<Item>(schema: z.ZodType<Item>, items: readonly unknown[]): Item[] {
  return items.flatMap((item) => {
    const parsed = schema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
}

/**
 * Parses a document of the CMS. A document with other fields only, such as a wrapped one, is invalid: it would look like one without
 * content. Throws if it is invalid.
 */
export function parseDocument<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, upstream: unknown) {
  const parsed = schema.parse(upstream);
  const names = Object.keys(isRecord(upstream) ? upstream : {});
  const known = Object.keys(schema.shape);
  if (names.length > 0 && !names.some((name) => known.includes(name)))
    throw new Error(`the document has none of the fields ${known.slice(0, 3).join(', ')}, …`);
  return parsed;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
