import type { Sharp } from 'sharp';
import type { Deadline } from './deadline.ts';
import { openRaw, type RawPicture } from './decoding.ts';
import type { Transform } from './engine.ts';

/** The lowest quality that the search for a budget goes down to (docs/specification/image.md#byte-budget). */
const lowestQuality = 10;

/** As sRGB, 8 bits, without metadata. */
export function encode(picture: Sharp, format: Transform['format'], quality: number): Promise<Uint8Array> {
  switch (format) {
    case 'webp':
      return picture.webp({ quality }).toBuffer();
    case 'jpeg':
      return picture.jpeg({ quality }).toBuffer();
    case 'png':
      return picture.png().toBuffer();
  }
}

/**
 * The highest quality of [10, quality] that fits `maxBytes`, by binary search; when none fits, the bytes of quality 10.
 * The requested quality is tried first, since it mostly fits. A quality below 10 is used alone. Sizes do not always grow
 * with quality (webp): the result is what this search finds.
 */
export async function encodeWithin(
  raw: RawPicture,
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
      // As long as nothing fits the search goes down, so the last of these is quality 10.
      smallest = output;
      high = middle - 1;
    }
  }
  return best ?? smallest;
}
