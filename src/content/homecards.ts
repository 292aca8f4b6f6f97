import { z } from 'zod';
import { plans } from '#accounts/api.ts';
import type { ContentLanguage } from '#platform/language.ts';
import { cardModels, type HomeCard, type HomeCards, ratios, shownMedia } from './api.ts';
import { enumOr, fitting, isRecord, lookUp, parseDocument, texts } from './items.ts';
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
