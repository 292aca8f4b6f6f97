/** Generations: orders of images and videos (docs/specification/agent.md#generations). */
import { z } from 'zod';
import { isStorableText } from '#platform/storable.ts';
import { pageSize } from '#platform/wholenumber.ts';

const assetRef = z
  .string()
  .regex(/^asset:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be asset:<id>')
  .transform((ref) => ref.slice('asset:'.length).toLowerCase());
const scope = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z a-z 0-9 _ -');
const scopeId = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 _ -');
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined);

const common = {
  prompt: z.string().min(1).max(4000).refine(isStorableText, 'must not contain NUL or lone surrogates'),
  model: optional(z.string().max(128)).describe('An id of `GET /models`. Default: the first of its kind.'),
  seed: optional(
    z
      .int()
      .min(0)
      .max(2 ** 31 - 1),
  ),
  references: optional(z.array(assetRef).max(16)).describe('Images of the library, as `asset:<id>`.'),
  inputMedias: optional(z.array(z.object({ type: z.string().max(16), url: z.string().max(2000) })).max(16)).describe(
    'As a home card has them: images at a host of CMS_MEDIA_HOSTS. They become assets of the user, and references.',
  ),
  scopeKind: optional(scope).describe('Where the assets are stored. Default: `generation`.'),
  scopeId: optional(scopeId).describe('Default: the id of the generation.'),
  userId: z.unknown().optional().meta({ type: 'string', format: 'uuid', description: 'Required with X-Internal-Key.' }),
};
/** The model decides which ratios it has. */
const ratio = optional(z.string().max(16)).transform((value) => (value === 'auto' ? undefined : value));

export const imagesRequest = z
  .object({
    ...common,
    n: optional(z.int().min(1).max(16)).describe('The number of images. Default: 1.'),
    ratio: ratio.describe('Default: `1:1`, or the ratio of the first reference.'),
    quality: optional(z.string().min(1).max(32)),
    mask: optional(assetRef).describe('A PNG. Its transparent pixels are the part of the first reference to change.'),
  })
  .refine(({ mask, references = [] }) => mask === undefined || references.length > 0, {
    path: ['mask'],
    message: 'requires references',
  });
export type ImagesRequest = z.output<typeof imagesRequest>;

export const videosRequest = z.object({
  ...common,
  ratio: ratio.describe('Default: `16:9`.'),
  duration: optional(z.int().min(1).max(600)).describe('Seconds. Default: the model decides.'),
  firstFrame: optional(assetRef).describe('The image that the video starts with, as `asset:<id>`.'),
});
export type VideosRequest = z.output<typeof videosRequest>;

export const generationKind = z.enum(['image', 'video']);
export const generationStatus = z.enum(['running', 'completed', 'failed', 'canceled']);

const failure = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  required: z.int().optional(),
  balance: z.int().optional(),
});

export const generation = z.object({
  id: z.string(),
  kind: generationKind,
  status: generationStatus.describe('`completed`: at least one item is.'),
  origin: z.enum(['api', 'run', 'mcp']),
  taskId: z.string().optional().describe('The run or the tool call that ordered it.'),
  prompt: z.string(),
  model: z.string(),
  references: z
    .array(z.string())
    .describe('The ids of the images that it is made from, beginning with the first frame.'),
  duration: z.int().optional().describe('The seconds of a video. Absent: the model decides.'),
  credits: z.int().describe('Reserved while it runs, charged when it has ended.'),
  items: z.array(
    z.object({
      index: z.int(),
      status: generationStatus,
      assetId: z.string().nullable(),
      url: z.string().nullable(),
      mime: z.string().nullable(),
      width: z.int().nullable(),
      height: z.int().nullable(),
      failure: failure.nullable(),
    }),
  ),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
});
export type Generation = z.output<typeof generation>;
export type GenerationItem = Generation['items'][number];

export const generationParams = z.object({ id: z.guid().toLowerCase() });

export const generationListing = z.object({
  kind: optional(generationKind),
  status: optional(generationStatus),
  limit: pageSize(100, 20).describe('1 to 100. Default: 20.'),
  cursor: optional(z.string().max(200)).describe('The `next_cursor` of the previous page.'),
  userId: z.string().optional().describe('Required with X-Internal-Key.'),
});
export type GenerationListing = z.output<typeof generationListing>;

export const generationPage = z.object({
  generations: z.array(generation).describe('Newest first.'),
  next_cursor: z.string().nullable().describe('`null`: this was the last page.'),
});
export type GenerationPage = z.output<typeof generationPage>;

/** RFC 7240. Longer waits count as the longest. */
export const preferHeader = z.object({ prefer: z.string().max(200).optional() });
const longestWaitS = 60;

export function waitOf(prefer: string | undefined): number {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})/i.exec(prefer ?? '')?.[1];
  return Math.min(longestWaitS, Number(seconds ?? 0));
}
