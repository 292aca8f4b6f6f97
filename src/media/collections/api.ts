/** Favorites and collections of an owner's assets (docs/specification/media.md#collections). */
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { optional, ownerId, uuid } from '../api.ts';

export const mostCollections = 500;
/** Of one collection. */
export const mostAssets = 10_000;

const assetIds = z.array(uuid).max(1000);

const title = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine(isStorableText, 'must not contain NUL or lone surrogates')
  .describe('1 to 200 characters.');

export const favoritesChange = z.strictObject({
  ids: assetIds.min(1),
  favorite: z.boolean(),
  ownerId,
});
export type FavoritesChange = z.output<typeof favoritesChange>;

export const favoritesChanged = z.object({ changed: z.int().describe('The number of assets that changed.') });
export type FavoritesChanged = z.output<typeof favoritesChanged>;

export const collectionRequest = z.strictObject({
  title,
  assetIds: optional(assetIds).describe('The first assets of the collection, at most 1000.'),
  ownerId,
});
export type CollectionRequest = z.output<typeof collectionRequest>;

export const collectionParams = z.object({ collectionId: uuid });
export const collectionOwner = z.object({ ownerId });

export const collectionListing = z.object({
  ownerId,
  q: optional(z.string().max(200)).describe('Each of its words must occur in the title.'),
  assetId: optional(uuid).describe('Only collections that contain this asset.'),
});
export type CollectionListing = z.output<typeof collectionListing>;

export const collectionChange = z.strictObject({
  title: optional(title),
  add: optional(assetIds).describe('Assets to add, at most 1000.'),
  remove: optional(assetIds).describe('Assets to remove. They stay in the library.'),
  coverAssetId: optional(uuid).describe(
    'The image or video to show as the cover. It is added if the collection does not have it.',
  ),
  ownerId,
});
export type CollectionChange = z.output<typeof collectionChange>;

export const collection = z.object({
  collectionId: z.string(),
  title: z.string(),
  count: z.int().describe('The number of its assets, without the posters of videos.'),
  coverAssetId: z.string().nullable().describe('The chosen cover, or the image or video that was added last.'),
  coverMime: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type Collection = z.output<typeof collection>;

export const collections = z.object({
  collections: z.array(collection).describe(`Last changed first. An owner has at most ${mostCollections}.`),
});
export type Collections = z.output<typeof collections>;
