/** Strong entity tags, so that a client with the latest version gets 304 (RFC 9110, §8.8.3, §13.1.2). */
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A client may show its version while it requests the next one. */
const defaultCacheControl = 'public, max-age=60, stale-while-revalidate=600';

export const etagOf = (body: Buffer | string) => `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;

/** Sends the body, or 304 to a client that has it. */
export function sendValidated(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    body,
    etag,
    type,
    vary,
    cacheControl = defaultCacheControl,
  }: {
    readonly body: Buffer | string;
    readonly etag: string;
    readonly type: string;
    readonly vary?: string;
    readonly cacheControl?: string;
  },
) {
  reply.headers({ etag, 'cache-control': cacheControl, ...(vary === undefined ? {} : { vary }) });
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.header('content-type', type).send(body);
}

function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
