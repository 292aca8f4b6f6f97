/** The images and videos of a share, at URLs that end with it. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { mimeOfFormat } from '#image/engine/formats.ts';
import { objectSource } from '#image/engine/sources.ts';
import { preview, thumbnail, toTransform } from '#image/engine/specs.ts';
import type { SharedMedia } from '#media/shares/api.ts';
import { mayShowInline } from '#platform/objects/showing.ts';
import { problems } from '#platform/problem.ts';
import type { EdgeContext } from '../context.ts';
import { asProblem } from '../problems.ts';
import { sendObject } from '../sending.ts';

export type SharedFiles = Pick<EdgeContext, 'bucket' | 'isReplaceable' | 'publicObjects' | 'variants'>;

export const sharedFiles = ['full.webp', 'preview.webp', 'thumb.webp', 'card.jpg', 'video'] as const;

const transforms = {
  'full.webp': toTransform({ width: 2048, height: 2048, quality: 85 }),
  'preview.webp': toTransform(preview),
  'thumb.webp': toTransform(thumbnail),
  // The size that sites with previews of links recommend.
  'card.jpg': toTransform({
    width: 1200,
    height: 630,
    quality: 80,
    resizingType: 'fill',
    enlarge: true,
    format: 'jpeg',
  }),
} as const;

/** As long as a page. Later requests are answered with 304. */
const cacheControl = 'public, max-age=5';

/** Throws 404 if the share has no such file, and what `sendObject` throws. */
export async function sendShared(
  { bucket, isReplaceable, publicObjects, variants }: SharedFiles,
  request: FastifyRequest,
  reply: FastifyReply,
  media: SharedMedia,
  name: (typeof sharedFiles)[number],
) {
  const source = name === 'video' ? media.file : media.picture;
  if (source === null) throw problems.not_found();
  const objects = bucket(source.bucket);
  if (objects === undefined) throw problems.not_found();
  const etag = source.etag ?? undefined;
  if (name === 'video') {
    if (!mayShowInline(source.mime)) throw problems.not_found();
    return sendObject(request, reply, { objects, key: source.key, etag, contentType: source.mime, cacheControl });
  }
  const head = await objects.head(source.key);
  if (head === undefined || (etag ?? head.etag) !== head.etag) throw problems.not_found();
  const version = isReplaceable(source.bucket) ? head.etag : undefined;
  const transform = transforms[name];
  const { key } = await variants
    .serve(objectSource(objects, source.key, etag ?? version, version), transform)
    .catch((error: unknown) => Promise.reject(asProblem(error)));
  const contentType = mimeOfFormat[transform.format];
  return sendObject(request, reply, { objects: publicObjects, key, contentType, cacheControl });
}
