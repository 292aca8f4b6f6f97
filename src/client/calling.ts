/** How the client calls a service: with `fetch` only, in browsers and in Node. */
import { AtelierError, errorOf, toAtelierError } from './errors.ts';
import { createPauses, type Patience } from './pausing.ts';

export type Headers = Readonly<Record<string, string>>;

/** The credential of a user, of a server or of an operator. */
export type Credential =
  | { readonly accessToken: AccessTokenSource }
  /** Sent as `X-Internal-Key`. Do not use it in browsers. */
  | { readonly internalKey: string }
  /** Sent as `X-Admin-Token` to the memory service's back office. Do not use it in browsers. */
  | { readonly adminToken: string };

/**
 * Called for each request. `refused` is a token for which a service has just returned 401. If the source returns a different token,
 * the request is retried once.
 */
export type AccessTokenSource = (refused?: string) => string | Promise<string>;

export interface Access {
  /** URL of the service. */
  readonly url: string;
  /** Not needed for services that accept anonymous calls: content and authentication. */
  readonly credential?: Credential | undefined;
  /** Sent with each request. */
  readonly headers?: Headers | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly patience?: Partial<Patience> | undefined;
  /** Time limit for a call with all its attempts. Default: one minute. */
  readonly timeoutMs?: number | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** For example `Accept-Language` or `X-Request-Id`. */
  readonly headers?: Headers | undefined;
}

export interface KeyedOptions extends CallOptions {
  /** Requests with the same key are processed once (`Idempotency-Key`). Only calls with a key are retried. */
  readonly idempotencyKey?: string | undefined;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly headers?: Headers | undefined;
  /** Repeating the call is safe. Otherwise it is never retried. */
  readonly repeatable: boolean;
  /** Includes the browser's cookies. */
  readonly cookies?: boolean;
  /** The request completes even if the user leaves the page. */
  readonly keepalive?: boolean;
}

export const defaultTimeoutMs = 60_000;
const defaultTries = 4;

/** Throws `AtelierError`, or the reason of the signal. */
export const callJson = <Result>(access: Access, call: Call, options?: CallOptions): Promise<Result> =>
  perform(access, call, options, async (response) => {
    const text = await response.text();
    try {
      return JSON.parse(text) as Result;
    } catch (cause) {
      throw new AtelierError('unexpected_answer', `${call.path} did not return JSON.`, { cause });
    }
  });

export const callText = (access: Access, call: Call, options?: CallOptions): Promise<string> =>
  perform(access, call, options, (response) => response.text());

const fileTimeoutMs = 3_600_000;

/** A file that is not ready yet throws `unexpected_answer`. The default time limit is one hour. */
export const callFile = (access: Access, call: Call, options?: CallOptions): Promise<Blob> =>
  perform(access, call, { timeoutMs: fileTimeoutMs, ...options }, (response) => {
    if (response.status === 202) throw new AtelierError('unexpected_answer', `${call.path} is not ready yet.`);
    return response.blob();
  });

export const callVoid = (access: Access, call: Call, options?: CallOptions): Promise<void> =>
  perform(access, call, options, async (response) => {
    await response.text();
  });

/** Performs the call once, or with retries until its deadline. */
async function perform<Result>(
  access: Access,
  call: Call,
  options: CallOptions = {},
  read: (response: Response) => Promise<Result>,
): Promise<Result> {
  const timeoutMs = options.timeoutMs ?? access.timeoutMs ?? defaultTimeoutMs;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline]);
  const pauses = createPauses({ tries: defaultTries, ...access.patience }, signal, timeoutMs);
  const init = initOf(call, options, signal);
  const path = `${call.path}${queryOf(call.query)}`;
  for (;;) {
    let reason: unknown;
    try {
      const response = await request(access, path, init);
      if (response.ok) return await read(response);
      reason = await errorOf(response);
    } catch (error) {
      reason =
        error instanceof TypeError
          ? ((await findRefusedOrigin(addressOf(access, ''), access.fetch ?? globalThis.fetch, signal)) ?? error)
          : error;
    }
    try {
      options.signal?.throwIfAborted();
      if (!call.repeatable) throw toAtelierError(reason);
      await pauses.pause(reason);
    } catch (error) {
      if (!deadline.aborted || options.signal?.aborted) throw error;
      throw new AtelierError('timeout', `${call.path} did not respond within ${timeoutMs} ms.`, { cause: reason });
    }
  }
}

function initOf(
  { method, body, headers, cookies, keepalive }: Call,
  options: CallOptions,
  signal: AbortSignal,
): RequestInit {
  return {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers, ...options.headers },
    signal,
    ...(body && { body: JSON.stringify(body) }),
    ...(cookies && { credentials: 'include' }),
    ...(keepalive && { keepalive }),
  };
}

export const keyed = ({ idempotencyKey }: KeyedOptions = {}): Pick<Call, 'headers' | 'repeatable'> =>
  idempotencyKey === undefined
    ? { repeatable: false }
    : { repeatable: true, headers: { 'idempotency-key': idempotencyKey } };

/** Omits `undefined` and `null`. Includes the `?` if there are parameters. */
export function queryOf(query: object | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

export const addressOf = (access: Access, path: string): string => access.url.replace(/(?<!\/)\/+$/, '') + path;

/** Makes one request, and a second one if another access token may replace the rejected one. */
export async function request(access: Access, path: string, init: RequestInit = {}): Promise<Response> {
  const { credential } = access;
  const send = (own: Headers) => {
    // Read at each call, because other libraries replace it.
    const fetch = access.fetch ?? globalThis.fetch;
    return fetch(addressOf(access, path), {
      ...init,
      headers: { ...own, ...access.headers, ...(init.headers as Headers) },
    });
  };
  if (credential === undefined) return send({});
  if ('internalKey' in credential) return send({ 'x-internal-key': credential.internalKey });
  if ('adminToken' in credential) return send({ 'x-admin-token': credential.adminToken });
  const token = await credential.accessToken();
  const response = await send({ authorization: `Bearer ${token}` });
  if (response.status !== 401) return response;
  const renewed = await credential.accessToken(token);
  if (renewed === token) return response;
  await response.body?.cancel();
  return send({ authorization: `Bearer ${renewed}` });
}

// Finds out why a browser hides a response: `fetch` rejects alike if a service is down and if it does not allow the page's origin.

/** Returns an error that names the origin if the service at `url` is reachable and does not allow it, in a browser only. */
async function findRefusedOrigin(
  url: string,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<AtelierError | undefined> {
  const origin: unknown = Reflect.get(Object(Reflect.get(globalThis, 'location')), 'origin');
  const health = `${url}/health`;
  if (typeof origin !== 'string' || !/^https?:/.test(health) || new URL(health).origin === origin) return undefined;
  const isReadable = await isFulfilled(fetch(health, { signal }));
  if (isReadable || !(await isFulfilled(fetch(health, { mode: 'no-cors', signal })))) return undefined;
  const settings = 'ALLOWED_REDIRECT_ORIGINS and AGENT_ALLOWED_ORIGINS';
  return new AtelierError('forbidden_origin', `${url} does not allow pages of ${origin}: add it to ${settings}.`);
}

const isFulfilled = (promise: Promise<unknown>) =>
  promise.then(
    () => true,
    () => false,
  );
