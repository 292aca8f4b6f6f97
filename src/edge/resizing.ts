/**
 * Signed imgproxy URLs: `GET|HEAD /<signature>/<options>/<source>`, served from the variants that the image service also creates
 * (docs/specification/image.md#edge-urls). The signature is verified before the rest of the path is parsed.
 */

import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { center, type Edits } from '#image/engine/edits.ts';
import type { Transform } from '#image/engine/engine.ts';
import { extensionOfFormat, mimeOfFormat } from '#image/engine/formats.ts';
import { objectSource, type VariantSource } from '#image/engine/sources.ts';
import { formats, toTransform, type VariantSpec, withEdits } from '#image/engine/specs.ts';
import { isSafeKey } from '#platform/objects/objects.ts';
import { invalid, Problem, problems } from '#platform/problem.ts';
import { cacheBuster, type ResizeSource } from './api.ts';
import type { EdgeContext } from './context.ts';
import { isPreset, noPresets, type Presets } from './presets.ts';
import { asProblem, edgeProblems } from './problems.ts';
import * as processing from './processing.ts';
import { type ObjectAnswer, sendObject } from './sending.ts';
import { targetOf } from './targets.ts';

export async function sendResized(deps: EdgeContext, request: FastifyRequest, reply: FastifyReply) {
  const { path, query } = targetOf(request.raw);
  // A signature covers no query. Each unsigned one would be another entry in a CDN.
  if (query.size > 0) throw problems.not_found();
  const [signature = '', ...rest] = path.slice(1).split('/');
  const signed = restorePath(`/${rest.join('/')}`);
  if (!looksSigned(signature, signed)) throw problems.not_found();
  if (!equal(signature, deps.signPath(signed))) throw edgeProblems.invalid_address();
  const { source, spec, edits, delivery } = parseResizePath(signed, deps.presets);
  const maxAge = processing.cacheSecondsOf(delivery, deps.clock.now());
  if (maxAge === undefined) throw problems.not_found();
  const buster = bindingOf(delivery);
  const objects = deps.bucket(source.bucket);
  if (objects === undefined || !isSafeKey(source.key)) throw problems.not_found();
  // The variants of a deleted source may exist a little longer than the source, but its URLs must not work.
  const head = await objects.head(source.key);
  // An object that was uploaded to the key of a deleted one has not been screened.
  if (head === undefined || (buster !== undefined && buster !== cacheBuster(head.etag))) throw problems.not_found();
  const transform = withEdits(toTransform(spec), edits);
  const version = deps.isReplaceable(source.bucket) ? head.etag : undefined;
  const ifMatch = buster === undefined ? version : head.etag;
  const named = objectSource(objects, source.key, ifMatch, version);
  return sendVariantOf(deps, request, reply, named, transform, {
    cacheControl: `public, max-age=${maxAge}`,
    headers: headersOf(delivery, source.key, transform.format),
  });
}

/** Sends a variant, which is made if it is missing. Throws `not_found` without the source, and as the engine and `sendObject` do. */
export async function sendVariantOf(
  { publicObjects, variants }: EdgeContext,
  request: FastifyRequest,
  reply: FastifyReply,
  source: VariantSource,
  transform: Transform,
  shown: Pick<ObjectAnswer, 'cacheControl' | 'headers'>,
) {
  const contentType = mimeOfFormat[transform.format];
  const send = async () => {
    const { key } = await variants.serve(source, transform).catch((error) => Promise.reject(asProblem(error)));
    return sendObject(request, reply, { objects: publicObjects, key, contentType, ...shown });
  };
  // Between its lookup and its reading, another process can have removed the variant to make room.
  return send().catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found' && !reply.sent) return send();
    throw error;
  });
}

/** Our own URLs name the ETag of the object that they show, in a form of its own. Any other text only makes another URL, as in imgproxy. */
function bindingOf({ buster = '' }: processing.Delivery): string | undefined {
  return /^[\w-]{16}$/.test(buster) ? buster : undefined;
}

function headersOf(
  delivery: processing.Delivery,
  key: string,
  format: Transform['format'],
): Readonly<Record<string, string>> {
  const disposition = processing.dispositionOf(delivery, key, extensionOfFormat[format]);
  return disposition === undefined ? {} : { 'content-disposition': disposition };
}

/** A path without the form of a signed URL is an unknown route, not an invalid signature. */
function looksSigned(signature: string, path: string): boolean {
  return path.length > 1 && (/^[\w-]{43}$/.test(signature) || path.includes(':') || path.startsWith('/plain/'));
}

function equal(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

// Parses imgproxy's path after the signature (docs/specification/image.md#edge-urls): options by their short or long names, then
// the source, plain or base64url, as in imgproxy's documentation ("Processing a URL").
// An unsupported option returns a 400 that names it.

interface ResizeRequest {
  readonly source: ResizeSource;
  readonly spec: VariantSpec;
  readonly edits: Partial<Edits>;
  readonly delivery: processing.Delivery;
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
  const format = extension === '' ? {} : { format: processing.readOneOf(formats, extension, 'extension') };
  const requested = processing.merge(readOptions(options, presets), { spec: format });
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

function readOptions(options: readonly string[], presets: Presets): processing.Requested {
  const written = options.flatMap((option) => expand(option, presets, []));
  if (written.length > mostOptions) throw invalid('options', `must be at most ${mostOptions}`);
  return written
    .map((option) => {
      const [name = '', ...args] = option.split(':');
      return processing.readOption(name, args);
    })
    .reduce(processing.merge, {});
}

/** With the quality for its format, and with the gravity of its crop. */
function resolve({ spec = {}, edits = {}, formatQuality = {}, delivery = {} }: processing.Requested) {
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
