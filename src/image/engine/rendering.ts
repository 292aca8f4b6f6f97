/** Renders an image to its requested variants. */

import { encode as encodeBlurhash } from 'blurhash';
import type { Metadata, Sharp } from 'sharp';
import { withMark } from '#platform/metadata/metadata.ts';
import { pngAnimation } from '#platform/metadata/png.ts';
import { mostMarkBytes } from '#platform/metadata/xmp.ts';
import { layOut } from './brand.ts';
import { brandmarkOf, fade } from './brandmark.ts';
import type { Deadline } from './deadline.ts';
import { type Opening, openImage, openRaw, readHeader, toRaw } from './decoding.ts';
import { renderEdited } from './editing.ts';
import { noEdits } from './edits.ts';
import {
  BudgetFault,
  type ImageFacts,
  ImageFault,
  type ImageMime,
  type Job,
  type Raster,
  type Transform,
} from './engine.ts';
import { isFill, mostOptimizedPixels, offsetBy, placeInside, planSize, type Size } from './geometry.ts';
import { free } from './sources.ts';
import { toTransform } from './specs.ts';

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
    if (shared !== undefined) free(shared.data);
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
    free(raw.data);
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
    free(raw.data);
  }
}

const hasBudget = ({ maxBytes, format, shrinks }: Transform) => maxBytes > 0 && (format !== 'png' || shrinks === true);

/** The budget includes the mark. */
async function encodeBudget(raw: Raster, transform: Transform, opening: Opening): Promise<Uint8Array> {
  const added = opening.mark === undefined ? 0 : mostMarkBytes;
  const within = { ...transform, maxBytes: Math.max(1, transform.maxBytes - added) };
  return marked(
    opening,
    await (transform.shrinks === true ? encodeToFit : encodeWithin)(raw, within, opening.deadline),
  );
}

async function encodeRaw(raw: Raster, transform: Transform, opening: Opening): Promise<Uint8Array> {
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

/** The lowest quality in the search for a budget (docs/specification/image.md#byte-budget). */
const lowestQuality = 10;
/** The long side of the smallest image that is made for a budget. */
const smallestSide = 64;
/** The search for a size ends when the best one is this close to one that is too large. */
const sidePrecision = 1 / 50;

/** Encodes as sRGB, 8 bits, without metadata. */
function encode(image: Sharp, format: Transform['format'], quality: number): Promise<Uint8Array> {
  switch (format) {
    case 'webp':
      return image.webp({ quality }).toBuffer();
    case 'jpeg':
      return image.jpeg({ quality }).toBuffer();
    case 'png':
      return image.png().toBuffer();
  }
}

/**
 * Returns the highest quality of [10, quality] that fits `maxBytes`, by binary search. If none fits, returns quality
 * 10. Tries the requested quality first, because it usually fits. Uses a quality below 10 unchanged. Sizes do not
 * always grow with quality (webp), so the search defines the result.
 */
async function encodeWithin(
  raw: Raster,
  { format, quality, maxBytes }: Transform,
  deadline: Deadline,
): Promise<Uint8Array> {
  const attempt = (candidate: number) => encode(openRaw(raw, deadline), format, candidate);
  let smallest = await attempt(quality);
  let best = smallest.length <= maxBytes ? smallest : undefined;
  let low = lowestQuality;
  let high = best === undefined ? quality - 1 : low - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const output = await attempt(middle);
    if (output.length <= maxBytes) {
      best = output;
      low = middle + 1;
    } else {
      // The search goes down until something fits, so the last of these is quality 10.
      smallest = output;
      high = middle - 1;
    }
  }
  return best ?? smallest;
}

/**
 * Returns an image of at most `maxBytes`: at the highest quality that fits, or if none does, at the largest size that
 * fits at the lowest quality, and then at the highest quality that fits at that size. A PNG gets a palette instead of a
 * quality. Throws BudgetFault.
 */
async function encodeToFit(raw: Raster, transform: Transform, deadline: Deadline): Promise<Uint8Array> {
  const { format, maxBytes, resampling } = transform;
  const whole =
    format === 'png' ? await encodePng(raw, maxBytes, deadline) : await encodeWithin(raw, transform, deadline);
  if (whole.length <= maxBytes) return whole;
  const longSide = Math.max(raw.width, raw.height);
  const shrunk = (side: number) => {
    const scaled = (length: number) => Math.max(1, Math.round((length * side) / longSide));
    const size = { width: scaled(raw.width), height: scaled(raw.height) };
    return toRaw(openRaw(raw, deadline).resize({ ...size, fit: 'fill', kernel: resampling }));
  };
  const attempt = async (side: number) => {
    const smaller = await shrunk(side);
    const encoded =
      format === 'png'
        ? encodePalette(smaller, deadline)
        : encode(openRaw(smaller, deadline), format, Math.min(transform.quality, lowestQuality));
    const output = await encoded.finally(() => free(smaller.data));
    return output.length <= maxBytes ? output : undefined;
  };
  let best = longSide > smallestSide ? await attempt(smallestSide) : undefined;
  if (best === undefined) throw new BudgetFault(`${whole.length} bytes at ${longSide} pixels`);
  let [fitting, tooLarge] = [smallestSide, longSide];
  // Bytes grow about as pixels do.
  let side = Math.round(longSide * Math.sqrt(maxBytes / whole.length));
  while (tooLarge - fitting > Math.max(1, fitting * sidePrecision)) {
    if (side <= fitting || side >= tooLarge) side = (fitting + tooLarge) >> 1;
    const output = await attempt(side);
    if (output === undefined) tooLarge = side;
    else [best, fitting] = [output, side];
    side = (fitting + tooLarge) >> 1;
  }
  if (format === 'png') return best;
  const smaller = await shrunk(fitting);
  return encodeWithin(smaller, transform, deadline).finally(() => free(smaller.data));
}

/** With a palette only if all colors exceed the budget. */
async function encodePng(raw: Raster, maxBytes: number, deadline: Deadline): Promise<Uint8Array> {
  const whole = await encode(openRaw(raw, deadline), 'png', 0);
  return whole.length <= maxBytes ? whole : encodePalette(raw, deadline);
}

function encodePalette(raw: Raster, deadline: Deadline): Promise<Uint8Array> {
  return openRaw(raw, deadline).png({ palette: true, effort: 1 }).toBuffer();
}

/** Pixels. Fixed, because the blurhash depends on it, and a larger one would block the event loop for longer. */
const thumbSide = 32;
/** The source of perceptual hashes, which depend on it. */
const renditionSide = 512;

/** The rendition reads the whole image, so it detects damage that the header does not show. */
export async function readFacts(opening: Opening, onRendition?: (rendition: Raster) => void): Promise<ImageFacts> {
  const header = await readHeader(opening);
  const frames = countFrames(opening, header);
  const rendition = await toRaw(
    openImage(opening, header)
      .resize(renditionSide, renditionSide, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' }),
  );
  onRendition?.(rendition);
  const thumb = await toRaw(
    openRaw(rendition, opening.deadline).resize(thumbSide, thumbSide, { fit: 'inside' }).ensureAlpha(),
  );
  return {
    mime: opening.mime,
    width: header.autoOrient.width,
    height: header.autoOrient.height,
    animated: frames > 1,
    blurhash: encodeBlurhash(new Uint8ClampedArray(thumb.data), thumb.width, thumb.height, ...componentsOf(thumb)),
    rendition,
  };
}

/** Throws ImageFault for a still image that browsers never show: its checks would say nothing about the animation. */
function countFrames({ mime, bytes }: Opening, { pages = 1 }: Metadata): number {
  // Pages of other formats are other images.
  if (mime === 'image/gif' || mime === 'image/webp') return pages;
  const animation =
    mime === 'image/png' ? pngAnimation(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)) : undefined;
  if (animation?.beginsWithStill === false)
    throw new ImageFault('unsupported', 'The still image of an animated PNG must be its first frame.');
  return animation?.frames ?? 1;
}

/** More along the longer side. */
const componentsOf = ({ width, height }: { readonly width: number; readonly height: number }): [number, number] =>
  height > width ? [3, 4] : [4, 3];

// Adds the brand's watermark to an image, for downloads (docs/specification/media.md#watermarks).

/** The image's own size, unless it is longer than a JPEG can be. */
const download = toTransform({ format: 'jpeg', quality: 90 });

/** Returns a JPEG: upright, sRGB, transparency on white, no metadata, only the first frame of an animation. */
export async function drawWatermark(opening: Opening): Promise<Uint8Array> {
  const header = await readHeader(opening);
  const size = planSize(download, header.autoOrient, opening.limits.maxSourcePixels);
  const image = openImage(opening, header).flatten({ background: '#ffffff' });
  if (size.width !== header.autoOrient.width) image.resize({ ...size, fit: 'fill' });
  const { brand, deadline } = opening;
  const brandmark = await brandmarkOf(brand);
  const { margin, ...wanted } = layOut(size, brandmark, brand);
  const { data, width, height, channels } = await toRaw(
    openRaw(fade(brandmark, brand.opacity), deadline).resize({ ...wanted, fit: 'fill' }),
  );
  // An overlay larger than the image would be an error, so this one leaves room on each side.
  const place = placeInside(size, wanted, offsetBy(brand.position, margin));
  image.composite([{ input: Buffer.from(data), raw: { width, height, channels }, ...place }]);
  const optimiseCoding = size.width * size.height <= mostOptimizedPixels;
  // Half the color resolution would smear colored lettering.
  const jpeg = image.jpeg({ quality: download.quality, chromaSubsampling: '4:4:4', optimiseCoding });
  const made = await jpeg.toBuffer();
  return opening.mark === undefined ? made : withMark(made, opening.mark);
}
