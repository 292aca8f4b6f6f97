import type { Sharp } from 'sharp';
import type { Deadline } from './deadline.ts';
import { discard, openRaw, type RawImage, toRaw } from './decoding.ts';
import { BudgetFault, type Transform } from './engine.ts';

/** The lowest quality in the search for a budget (docs/specification/image.md#byte-budget). */
const lowestQuality = 10;
/** The long side of the smallest image that is made for a budget. */
const smallestSide = 64;
/** The search for a size ends when the best one is this close to one that is too large. */
const sidePrecision = 1 / 50;

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

/**
 * Returns an image of at most `maxBytes`: at the highest quality that fits, or if none does, at the largest size that
 * fits at the lowest quality, and then at the highest quality that fits at that size. A PNG gets a palette instead of a
 * quality. Throws BudgetFault.
 */
export async function encodeToFit(raw: RawImage, transform: Transform, deadline: Deadline): Promise<Uint8Array> {
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
    const output = await encoded.finally(() => discard(smaller));
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
  return encodeWithin(smaller, transform, deadline).finally(() => discard(smaller));
}

/** With a palette only if all colors exceed the budget. */
async function encodePng(raw: RawImage, maxBytes: number, deadline: Deadline): Promise<Uint8Array> {
  const whole = await encode(openRaw(raw, deadline), 'png', 0);
  return whole.length <= maxBytes ? whole : encodePalette(raw, deadline);
}

function encodePalette(raw: RawImage, deadline: Deadline): Promise<Uint8Array> {
  return openRaw(raw, deadline).png({ palette: true, effort: 1 }).toBuffer();
}
