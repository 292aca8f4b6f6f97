import type { Sharp } from 'sharp';
import type { Deadline } from './deadline.ts';
import { openRaw, type RawImage } from './decoding.ts';
import type { Transform } from './engine.ts';

/** The lowest quality in the search for a budget (docs/specification/image.md#byte-budget). */
const lowestQuality = 10;

/** Encodes as sRGB, 8 bits, without metadata. */
export function encode(image: Sharp, format: Transform['format'], quality: number): Promise<Uint8Array> {
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
export async function encodeWithin(
  raw: RawImage,
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
