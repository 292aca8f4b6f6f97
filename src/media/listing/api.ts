/** The schemas of the listing of assets. */
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { pageSize } from '#platform/wholenumber.ts';
import { asset, kind, optional, ownerId, scopeId, scopeKind, uuid } from '../api.ts';

export const assetListing = z.object({
  ownerId,
  scopeKind: optional(scopeKind),
  scopeId: optional(scopeId).describe('With scopeKind.'),
  kind: optional(kind),
  type: optional(z.enum(['image', 'video', 'other'])).describe('By the mime.'),
  thumbnails: optional(z.enum(['true', 'false'])).describe('`false`: leaves out thumbnails of the owner’s videos.'),
  copies: optional(z.enum(['false'])).describe(
    '`false`: leaves out copies in feeds of assets that the owner still has. `published` marks their sources.',
  ),
  q: optional(z.string().max(500).refine(isStorableText, 'must not contain NUL or lone surrogates')).describe(
    'Each of its words (at most 10) must occur in the prompt or the name.',
  ),
  favorite: optional(z.enum(['true'])).describe('`true`: only favorites.'),
  trashed: optional(z.enum(['true'])).describe('`true`: only assets in the trash, which no other listing has.'),
  collectionId: optional(uuid).describe('Only assets of this collection of the owner.'),
  label: optional(
    z.string().min(1).max(200).refine(isStorableText, 'must not contain NUL or lone surrogates'),
  ).describe('Only assets with this label of the classifier.'),
  derivedFrom: optional(uuid).describe('An asset: those that a model made from it.'),
  copiesOf: optional(uuid).describe('An asset: itself, its source if it is a copy, and all copies of that source.'),
  createdFrom: optional(z.iso.datetime({ offset: true })).describe('The earliest creation time.'),
  createdBefore: optional(z.iso.datetime({ offset: true })).describe('Later than the latest creation time.'),
  sort: optional(z.enum(['newest', 'oldest'])).describe('By the time of creation. Default: `newest`.'),
  limit: pageSize(200, 50).describe('1 to 200. Default: 50.'),
  cursor: optional(z.string().max(200)).describe('The `nextCursor` of the previous page.'),
});
export type AssetListing = z.output<typeof assetListing>;

export const monthListing = z.object({
  ownerId,
  utcOffset: z.coerce.number().int().min(-840).max(840).default(0).describe('Minutes east of UTC.'),
});
export type MonthListing = z.output<typeof monthListing>;

export const assetMonths = z.object({
  months: z
    .array(z.object({ month: z.string().describe('Such as `2026-11`.'), count: z.int() }))
    .describe('Newest first, without thumbnails of videos and without the trash.'),
});
export type AssetMonths = z.output<typeof assetMonths>;

export const assetPage = z.object({
  assets: z.array(asset).describe('Newest first.'),
  nextCursor: z.string().nullable().describe('`null`: this was the last page.'),
});
export type AssetPage = z.output<typeof assetPage>;
