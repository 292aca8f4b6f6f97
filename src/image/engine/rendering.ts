/** Renders an image to its requested variants. */
import type { Metadata, Sharp } from 'sharp';
import type { Deadline } from './deadline.ts';
import { discard, type Opening, openPicture, openRaw, readHeader, toRaw } from './decoding.ts';
import { encode, encodeWithin } from './encoding.ts';
import type { ImageMime, Job, Transform } from './engine.ts';
import { isFill, planSize, type Size } from './geometry.ts';

/**
 * Does the jobs one after the other: one permit is one processor's worth of work.
 *
 * A JPEG or WebP is decoded for each job, at the scale that this job needs, which is cheaper than one full decode; the
 * other formats cannot be decoded smaller, so several jobs share one decode. The bytes are the same either way: a variant
 * must not depend on the other variants of the request.
 */
export async function renderAll(opening: Opening, jobs: readonly Job[]): Promise<void> {
  const header = await readHeader(opening);
  const upright = header.autoOrient;
  // All sizes are checked before any work begins.
  const sized = jobs.map((job) => ({ ...job, size: planSize(job.transform, upright, opening.limits.maxSourcePixels) }));
  const shared =
    jobs.length > 1 && isDecodedWhole(opening.mime, header) ? await toRaw(openPicture(opening, header)) : undefined;
  try {
    for (const { transform, size, deliver } of sized) {
      const picture = shared === undefined ? openPicture(opening, header) : openRaw(shared, opening.deadline);
      deliver(await finish(shape(picture, transform, upright, size), transform, opening.deadline));
    }
  } finally {
    if (shared !== undefined) discard(shared);
  }
}

/** Plain 8-bit pixels without a profile pass through raw unchanged. Others would lose depth or color. */
function isDecodedWhole(mime: ImageMime, { depth, hasProfile, space }: Metadata): boolean {
  const scalesWhileDecoding = mime === 'image/jpeg' || mime === 'image/webp';
  return !scalesWhileDecoding && depth === 'uchar' && !hasProfile && (space === 'srgb' || space === 'b-w');
}

async function finish(shaped: Sharp, transform: Transform, deadline: Deadline): Promise<Uint8Array> {
  // A budget requires repeated encoding, from the finished pixels and not from the source.
  if (transform.maxBytes === 0 || transform.format === 'png')
    return encode(shaped, transform.format, transform.quality);
  const raw = await toRaw(shaped);
  try {
    return await encodeWithin(raw, transform, deadline);
  } finally {
    discard(raw);
  }
}

function shape(picture: Sharp, transform: Transform, upright: Size, { width, height }: Size): Sharp {
  if (width !== upright.width || height !== upright.height) {
    picture.resize({
      width,
      height,
      fit: isFill(transform) ? 'cover' : 'fill',
      kernel: transform.resampling,
      // Scaling while decoding averages pixels, which `nearest` must not do.
      fastShrinkOnLoad: transform.resampling !== 'nearest',
    });
  }
  if (transform.blur > 0) picture.blur(transform.blur);
  if (transform.format === 'jpeg') picture.flatten({ background: '#ffffff' });
  return picture;
}
