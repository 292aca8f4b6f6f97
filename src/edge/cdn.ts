/** Public variants: `GET|HEAD /img/…`, from the public bucket of any driver (docs/specification/image.md#variant-objects). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mimeOfFormat } from '#image/engine/formats.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { sendObject } from './sending.ts';
import { targetOf } from './targets.ts';

export interface CdnDeps {
  readonly publicObjects: Objects;
}

const contentTypes: Readonly<Record<string, string>> = {
  webp: mimeOfFormat.webp,
  jpg: mimeOfFormat.jpeg,
  png: mimeOfFormat.png,
};

/** A path that is not the key of a variant causes no lookup, regardless of its encoding. A variant never changes. */
export async function sendVariant(deps: CdnDeps, request: FastifyRequest, reply: FastifyReply) {
  const { path } = targetOf(request.raw);
  const [, extension = ''] = /^\/img\/[0-9a-f]{2}\/[0-9a-f]{2}\/[\w-]+\.(webp|jpg|png)$/.exec(path) ?? [];
  const contentType = contentTypes[extension];
  if (contentType === undefined) throw problems.not_found();
  return sendObject(request, reply, {
    objects: deps.publicObjects,
    key: path.slice(1),
    contentType,
    cacheControl: 'public, max-age=31536000, immutable',
  });
}
