/** Sends one object as an HTTP response: conditions, ranges, and a stream with backpressure (RFC 9110). */

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { responseTransfer } from '#platform/http/transfers.ts';
import { type ObjectBody, ObjectChanged, type ObjectHead, type Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { edgeProblems } from './problems.ts';

export interface ObjectAnswer {
  readonly objects: Pick<Objects, 'head' | 'get'>;
  readonly key: string;
  /** If set, a different object under the key counts as missing. */
  readonly etag?: string | undefined;
  /** Content type of a 200 or 206. Errors have their own. */
  readonly contentType: string;
  readonly cacheControl: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Responds to a GET or HEAD with 200, 206 or 304. Throws not_found, condition_failed, range_not_satisfiable. */
export async function sendObject(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: ObjectAnswer,
): Promise<FastifyReply> {
  const { objects, key } = answer;
  if (request.method === 'HEAD' || isConditional(request.headers)) {
    const head = await objects.head(key);
    if (head === undefined || (answer.etag ?? head.etag) !== head.etag) throw problems.not_found();
    const verdict = judgeConditions(request.headers, head);
    if (verdict === 'failed') throw edgeProblems.condition_failed();
    if (verdict === 'not_modified') return describe(reply, answer, head).code(304).send();
    if (request.method === 'HEAD') return describe(reply, answer, head, head.size).send();
    return sendBody(reply, answer, rangeOf(request, reply, head), head.etag);
  }
  return sendBody(reply, answer);
}

function rangeOf(request: FastifyRequest, reply: FastifyReply, head: ObjectHead): ByteRange | undefined {
  const ifRange = request.headers['if-range'];
  const applies = typeof ifRange !== 'object' && rangeStillApplies(ifRange, head);
  const range = applies ? parseRange(request.headers.range, head.size) : 'whole';
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${head.size}`);
    throw edgeProblems.range_not_satisfiable();
  }
  return range === 'whole' ? undefined : range;
}

async function sendBody(
  reply: FastifyReply,
  answer: ObjectAnswer,
  range?: ByteRange,
  ifMatch?: string,
): Promise<FastifyReply> {
  const body = await open(answer, range, ifMatch);
  if (body === undefined) throw problems.not_found();
  describe(reply, answer, body, body.end - body.start + 1);
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${body.start}-${body.end}/${body.size}`);
  try {
    reply.transfer(responseTransfer(reply.raw));
  } catch (error) {
    body.stream.destroy();
    throw error;
  }
  return reply.send(body.stream);
}

async function open(
  { objects, key, etag }: ObjectAnswer,
  range: ByteRange | undefined,
  ifMatch: string | undefined,
): Promise<ObjectBody | undefined> {
  try {
    return await objects.get(key, { range, ifMatch: ifMatch ?? etag });
  } catch (error) {
    if (error instanceof ObjectChanged && ifMatch === undefined) return undefined;
    // The object was replaced after it was checked. A retry reads one version completely.
    if (error instanceof ObjectChanged) throw problems.engine_unavailable({ cause: error });
    throw error;
  }
}

function describe(reply: FastifyReply, answer: ObjectAnswer, head: ObjectHead, contentLength?: number): FastifyReply {
  reply.headers({
    ...answer.headers,
    'cache-control': answer.cacheControl,
    etag: head.etag,
    'last-modified': head.modifiedAt.toUTCString(),
    'accept-ranges': 'bytes',
  });
  if (contentLength === undefined) return reply;
  return reply.headers({ 'content-type': answer.contentType, 'content-length': String(contentLength) });
}

/** Removes the headers that describe an object. A stream that fails at once has already set them on the raw response. */
export function withoutObjectHeaders(reply: FastifyReply): FastifyReply {
  const names = ['etag', 'last-modified', 'accept-ranges', 'content-disposition'];
  // A 416 includes the actual size in this header.
  if (reply.statusCode !== 416) names.push('content-range');
  for (const name of names) {
    reply.removeHeader(name);
    if (!reply.raw.headersSent) reply.raw.removeHeader(name);
  }
  return reply;
}

// Conditional reads (RFC 9110, §13): compares what a client already has with what the store contains.

export type Verdict = 'perform' | 'not_modified' | 'failed';

/** Evaluates conditions in the order of §13.2.2. If both a tag and a date are present, only the entity tag counts. */
export function judgeConditions(headers: IncomingHttpHeaders, head: ObjectHead): Verdict {
  const modifiedS = Math.floor(head.modifiedAt.getTime() / 1000);
  const ifMatch = headers['if-match'];
  const unmodifiedSince = secondsOf(headers['if-unmodified-since']);
  if (ifMatch !== undefined) {
    if (!names(ifMatch, head.etag, 'strong')) return 'failed';
  } else if (unmodifiedSince !== undefined && modifiedS > unmodifiedSince) return 'failed';

  const ifNoneMatch = headers['if-none-match'];
  const modifiedSince = secondsOf(headers['if-modified-since']);
  if (ifNoneMatch !== undefined) return names(ifNoneMatch, head.etag, 'weak') ? 'not_modified' : 'perform';
  return modifiedSince !== undefined && modifiedS <= modifiedSince ? 'not_modified' : 'perform';
}

/** Reports whether the request has a condition or a range, so that the object's metadata is needed before it is opened. */
function isConditional(headers: IncomingHttpHeaders): boolean {
  return ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'range'].some(
    (name) => headers[name] !== undefined,
  );
}

function names(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  return (list.match(/(W\/)?"[^"]*"/g) ?? []).some(
    (tag) => tag === etag || (comparison === 'weak' && tag === `W/${etag}`),
  );
}

function secondsOf(date: string | undefined): number | undefined {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

// Range and If-Range of RFC 9110, §§13.1.5 and 14, for one range, as pure functions.

interface ByteRange {
  /** Inclusive positions, within the object. */
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the requested part of `size` bytes. Another unit, a malformed range or several ranges return `whole`, as the RFC allows. A
 * range that starts beyond the end is `unsatisfiable` (416).
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '');
  if (match === null) return 'whole';
  const [first, last] = [match[1], match[2]].map((digits) => (digits ? Number(digits) : undefined));
  if (first === undefined) {
    if (last === undefined) return 'whole';
    return last === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - last), end: size - 1 };
  }
  if (last !== undefined && last < first) return 'whole';
  if (first >= size) return 'unsatisfiable';
  return { start: first, end: Math.min(last ?? size - 1, size - 1) };
}

/** Reports whether a range response is allowed: without If-Range, or if it matches the current object (strong comparison). */
export function rangeStillApplies(ifRange: string | undefined, head: ObjectHead): boolean {
  if (ifRange === undefined) return true;
  return ifRange.startsWith('"') ? ifRange === head.etag : ifRange === head.modifiedAt.toUTCString();
}
