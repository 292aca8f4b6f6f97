/** The only module that opens images with sharp: its process-wide settings and its loaders. Loaded for the first image. */
import sharp, { type Metadata, type Sharp } from 'sharp';
import type { Generated } from '#platform/metadata/xmp.ts';
import type { Brand } from './brand.ts';
import type { Deadline } from './deadline.ts';
import type { EngineLimits, ImageMime, Raster } from './engine.ts';

// One thread per pipeline and no cache of operations, because permits limit the processors and the memory in use.
sharp.concurrency(1);
sharp.cache(false);
// libvips opens these formats only, from memory only, whatever the bytes claim to be.
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

/** For the operator's own files only. */
export const svgLoader = { operation: ['VipsForeignLoadSvgBuffer'] };

/** An image that is being processed. */
export interface Opening {
  /** Bytes that libvips reads (decoders/translating.ts). */
  readonly bytes: Uint8Array;
  /** The mime of the caller's file. */
  readonly mime: ImageMime;
  readonly limits: Pick<EngineLimits, 'maxSourcePixels'>;
  readonly deadline: Deadline;
  readonly brand: Brand;
  /** Of the caller's file. Everything that is made of it gets the same. */
  readonly mark: Generated | undefined;
}

/** Reads the header only. Rejects an image above the pixel limit before decoding it. */
export function readHeader(opening: Pick<Opening, 'bytes' | 'limits' | 'deadline'>): Promise<Metadata> {
  return open(opening).metadata();
}

/** Returns a pipeline over the first frame, with output in sRGB: upright, or in the orientation in which the pixels are stored. */
export function openImage(opening: Opening, header: Metadata, isUpright = true): Sharp {
  const image = open(opening, isUpright);
  // sharp converts 16-bit images with a profile to Display P3, and to sRGB only on request.
  if (header.space === 'rgb16' && header.hasProfile) image.withIccProfile('srgb', { attach: false });
  return image;
}

function open(
  { bytes, limits, deadline }: Pick<Opening, 'bytes' | 'limits' | 'deadline'>,
  autoOrient = true,
  failOn: 'error' | 'warning' = 'error',
): Sharp {
  return sharp(bytes, {
    limitInputPixels: limits.maxSourcePixels,
    // Truncated data is an error, not a gray area.
    failOn,
    pages: 1,
    autoOrient,
  }).timeout({ seconds: deadline.remainingS() });
}

/** Rejects unless all pixels can be decoded without a warning. At a smaller scale a decoder does not see all faults. */
export async function assertWhole(opening: Opening): Promise<void> {
  await open(opening, false, 'warning').extractChannel(0).jpeg({ quality: 1, optimiseCoding: false }).toBuffer();
}

/** Returns a pipeline over the pixels of an earlier one. */
export function openRaw(raw: Raster, deadline: Deadline): Sharp {
  const { width, height, channels } = raw;
  return sharp(raw.data, { raw: { width, height, channels }, limitInputPixels: false }).timeout({
    seconds: deadline.remainingS(),
  });
}

export async function toRaw(pipeline: Sharp): Promise<Raster> {
  const { data, info } = await pipeline.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}
