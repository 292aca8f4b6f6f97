/** Shares: pages that anyone with the URL can read (docs/specification/media.md#shares). */
import { z } from 'zod';
import { pageSize } from '#platform/wholenumber.ts';
import { optional, ownerId, uuid } from '../api.ts';

const minute = 60;
const year = 366 * 86_400;

/** The characters that the agent accepts in an id of a thread. */
const threadId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9_-]+$/, 'must consist of letters, digits, _ and -');

const authorPattern = /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,60}$/u;

export const shareRequest = z
  .object({
    assetId: optional(uuid).describe('The asset to share. Exactly one of the three ids is required.'),
    threadId: optional(threadId).describe('The conversation to share, as it is now.'),
    collectionId: optional(uuid).describe('The collection to share, with the images and videos that it has now.'),
    expiresIn: optional(z.int().min(minute).max(year)).describe('Seconds until the share ends. Default: never.'),
    showPrompt: optional(z.boolean()).describe('Shows the prompts of generated media. Default: `false`.'),
    index: optional(z.boolean()).describe('Lets search engines find the page. Default: `false`.'),
    attachments: optional(z.boolean()).describe('Shows what the owner attached to messages. Default: `false`.'),
    update: optional(z.boolean()).describe(
      'Shows a conversation or collection that is shared already as it is now. Default: `false`.',
    ),
    author: optional(z.string().regex(authorPattern, 'must be 1 to 60 characters without control characters')).describe(
      'The name that the page shows, and the gallery with an asset in a feed. Default: none.',
    ),
    ownerId,
  })
  .refine((request) => [request.assetId, request.threadId, request.collectionId].filter(Boolean).length === 1, {
    path: ['assetId'],
    message: 'is required if there is no threadId and no collectionId, and only one of them must be set',
  });
export type ShareRequest = z.output<typeof shareRequest>;

export const share = z.object({
  id: z.string(),
  url: z.string().describe('The page. With `Accept: application/json`, it returns its data.'),
  assetId: z.string().nullable(),
  threadId: z.string().nullable(),
  collectionId: z.string().nullable(),
  showPrompt: z.boolean(),
  index: z.boolean(),
  attachments: z.boolean(),
  author: z.string().nullable(),
  title: z
    .string()
    .nullable()
    .describe(
      'The name of the file, the prompt, or the title of the conversation or collection; at most 200 characters.',
    ),
  items: z.int().describe('The images and videos that the page shows.'),
  newItems: z.int().describe('The images and videos of the collection that the page does not show before an `update`.'),
  createdAt: z.iso.datetime(),
  shownAt: z.iso.datetime().describe('When what the page shows was set: at its creation, and by each `update`.'),
  expiresAt: z.iso.datetime().nullable(),
});
export type Share = z.output<typeof share>;

/** 22 characters of base64url: 128 random bits. */
export const shareParams = z.object({ id: z.string().regex(/^[A-Za-z0-9_-]{22,64}$/, 'must be the id of a share') });

export const shareListing = z.object({
  ownerId,
  assetId: optional(uuid),
  threadId: optional(threadId),
  collectionId: optional(uuid),
  copies: optional(z.enum(['false'])).describe('`false`: leaves out the shares of published copies.'),
  limit: pageSize(200, 50).describe('1 to 200. Default: 50.'),
  cursor: optional(z.string().max(200)).describe('The `nextCursor` of the previous page.'),
});
export type ShareListing = z.output<typeof shareListing>;

export const sharePage = z.object({
  shares: z.array(share).describe('Newest first.'),
  nextCursor: z.string().nullable().describe('`null`: this was the last page.'),
});
export type SharePage = z.output<typeof sharePage>;

export const threadSharesDeletion = z.strictObject({ ownerId: uuid, threadId });

const object = z.object({ bucket: z.string(), key: z.string(), etag: z.string().nullable(), mime: z.string() });

const sharedMedia = z.object({
  assetId: z.string(),
  place: z.int().describe('In the URLs of the page. It stays if others leave the page.'),
  kind: z.enum(['image', 'video']),
  mime: z.string(),
  width: z.int().nullable(),
  height: z.int().nullable(),
  blurhash: z.string().nullable(),
  generated: z.enum(['ai', 'edited']).nullable(),
  prompt: z.string().nullable().describe('`null`: unknown, or not shared.'),
  picture: object.nullable().describe('The source of its variants: the image, or the poster of the video.'),
  file: object.nullable().describe('The file that browsers play. `null`: an image.'),
});
export type SharedMedia = z.output<typeof sharedMedia>;

const sharedMessage = z.object({
  role: z.enum(['user', 'assistant']),
  parts: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('media'), index: z.int().describe('The position in `media`.') }),
      z.object({ type: z.literal('source'), url: z.string(), title: z.string() }),
    ]),
  ),
});
export type SharedMessage = z.output<typeof sharedMessage>;

/** What a page is made of. For the edge: keys of objects are not public. */
export const shareData = z.object({
  id: z.string(),
  kind: z.enum(['image', 'video', 'thread', 'album']),
  title: z.string().nullable().describe('The title of the conversation or collection.'),
  author: z.string().nullish().describe('The name that its owner shows.'),
  generated: z.enum(['ai', 'edited']).nullable(),
  index: z.boolean().describe('Search engines may find the page.'),
  createdAt: z.iso.datetime(),
  cover: z.string().nullish().describe('The asset in `media` on the cover of the collection.'),
  media: z.array(sharedMedia).describe('The shared asset, or those of the conversation or collection.'),
  messages: z
    .array(sharedMessage)
    .describe('The messages of a shared conversation. A collection is one message with its images and videos.'),
});
export type ShareData = z.output<typeof shareData>;

export const indexedListing = z.object({
  after: optional(z.string().max(200)).describe('The id of the last share of the previous page.'),
  limit: pageSize(10_000, 10_000),
});
export const indexedShares = z.object({
  shares: z.array(z.object({ id: z.string(), updatedAt: z.iso.datetime() })).describe('Oldest first.'),
});

export const galleryListing = z.object({
  kind: optional(z.enum(['image', 'video'])),
  shape: optional(z.enum(['wide', 'tall', 'square'])),
  sort: optional(z.enum(['newest', 'remixed'])).describe(
    '`remixed`: of the newest 1000, those that most people have made something from. One page. Default: `newest`.',
  ),
  q: optional(z.string().max(200)).describe(
    'Its first 10 words must occur in the author or in a prompt that is shown.',
  ),
  limit: pageSize(100, 50).describe('1 to 100. Default: 50.'),
  cursor: optional(z.string().max(200)).describe('The `next_cursor` of the previous page.'),
});
export type GalleryListing = z.output<typeof galleryListing>;

export const galleryPage = z.object({
  items: z
    .array(
      sharedMedia.omit({ mime: true, place: true, picture: true, file: true }).extend({
        thumbUrl: z.string().nullable(),
        previewUrl: z.string().nullable(),
        author: z.string().nullable().describe('The name that the owner has chosen for this asset. `null`: none.'),
        remixes: z.int().describe('The other users who have made something from it.'),
        publishedAt: z.iso.datetime(),
      }),
    )
    .describe('Newest or most remixed first.'),
  next_cursor: z.string().nullable().describe('`null`: this was the last page.'),
});
export type GalleryPage = z.output<typeof galleryPage>;
