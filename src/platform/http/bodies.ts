/** Request bodies are JSON in UTF-8, or empty (docs/specification/http.md#requests). */
import { isUtf8 } from 'node:buffer';
import type { preValidationHookHandler } from 'fastify';
import { invalid, problems } from '../problem.ts';
import type { HttpServer } from './httpserver.ts';

/** Deeper nesting has no use and would overflow the stack of recursive code. */
const maxDepth = 100;

export function acceptJson(app: HttpServer): void {
  const parse = app.getDefaultJsonParser('remove', 'remove');
  // Only JSON is accepted. Fastify returns 415 for every other type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      return done(problems.unsupported_media_type({ message: 'Encoded bodies are not supported.' }));
    // Clients send the content type on every call, even without a body. If a body is required, schema validation reports it.
    if (body.length === 0) return done(null, undefined);
    if (!isUtf8(body)) return done(invalid('body', 'must be UTF-8'));
    // A body of fewer bytes has fewer brackets.
    if (body.length > maxDepth && isDeeperThan(maxDepth, body))
      return done(invalid('body', `must not be nested deeper than ${maxDepth}`));
    return parse(request, body.toString('utf8'), done);
  });
}

/** The message for a field that a route does not have. */
export const unknownField = 'is not a field of this request';

/** A deletion that takes no body refuses fields, because a caller that sends one expects to restrict what is deleted. */
export const refuseFields: preValidationHookHandler = ({ body }, _reply, done) => {
  const [field] = Object.keys(body ?? {});
  return field === undefined ? done() : done(invalid(`body.${field.slice(0, 200)}`, unknownField));
};

const quote = 0x22;
const backslash = 0x5c;

/**
 * Reports whether more than `max` brackets and braces are nested, ignoring those in strings. The depth is exact for valid JSON, and
 * otherwise never less than a parser sees.
 */
export function isDeeperThan(max: number, body: Uint8Array): boolean {
  let depth = 0;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if (byte === quote) {
      for (index += 1; index < body.length && body[index] !== quote; index += 1) {
        if (body[index] === backslash) index += 1;
      }
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > max) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

/** The part of a reply that `sendJson` needs. The type of the route's response does not allow a string. */
interface Sendable {
  type(contentType: string): unknown;
  send(payload: unknown): unknown;
}

/** Sends JSON that is already serialized. */
export function sendJson<Reply extends Sendable>(reply: Reply, json: string | Uint8Array): Reply {
  reply.type('application/json; charset=utf-8');
  reply.send(json);
  return reply;
}

// Reads a body whose sender may exceed any length it announced.

/**
 * Returns the whole body, or throws what `tooLong` returns as soon as more than `maxBytes` have arrived. Throwing
 * destroys the stream, and with it the connection.
 */
export async function readAtMost(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  tooLong: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
