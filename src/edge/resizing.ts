/**
 * Signed imgproxy URLs: `GET|HEAD /<signature>/<options>/<source>`, served from the variants that the image service also creates
 * (docs/specification/image.md#edge-urls). The signature is verified before the rest of the path is parsed.
 */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Transform } from '#image/engine/engine.ts';
import { extensionOfFormat, mimeOfFormat } from '#image/engine/formats.ts';
import { objectSource, type VariantSource } from '#image/engine/sources.ts';
import { toTransform, withEdits } from '#image/engine/specs.ts';
import type { Variant, VariantMaker } from '#image/engine/variants.ts';
import type { Clock } from '#platform/clock.ts';
import { isSafeKey } from '#platform/objects/keys.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { cacheBuster } from './api.ts';
import { cacheSecondsOf, type Delivery, dispositionOf } from './delivery.ts';
import { parseResizePath, restorePath } from './options.ts';
import type { Presets } from './presets.ts';
import { asProblem, edgeProblems } from './problems.ts';
import { sendObject } from './sending.ts';
import { targetOf } from './targets.ts';

export interface ResizingDeps {
  /** Returns imgproxy's signature of a path (`pathSigner`). */
  readonly signPath: (path: string) => string;
  /** Returns `undefined` if images of this bucket are not resized here. */
  readonly bucket: (name: string) => Objects | undefined;
  /** Reports whether other systems replace files of this bucket in place. */
  readonly isReplaceable: (bucket: string) => boolean;
  readonly publicObjects: Objects;
  /** The variants in the public bucket. */
  readonly variants: Pick<VariantMaker, 'serve'>;
  readonly presets: Presets;
  readonly clock: Clock;
}

export async function sendResized(deps: ResizingDeps, request: FastifyRequest, reply: FastifyReply) {
  const { path, query } = targetOf(request.raw);
  // A signature covers no query. Each unsigned one would be another entry in a CDN.
  if (query.size > 0) throw problems.not_found();
  const [signature = '', ...rest] = path.slice(1).split('/');
  const signed = restorePath(`/${rest.join('/')}`);
  if (!looksSigned(signature, signed)) throw problems.not_found();
  if (!equal(signature, deps.signPath(signed))) throw edgeProblems.invalid_address();
  const { source, spec, edits, delivery } = parseResizePath(signed, deps.presets);
  const maxAge = cacheSecondsOf(delivery, deps.clock.now());
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
  const send = async () =>
    sendObject(request, reply, {
      objects: deps.publicObjects,
      key: (await serve(deps.variants, named, transform)).key,
      contentType: mimeOfFormat[transform.format],
      cacheControl: `public, max-age=${maxAge}`,
      headers: headersOf(delivery, source.key, transform.format),
    });
  // Between its lookup and its reading, another process can have removed the variant to make room.
  return send().catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found' && !reply.sent) return send();
    throw error;
  });
}

/**
 * Our own URLs name the ETag of the object that they show, in a form of its own. Any other text only makes another URL,
 * as in imgproxy.
 */
function bindingOf({ buster = '' }: Delivery): string | undefined {
  return /^[\w-]{16}$/.test(buster) ? buster : undefined;
}

function headersOf(delivery: Delivery, key: string, format: Transform['format']): Readonly<Record<string, string>> {
  const disposition = dispositionOf(delivery, key, extensionOfFormat[format]);
  return disposition === undefined ? {} : { 'content-disposition': disposition };
}

async function serve(
  variants: ResizingDeps['variants'],
  source: VariantSource,
  transform: Transform,
): Promise<Variant> {
  try {
    return await variants.serve(source, transform);
  } catch (error) {
    throw asProblem(error);
  }
}

/** A path without the form of a signed URL is an unknown route, not an invalid signature. */
function looksSigned(signature: string, path: string): boolean {
  return path.length > 1 && (/^[\w-]{43}$/.test(signature) || path.includes(':') || path.startsWith('/plain/'));
}

function equal(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
