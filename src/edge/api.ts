/**
 * What other services may use of the edge: building resize addresses in imgproxy's signed URL format, right for the edge
 * and for a real imgproxy alike (CONTRACT §§2 and 5; imgproxy's "Signing a URL" and "Processing a URL").
 */
import { createHmac, createSecretKey } from 'node:crypto';

export const resizingTypes = ['fit', 'fill', 'auto'] as const;
export const resamplings = ['lanczos3', 'lanczos2', 'cubic', 'linear', 'nearest'] as const;

/** What is absent has its default, so a transform has one address however it is written. */
export interface ResizeOptions {
  /** `fit`. */
  readonly resizingType?: (typeof resizingTypes)[number];
  /** Pixels; 0 or absent: the axis is free. */
  readonly width?: number;
  readonly height?: number;
  /** 1–100; absent: 80 for jpeg, 75 for webp. PNG has none. */
  readonly quality?: number;
  /** Whether smaller sources may be enlarged; not by default. */
  readonly enlarge?: boolean;
  /** Bytes; 0 or absent: no budget. */
  readonly maxBytes?: number;
  /** Gaussian sigma; 0 or absent: none. */
  readonly blur?: number;
  /** `lanczos3`. Known to imgproxy's paid edition alone, so the default is never written out. */
  readonly algorithm?: (typeof resamplings)[number];
}

export type ResizeFormat = 'webp' | 'jpeg' | 'png';

export interface ResizeSource {
  readonly bucket: string;
  readonly key: string;
}

/** Bearer address of a transformed picture; the same source, options and format always give the same one. */
export type ResizeSigner = (source: ResizeSource, options: ResizeOptions, format: ResizeFormat) => string;

export const defaultQuality: Readonly<Record<ResizeFormat, number | undefined>> = {
  webp: 75,
  jpeg: 80,
  png: undefined,
};

/** `baseUrl`: without a trailing slash. `key`, `salt`: IMGPROXY_KEY and IMGPROXY_SALT (hex). */
export function resizeSigner(proxy: {
  readonly baseUrl: string;
  readonly key: string;
  readonly salt: string;
}): ResizeSigner {
  const sign = pathSigner(proxy.key, proxy.salt);
  return (source, options, format) => {
    const path = `/${written(options, format)}/plain/${plainSource(source)}@${format}`;
    return `${proxy.baseUrl}/${sign(path)}${path}`;
  };
}

/** imgproxy's signature of a path that starts with `/`: base64url(HMAC-SHA256(key, salt + path)), 43 characters. */
export function pathSigner(keyHex: string, saltHex: string): (path: string) => string {
  // A KeyObject costs a tenth of a Buffer, which is copied and wiped at each use.
  const key = createSecretKey(Buffer.from(keyHex, 'hex'));
  const salt = Buffer.from(saltHex, 'hex');
  return (path) => createHmac('sha256', key).update(salt).update(path).digest('base64url');
}

/** In a fixed order, with the defaults of the suite written out where imgproxy's own differ. */
function written(options: ResizeOptions, format: ResizeFormat): string {
  const { resizingType = 'fit', width = 0, height = 0, enlarge = false, maxBytes = 0, blur = 0 } = options;
  const quality = format === 'png' ? undefined : (options.quality ?? defaultQuality[format]);
  let text = `rs:${resizingType}:${width}:${height}:${enlarge ? 1 : 0}`;
  if (quality !== undefined) text += `/q:${quality}`;
  if (maxBytes > 0) text += `/mb:${maxBytes}`;
  if (blur > 0) text += `/bl:${blur}`;
  if (options.algorithm !== undefined && options.algorithm !== 'lanczos3') text += `/ra:${options.algorithm}`;
  return text;
}

/** imgproxy splits at `@` and cuts at `?` before it decodes; nothing but unreserved characters and `/` is left bare. */
function plainSource({ bucket, key }: ResizeSource): string {
  const path = `${bucket}/${key}`;
  return `s3://${/^[\w./~-]*$/.test(path) ? path : path.split('/').map(encodeURIComponent).join('/')}`;
}
