/** What a request body may be: JSON in UTF-8, or nothing (docs/specification/http.md#requests). */
import { isUtf8 } from 'node:buffer';
import { invalid, problems } from '../problem.ts';
import type { HttpServer } from './httpserver.ts';

/** Deeper nesting serves nobody and overflows the stack of whoever walks through it later. */
const maxDepth = 100;

export function acceptJson(app: HttpServer): void {
  const parse = app.getDefaultJsonParser('remove', 'remove');
  // Only JSON is read; everything else is 415 by Fastify's own check.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      return done(problems.unsupported_media_type({ message: 'Bodies are not to be encoded.' }));
    // Clients name the type on every call, also where there is nothing to send. Where a body is needed, its schema misses it.
    if (body.length === 0) return done(null, undefined);
    if (!isUtf8(body)) return done(invalid('body', 'must be UTF-8'));
    if (isDeeperThan(maxDepth, body)) return done(invalid('body', `must not be nested deeper than ${maxDepth}`));
    return parse(request, body.toString('utf8'), done);
  });
}

const quote = 0x22;
const backslash = 0x5c;

/** Brackets and braces open at once, those in texts left out. Exact for JSON, and never less than what a parser sees. */
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

/** What a reply is needed for here; the type of its route's answer says nothing about a text. */
interface Sendable {
  type(contentType: string): unknown;
  send(answer: unknown): unknown;
}

/** Sends JSON that is written already. */
export function sendJson<Reply extends Sendable>(reply: Reply, json: string): Reply {
  reply.type('application/json; charset=utf-8');
  reply.send(json);
  return reply;
}
