/**
 * The picture pipeline: decodes, looks at and transforms one picture at a time per permit (document 000, image variant
 * service; CONTRACT §5). One engine per process, shared by the image service, the edge and the media service, so that
 * memory stays bounded however the services are spread. Knows no HTTP, no store, no service.
 */

/** A spec with its defaults applied; two specs that mean the same are equal. `jpg` is `jpeg`, `avif` is `webp` here. */
export interface Transform {
  /** 0: the axis is free. */
  readonly width: number;
  readonly height: number;
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

export type ImageMime = 'image/jpeg' | 'image/png' | 'image/webp' | 'image/gif' | 'image/avif';

export interface ImageFacts {
  /** Detected from the bytes, whatever the name says. */
  readonly mime: ImageMime;
  /** Of the upright picture (EXIF orientation applied). */
  readonly width: number;
  readonly height: number;
  /** 4×3 components, of a 32 px rendition. */
  readonly blurhash: string;
}

export interface Engine {
  /** Throws PictureFault, EngineBusy, EngineTimeout. Decodes the whole picture, so a truncated one is found out. */
  inspect(bytes: Uint8Array): Promise<ImageFacts>;
  /** One output per transform, in order; a PNG is decoded once for all. Throws as `inspect` does. */
  transform(bytes: Uint8Array, transforms: readonly Transform[]): Promise<readonly Uint8Array[]>;
}

/** The picture itself is at fault. */
export class PictureFault extends Error {
  readonly reason: 'unsupported' | 'undecodable' | 'too_large';

  constructor(reason: PictureFault['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'PictureFault';
    this.reason = reason;
  }
}

/** No permit within the wait. */
export class EngineBusy extends Error {
  override readonly name = 'EngineBusy';
}

/** The processing of one picture took longer than allowed. */
export class EngineTimeout extends Error {
  override readonly name = 'EngineTimeout';
}
