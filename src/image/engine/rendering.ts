/** Renders an image to its requested variants. */
import type { Metadata, Sharp } from 'sharp';
import { withMark } from '#platform/metadata/metadata.ts';
import { mostMarkBytes } from '#platform/metadata/xmp.ts';
import { discard, type Opening, openImage, openRaw, type RawImage, readHeader, toRaw } from './decoding.ts';
import { renderEdited } from './editing.ts';
import { noEdits } from './edits.ts';
import { encode, encodeToFit, encodeWithin } from './encoding.ts';
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
  // All sizes are checked before any work begins, except those that depend on the pixels.
  const sized = jobs.map((job) => ({ ...job, size: sizeOf(job.transform, upright, opening.limits.maxSourcePixels) }));
  const shared =
    jobs.length > 1 && isDecodedWhole(opening.mime, header) ? await toRaw(openImage(opening, header)) : undefined;
  try {
    for (const { transform, size, deliver } of sized) {
      if (size === undefined) {
        deliver(await finishEdited(opening, header, transform));
        continue;
      }
      const image = shared === undefined ? openImage(opening, header) : openRaw(shared, opening.deadline);
      deliver(await finish(shape(image, transform, upright, size), transform, opening));
    }
  } finally {
    if (shared !== undefined) discard(shared);
  }
}

/** `undefined`: with edits, which have a layout instead. */
function sizeOf(transform: Transform, upright: Size, maxPixels: number): Size | undefined {
  return transform.edits === undefined ? planSize(transform, upright, maxPixels) : undefined;
}

async function finishEdited(opening: Opening, header: Metadata, transform: Transform): Promise<Uint8Array> {
  const { edits = noEdits, ...spec } = transform;
  const raw = await renderEdited(opening, header, spec, edits);
  try {
    return await encodeRaw(raw, spec, opening);
  } finally {
    discard(raw);
  }
}

/** Plain 8-bit pixels without a profile pass through raw unchanged. Others would lose depth or color. */
function isDecodedWhole(mime: ImageMime, { depth, hasProfile, space }: Metadata): boolean {
  const scalesWhileDecoding = mime === 'image/jpeg' || mime === 'image/webp';
  return !scalesWhileDecoding && depth === 'uchar' && !hasProfile && (space === 'srgb' || space === 'b-w');
}

async function finish(shaped: Sharp, transform: Transform, opening: Opening): Promise<Uint8Array> {
  // A budget requires repeated encoding, from the finished pixels and not from the source.
  if (!hasBudget(transform)) return marked(opening, await encode(shaped, transform.format, transform.quality));
  const raw = await toRaw(shaped);
  try {
    return await encodeBudget(raw, transform, opening);
  } finally {
    discard(raw);
  }
}

const hasBudget = ({ maxBytes, format, shrinks }: Transform) => maxBytes > 0 && (format !== 'png' || shrinks === true);

/** The budget includes the mark. */
async function encodeBudget(raw: RawImage, transform: Transform, opening: Opening): Promise<Uint8Array> {
  const added = opening.mark === undefined ? 0 : mostMarkBytes;
  const within = { ...transform, maxBytes: Math.max(1, transform.maxBytes - added) };
  return marked(
    opening,
    await (transform.shrinks === true ? encodeToFit : encodeWithin)(raw, within, opening.deadline),
  );
}

async function encodeRaw(raw: RawImage, transform: Transform, opening: Opening): Promise<Uint8Array> {
  return hasBudget(transform)
    ? encodeBudget(raw, transform, opening)
    : marked(opening, await encode(openRaw(raw, opening.deadline), transform.format, transform.quality));
}

const marked = ({ mark }: Opening, output: Uint8Array) => (mark === undefined ? output : withMark(output, mark));

function shape(image: Sharp, transform: Transform, upright: Size, { width, height }: Size): Sharp {
  if (width !== upright.width || height !== upright.height) {
    image.resize({
      width,
      height,
      fit: isFill(transform) ? 'cover' : 'fill',
      kernel: transform.resampling,
      // Scaling while decoding averages pixels, which `nearest` must not do.
      fastShrinkOnLoad: transform.resampling !== 'nearest',
    });
  }
  if (transform.blur > 0) image.blur(transform.blur);
  if (transform.format === 'jpeg') image.flatten({ background: '#ffffff' });
  return image;
}
