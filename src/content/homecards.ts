import { z } from 'zod';
import { plans } from '#accounts/api.ts';
import { type ContentLanguage, contentLanguages } from '#platform/language.ts';
import { cardModels, type HomeCard, type HomeCards, ratios, shownMedia } from './api.ts';
import type { Feature } from './proxy.ts';

const body = z.object({ cards: z.array(z.unknown()).nullish(), featuredCardIds: z.array(z.unknown()).nullish() });

const inputMedia = z.object({ type: enumOr(shownMedia, 'image'), ...texts('url') });

/** Some CMSs number their rows. */
const cardId = z.union([z.string().min(1), z.int().transform(String)]);

const card = z.object({
  id: cardId,
  coverType: enumOr(shownMedia, 'image'),
  requiredPlan: enumOr(plans, 'free'),
  isFeatured: z.boolean().nullish(),
  model: enumOr(cardModels, 'lite'),
  ratio: enumOr(ratios, 'auto'),
  mediaType: enumOr(shownMedia, 'image'),
  // An invalid entry is omitted; the others are retained.
  inputMedias: z
    .array(z.unknown())
    .nullish()
    .transform((entries) => fitting(inputMedia, entries ?? [])),
  ...texts('image', 'coverVideo', 'arcadeLink', 'mobileArcadeLink', 'title', 'description', 'prompt'),
});
type Card = z.output<typeof card>;

interface Cards {
  readonly cards: readonly Card[];
  readonly featuredCardIds: readonly string[];
}

/** `GET /op/homecards/v2`. */
export const homeCardsFeature: Feature<Cards, HomeCards> = {
  path: '/api/cached/home-cards-v2',
  parse: (upstream) => readCards(parseDocument(body, upstream)),
  localize: ({ cards, featuredCardIds }, language) => ({
    cards: cards.map((card) => toHomeCard(card, language)),
    featuredCardIds: [...featuredCardIds],
  }),
  empty: { cards: [], featuredCardIds: [] },
};

function readCards({ cards: all, featuredCardIds }: z.output<typeof body>): Cards {
  const cards = fitting(card, all ?? []);
  const kept = new Set<unknown>(cards.map(({ id }) => id));
  // A card that was omitted is not featured either.
  const dropped = new Set(
    (all ?? []).flatMap((card) => idIn(isRecord(card) ? card.id : undefined)).filter((id) => !kept.has(id)),
  );
  return { cards, featuredCardIds: (featuredCardIds ?? []).flatMap(idIn).filter((id) => !dropped.has(id)) };
}

function idIn(value: unknown): readonly string[] {
  const { data } = cardId.safeParse(value);
  return data === undefined ? [] : [data];
}

function toHomeCard(card: Card, language: ContentLanguage): HomeCard {
  const text = (field: string) => lookUp(card, field, language);
  return {
    id: card.id,
    coverType: card.coverType,
    image: text('image'),
    coverVideo: text('coverVideo'),
    arcadeLink: text('arcadeLink'),
    mobileArcadeLink: text('mobileArcadeLink'),
    requiredPlan: card.requiredPlan,
    title: text('title'),
    description: text('description'),
    prompt: text('prompt'),
    isFeatured: card.isFeatured === true,
    model: card.model,
    ratio: card.ratio,
    mediaType: card.mediaType,
    inputMedias: card.inputMedias.map((entry) => ({ type: entry.type, url: lookUp(entry, 'url', language) })),
  };
}

// Texts and URLs of the CMS, with one field for each language: `title_en`, `title_zh_CN`, … A field is looked up in the
// reader's language, then in English, then without a suffix. `null` and an empty text count as missing
// (docs/specification/content.md#fields).

/** The schema of an object with its texts in every language. */
export function texts(...fields: readonly string[]) {
  // An invalid text counts as missing, so it affects the readers of its language only.
  const text = z.string().nullish().catch(undefined);
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

/** Omits invalid items (docs/specification/content.md#fields). */
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
