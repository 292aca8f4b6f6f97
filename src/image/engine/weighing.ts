/** Estimates the memory of a task from the header of its image, before the image is decoded. */
import type { Metadata } from 'sharp';
import { readBmpHeader } from './decoders/bmpheader.ts';
import { claimedSize, decoderBytes } from './decoders/heifsize.ts';
import type { ImageMime, Job } from './engine.ts';
import { mostOptimizedPixels, planSize } from './geometry.ts';
import { planLayout } from './layout.ts';

/** What is done with an image. */
export type Task = 'inspect' | 'watermark' | readonly Job[];

export interface Weighed {
  readonly mime: ImageMime;
  readonly bytes: Uint8Array;
  readonly maxPixels: number;
}

type Header = Pick<
  Metadata,
  'channels' | 'depth' | 'orientation' | 'isProgressive' | 'pages' | 'autoOrient' | 'width' | 'height'
>;

/** Bytes of a decoder and of libvips for any image. */
const baseBytes = 4 * 1024 * 1024;
/** Pixels at each side. */
const codedMargin = 64;
/** The lines of an image that passes through libvips in strips. */
const linesAtOnce = 64;

/**
 * Bytes, without those of the file. The factors are bytes per pixel, measured at 50 megapixels and rounded up. `bufferedPixels`: what the
 * layout of the file needs in memory at once. Throws EnlargementFault and ImageFault, as the task does.
 */
export function weigh(weighed: Weighed, header: Header, task: Task, bufferedPixels = 0): number {
  const { mime, maxPixels } = weighed;
  const { width, height, channels = 4, orientation = 1, autoOrient } = header;
  const pixels = width * height;
  const sample = header.depth === 'uchar' ? 1 : header.depth === 'ushort' ? 2 : 4;
  const plane = channels * sample;
  const isTurned = orientation !== 1;
  const lines = Math.min(height, linesAtOnce) * width * (plane + channels * 4);
  return baseBytes + bufferedPixels * plane + lines + pixels * factor();

  function factor(): number {
    if (task === 'inspect') return followed(decoding(weighed, header, 0), sample > 1 ? 1.4 : 0.5);
    // The encoder of a watermarked image optimizes its codes up to this size.
    if (task === 'watermark') return followed(decoded(1), pixels <= mostOptimizedPixels ? 13 : 0.6);
    const isShared = task.length > 1 && mime !== 'image/jpeg' && mime !== 'image/webp';
    return followed(Math.max(...task.map(transforming)), isShared ? channels : 0);
  }

  /** Decoders are in memory until the last line is processed. The one of AVIF is done before the first. */
  function followed(decoder: number, next: number): number {
    return mime === 'image/avif' ? Math.max(decoder, plane + next) : decoder + next;
  }

  function decoded(share: number): number {
    return followed(decoding(weighed, header, share), isTurned ? plane : 0);
  }

  function transforming({ transform }: Job): number {
    const { format, edits, maxBytes, blur } = transform;
    const outChannels = format === 'jpeg' ? 3 : channels;
    const encoder = format === 'webp' ? (outChannels > 3 ? 14.5 : 5) : format === 'jpeg' ? 6.1 : 1.2;
    if (edits !== undefined) {
      const upright = edits.rotate % 180 === 0 ? autoOrient : { width: autoOrient.height, height: autoOrient.width };
      const { canvas, scaled } = planLayout(transform, edits, upright, maxPixels);
      const share = Math.max(canvas.width * canvas.height, scaled.width * scaled.height) / pixels;
      const turning = followed(Math.max(decoded(1), channels), plane) + (edits.trim ? channels : 0);
      return Math.max(turning, channels * share * 2, share * (channels + encoder));
    }
    const size = planSize(transform, autoOrient, maxPixels);
    const share = (size.width * size.height) / pixels;
    const raw = maxBytes > 0 ? outChannels * share : 0;
    const encoding = raw + share * (encoder + (blur > 0 ? 3 : 0));
    // The decoder is done when the search for a budget begins.
    return raw > 0 ? Math.max(followed(decoded(share), raw), encoding) : followed(decoded(share), encoding);
  }
}

/** As `weigh`, for what a thread decodes, and the most pixels that the thread may decode. */
export function weighTranslated(weighed: Weighed, task: Task): { readonly weight: number; readonly maxPixels: number } {
  const { mime, bytes, maxPixels: most } = weighed;
  const isBmp = mime === 'image/bmp';
  const side = Math.ceil(Math.sqrt(most));
  const { width, height } = (isBmp ? readBmpHeader(bytes) : claimedSize(bytes)) ?? { width: side, height: side };
  // The codes of an image can have more pixels than are shown.
  const maxPixels = Math.min(most, (width + codedMargin) * (height + codedMargin));
  // A HEIC can be turned. A task that is impossible for the image fails after it is decoded.
  /** Decoded pixels as an uncompressed TIFF (translating.ts), which is in memory until the end. */
  const fileBytes = maxPixels * 4;
  const weights = [[width, height], ...(isBmp ? [] : [[height, width]])].map(([width = 0, height = 0]) => {
    try {
      const size = { width, height };
      return weigh(weighed, { ...size, autoOrient: size, channels: 4, depth: 'uchar', isProgressive: false }, task);
    } catch {
      return 0;
    }
  });
  const decoding = baseBytes + (isBmp ? bytes.length : decoderBytes(bytes, maxPixels));
  return { weight: fileBytes + Math.max(decoding, ...weights), maxPixels };
}

/** `share`: the pixels of the result per pixel of the image. A WebP without losses or with frames cannot be decoded smaller. */
function decoding({ mime, bytes }: Weighed, { channels = 4, depth, isProgressive, pages = 1 }: Header, share: number) {
  const sample = depth === 'uchar' ? 1 : depth === 'ushort' ? 2 : 4;
  switch (mime) {
    case 'image/jpeg':
      // All coefficients of several scans are in memory, with 16 bits each.
      return isProgressive ? 2 * channels + 0.3 : 0.3;
    case 'image/png':
      return isProgressive ? channels * sample + 0.5 : 0.5;
    case 'image/webp': {
      const isWhole = pages > 1 || Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('VP8L');
      return 8.1 * Math.min(1, isWhole ? 1 : 2 * share + 0.1);
    }
    case 'image/gif':
      return 5;
    case 'image/avif':
      return sample === 1 ? 19 : 25.5;
    case 'image/tiff':
      return 0.3 * channels * sample + 1;
    default:
      return 0.5;
  }
}
