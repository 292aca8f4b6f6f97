/** Estimates the memory of a task from the header of its image, before the image is decoded. */
import type { Metadata } from 'sharp';
import { readBmpHeader } from './decoders/bmpheader.ts';
import { claimedPixels } from './decoders/heifsize.ts';
import type { ImageMime, Job } from './engine.ts';
import { planSize } from './geometry.ts';

/** What is done with an image. */
export type Task = 'inspect' | 'watermark' | readonly Job[];

export interface Weighed {
  readonly mime: ImageMime;
  readonly bytes: Uint8Array;
  readonly maxPixels: number;
}

/**
 * The factors are bytes per pixel, measured at 50 megapixels and rounded up. A file can be laid out so that it takes more
 * than its header shows, such as a TIFF in one large tile.
 */
export function weigh({ mime, bytes, maxPixels }: Weighed, header: Metadata, task: Task): number {
  const { width = 0, height = 0, channels = 4, orientation = 1 } = header;
  const pixels = width * height;
  const sample = header.depth === 'uchar' ? 1 : header.depth === 'ushort' ? 2 : 4;
  const isTurned = orientation !== 1;
  const whole = decoding(mime, header, sample, true) + (isTurned ? channels * sample : 0);
  const small = decoding(mime, header, sample, false) + 1;
  return bytes.length + pixels * factorOf() + baseBytes;

  function factorOf(): number {
    if (task === 'inspect') return small;
    if (task === 'watermark') return whole + 1.2;
    const isShared = task.length > 1 && mime !== 'image/jpeg' && mime !== 'image/webp';
    const shared = isShared && sample === 1 && mime !== 'image/avif' ? channels : 0;
    return Math.max(...task.map(one)) + shared;
  }

  function one({ transform }: Job): number {
    const { format, edits, maxBytes, blur } = transform;
    if (edits !== undefined) return whole + channels * sample * 3;
    const outChannels = format === 'jpeg' ? 3 : channels;
    const size = planSize(transform, header.autoOrient, maxPixels);
    const share = pixels === 0 ? 0 : (size.width * size.height) / pixels;
    const decoded = share > 0.25 ? whole : small;
    const raw = maxBytes > 0 ? outChannels * share : 0;
    const encoder = format === 'webp' ? (outChannels > 3 ? 14 : 5) : maxBytes > 0 ? 6 : 1.2;
    // The decoder is done when the search for a budget begins.
    const encoded = share * (encoder + (blur > 0 ? 9 : 0));
    return raw > 0 ? Math.max(decoded + raw, raw + encoded) : decoded + encoded;
  }
}

/** As `weigh`, for what a thread decodes (decoders/translating.ts). */
export function weighTranslation({ mime, bytes, maxPixels }: Weighed): number {
  if (mime !== 'image/bmp') return bytes.length + claimedPixels(bytes, maxPixels) * 13 + baseBytes;
  const { width, height } = readBmpHeader(bytes);
  return bytes.length + Math.min(maxPixels, width * height) * 5 + baseBytes;
}

/** Bytes of a decoder and of libvips for any image. */
const baseBytes = 4 * 1024 * 1024;

/** `isWhole`: at its full size. A JPEG or WebP can be decoded at a smaller one. */
function decoding(mime: ImageMime, header: Metadata, sample: number, isWhole: boolean): number {
  const { channels = 4, isProgressive = false, chromaSubsampling = '', hasAlpha = false } = header;
  switch (mime) {
    case 'image/jpeg': {
      // All coefficients of a progressive file are in memory, with 16 bits each.
      if (!isProgressive) return 0.2;
      return 2 * (chromaSubsampling === '4:2:0' && channels === 3 ? 1.5 : channels);
    }
    case 'image/png':
      return isProgressive ? channels * sample + 0.5 : 0.5;
    case 'image/webp':
      return isWhole ? 8.5 : 1;
    case 'image/gif':
      return 5;
    case 'image/avif':
      return 18 + (sample > 1 ? 6 : 0) + (hasAlpha ? 3 : 0);
    case 'image/tiff':
      return 0.3 * channels * sample + 1;
    default:
      return 4.5;
  }
}
