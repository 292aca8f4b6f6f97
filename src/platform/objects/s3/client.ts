/**
 * The client of one S3 server. It sends signed requests over a bounded pool of connections, each with a deadline. It repeats
 * them where that is safe, and fails fast while the server is down. Addresses are path-style, and the endpoint may have a
 * path of its own.
 */
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { type Dispatcher, Pool } from 'undici';
import { type Clock, monotonicClock } from '../../clock.ts';
import { problems } from '../../problem.ts';
import {
  BreakerOpen,
  createBreaker,
  DeadlineExceeded,
  type IdleDeadline,
  retry,
  startIdleDeadline,
} from '../../resilience.ts';
import { userAgent } from '../../version.ts';
import { type Body, chunksOf } from '../bodies.ts';
import {
  createSigner,
  emptyPayloadHash,
  encodePath,
  encodeQuery,
  type SigningOptions,
  unsignedPayload,
} from './sigv4.ts';
import { readXml, textOf, type XmlElement } from './xml.ts';

export interface S3ClientOptions extends SigningOptions {
  /** An http(s) address without a trailing slash. */
  readonly endpoint: string;
  readonly clock: Clock;
  /** For tests. */
  readonly limits?: Partial<S3Limits>;
}

export interface S3Limits {
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** For a whole call, including its repeats and its wait for a connection. */
  readonly answerTimeoutMs: number;
  /** Between two chunks of a body that is read. */
  readonly idleBodyTimeoutMs: number;
  /** Consecutive failures for this long mean that the server is down. */
  readonly failingForMs: number;
  /** While the server is down, one call in this period is sent as a trial. */
  readonly trialEveryMs: number;
}

/** An outage is known within 10 s, and over within 15 s of its end (docs/specification/http.md#failing-engines). */
export const defaultLimits: S3Limits = {
  connections: 64,
  connectTimeoutMs: 3000,
  answerTimeoutMs: 8000,
  idleBodyTimeoutMs: 8000,
  failingForMs: 1000,
  trialEveryMs: 2000,
};

interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
  /** Bytes of the body. */
  readonly size?: number;
  /** When a repeat is safe. `refused`: only after a response that means that nothing was done. */
  readonly repeat: 'always' | 'refused' | 'never';
  /** Added to the usual time limit, for work that takes the server long. */
  readonly moreTimeMs?: number;
  readonly signal?: AbortSignal;
}

export type S3Answer = Dispatcher.ResponseData;

/** For responses without a body of interest. */
export async function drop({ body }: S3Answer): Promise<void> {
  await body.dump();
}

export async function readDocument({ body }: S3Answer): Promise<XmlElement> {
  return readXml(await body.text());
}

export interface S3Client {
  /**
   * Throws S3Fault for an error response, `engine_unavailable` without a response, and the body's or signal's
   * own error. `read` is part of the attempt, and must consume the body or pass it on.
   */
  call<T>(request: S3Request, read: (answer: S3Answer) => T | Promise<T>): Promise<T>;
  /** Returns a bearer address without a call. Its requests must send `headers`, whose names are in lower case. */
  presign(request: Omit<S3Request, 'body' | 'repeat'>, expiresInS: number): string;
  close(): Promise<void>;
}

/** An error response. `code` is S3's: NoSuchKey, SlowDown, … */
export class S3Fault extends Error {
  readonly status: number;
  readonly code: string | undefined;

  constructor(status: number, code: string | undefined) {
    super(`the S3 server returned ${status} ${code ?? ''}`.trimEnd());
    this.name = 'S3Fault';
    this.status = status;
    this.code = code;
  }
}

/** For `catch`: resolves to `undefined` if what is asked for does not exist. */
export function absentOn404(error: unknown): undefined {
  if (error instanceof S3Fault && error.status === 404) return undefined;
  throw error;
}

/** The body or the signal of the caller ended the call, so the server is not at fault. */
class CallerFault extends Error {}

/** Bodies up to this size are sent in one chunk. */
const onePieceBytes = 256 * 1024;

export function createS3Client(options: S3ClientOptions): S3Client {
  const { clock } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const endpoint = new URL(options.endpoint);
  const { origin } = endpoint;
  const basePath = endpoint.pathname.replace(/(?<!\/)\/+$/, '');
  const signer = createSigner(options);
  const pool = new Pool(origin, {
    connections: limits.connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: limits.connectTimeoutMs },
    // Our own deadline also covers the wait for a free connection.
    headersTimeout: 0,
    bodyTimeout: limits.idleBodyTimeoutMs,
  });
  const breaker = createBreaker({
    failuresToOpen: 5,
    failingForMs: limits.failingForMs,
    trialEveryMs: limits.trialEveryMs,
    isFailure,
    isNeutral: (error) => error instanceof CallerFault,
    clock: monotonicClock,
  });

  const host = { host: endpoint.host };
  const signable = ({ method, bucket, key, query = {}, headers }: Omit<S3Request, 'body' | 'repeat'>) => ({
    method,
    path: `${basePath}/${bucket}${key === undefined ? '' : `/${encodePath(key)}`}`,
    query,
    headers: headers === undefined ? host : { ...host, ...headers },
  });

  async function attempt<T>(request: S3Request, deadline: IdleDeadline, read: (answer: S3Answer) => T | Promise<T>) {
    const { method, body } = request;
    const toSign = signable(request);
    const headers = signer.signHeaders(toSign, body === undefined ? emptyPayloadHash : unsignedPayload, clock.now());
    const sent = body === undefined ? undefined : sendable(body, request.size, deadline);
    const path = toSign.path + (request.query === undefined ? '' : `?${encodeQuery(request.query)}`);
    const answer = await pool.request({
      method,
      path,
      headers: { ...headers, ...sent?.headers, 'user-agent': userAgent },
      body: sent?.body,
      signal: deadline.signal,
      // By default, the pool closes the connection after every HEAD, because some servers send a body with it.
      reset: false,
    });
    if (answer.statusCode >= 300) throw await faultOf(answer);
    return read(answer);
  }

  return {
    call: async (request, read) => {
      const { signal } = request;
      const deadline = startIdleDeadline(limits.answerTimeoutMs + (request.moreTimeMs ?? 0), signal);
      const once = () =>
        deadline.race(attempt(request, deadline, read)).catch((error: unknown) => {
          throw signal?.aborted ? new CallerFault('aborted', { cause: signal.reason }) : error;
        });
      try {
        return await retry(() => breaker.run(once), {
          attempts: 3,
          baseDelayMs: 100,
          maxDelayMs: 1000,
          isRetryable: (error) => mayRepeat(request.repeat, error),
          signal: deadline.signal,
        });
      } catch (error) {
        if (error instanceof S3Fault) throw error;
        if (error instanceof CallerFault) throw error.cause;
        if (signal?.aborted) throw signal.reason;
        throw problems.engine_unavailable({ cause: error });
      } finally {
        deadline.stop();
      }
    },
    presign: (request, expiresInS) => {
      const toSign = signable(request);
      return `${origin}${toSign.path}?${signer.presign(toSign, expiresInS, clock.now())}`;
    },
    close: () => pool.close(),
  };
}

/** The server is down or overloaded: no response, or one that means this. 501 does not count. */
function isFailure(error: unknown): boolean {
  if (error instanceof S3Fault) return (error.status >= 500 && error.status !== 501) || error.status === 429;
  return !(error instanceof BreakerOpen);
}

function mayRepeat(repeat: S3Request['repeat'], error: unknown): boolean {
  if (repeat === 'never' || error instanceof CallerFault) return false;
  if (error instanceof S3Fault) {
    const isRefused = error.status === 429 || error.status === 503 || error.code === 'ConditionalRequestConflict';
    return isRefused || (repeat === 'always' && isFailure(error));
  }
  return repeat === 'always' && !(error instanceof DeadlineExceeded) && !(error instanceof BreakerOpen);
}

async function faultOf(answer: S3Answer): Promise<S3Fault> {
  const text = await answer.body.text();
  let code: string | undefined;
  try {
    code = textOf(readXml(text), 'Code');
  } catch {
    // A proxy sent a page, or a HEAD has no body, so only the status is known.
  }
  return new S3Fault(answer.statusCode, code);
}

/** The deadline counts while the server accepts a chunk, not while the sender has none. */
function sendable(body: Body, size: number | undefined, deadline: IdleDeadline) {
  if (body instanceof Uint8Array && body.length <= onePieceBytes) return { body, headers: {} };
  const pieces = Readable.from(paced(body, size, deadline), { objectMode: false });
  return { body: pieces, headers: { 'content-length': String(size) } };
}

/** Holds the last chunk back until the body has ended without an error, because with it the server would accept the object. */
async function* paced(body: Body, size: number | undefined, deadline: IdleDeadline): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | undefined;
  deadline.pause();
  try {
    for await (const chunk of chunksOf(body, size)) {
      if (held !== undefined) {
        deadline.touch();
        yield held;
        deadline.pause();
      }
      held = chunk;
    }
  } catch (error) {
    throw new CallerFault('the body failed', { cause: error });
  } finally {
    deadline.touch();
  }
  if (held !== undefined) yield held;
}

// Reads lists page by page.

export interface S3Place {
  readonly client: S3Client;
  readonly bucket: string;
}

type Query = Readonly<Record<string, string>>;

interface List<Item> {
  /** Of a list that belongs to an object. */
  readonly key?: string;
  readonly query: Query;
  /** Added to the query of the first page. */
  readonly start: Query;
  readonly itemsOf: (page: XmlElement) => readonly Item[];
  /** Returns what is added to the query of the page that follows. */
  readonly next: (page: XmlElement) => Query;
}

/** Yields the items of each page, and no page if the bucket or the object does not exist. */
export async function* listPages<Item>(
  { client, bucket }: S3Place,
  { key, query, start, itemsOf, next }: List<Item>,
): AsyncGenerator<readonly Item[]> {
  const read = async (answer: S3Answer) => {
    const page = await readDocument(answer);
    const following = textOf(page, 'IsTruncated') === 'true' ? next(page) : undefined;
    return { items: itemsOf(page), following };
  };
  const readPage = (from: Query) =>
    client
      .call({ method: 'GET', bucket, key, query: { ...query, ...from }, repeat: 'always' }, read)
      .catch(absentOn404);
  for (let from: Query | undefined = start; from !== undefined; ) {
    const page = await readPage(from);
    if (page === undefined) return;
    yield page.items;
    if (isDeepStrictEqual(page.following, from)) throw new Error('the S3 server returns the same page of a list again');
    from = page.following;
  }
}

/** Requests encoded keys, because XML cannot represent every character. */
export const encodedKeys = { 'encoding-type': 'url' };

/** Decodes a key of the page, if the server encoded it. */
export const decodedKey = (page: XmlElement, key: string): string =>
  textOf(page, 'EncodingType') === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
