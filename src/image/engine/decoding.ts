/** The only module that opens images with sharp: its process-wide settings, the loaders that it can use, and its errors. */
import sharp, { type Metadata, type Sharp } from 'sharp';
import type { Deadline } from './deadline.ts';
import { type EngineLimits, EngineTimeout, type ImageMime, PictureFault } from './engine.ts';

// One thread a pipeline and no cache of operations: permits bound the processors and the memory in use.
sharp.concurrency(1);
sharp.cache(false);
// Whatever the bytes claim to be, libvips opens these formats only, from memory only.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadNsgifBuffer',
    'VipsForeignLoadHeifBuffer',
    'VipsForeignLoadTiffBuffer',
  ],
});

/** One picture being worked on. */
export interface Opening {
  /** That libvips reads (decoders/translating.ts). */
  readonly bytes: Uint8Array;
  /** Of the file that the caller gave. */
  readonly mime: ImageMime;
  readonly limits: Pick<EngineLimits, 'maxSourcePixels'>;
  readonly deadline: Deadline;
}

export interface RawPicture {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 2 | 3 | 4;
}

/** The header alone; a picture over the pixel limit is refused here, before anything is decoded. */
export function readHeader(opening: Opening): Promise<Metadata> {
  return open(opening).metadata();
}

/** A pipeline over the first frame, upright, whose output is sRGB. */
export function openPicture(opening: Opening, header: Metadata): Sharp {
  const picture = open(opening);
  // sharp takes 16-bit pictures with a profile to Display P3, and from there to sRGB only on request.
  if (header.space === 'rgb16' && header.hasProfile) picture.withIccProfile('srgb', { attach: false });
  return picture;
}

function open({ bytes, limits, deadline }: Opening): Sharp {
  // failOn: truncated data is an error, not a grey area.
  return sharp(bytes, {
    limitInputPixels: limits.maxSourcePixels,
    failOn: 'error',
    pages: 1,
    autoOrient: true,
  }).timeout({ seconds: deadline.remainingS() });
}

/** A pipeline over pixels that an earlier one made. */
export function openRaw(raw: RawPicture, deadline: Deadline): Sharp {
  const { width, height, channels } = raw;
  return sharp(raw.data, { raw: { width, height, channels }, limitInputPixels: false }).timeout({
    seconds: deadline.remainingS(),
  });
}

export async function toRaw(pipeline: Sharp): Promise<RawPicture> {
  const { data, info } = await pipeline.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

/**
 * Gives the memory of pixels back at once, when no pipeline reads them any more. Left to the collector, each picture of 12
 * megapixels would be the occasion for a collection of everything.
 */
export function discard({ data }: RawPicture): void {
  if (data.buffer instanceof ArrayBuffer && data.byteLength === data.buffer.byteLength) data.buffer.transfer(0);
}

/** libvips speaks in plain Errors, by sentences only; what it says stays in the cause. Errors of a class are not its. */
export function toFault(error: unknown): unknown {
  if (!(error instanceof Error) || error.constructor !== Error) return error;
  if (error.message.startsWith('timeout: ')) return new EngineTimeout('stopped by libvips', { cause: error });
  // Its own limit comes first for a JPEG that says it is longer than an encoder could have made it.
  if (/exceeds pixel limit|Maximum supported image dimension/.test(error.message)) {
    return new PictureFault('too_large', 'The picture has too many pixels.', error);
  }
  return new PictureFault('undecodable', 'The picture cannot be decoded.', error);
}
