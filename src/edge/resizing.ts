/**
 * imgproxy's signed addresses: `GET|HEAD /<signature>/<options>/<source>`, answered from the variants that the image
 * service makes too (docs/specification/image.md#edge-urls). The signature is judged before anything else that the path says.
 */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Transform } from '#image/engine/engine.ts';
import { mimeOfFormat } from '#image/engine/formats.ts';
import { objectSource, type VariantSource } from '#image/engine/sources.ts';
import { toTransform } from '#image/engine/specs.ts';
import type { ServedVariant, VariantMaker } from '#image/engine/variants.ts';
import { isSafeKey } from '#platform/objects/keys.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { cacheBuster } from './api.ts';
import { inMemory } from './inmemory.ts';
import { parseResizePath, restorePath } from './options.ts';
import { asProblem, edgeProblems } from './problems.ts';
import { sendObject } from './sending.ts';
import { targetOf } from './targets.ts';

export interface ResizingDeps {
  /** imgproxy's signature of a path (`pathSigner`). */
  readonly signPath: (path: string) => string;
  /** `undefined`: pictures of no such bucket are resized here. */
  readonly bucket: (name: string) => Objects | undefined;
  /** Whether files of this bucket are replaced in place, by others. */
  readonly isReplaceable: (bucket: string) => boolean;
  readonly publicObjects: Objects;
  /** Over the public bucket. */
  readonly variants: Pick<VariantMaker, 'serve'>;
}

export async function sendResized(deps: ResizingDeps, request: FastifyRequest, reply: FastifyReply) {
  const { path } = targetOf(request.raw);
  const [signature = '', ...rest] = path.slice(1).split('/');
  const signed = restorePath(`/${rest.join('/')}`);
  if (!looksSigned(signature, signed)) throw problems.not_found();
  if (!equal(signature, deps.signPath(signed))) throw edgeProblems.invalid_address();
  const { source, buster, spec } = parseResizePath(signed);
  const objects = deps.bucket(source.bucket);
  if (objects === undefined || !isSafeKey(source.key)) throw problems.not_found();
  // The variants of a deleted source may live a little longer than it does; its addresses do not.
  const head = await objects.head(source.key);
  // What was uploaded to the key of a deleted one has not been screened.
  if (head === undefined || (buster !== undefined && buster !== cacheBuster(head.etag))) throw problems.not_found();
  const transform = toTransform(spec);
  const version = deps.isReplaceable(source.bucket) ? head.etag : undefined;
  const ifMatch = buster === undefined ? version : head.etag;
  const { key, output } = await serve(deps.variants, objectSource(objects, source.key, ifMatch, version), transform);
  return sendObject(request, reply, {
    objects: output === undefined ? deps.publicObjects : inMemory(output, head.modifiedAt),
    key,
    contentType: mimeOfFormat[transform.format],
    // Long enough to spare the work, short enough that a deletion takes effect.
    cacheControl: 'public, max-age=3600',
  });
}

async function serve(
  variants: ResizingDeps['variants'],
  source: VariantSource,
  transform: Transform,
): Promise<ServedVariant> {
  try {
    return await variants.serve(source, transform);
  } catch (error) {
    throw asProblem(error);
  }
}

/** A path that was never meant to be one of these is an unknown route, not a bad signature. */
function looksSigned(signature: string, path: string): boolean {
  return path.length > 1 && (/^[\w-]{43}$/.test(signature) || path.includes(':') || path.startsWith('/plain/'));
}

function equal(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
