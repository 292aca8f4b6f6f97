/**
 * The `fetch` for providers of images and videos, for both the OpenAI wire and the AI SDK's packages. Each request has a
 * deadline, is retried, and goes to the provider's host and port or to public addresses only, because responses of providers name
 * further URLs. Responses are bounded, and failures are errors for the user.
 */

import { fetch as fetchFrom } from 'undici';
import { z } from 'zod';
import { readAtMost } from '#platform/http/bodies.ts';
import { connectOnlyTo, createGuard, ForbiddenUrl, type Guard, hostAndPortOf } from '#platform/http/hostguard.ts';
import { parseJson } from '#platform/json.ts';
import { withDeadline } from '#platform/resilience.ts';
import { userAgent } from '#platform/version.ts';
import { OrderRefused, ProviderFailed } from './generators.ts';
import { isRetryableStatus, maxTries, waitBeforeRetry } from './retrying.ts';

export interface MediaFetchOptions {
  /** For messages: `image` or `video`. */
  readonly what: string;
  /** The URL that the operator set. Its host may have a private address, at this port only. */
  readonly baseUrl: string | undefined;
  /** An origin that is replaced by `baseUrl`. */
  readonly fixedOrigin?: string | undefined;
  /** For one try. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Rejects with OrderRefused if the order is at fault (400, 422), with ProviderFailed for any other failure, and with the
 * reason of the request's signal.
 */
export function createMediaFetch(options: MediaFetchOptions): typeof fetch {
  const call = createMediaCall(options);
  return async (input, init) => {
    const { status, headers, bytes } = await call(input, init);
    return new Response(status === 204 ? null : bytes, { status, headers });
  };
}

/** As `createMediaFetch`, without the copies of the body that a `Response` makes. */
export function createMediaCall(
  options: MediaFetchOptions,
): (...call: Parameters<typeof fetch>) => Promise<MediaResponse> {
  const { what, baseUrl, timeoutMs } = options;
  const guard = createGuard({ allowedHosts: baseUrl === undefined ? [] : [hostAndPortOf(new URL(baseUrl))] });
  return async (input, init) => {
    const request = await readRequest(input, init, options);
    const { signal } = request;
    const attempt = () => withDeadline(timeoutMs, (ended) => send(request, guard, options.maxBytes, ended), signal);
    const response = await sendWithRetries(attempt, signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      // A text, because packages replace errors that an error with a network code caused.
      const cause = reasonsOf(error);
      throw new ProviderFailed(`The ${what} provider could not be reached, or did not respond in time.`, { cause });
    });
    assertAccepted(response, what);
    return response;
  };
}

function reasonsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonsOf(error.cause)}`;
}

interface MediaRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  /** Forms are encoded, so that they can be sent again. */
  readonly body: Uint8Array<ArrayBuffer> | null;
  readonly redirect: 'manual' | 'error';
  readonly signal: AbortSignal | undefined;
}

interface MediaResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer<ArrayBuffer>;
}

async function readRequest(
  input: string | URL | Request,
  init: RequestInit | undefined,
  { baseUrl, fixedOrigin }: MediaFetchOptions,
): Promise<MediaRequest> {
  const call = new Request(input, init);
  const { href, origin, pathname, search } = new URL(call.url);
  const isMoved = baseUrl !== undefined && origin === fixedOrigin;
  const headers = new Headers(call.headers);
  headers.set('user-agent', userAgent);
  return {
    url: new URL(isMoved ? `${baseUrl}${pathname}${search}` : href),
    method: call.method,
    headers,
    body: call.body === null ? null : new Uint8Array(await call.arrayBuffer()),
    // Redirects that are followed automatically would not pass the guard.
    redirect: init?.redirect === 'manual' ? 'manual' : 'error',
    signal: init?.signal ?? undefined,
  };
}

async function send(
  { url, method, headers, body, redirect }: MediaRequest,
  guard: Guard,
  maxBytes: number,
  signal: AbortSignal,
): Promise<MediaResponse> {
  const addresses = await guard(url).catch((cause: unknown) => {
    throw cause instanceof ForbiddenUrl ? cause : new TypeError('the host name was not resolved', { cause });
  });
  const dispatcher = connectOnlyTo(addresses);
  try {
    const pairs = [...headers];
    const response = await fetchFrom(url, { method, headers: pairs, body, redirect, signal, dispatcher });
    const tooLong = () => new Error(`the response is larger than ${maxBytes} bytes`);
    const bytes = await readAtMost(response.body ?? [], maxBytes, tooLong);
    return { status: response.status, headers: readHeaders(response.headers), bytes };
  } finally {
    await dispatcher.destroy();
  }
}

/** The body is decoded, so its original length and encoding do not apply. */
function readHeaders(sent: Iterable<[string, string]>): Headers {
  const headers = new Headers([...sent]);
  headers.delete('content-encoding');
  headers.delete('content-length');
  return headers;
}

/** Neither a time limit nor a body that is too large is retried. */
async function sendWithRetries(
  attempt: () => Promise<MediaResponse>,
  signal: AbortSignal | undefined,
): Promise<MediaResponse> {
  for (let tries = 1; ; tries++) {
    const isLast = tries === maxTries;
    const response = await attempt().catch((error: unknown) => {
      signal?.throwIfAborted();
      // `fetch` rejects with a TypeError when a connection is refused or broken.
      if (isLast || !(error instanceof TypeError)) throw error;
      return undefined;
    });
    if (response !== undefined && (isLast || !isRetryableStatus(response.status))) return response;
    const mayRetry = await waitBeforeRetry(tries, response?.headers.get('retry-after'), signal);
    if (response !== undefined && !mayRetry) return response;
  }
}

function assertAccepted({ status, bytes }: MediaResponse, what: string): void {
  if (status < 400) return;
  const reason = reasonOf(bytes);
  // The reason is for operators. It can name accounts and quotas.
  if (status !== 400 && status !== 422)
    throw new ProviderFailed(`The ${what} provider returned ${status}.`, {
      status,
      cause: reason && new Error(reason),
    });
  // fal's answer while a video is being made. Its package reads it.
  if (reason === 'Request is still in progress') return;
  throw new OrderRefused(`The ${what} provider refused: ${reason ?? 'no reason given'}`);
}

/** `{ error: { message } }` is OpenAI's and Google's form; `{ detail }` is fal's and Replicate's. */
const refusal = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
  z.object({ detail: z.array(z.object({ msg: z.string() })).min(1) }).transform(({ detail }) => detail[0]?.msg),
]);

function reasonOf(bytes: Uint8Array): string | undefined {
  const parsed = refusal.safeParse(parseJson(bytes));
  return parsed.success ? parsed.data?.slice(0, 300) : undefined;
}
