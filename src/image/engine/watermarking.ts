/** Adds the wordmark to a picture at its lower right, for downloads (docs/specification/media.md#watermarks). */
import type { Deadline } from './deadline.ts';
import { type Opening, openPicture, openRaw, readHeader, toRaw } from './decoding.ts';
import { encode } from './encoding.ts';
import type { Transform } from './engine.ts';
import { planSize, type Size } from './geometry.ts';
import { letterShare, wordmark } from './wordmark.ts';

/** The height of the letters, in short sides of the picture. */
const letterSize = 0.045;
/** Pixels. Smaller letters are illegible. */
const smallestLetter = 10;
/** The limit in a picture that is too small for either, in its sides. */
const largestShare = 0.9;

/** The picture's own size, unless it is longer than a JPEG can be. */
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
  const picture = openPicture(opening, header).flatten({ background: '#ffffff' });
  if (size.width !== header.autoOrient.width) picture.resize({ ...size, fit: 'fill' });
  const { data, width, height, channels } = await markFor(size, opening.deadline);
  // An overlay larger than the picture would be an error, so this one leaves room on each side.
  const [left, top] = [size.width - width, size.height - height];
  picture.composite([{ input: Buffer.from(data), raw: { width, height, channels }, left, top }]);
  return encode(picture, download.format, download.quality);
}

function markFor(picture: Size, deadline: Deadline) {
  return toRaw(openRaw(wordmark(), deadline).resize({ ...markSize(picture), fit: 'fill' }));
}

/** The size that the picture needs. The mark includes a margin around its letters. */
export function markSize(picture: Size): Size {
  const mark = wordmark();
  const wanted = Math.max(letterSize * Math.min(picture.width, picture.height), smallestLetter) / letterShare;
  const height = Math.min(
    wanted,
    largestShare * picture.height,
    (largestShare * picture.width * mark.height) / mark.width,
  );
  const pixels = (side: number) => Math.max(1, Math.round(side));
  return { width: pixels((height * mark.width) / mark.height), height: pixels(height) };
}
