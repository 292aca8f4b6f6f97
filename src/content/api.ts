/** The schemas and types of the public content endpoints (docs/specification/content.md). */
import { z } from 'zod';
import { plan } from '#accounts/api.ts';

export const cardModels = ['lite', 'nova', 'ultra'] as const;
export const ratios = ['auto', '1:1', '4:3', '3:4', '16:9', '9:16'] as const;
/** Audio is retired. It is recognized so that it can be omitted. */
export const shownMedia = ['image', 'video'] as const;

const media = z.enum(shownMedia);
const localized = z.string().describe('In the language of the reader. Empty if there is none.');

export const announcement = z.object({
  announcement: localized.describe('The same as `title`, for older clients.'),
  url: z.string(),
  visible: z.boolean(),
  title: localized,
  description: localized,
  imageUrl: localized,
});
export type Announcement = z.output<typeof announcement>;

export const homeCard = z.object({
  id: z.string(),
  coverType: media,
  image: localized,
  coverVideo: localized,
  arcadeLink: z.string(),
  mobileArcadeLink: z.string(),
  requiredPlan: plan,
  title: localized,
  description: localized,
  prompt: localized,
  isFeatured: z.boolean(),
  model: z.enum(cardModels),
  ratio: z.enum(ratios),
  mediaType: media,
  inputMedias: z.array(z.object({ type: media, url: z.string() })),
});
export type HomeCard = z.output<typeof homeCard>;

export const homeCards = z.object({ cards: z.array(homeCard), featuredCardIds: z.array(z.string()) });
export type HomeCards = z.output<typeof homeCards>;

export const trending = z.object({
  items: z.array(
    z.object({
      title: localized,
      coverType: media,
      cover: localized.describe('The video when `coverType` is `video`, the image otherwise.'),
      url: localized,
    }),
  ),
});
export type Trending = z.output<typeof trending>;

const listed = z.object({ id: z.string(), updated_at: z.iso.datetime() });
export type Listed = z.output<typeof listed>;

export const userSitemap = z.object({ users: z.array(listed) });
export const feedSitemap = z.object({ feeds: z.array(listed) });
