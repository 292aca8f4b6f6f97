/**
 * Parses imgproxy's path after the signature (docs/specification/image.md#edge-urls): options by their short or long names, then
 * the source, plain or base64url, as in imgproxy's documentation ("Processing a URL").
 * An unsupported option returns a 400 that names it.
 */
import { center, type Edits } from '#image/engine/edits.ts';
import { formats, type VariantSpec } from '#image/engine/specs.ts';
import { invalid } from '#platform/problem.ts';
import type { ResizeSource } from './api.ts';
import { readOneOf } from './arguments.ts';
import type { Delivery } from './delivery.ts';
import { isPreset, noPresets, type Presets } from './presets.ts';
import { merge, type Requested, readOption } from './processing.ts';

export interface ResizeRequest {
  readonly source: ResizeSource;
  readonly spec: VariantSpec;
  readonly edits: Partial<Edits>;
  readonly delivery: Delivery;
}

/** More than any request needs, presets included. */
const mostOptions = 100;

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
export function parseResizePath(path: string, presets: Presets = noPresets): ResizeRequest {
  const parts = path.slice(1).split('/');
  const written = parts.findIndex((part) => !part.includes(':'));
  const [options, source] = written === -1 ? [parts, []] : [parts.slice(0, written), parts.slice(written)];
  const { address, extension } = source[0] === 'plain' ? readPlain(source.slice(1)) : readEncoded(source);
  const format = extension === '' ? {} : { format: readOneOf(formats, extension, 'extension') };
  const requested = merge(readOptions(options, presets), { spec: format });
  return { source: readSource(address), ...resolve(requested) };
}

/** With its presets in its place. A preset that refers to itself is used once. */
function expand(option: string, presets: Presets, used: readonly string[]): readonly string[] {
  if (!isPreset(option)) return [option];
  const [, ...names] = option.split(':');
  return names.flatMap((name) => {
    const options = presets.get(name);
    if (options === undefined) throw invalid(`options.${option.split(':')[0]}`, `has no preset "${name}"`);
    return used.includes(name) ? [] : options.flatMap((one) => expand(one, presets, [...used, name]));
  });
}

function readOptions(options: readonly string[], presets: Presets): Requested {
  const written = options.flatMap((option) => expand(option, presets, []));
  if (written.length > mostOptions) throw invalid('options', `must be at most ${mostOptions}`);
  return written
    .map((option) => {
      const [name = '', ...args] = option.split(':');
      return readOption(name, args);
    })
    .reduce(merge, {});
}

/** With the quality for its format, and with the gravity of its crop. */
function resolve({ spec = {}, edits = {}, formatQuality = {}, delivery = {} }: Requested) {
  const { crop, ...others } = edits;
  const quality = spec.quality ?? (formatQuality[nameOfFormat(spec.format)] || undefined);
  return {
    spec: { ...spec, ...(quality !== undefined && { quality }) },
    edits: { ...others, ...(crop && { crop: { gravity: edits.gravity ?? center, ...crop } }) },
    delivery,
  };
}

const nameOfFormat = (format: VariantSpec['format']) => (format === 'jpg' ? 'jpeg' : (format ?? 'webp'));

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
