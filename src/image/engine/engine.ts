/**
 * The picture pipeline: decodes, inspects and transforms one image at a time per permit
 * (docs/specification/image.md). One engine per process, shared by the image service, the edge and the media service, so that
 * memory stays bounded however the services are spread. Knows no HTTP, no store, no service. Made by `createEngine`
 * (working.ts).
 */

/** A spec with its defaults applied (specs.ts); two specs that mean the same are equal: `jpg` is `jpeg`, `avif` is `webp`. */
export interface Transform {
  /** 0: the axis is free. */
  readonly width: number;
  readonly height: number;
  /** Of jpeg and webp; always 0 for png, which has none. */
  readonly quality: number;
  readonly format: 'webp' | 'jpeg' | 'png';
  readonly resizingType: 'fit' | 'fill' | 'auto';
  readonly enlarge: boolean;
  /** Gaussian sigma; 0: none. */
  readonly blur: number;
  /** 0: no budget. */
  readonly maxBytes: number;
  readonly resampling: 'lanczos3' | 'lanczos2' | 'cubic' | 'linear' | 'nearest';
}

export type ImageMime =
  | 'image/jpeg'
  | 'image/png'
  | 'image/webp'
  | 'image/gif'
  | 'image/avif'
  | 'image/heic'
  | 'image/heif'
  | 'image/tiff'
  | 'image/bmp';

export interface ImageFacts {
  /** Detected from the bytes, whatever the name says. */
  readonly mime: ImageMime;
  /** Of the upright picture (EXIF orientation applied). */
  readonly width: number;
  readonly height: number;
  /** 4×3 components, of a 32 px rendition. */
  readonly blurhash: string;
  /** The whole upright image on white, for further inspection without decoding it again. */
  readonly rendition: Rendition;
}

/** sRGB, 8 bits a channel, row by row; neither side over 512 pixels, and never larger than the picture. */
export interface Rendition {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 2 | 3 | 4;
}

export interface EngineLimits {
  /** width × height of a source, and of a result. */
  readonly maxSourcePixels: number;
  /** Of all work on one picture, from the permit on. */
  readonly processTimeoutMs: number;
  /** Pictures worked on at once. */
  readonly concurrency: number;
  readonly permitWaitMs: number;
}

/** One variant to be made of a picture. */
export interface Job {
  readonly transform: Transform;
  /** Called with the encoded picture as soon as it is made. */
  readonly deliver: (output: Uint8Array) => void;
}

/** `owner`: whose picture it is (`ownerOfKey`). Owners take turns. */
export interface Engine {
  /** Throws PictureFault, EngineBusy, EngineTimeout. Decodes the whole picture, so a truncated one is found out. */
  inspect(bytes: Uint8Array, owner?: string): Promise<ImageFacts>;
  /**
   * All jobs, one after the other, under one permit and one deadline. Throws as `inspect` does, and EnlargementFault; what
   * was delivered before remains.
   */
  transform(bytes: Uint8Array, jobs: readonly Job[], owner?: string): Promise<void>;
  /** A JPEG with the wordmark on it, for downloads (watermarking.ts). Throws as `inspect` does. */
  watermark(bytes: Uint8Array, owner?: string): Promise<Uint8Array>;
}

/** The picture itself is at fault. The message is fit for callers: one sentence, nothing internal. */
export class PictureFault extends Error {
  override readonly name = 'PictureFault';
  readonly reason: 'unsupported' | 'undecodable' | 'too_large';

  constructor(reason: PictureFault['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** The caller requests too large an enlargement. The message is fit for callers: the rest of a sentence. */
export class EnlargementFault extends Error {
  override readonly name = 'EnlargementFault';
}

/** No permit within the wait. */
export class EngineBusy extends Error {
  override readonly name = 'EngineBusy';
}

/** The processing of one picture took longer than allowed. */
export class EngineTimeout extends Error {
  override readonly name = 'EngineTimeout';
}
