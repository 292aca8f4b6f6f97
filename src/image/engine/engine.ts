/**
 * The image pipeline: decodes, inspects and transforms one image per permit (docs/specification/image.md). The image
 * service, the edge and the media service of a process share one engine, so that memory is bounded in any deployment.
 * Independent of HTTP, stores and services. Created by `createEngine` (working.ts).
 */

import type { Edits } from './edits.ts';

/** A spec with its defaults applied (specs.ts). Specs with the same meaning are equal: `jpg` is `jpeg`, `avif` is `webp`. */
export interface Transform {
  /** 0: unrestricted. */
  readonly width: number;
  readonly height: number;
  /** For jpeg and webp. Always 0 for png, which has none. */
  readonly quality: number;
  readonly format: 'webp' | 'jpeg' | 'png';
  readonly resizingType: 'fit' | 'fill' | 'auto';
  readonly enlarge: boolean;
  /** Gaussian sigma; 0: none. */
  readonly blur: number;
  /** 0: no budget. */
  readonly maxBytes: number;
  /** Makes the image smaller if the lowest quality exceeds the budget. */
  readonly shrinks?: true;
  readonly resampling: 'lanczos3' | 'lanczos2' | 'cubic' | 'linear' | 'nearest';
  /** What signed URLs can request in addition. */
  readonly edits?: Edits;
}

export const imageMimes = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'image/avif',
  'image/heic',
  'image/heif',
  'image/tiff',
  'image/bmp',
] as const;
export type ImageMime = (typeof imageMimes)[number];

export interface ImageFacts {
  /** Detected from the bytes. The name is ignored. */
  readonly mime: ImageMime;
  /** The size of the upright image (EXIF orientation applied). */
  readonly width: number;
  readonly height: number;
  /** 4×3 components, computed from 32 px. */
  readonly blurhash: string;
  readonly animated: boolean;
  /**
   * The whole upright image in sRGB on white, for further inspection without decoding it again. Neither side exceeds
   * 512 pixels, nor the image.
   */
  readonly rendition: Raster;
}

/** 8 bits per channel, row by row. */
export interface Raster {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 2 | 3 | 4;
}

export interface EngineLimits {
  /** The limit of width × height of a source and of a result. */
  readonly maxSourcePixels: number;
  /** The limit of all work on one image after it has a permit. */
  readonly processTimeoutMs: number;
  /** The number of images that are processed at once. */
  readonly concurrency: number;
  readonly permitWaitMs: number;
}

/** One requested variant of an image. */
export interface Job {
  readonly transform: Transform;
  /** Called with the encoded image as soon as it is made. */
  readonly deliver: (output: Uint8Array) => void;
}

/** `owner`: the owner of the image (`ownerOfKey`). Owners take turns. */
export interface Engine {
  /** Of the brand in watermarks (brand.ts). */
  readonly brandId: string;
  /**
   * Throws ImageFault, EngineBusy, EngineTimeout. Decodes the whole image, so that truncation is detected.
   * `onRendition` gets the rendition before the rest is computed.
   */
  inspect(bytes: Uint8Array, owner?: string, onRendition?: (rendition: Raster) => void): Promise<ImageFacts>;
  /**
   * Runs all jobs one after the other, with one permit and one deadline. Throws as `inspect` does,
   * EnlargementFault and BudgetFault. Results that were delivered before remain.
   */
  transform(bytes: Uint8Array, jobs: readonly Job[], owner?: string): Promise<void>;
  /** Returns a JPEG with the brand's watermark, for downloads (watermarking.ts). Throws as `inspect` does. */
  watermark(bytes: Uint8Array, owner?: string): Promise<Uint8Array>;
}

/** A fault of the image itself. The message is one public sentence. */
export class ImageFault extends Error {
  override readonly name = 'ImageFault';
  readonly reason: 'unsupported' | 'undecodable' | 'too_large';

  constructor(reason: ImageFault['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** The caller requests too large an enlargement. The message is public: the rest of a sentence. */
export class EnlargementFault extends Error {
  override readonly name = 'EnlargementFault';
}

/** Even the smallest image exceeds the budget of a transform that shrinks. */
export class BudgetFault extends Error {
  override readonly name = 'BudgetFault';
}

/** No permit was available in time. */
export class EngineBusy extends Error {
  override readonly name = 'EngineBusy';
}

/** The processing of one image took longer than allowed. */
export class EngineTimeout extends Error {
  override readonly name = 'EngineTimeout';
}
