/**
 * The client of the identity provider, with GoTrue's protocol (docs/specification/auth.md). It maps responses to three outcomes:
 * `ok`; `refused`, so the credential is dead; `unavailable`, so its state is unknown and it must not be discarded.
 */

import { decodeJwt } from 'jose';
import { z } from 'zod';
import { type Call, createClient, type HttpClient } from '#platform/http/client.ts';
import { parseJson } from '#platform/json.ts';
import type { Log } from '#platform/log.ts';
import type { Telemetry } from '#platform/telemetry/trace.ts';
import type { AccessToken } from './api.ts';

// Interprets a rejection by the identity provider: a dead credential, or one whose state is unknown (docs/specification/auth.md#refresh).

interface Refused {
  readonly kind: 'refused';
  /** GoTrue's error code, if there is one. */
  readonly code: string | undefined;
}

export interface Unavailable {
  readonly kind: 'unavailable';
  readonly retryAfterS?: number;
  /** A wrong API key or an invalid request: the fault is not in the user's credential. */
  readonly isOurFault?: boolean;
}

/** The statuses with which the provider itself rejects a credential. */
const final: ReadonlySet<number> = new Set([400, 401, 403, 404, 410, 422]);

/**
 * Interprets any status from 300 on. The credential is dead only if the provider itself confirms it, in JSON with an error code. A
 * gateway's 4xx, an HTML page or an empty body is no evidence.
 */
function readRefusal(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
): Refused | Unavailable {
  if (!final.has(status)) return { kind: 'unavailable', ...waitOf(headers) };
  const { code, isCoded, texts } = readError(body);
  if ((status === 400 && code === 'bad_json') || (status === 401 && texts.some((text) => /api[\s_-]?key/i.test(text))))
    return { kind: 'unavailable', isOurFault: true };
  return isCoded ? { kind: 'refused', code } : { kind: 'unavailable', ...waitOf(headers) };
}

const longestWaitS = 60;

function waitOf(headers: Readonly<Record<string, string | string[] | undefined>>): { readonly retryAfterS?: number } {
  const seconds = Number(headers['retry-after']);
  return Number.isInteger(seconds) && seconds > 0 ? { retryAfterS: Math.min(seconds, longestWaitS) } : {};
}

/**
 * Reads three formats: `{ code: 400, error_code, msg }`, `{ code: "…", message }`, `{ error, error_description }`. For a gateway's
 * response in another format, it uses the whole text.
 */
function readError(body: Buffer): {
  readonly code: string | undefined;
  readonly isCoded: boolean;
  readonly texts: readonly string[];
} {
  const text = body.toString('utf8');
  const parsed = parseJson(text);
  if (typeof parsed !== 'object' || parsed === null) return { code: undefined, isCoded: false, texts: [text] };
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const codes = ['error_code', 'code', 'error'].map((name) => fields.get(name) ?? undefined);
  const code = codes.find((value) => typeof value === 'string');
  const texts = [...fields.values()].filter((value) => typeof value === 'string');
  return { code, isCoded: codes.some((value) => value !== undefined), texts };
}

export interface ProviderSession extends AccessToken {
  readonly refreshToken: string;
  /** `undefined` if the provider does not identify the user. */
  readonly user: { readonly id: string; readonly email?: string | undefined } | undefined;
}

interface Done<T> {
  readonly kind: 'ok';
  readonly value: T;
}
export type ProviderResult<T> = Done<T> | Refused | Unavailable;

export interface ProviderCall {
  readonly signal: AbortSignal;
  /** For the provider's limits, which count by address. `undefined`: the provider counts this server's address. */
  readonly clientAddress?: string | undefined;
}

/** `global`: all sessions of the user. `local`: the session of the token. */
export type RevocationScope = 'global' | 'local';
type Scope = RevocationScope | 'others';

interface SignInStart {
  readonly challenge: string;
  /** The provider returns it in the URL of the callback, if `returnsState`. */
  readonly state?: string | undefined;
}

export interface Provider {
  /** Returns the URL where the browser signs in, or `undefined` if the sign-in cannot start. */
  authorize(signIn: SignInStart, call: ProviderCall): Promise<string | undefined>;
  exchange(code: string, verifier: string, call: ProviderCall): Promise<ProviderResult<ProviderSession>>;
  refresh(refreshToken: string, call: ProviderCall): Promise<ProviderResult<ProviderSession>>;
  /** `refused` means that the session had already ended. */
  revoke(accessToken: string, scope: Scope, call: ProviderCall): Promise<ProviderResult<undefined>>;
  /** Deletes the account of a user. `undefined` without IDP_SERVICE_KEY. A missing account counts as deleted. */
  readonly deleteUser:
    | ((userId: string, call: ProviderCall) => Promise<'removed' | 'refused' | 'unavailable'>)
    | undefined;
  close(): Promise<void>;
}

interface ProviderOptions {
  /** The value of IDP_URL. */
  readonly url: string;
  readonly anonKey: string;
  /** The value of IDP_SERVICE_KEY. */
  readonly serviceKey?: string | undefined;
  /** The value of SOCIAL_PROVIDER. */
  readonly socialProvider: string;
  /** The URL to which the provider redirects the browser. It is registered there. */
  readonly callbackUrl: string;
  /** Whether `callbackUrl` may have the query parameter `state`. Providers compare redirect URLs with a list. */
  readonly returnsState?: boolean | undefined;
  readonly log: Log;
  readonly telemetry?: Telemetry | undefined;
}

/** The total time per incoming request, a little below the 10 s within which each must get a response. */
export const providerTimeoutMs = 9500;
const maxResponseBytes = 256 * 1024;

export function createProvider(options: ProviderOptions): Provider {
  const { anonKey, log } = options;
  const client = createClient({
    name: 'idp',
    baseUrl: options.url,
    isInternal: false,
    timeoutMs: providerTimeoutMs,
    maxConnections: 256,
    maxResponseBytes,
    // Each refresh belongs to a separate session, so failures of others must not affect it.
    failFast: false,
    ...(options.telemetry === undefined ? {} : { telemetry: options.telemetry }),
  });

  const post = async <T>(
    call: Pick<Call, 'route' | 'query' | 'json'>,
    bearer: string,
    { signal, clientAddress }: ProviderCall,
    read: (body: Buffer, status: number) => T | undefined,
  ): Promise<ProviderResult<T>> => {
    const headers = { apikey: anonKey, authorization: `Bearer ${bearer}`, ...forwarded(clientAddress) };
    const response = await send(client, { ...call, method: 'POST', headers, signal });
    if (response === undefined) return { kind: 'unavailable' };
    if (response.status < 300) {
      const value = read(response.body, response.status);
      if (value !== undefined) return { kind: 'ok', value };
      log.warn({ status: response.status }, 'the identity provider returned an unreadable response');
      return { kind: 'unavailable' };
    }
    const refusal = readRefusal(response.status, response.headers, response.body);
    if (refusal.kind === 'unavailable' && refusal.isOurFault === true)
      log.error(
        { status: response.status },
        'the identity provider rejects the API key or the request: check ANON_KEY',
      );
    return refusal;
  };

  return {
    authorize: async ({ challenge, state }, { signal, clientAddress }) => {
      const query = {
        provider: options.socialProvider,
        redirect_to: options.callbackUrl + (options.returnsState && state !== undefined ? `?state=${state}` : ''),
        code_challenge: challenge,
        code_challenge_method: 's256',
        skip_http_redirect: 'true',
      };
      const route = '/auth/v1/authorize';
      const headers = { apikey: anonKey, ...forwarded(clientAddress) };
      const call = { method: 'GET', route, query, headers } as const;
      const response = await send(client, { ...call, idempotent: false, signal });
      return response === undefined ? undefined : readAuthorizationUrl(response, options.url + route);
    },
    exchange: (code, verifier, call) =>
      post(
        { route: tokenRoute, query: { grant_type: 'pkce' }, json: { auth_code: code, code_verifier: verifier } },
        anonKey,
        call,
        readSession,
      ),
    refresh: (refreshToken, call) =>
      post(
        { route: tokenRoute, query: { grant_type: 'refresh_token' }, json: { refresh_token: refreshToken } },
        anonKey,
        call,
        readSession,
      ),
    revoke: async (accessToken, scope, call) => {
      const route = '/auth/v1/logout';
      const response = await post({ route, query: { scope } }, accessToken, call, () => true);
      return response.kind === 'ok' ? { kind: 'ok', value: undefined } : response;
    },
    deleteUser:
      options.serviceKey === undefined
        ? undefined
        : (userId, call) => deleteUser(client, options.serviceKey ?? '', userId, call),
    close: () => client.close(),
  };
}

async function deleteUser(client: HttpClient, serviceKey: string, userId: string, { signal }: ProviderCall) {
  const headers = { apikey: serviceKey, authorization: `Bearer ${serviceKey}` };
  const route = '/auth/v1/admin/users/:id';
  const response = await send(client, { method: 'DELETE', route, params: { id: userId }, headers, signal });
  if (response === undefined) return 'unavailable' as const;
  return response.status < 300 || response.status === 404 ? ('removed' as const) : ('refused' as const);
}

const tokenRoute = '/auth/v1/token';

/** GoTrue reads the first header, and a gateway in front of it reads the second. */
function forwarded(clientAddress: string | undefined): Readonly<Record<string, string>> {
  return clientAddress === undefined ? {} : { 'sb-forwarded-for': clientAddress, 'x-forwarded-for': clientAddress };
}

/** Returns `undefined` for a failed connection, a timeout, 5xx, or a truncated or oversized response. */
async function send(client: HttpClient, call: Call) {
  return client.send(call).catch(() => undefined);
}

/** Reads the JSON body's `url`, or the `Location` of a 302 (docs/specification/auth.md#login): an http(s) URL for the browser. */
function readAuthorizationUrl(
  { status, headers, body }: Awaited<ReturnType<HttpClient['send']>>,
  requestUrl: string,
): string | undefined {
  const found = status === 302 ? headers.location : status === 200 ? readUrl(body) : undefined;
  if (typeof found !== 'string' || !URL.canParse(found, status === 302 ? requestUrl : undefined)) return undefined;
  const url = new URL(found, status === 302 ? requestUrl : undefined);
  return ['http:', 'https:'].includes(url.protocol) ? url.href : undefined;
}

function readUrl(body: Buffer): string | undefined {
  return z.object({ url: z.string().min(1) }).safeParse(parseJson(body)).data?.url;
}

const session = z.object({
  // The limit of a header and of a cookie.
  access_token: z
    .string()
    .min(1)
    .max(16_384)
    .regex(/^[\x21-\x7e]+$/),
  refresh_token: z.string().min(1).max(2048),
  expires_in: z.number().int().positive().optional().catch(undefined),
  expires_at: z.number().int().positive().optional().catch(undefined),
  user: z
    .object({ id: z.guid(), email: z.string().max(320).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** Returns `undefined` if the response is not a session, regardless of status and content type. */
function readSession(body: Buffer, status: number): ProviderSession | undefined {
  const { data } = session.safeParse(parseJson(body));
  if (status !== 200 || data === undefined) return undefined;
  const nowS = Math.floor(Date.now() / 1000);
  const expiresInS = data.expires_in ?? (data.expires_at === undefined ? undefined : data.expires_at - nowS);
  if (expiresInS === undefined) return undefined;
  return {
    access_token: data.access_token,
    token_type: 'bearer',
    expires_in: expiresInS,
    expires_at: data.expires_at ?? nowS + expiresInS,
    refreshToken: data.refresh_token,
    user: data.user ?? readClaims(data.access_token),
  };
}

const claims = z.object({ sub: z.guid(), email: z.string().max(320).optional().catch(undefined) });

/** Reads claims without verification. The token came from the provider itself, and the claims grant no access. */
function readClaims(token: string): ProviderSession['user'] {
  try {
    const { sub, email } = claims.parse(decodeJwt(token));
    return { id: sub, email };
  } catch {
    // Some providers issue tokens that are not JWTs.
    return undefined;
  }
}
