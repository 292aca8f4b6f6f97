/**
 * Parses imgproxy's path after the signature, as far as Atelier uses it (docs/specification/image.md#edge-urls): options by their short or
 * long
 * names, then the source, plain or base64url, as in imgproxy's documentation ("Processing a URL").
 * An unsupported option returns a 400 that names it.
 */
import {
  formats,
  longestAskedSide,
  resamplings,
  resizingTypes,
  strongestBlur,
  type VariantSpec,
} from '#image/engine/specs.ts';
import { invalid } from '#platform/problem.ts';
import type { ResizeSource } from './api.ts';

export interface ResizeRequest {
  readonly source: ResizeSource;
  /** The `cacheBuster` of the intended object. */
  readonly buster: string | undefined;
  readonly spec: VariantSpec;
}

/**
 * Reverts changes that proxies make to a path: `:` escaped among the options, `s3://` merged to `s3:/`. The signature covers the
 * original path. `path` starts with `/`.
 */
export function restorePath(path: string): string {
  const plain = path.indexOf('/plain/');
  if (plain === -1) return path.replace(/%3a/gi, ':');
  return (
    path.slice(0, plain).replace(/%3a/gi, ':') + path.slice(plain).replace(/^\/plain\/s3:\/(?!\/)/, '/plain/s3://')
  );
}

/** Throws a 400 that names the invalid option. If an option is repeated, the last one counts. */
export function parseResizePath(path: string): ResizeRequest {
  const parts = path.slice(1).split('/');
  const written = parts.findIndex((part) => !part.includes(':'));
  const [options, source] = written === -1 ? [parts, []] : [parts.slice(0, written), parts.slice(written)];
  const { address, extension } = source[0] === 'plain' ? readPlain(source.slice(1)) : readEncoded(source);
  const busters = options.filter(isBuster);
  const spec: VariantSpec = Object.assign(
    {},
    ...options
      .filter((option) => !isBuster(option))
      .map((option) => {
        const [name = '', ...args] = option.split(':');
        return readOption(name, args);
      }),
    extension === '' ? {} : { format: oneOf(formats, extension, 'extension') },
  );
  return { source: readSource(address), buster: busters.at(-1)?.split(':')[1], spec };
}

const isBuster = (option: string) => /^(cb|cachebuster):/.test(option);

function readOption(name: string, args: readonly string[]): VariantSpec {
  const path = `options.${name}`;
  const [value = ''] = args;
  if (args.length > 1 && !['rs', 'resize', 'g', 'gravity'].includes(name)) throw invalid(path, 'takes one argument');
  switch (name) {
    case 'rs':
    case 'resize':
      return readResize(args, path);
    case 'w':
    case 'width':
      return { width: side(value, path) };
    case 'h':
    case 'height':
      return { height: side(value, path) };
    case 'q':
    case 'quality':
      // imgproxy's 0 is the default of the format.
      return { quality: integer(value, 100, path) || undefined };
    case 'el':
    case 'enlarge':
      return { enlarge: flag(value, path) };
    case 'mb':
    case 'max_bytes':
      return { maxBytes: integer(value, Number.MAX_SAFE_INTEGER, path) };
    case 'f':
    case 'format':
      return { format: oneOf(formats, value, path) };
    case 'bl':
    case 'blur':
      return { blur: sigma(value, path) };
    case 'ra':
    case 'resizing_algorithm':
      return { resampling: oneOf(resamplings, value, path) };
    case 'g':
    case 'gravity':
      if (/^ce(:0(\.0+)?){0,2}$/.test(args.join(':'))) return {};
      throw invalid(path, 'can be `ce` alone');
    default:
      throw invalid(path, 'is not an option of this service');
  }
}

/** `rs:type:width:height:enlarge:extend`. Empty or missing parts keep their values. */
function readResize(args: readonly string[], path: string): VariantSpec {
  const [type = '', width = '', height = '', enlarge = '', extend = ''] = args;
  if (args.length > 5) throw invalid(path, 'takes at most five arguments');
  if (extend !== '' && flag(extend, path)) throw invalid(path, 'cannot extend a picture');
  return {
    ...(type === '' ? {} : { resizingType: oneOf(resizingTypes, type, path) }),
    ...(width === '' ? {} : { width: side(width, path) }),
    ...(height === '' ? {} : { height: side(height, path) }),
    ...(enlarge === '' ? {} : { enlarge: flag(enlarge, path) }),
  };
}

const side = (value: string, path: string) => integer(value, longestAskedSide, path);

function integer(value: string, max: number, path: string): number {
  if (!/^\d{1,16}$/.test(value) || Number(value) > max) throw invalid(path, `must be a whole number from 0 to ${max}`);
  return Number(value);
}

function sigma(value: string, path: string): number {
  if (!/^\d{1,3}(\.\d{1,20})?$/.test(value) || Number(value) > strongestBlur)
    throw invalid(path, `must be a number from 0 to ${strongestBlur}`);
  return Number(value);
}

/** Accepts the spellings of Go's ParseBool. */
function flag(value: string, path: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value)) return false;
  throw invalid(path, 'must be 0 or 1');
}

function oneOf<T extends string>(allowed: readonly T[], value: string, path: string): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw invalid(path, `must be one of ${allowed.join(', ')}`);
  return found;
}

interface Written {
  readonly address: string;
  /** Empty if there is none. */
  readonly extension: string;
}

function readPlain(parts: readonly string[]): Written {
  const [escaped = '', extension = '', ...rest] = parts.join('/').split('@');
  if (rest.length > 0) throw invalid('source', 'names more than one format');
  try {
    return { address: decodeURIComponent(escaped), extension };
  } catch {
    throw invalid('source', 'is not percent-encoded');
  }
}

/** Base64 may be padded and may contain `/` at any position. */
function readEncoded(parts: readonly string[]): Written {
  const [encoded = '', extension = '', ...rest] = parts.join('').split('.');
  if (rest.length > 0) throw invalid('source', 'names more than one format');
  if (!/^[\w-]*=*$/.test(encoded)) throw invalid('source', 'is not base64url');
  return { address: Buffer.from(encoded, 'base64url').toString(), extension };
}

function readSource(address: string): ResizeSource {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(address) ?? [];
  if (bucket === undefined || key === undefined) throw invalid('source', 'must be s3://bucket/key');
  return { bucket, key };
}
