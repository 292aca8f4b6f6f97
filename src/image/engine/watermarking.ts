/** Adds the wordmark to an image at its lower right, for downloads (docs/specification/media.md#watermarks). */
import { withMark } from '#platform/metadata/metadata.ts';
import type { Deadline } from './deadline.ts';
import { type Opening, openImage, openRaw, readHeader, toRaw } from './decoding.ts';
import type { Transform } from './engine.ts';
import { planSize, type Size } from './geometry.ts';
import { letterShare, wordmark } from './wordmark.ts';

/** The height of the letters, in short sides of the image. */
const letterSize = 0.045;
/** Pixels. Smaller letters are illegible. */
const smallestLetter = 10;
/** The limit in an image that is too small for either, in its sides. */
const largestShare = 0.9;
/** The encoder holds 12 bytes for each pixel of an image whose codes it optimizes, and only some lines of others. */
const mostOptimizedPixels = 12_000_000;

/** The image's own size, unless it is longer than a JPEG can be. */
const download: Transform = {
  width: 0,
  height: 0,
  quality: 90,
  format: 'jpeg',
  resizingType: 'fit',
  enlarge: false,
  blur: 0,
  maxBytes: 0,
  resampling: 'lanczos3',
};

/** Returns a JPEG: upright, sRGB, transparency on white, no metadata, only the first frame of an animation. */
export async function drawWatermark(opening: Opening): Promise<Uint8Array> {
  const header = await readHeader(opening);
  const size = planSize(download, header.autoOrient, opening.limits.maxSourcePixels);
  const image = openImage(opening, header).flatten({ background: '#ffffff' });
  if (size.width !== header.autoOrient.width) image.resize({ ...size, fit: 'fill' });
  const { data, width, height, channels } = await markFor(size, opening.deadline);
  // An overlay larger than the image would be an error, so this one leaves room on each side.
  const [left, top] = [size.width - width, size.height - height];
  image.composite([{ input: Buffer.from(data), raw: { width, height, channels }, left, top }]);
  const optimiseCoding = size.width * size.height <= mostOptimizedPixels;
  // Half the color resolution would smear colored lettering.
  const jpeg = image.jpeg({ quality: download.quality, chromaSubsampling: '4:4:4', optimiseCoding });
  const made = await jpeg.toBuffer();
  return opening.mark === undefined ? made : withMark(made, opening.mark);
}

function markFor(image: Size, deadline: Deadline) {
  return toRaw(openRaw(wordmark(), deadline).resize({ ...markSize(image), fit: 'fill' }));
}

/** The size that the image needs. The mark includes a margin around its letters. */
export function markSize(image: Size): Size {
  const mark = wordmark();
  const wanted = Math.max(letterSize * Math.min(image.width, image.height), smallestLetter) / letterShare;
  const height = Math.min(wanted, largestShare * image.height, (largestShare * image.width * mark.height) / mark.width);
  const pixels = (side: number) => Math.max(1, Math.round(side));
  return { width: pixels((height * mark.width) / mark.height), height: pixels(height) };
}
