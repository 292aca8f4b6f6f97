/** The schemas and types of the media service (docs/specification/media.md). */
import { z } from 'zod';
import { longestRequestedSide, resamplings } from '#image/engine/specs.ts';
import { isUuid } from '#platform/ids.ts';
import { defaultLegacyBucket, isBucketName, isSafeKey } from '#platform/objects/objects.ts';
import { isStorableText } from '#platform/storable.ts';
import { isLegacyPath, isLegacyPrefix } from './refs.ts';
import { label } from './screening/labels.ts';

/** Any UUID of any version, because callers generate their own. Stored in lower case, so that one id is one key. */
export const uuid = z.guid().toLowerCase();

/** A field that a caller can omit or set to `null`, as responses do for unknown values. */
export function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

export const ownerId = optional(uuid).describe('Required with X-Internal-Key. Default: the user of the token.');

export const scopeKind = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of A-Z a-z 0-9 _ -');
export const scopeId = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 _ -');
/** Free-form but printable text that fits into a database row and a log line. */
export const kind = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,64}$/u, 'must be 1 to 64 characters without control characters');
/** RFC 6838 names. Parameters are rejected, because they would make two types of one, in the key and in every comparison. */
export const mime = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i,
    'must be a media type without parameters, such as image/jpeg',
  )
  .toLowerCase();
export const count = z.int().nonnegative();
export const blurhash = z.string().regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 characters of ASCII');
/** Width and height are 32-bit integers in the row. */
export const side = count.max(2 ** 31 - 1);

const storableText = (max: number) =>
  z.string().min(1).max(max).refine(isStorableText, 'must not contain NUL or lone surrogates');

/** Bucket of the legacy backend. */
const legacyBucket = optional(
  z.string().refine(isBucketName, 'must be 1 to 255 characters of A-Z a-z 0-9 . _ - and not . or ..'),
)
  .transform((name) => name ?? defaultLegacyBucket)
  .describe('The bucket of legacy paths. Default: `agent_message`.');

/** A name that fits into a header. Browsers cut it at path separators. */
const fileNamePattern = /^[^\p{Cc}\p{Cs}/\\]{1,255}$/u;
const name = z.string().regex(fileNamePattern, 'must be 1 to 255 characters without control characters, / and \\');

/** A single reference. In a list, invalid ones are `not_found` each. */
const ref = z
  .string()
  .refine((text) => isUuid(text) || isLegacyPath(text), 'must be a UUID or a legacy path')
  .describe('A UUID, or a legacy path that contains `/`.');

export const uploadRequest = z
  .object({
    scopeKind,
    scopeId,
    kind,
    mime,
    ownerId,
    assetId: optional(uuid).describe('An id chosen by the caller, so that a repeated request has the same result.'),
    byteSize: optional(count).describe('If present, the URL accepts only this length.'),
    resumable: optional(z.boolean()).describe('Also returns the URL of a resumable upload. Requires `byteSize`.'),
  })
  .superRefine(({ resumable, byteSize }, context) => {
    if (!resumable || (byteSize ?? 0) > 0) return;
    const message = 'is required for a resumable upload, and must be at least 1';
    context.addIssue({ code: 'custom', path: ['byteSize'], message });
  });
export type UploadRequest = z.output<typeof uploadRequest>;

export const uploadReservation = z.object({
  assetId: z.string(),
  storageKey: z.string(),
  uploadUrl: z.string().describe('Valid for one PUT within 300 seconds.'),
  headers: z.record(z.string(), z.string()).describe('Send these headers with the PUT.'),
  expiresAt: z.iso.datetime(),
  resumable: z
    .object({
      protocol: z.literal('tus'),
      url: z.string().describe('The URL of an existing upload (tus 1.0.0).'),
      expiresAt: z.iso.datetime(),
    })
    .optional()
    .describe('Present if the request has `resumable: true`.'),
});
export type UploadReservation = z.output<typeof uploadReservation>;

const longestPendingS = 86_400;

export const pendingRequest = z.object({
  assetId: uuid,
  ownerId: uuid,
  scopeKind,
  scopeId,
  mime,
  expiresIn: optional(z.int().min(1).max(longestPendingS))
    .transform((seconds) => seconds ?? 3600)
    .describe('Seconds for which the URL is valid. Default: 3600.'),
});
export type PendingRequest = z.output<typeof pendingRequest>;

export const pendingObject = z.object({
  url: z.string().describe('The URL of the bytes, with the media type of the request.'),
  byteSize: z.int().describe('The size in the store.'),
});
export type PendingObject = z.output<typeof pendingObject>;

export const generated = z
  .enum(['ai', 'edited'])
  .describe('`ai`: a model made it. `edited`: a model changed what a person made.');
/** How a model made an asset: enough to make it again, or another one like it. */
export const lineage = z.object({
  id: z.guid().optional().describe('The generation (`GET /generations/:id` of the agent).'),
  taskId: z.guid().optional().describe('The run, or the tool call over MCP.'),
  prompt: storableText(4000).optional(),
  model: storableText(200).describe('The model of `GET /models` that was ordered.'),
  ratio: z.string().max(16).optional(),
  seed: count.optional(),
  references: z.array(uuid).max(17).describe('The assets that the model was given, in their order.'),
});
export type Lineage = z.output<typeof lineage>;

export const registrationRequest = z.object({
  assetId: uuid,
  scopeKind,
  scopeId,
  kind,
  mime,
  ownerId,
  byteSize: optional(count).describe('Accepted but ignored: the size comes from the store.'),
  width: optional(side),
  height: optional(side),
  durationMs: optional(count),
  blurhash: optional(blurhash),
  thumbAssetId: optional(uuid).describe('Videos only.'),
  prompt: optional(storableText(4000)).describe(
    'The prompt from which a model generated the asset; 1 to 4000 characters.',
  ),
  model: optional(storableText(200)).describe('The name of the model that generated the asset; 1 to 200 characters.'),
  generated: optional(generated).describe(
    'Only with X-Internal-Key: what a model did. Written into the file. Default: the mark in the file.',
  ),
  name: optional(name).describe('The name of the file, for searches and downloads; 1 to 255 characters.'),
  generation: optional(lineage).describe('Only with X-Internal-Key: the order that the asset was made from.'),
});
export type RegistrationRequest = z.output<typeof registrationRequest>;
type Required = 'assetId' | 'scopeKind' | 'scopeId' | 'kind' | 'mime';
/** A registration in this process. */
export type Declaration = Pick<RegistrationRequest, Required> & Partial<RegistrationRequest>;

const animated = z
  .boolean()
  .describe('An image with several frames, which only its original shows. `null`: unknown, or no image.');

export const asset = z.object({
  assetId: z.string(),
  ownerId: z.string(),
  scopeKind: z.string(),
  scopeId: z.string(),
  kind: z.string(),
  mime: z.string().describe('For images, the detected type.'),
  byteSize: z.int(),
  width: z.int().nullable(),
  height: z.int().nullable(),
  durationMs: z.int().nullable(),
  blurhash: z.string().nullable(),
  animated: animated.nullable(),
  thumbAssetId: z.string().nullable(),
  storageKey: z.string(),
  sha256: z.string().nullable().describe('The SHA-256 of the bytes in hex; `null` for assets that were never hashed.'),
  prompt: z
    .string()
    .nullable()
    .describe('The prompt from which a model generated the asset. Only the owner and servers can read it.'),
  model: z
    .string()
    .nullable()
    .describe('The name of the model that generated the asset. Only the owner and servers can read it.'),
  generated: generated.nullable(),
  name: z.string().nullable().describe('The name of the file. Only the owner and servers can read it.'),
  favorite: z.boolean().describe('A favorite of its owner. `false` for other readers.'),
  published: z.boolean().describe('It, or a copy of it, is in a feed of its owner. `false` for other readers.'),
  generation: lineage.nullable().describe('The order that it was made from. Only the owner and servers can read it.'),
  labels: z
    .array(label)
    .describe('The labels of the classifier, highest first. Empty for readers who are not the owner.'),
  createdAt: z.iso.datetime(),
  trashedAt: z.iso.datetime().nullable().describe('Since when it is in the trash.'),
});
export type Asset = z.output<typeof asset>;

export const assetParams = z.object({ assetId: uuid });

/** `null` clears a value; an absent field stays unchanged. */
export const assetChange = z.object({
  thumbAssetId: uuid.nullable().optional().describe('Videos only.'),
  width: side.nullable().optional().describe('Video and audio only, like the next three fields.'),
  height: side.nullable().optional(),
  durationMs: count.nullable().optional(),
  blurhash: blurhash.nullable().optional(),
  name: name.nullable().optional().describe('The name of the file.'),
});
export type AssetChange = z.output<typeof assetChange>;

export const mediaUsageQuery = z.object({
  ownerId,
});

export const mediaUsage = z.object({
  ownerId: z.string(),
  assets: z.int(),
  bytes: z.int().describe('The bytes of all assets. Watermark files, renditions and variants do not count.'),
  reservedBytes: z
    .int()
    .describe('The bytes of uploads that are not registered: announced sizes, and arrived bytes of the others.'),
  limitBytes: z.int().describe('0: no limit. Otherwise, the limit of `bytes` and `reservedBytes` together.'),
});
export type MediaUsage = z.output<typeof mediaUsage>;

export const legacyImport = z.object({
  ownerId: uuid,
  scopeKind,
  scopeId,
  path: z.string().refine(isSafeKey, 'must be a relative path without `.`, `..` and empty segments'),
  legacyBucket,
});
export type LegacyImport = z.output<typeof legacyImport>;

export const assetsDeletion = z.strictObject({
  ids: z
    .array(
      z
        .string()
        .refine((id) => isUuid(id) || isLegacyPath(id), 'must be a UUID or a legacy path')
        .transform((id) => (isUuid(id) ? id.toLowerCase() : id)),
    )
    .min(1)
    .max(1000)
    .describe('UUIDs, or legacy paths that contain `/`.'),
  legacyBucket,
});
export type AssetsDeletion = z.output<typeof assetsDeletion>;

export const assetsDeleted = z.object({
  deletedNew: z.int().describe('Assets among `ids`; without thumbnails and watermark files.'),
  deletedLegacy: z.int().describe('Legacy files among `ids`; without watermark files.'),
});
export type AssetsDeleted = z.output<typeof assetsDeleted>;

/** A lost, misspelled or `null` field must not widen a deletion, which is final. */
export const scopeDeletion = z
  .strictObject({
    ownerId: uuid.describe('With a JWT: the user of the token.'),
    scopeKind: scopeKind.optional().describe('If absent: all assets of the owner.'),
    scopeId: scopeId.optional().describe('If absent: all scopes of the kind. Requires `scopeKind`.'),
    legacyPrefixes: optional(
      z.array(z.string().refine(isLegacyPrefix, 'must be a prefix of a legacy path')).max(1000),
    ).describe('Prefixes of legacy paths. The prefix of a folder ends with `/`.'),
    legacyBucket,
  })
  .refine((scope) => scope.scopeId === undefined || scope.scopeKind !== undefined, {
    path: ['scopeId'],
    message: 'requires scopeKind',
  });
export type ScopeDeletion = z.output<typeof scopeDeletion>;

export const scopeDeleted = z.object({
  r2Deleted: z.int().describe('Objects of the object store, including watermark files.'),
  legacyDeleted: z.int().describe('Legacy files, including watermark files.'),
  dbDeleted: z.int().describe('Assets.'),
});
export type ScopeDeleted = z.output<typeof scopeDeleted>;

const fileName = z
  .string()
  .regex(fileNamePattern, 'must be true, or 1 to 255 characters without control characters, / and \\');

const download = optional(z.union([z.boolean(), fileName]))
  .transform((name) => (name === false ? undefined : name))
  .describe('`true`, or a file name: the URLs of files then respond with attachments.');

export const signRequest = z.object({
  refs: z.array(z.string()).max(200).describe('UUIDs, or legacy paths that contain `/`.'),
  legacyBucket,
  download,
});

const unresolvedRef = z.object({ ready: z.literal(false), error: z.literal('not_found') });
export type UnresolvedRef = z.output<typeof unresolvedRef>;

const signedMedia = {
  ready: z.literal(true),
  url: z.string().describe('The original bytes, for 7 days.'),
  width: z.int().nullable(),
  height: z.int().nullable(),
  byteSize: z.int(),
  durationMs: z.int().nullable(),
  blurhash: z.string().nullable(),
  mime: z.string(),
  generated: generated.nullable(),
  trashed: z.literal(true).optional().describe('It is in the trash of its owner. Otherwise absent.'),
};

const imageSignedRef = z.union([
  z.object({
    ...signedMedia,
    thumbUrl: z.string().optional().describe('400 px; images only.'),
    previewUrl: z.string().optional().describe('1024 px; images only.'),
    animated: animated.nullable(),
  }),
  unresolvedRef,
]);
export type ImageSignedRef = z.output<typeof imageSignedRef>;

/** Keyed by ref as in the request. */
export const imageSignedRefs = z.record(z.string(), imageSignedRef);
export type ImageSignedRefs = Readonly<Record<string, ImageSignedRef>>;

const videoSignedRef = z.union([
  z.object({
    ...signedMedia,
    playUrl: z
      .string()
      .optional()
      .describe('The URL for browsers, for 7 days: the original or its rendition. Absent if there is none.'),
    thumbUrl: z.string().optional().describe('The thumbnail at 400 px; absent if there is none.'),
    thumbAssetId: z.string().nullable(),
  }),
  unresolvedRef,
]);
export type VideoSignedRef = z.output<typeof videoSignedRef>;

/** Keyed by ref as in the request. */
export const videoSignedRefs = z.record(z.string(), videoSignedRef);
export type VideoSignedRefs = Readonly<Record<string, VideoSignedRef>>;

const fitSide = optional(z.int().min(0).max(longestRequestedSide)).describe('Pixels. 0 or absent: no limit.');

export const fitRequest = z.object({
  ref,
  legacyBucket,
  width: fitSide,
  height: fitSide,
  resizingType: optional(z.enum(['fit', 'fill'])).describe('Default: `fit`.'),
  enlarge: optional(z.boolean()),
  maxBytes: optional(z.int().min(1)).describe('The quality is lowered until the result fits.'),
  format: optional(z.enum(['jpeg', 'png', 'webp']))
    .transform((format) => format ?? 'jpeg')
    .describe('Default: `jpeg`.'),
  resizingAlgorithm: optional(z.enum(resamplings)).describe("imgproxy's `ra`."),
});
export type FitRequest = z.output<typeof fitRequest>;

export const fittedImage = z.object({
  url: z.string().describe('Valid until the asset is deleted.'),
});
export type FittedImage = z.output<typeof fittedImage>;

export const copyRequest = z.object({
  fromAssetId: ref,
  toScopeKind: scopeKind,
  toScopeId: scopeId,
  toOwnerId: optional(uuid).describe(
    'Default with X-Internal-Key: the owner of the source. Otherwise: the user of the token.',
  ),
  legacyBucket,
  thumbAssetId: optional(uuid).describe('Videos only: the thumbnail in the new scope. If absent, the copy has none.'),
});
export type CopyRequest = z.output<typeof copyRequest>;

export const watermarkRequest = z.object({ ref, legacyBucket, download });
export type WatermarkRequest = z.output<typeof watermarkRequest>;

export const watermarkedImage = z.object({
  url: z.string().describe('A JPEG, for 7 days.'),
});
export type WatermarkedImage = z.output<typeof watermarkedImage>;
export const watermarkedVideo = z.object({ url: z.string().describe('An MP4, for 7 days.') });
export type WatermarkedVideo = z.output<typeof watermarkedVideo>;
