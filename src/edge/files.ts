/**
 * Signed URLs of embedded object stores: `GET|HEAD|PUT /o/<bucket>/<key>?…` (docs/specification/system.md#signed-read-urls). They
 * work for files as presigned S3 URLs do for objects.
 */

import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Terms, verifyAddress } from '#platform/objects/addresses.ts';
import { attachment, mayShowInline } from '#platform/objects/disposition.ts';
import { isSafeKey, ObjectExists } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import type { EdgeContext } from './context.ts';
import { edgeProblems } from './problems.ts';
import { passBody } from './receiving.ts';
import { sendObject } from './sending.ts';
import { segmentsBehindFirst, targetOf } from './targets.ts';

export async function sendFile(deps: EdgeContext, request: FastifyRequest, reply: FastifyReply) {
  const { terms, objects, nowS } = readTerms(deps, request, 'GET');
  const contentType = sendable(terms.contentType);
  const isAttachment = terms.download !== undefined || !mayShowInline(contentType);
  return sendObject(request, reply, {
    objects,
    key: terms.key,
    etag: terms.etag,
    contentType,
    // The response must not be cached longer than its URL is valid.
    cacheControl: `private, max-age=${terms.expires - nowS}`,
    headers: {
      'content-security-policy': policyOf(contentType),
      ...(isAttachment && { 'content-disposition': attachment(terms.download ?? true) }),
    },
  });
}

/**
 * Only creates objects. A repeated upload returns 412, or 409 while the first is in progress in this process. A request that the URL
 * does not permit returns 403, as with S3. Too many bytes return 413 as soon as they are announced or received, and none are stored.
 */
export async function receiveFile(deps: EdgeContext, request: FastifyRequest, reply: FastifyReply) {
  const { terms, objects } = readTerms(deps, request, 'PUT');
  if (request.headers['content-type']?.toLowerCase() !== terms.contentType.toLowerCase())
    throw edgeProblems.invalid_address({
      message: 'The content type differs from the signed content type.',
    });
  const announced = request.headers['content-length'];
  const size = announced === undefined ? terms.size : Number(announced);
  if (size !== undefined && size > terms.maxSize) throw tooLarge(terms.maxSize);
  if (terms.size !== undefined && size !== terms.size) throw wrongSize();
  // An early check saves the sender gigabytes. The driver makes the final decision.
  if ((await objects.head(terms.key)) !== undefined) throw edgeProblems.already_exists();
  const upload = deps.uploads.begin(objects.bucket, terms.key);
  let body: Readable | undefined;
  try {
    const limits = {
      minBytes: size,
      maxBytes: size ?? terms.maxSize,
      wrongSize: (bytes: number) => (bytes > terms.maxSize ? tooLarge(terms.maxSize) : wrongSize()),
      hasRoomFor: upload.add,
      noRoom: upload.noRoom,
    };
    body = passBody(request, reply, limits, (failing, fault) => failing.destroy(fault));
    const head = await objects.put(terms.key, body, { contentType: terms.contentType, createOnly: true, size });
    return reply.header('etag', head.etag).send();
  } catch (error) {
    if (error instanceof ObjectExists) throw edgeProblems.already_exists();
    throw error;
  } finally {
    upload.end();
    body?.destroy();
  }
}

/** URLs that were changed, are malformed or have expired get the same response. */
function readTerms<M extends Terms['method']>(deps: EdgeContext, request: FastifyRequest, method: M) {
  const { path, query } = targetOf(request.raw);
  const [bucket = '', ...rest] = segmentsBehindFirst(path) ?? [];
  const key = rest.join('/');
  const nowS = Math.floor(deps.clock.now() / 1000);
  const terms = isSafeKey(key) ? verifyAddress(deps.addressKey, { method, bucket, key, query }, nowS) : undefined;
  if (terms?.method !== method) throw edgeProblems.invalid_address();
  const objects = deps.bucket(bucket);
  if (objects === undefined) throw problems.not_found();
  return { terms: terms as Extract<Terms, { method: M }>, objects, nowS };
}

const tooLarge = (maxBytes: number) =>
  problems.payload_too_large({ message: `At most ${maxBytes} bytes can be uploaded to this URL.` });

const wrongSize = () => edgeProblems.invalid_address({ message: 'The size differs from the signed size.' });

/** Returns the registered type. A type that is not valid in a header is replaced by a binary type. */
function sendable(contentType: string | undefined): string {
  return contentType !== undefined && /^[\w.+-]+\/[\w.+-]+( *;[\x20-\x7e]*)?$/.test(contentType)
    ? contentType
    : 'application/octet-stream';
}

/** A tab that shows a video requests it a second time, for the page that the browser builds around it. */
function policyOf(contentType: string): string {
  return `sandbox; default-src 'none'${/^(audio|video)\//i.test(contentType) ? "; media-src 'self'" : ''}`;
}
