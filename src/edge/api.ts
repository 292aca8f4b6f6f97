/**
 * The part of the edge that other services use: building image URLs in imgproxy's signed format, valid for both the edge and
 * imgproxy (docs/specification/image.md#edge-urls; imgproxy's "Signing a URL" and "Processing a URL").
 */
import { createHmac, createSecretKey, hash } from 'node:crypto';
import type { Transform } from '#image/engine/engine.ts';
import { toTransform } from '#image/engine/specs.ts';
import { encodeSegments } from '#platform/objects/addresses.ts';

/** Absent options have the default of a variant spec (docs/specification/image.md#variant-spec), so a transform has exactly one URL. */
export interface ResizeOptions
  extends Partial<Pick<Transform, 'resizingType' | 'width' | 'height' | 'quality' | 'enlarge' | 'maxBytes' | 'blur'>> {
  /** Only imgproxy's commercial edition knows this option, so the default (`lanczos3`) is never included in the URL. */
  readonly algorithm?: Transform['resampling'];
  /** The URL ends at this time, in seconds since 1970. By default, it never does. */
  readonly expiresAtS?: number;
}

export type ResizeFormat = Transform['format'];

export interface ResizeSource {
  readonly bucket: string;
  readonly key: string;
  /** The ETag of the intended object. A different object under the same key is not shown. imgproxy itself ignores it. */
  readonly etag?: string | undefined;
}

/** Returns the bearer URL of a transformed image. The same source, options and format always return the same URL. */
export type ResizeSigner = (source: ResizeSource, options: ResizeOptions, format: ResizeFormat) => string;

/**
 * imgproxy splits at `@` and cuts at `?` before it decodes, so everything except unreserved characters and `/` is encoded.
 * `baseUrl`: without a trailing slash. `key`, `salt`: IMGPROXY_KEY and IMGPROXY_SALT (hex).
 */
export function resizeSigner(proxy: {
  readonly baseUrl: string;
  readonly key: string;
  readonly salt: string;
}): ResizeSigner {
  const sign = pathSigner(proxy.key, proxy.salt);
  // Callers sign several URLs of one source, with options that are the same for every source.
  const ofOptions = new WeakMap<ResizeOptions, { readonly format: ResizeFormat; readonly text: string }>();
  let ofSource: { readonly source: ResizeSource; readonly text: string } | undefined;
  return (source, options, format) => {
    let known = ofOptions.get(options);
    if (known?.format !== format) {
      known = { format, text: written(options, format) };
      ofOptions.set(options, known);
    }
    if (ofSource?.source !== source)
      ofSource = { source, text: `${busterOf(source)}/plain/s3://${encodeSegments(`${source.bucket}/${source.key}`)}` };
    const path = `/${known.text}${ofSource.text}@${format}`;
    return `${proxy.baseUrl}/${sign(path)}${path}`;
  };
}

/** Returns imgproxy's signature of a path that starts with `/`: base64url(HMAC-SHA256(key, salt + path)), 43 characters. */
export function pathSigner(keyHex: string, saltHex: string): (path: string) => string {
  const [key, salt] = [createSecretKey(keyHex, 'hex'), Buffer.from(saltHex, 'hex')];
  return (path) => createHmac('sha256', key).update(salt).update(path).digest('base64url');
}

/** Writes the options in a fixed order. The quality is always included, because imgproxy has other defaults. */
function written({ algorithm, expiresAtS, ...options }: ResizeOptions, format: ResizeFormat): string {
  const transform = toTransform({ ...options, format, resampling: algorithm });
  const { resizingType, width, height, enlarge, quality, maxBytes, blur, resampling } = transform;
  let text = `rs:${resizingType}:${width}:${height}:${enlarge ? 1 : 0}`;
  if (quality > 0) text += `/q:${quality}`;
  if (maxBytes > 0) text += `/mb:${maxBytes}`;
  if (blur > 0) text += `/bl:${blur}`;
  if (resampling !== 'lanczos3') text += `/ra:${resampling}`;
  if (expiresAtS !== undefined) text += `/exp:${expiresAtS}`;
  return text;
}

/** Returns imgproxy's cache buster. It changes only if the source changes. */
function busterOf({ etag }: ResizeSource): string {
  return etag === undefined ? '' : `/cb:${cacheBuster(etag)}`;
}

export function cacheBuster(etag: string): string {
  return hash('sha256', etag, 'base64url').slice(0, 16);
}
