/** How the client reaches a service: with `fetch` alone, in browsers and in Node. */
import { AtelierError, refusalOf, toldOf } from './errors.ts';
import { createPauses, type Patience } from './pausing.ts';

export type Headers = Readonly<Record<string, string>>;

/** Of a user, of a server, or of an operator. */
export type Credential =
  | { readonly accessToken: AccessTokenSource }
  /** `X-Internal-Key`. Not for browsers. */
  | { readonly internalKey: string }
  /** `X-Admin-Token`, of the memory service's back office. Not for browsers. */
  | { readonly adminToken: string };

/**
 * Asked at each request. `refused`: the token that a service has just answered 401 to; whoever gives another is tried
 * once more with that.
 */
export type AccessTokenSource = (refused?: string) => string | Promise<string>;

export interface Access {
  /** Address of the service. */
  readonly url: string;
  /** Not needed where nobody has to say who they are: the content and the authentication service. */
  readonly credential?: Credential | undefined;
  /** Sent with each request. */
  readonly headers?: Headers | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly patience?: Partial<Patience> | undefined;
  /** Of a call, with all its tries; a minute when it is left out. */
  readonly timeoutMs?: number | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** `Accept-Language`, say; `X-Request-Id`. */
  readonly headers?: Headers | undefined;
}

export interface KeyedOptions extends CallOptions {
  /** What is sent with the same key is done once (`Idempotency-Key`): only then a call is repeated. */
  readonly idempotencyKey?: string | undefined;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly headers?: Headers | undefined;
  /** To do it twice is to do it once. Else it is not repeated, whatever happens. */
  readonly repeatable: boolean;
  /** The browser's cookies go along. */
  readonly cookies?: boolean;
  /** It is finished also when its page is left. */
  readonly keepalive?: boolean;
}

const defaultTimeoutMs = 60_000;
const defaultTries = 4;

/** Throws `AtelierError`, and the signal's reason. */
export const callJson = <Answer>(access: Access, call: Call, options?: CallOptions): Promise<Answer> =>
  perform(access, call, options, async (response) => {
    const text = await response.text();
    try {
      return JSON.parse(text) as Answer;
    } catch (cause) {
      throw new AtelierError('unexpected_answer', `${call.path} was not answered with JSON.`, { cause });
    }
  });

export const callText = (access: Access, call: Call, options?: CallOptions): Promise<string> =>
  perform(access, call, options, (response) => response.text());

export const callVoid = (access: Access, call: Call, options?: CallOptions): Promise<void> =>
  perform(access, call, options, async (response) => {
    await response.text();
  });

/** Once, or as often as it takes, up to its deadline. */
async function perform<Answer>(
  access: Access,
  call: Call,
  options: CallOptions = {},
  read: (response: Response) => Promise<Answer>,
): Promise<Answer> {
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
      reason = await refusalOf(response);
    } catch (error) {
      reason = error;
    }
    try {
      options.signal?.throwIfAborted();
      if (!call.repeatable) throw toldOf(reason);
      await pauses.pause(reason);
    } catch (error) {
      if (!deadline.aborted || options.signal?.aborted) throw error;
      throw new AtelierError('timeout', `${call.path} was not answered within ${timeoutMs} ms.`, { cause: reason });
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

/** `undefined` and `null` are left out. With its `?`, if there is anything to say. */
export function queryOf(query: object | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

export const addressOf = (access: Access, path: string): string => access.url.replace(/(?<!\/)\/+$/, '') + path;

/** One request; a second one, when another access token may be better than the one that was refused. */
export async function request(access: Access, path: string, init: RequestInit = {}): Promise<Response> {
  const { credential } = access;
  const send = (own: Headers) => {
    // Looked up at each call: other libraries wrap it.
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
