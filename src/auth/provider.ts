/**
 * The identity provider, over GoTrue's wire (docs/specification/auth.md). What it answers is told apart
 * into: done; refused, so that the credential is dead; unavailable, so that nothing is known and nothing may be lost.
 */
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { type Call, createClient, type HttpClient } from '#platform/http/client.ts';
import type { Log } from '#platform/log.ts';
import type { Telemetry } from '#platform/telemetry/telemetry.ts';
import type { AccessToken } from './api.ts';
import { type Refused, readRefusal, type Unavailable } from './refusals.ts';

export interface ProviderSession extends AccessToken {
  readonly refreshToken: string;
  /** `undefined`: the provider does not say who it is. */
  readonly user: { readonly id: string; readonly email?: string | undefined } | undefined;
}

interface Done<T> {
  readonly kind: 'ok';
  readonly value: T;
}
export type Answer<T> = Done<T> | Refused | Unavailable;

export interface ProviderCall {
  readonly signal: AbortSignal;
  /** For the provider's limits, which count by address; `undefined`: it counts ours. */
  readonly clientAddress?: string | undefined;
}

/** `global`: every session of the user. `local`: the one that the token belongs to. */
export type RevocationScope = 'global' | 'local';

export interface Provider {
  /** Where the browser goes to sign in; `undefined`: it cannot be begun. */
  authorize(challenge: string, call: ProviderCall): Promise<string | undefined>;
  exchange(code: string, verifier: string, call: ProviderCall): Promise<Answer<ProviderSession>>;
  refresh(refreshToken: string, call: ProviderCall): Promise<Answer<ProviderSession>>;
  /** Refused: it had ended before. */
  revoke(accessToken: string, scope: RevocationScope, call: ProviderCall): Promise<Answer<undefined>>;
  close(): Promise<void>;
}

export interface ProviderOptions {
  /** IDP_URL. */
  readonly url: string;
  readonly anonKey: string;
  /** SOCIAL_PROVIDER. */
  readonly socialProvider: string;
  /** Where it sends the browser back to; registered there. */
  readonly callbackUrl: string;
  readonly log: Log;
  readonly telemetry?: Telemetry | undefined;
}

/** In all per request of ours, a little below the 10 s within which each is answered. */
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
    // Each refresh stands for a session of its own: none is answered from what became of others.
    failFast: false,
    ...(options.telemetry === undefined ? {} : { telemetry: options.telemetry }),
  });

  const post = async <T>(
    call: Pick<Call, 'path' | 'route' | 'json'>,
    bearer: string,
    { signal, clientAddress }: ProviderCall,
    read: (body: Buffer, status: number) => T | undefined,
  ): Promise<Answer<T>> => {
    const headers = { apikey: anonKey, authorization: `Bearer ${bearer}`, ...forwarded(clientAddress) };
    const answer = await send(client, { ...call, method: 'POST', headers, signal });
    if (answer === undefined) return { kind: 'unavailable' };
    if (answer.status < 300) {
      const value = read(answer.body, answer.status);
      if (value !== undefined) return { kind: 'ok', value };
      log.warn({ status: answer.status }, 'the identity provider gave an answer that cannot be read');
      return { kind: 'unavailable' };
    }
    const refusal = readRefusal(answer.status, answer.headers, answer.body);
    if (refusal.kind === 'unavailable' && refusal.isOurFault === true)
      log.error({ status: answer.status }, 'the identity provider refuses our own credential or form: see ANON_KEY');
    return refusal;
  };

  return {
    authorize: async (challenge, { signal, clientAddress }) => {
      const query = new URLSearchParams({
        provider: options.socialProvider,
        redirect_to: options.callbackUrl,
        code_challenge: challenge,
        code_challenge_method: 's256',
        skip_http_redirect: 'true',
      });
      const route = '/auth/v1/authorize';
      const headers = { apikey: anonKey, ...forwarded(clientAddress) };
      const call = { method: 'GET', path: `${route}?${query}`, route, headers } as const;
      const answer = await send(client, { ...call, idempotent: false, signal });
      return answer === undefined ? undefined : readAuthorizationUrl(answer, options.url + route);
    },
    exchange: (code, verifier, call) =>
      post(
        {
          path: `${tokenRoute}?grant_type=pkce`,
          route: tokenRoute,
          json: { auth_code: code, code_verifier: verifier },
        },
        anonKey,
        call,
        readSession,
      ),
    refresh: (refreshToken, call) =>
      post(
        {
          path: `${tokenRoute}?grant_type=refresh_token`,
          route: tokenRoute,
          json: { refresh_token: refreshToken },
        },
        anonKey,
        call,
        readSession,
      ),
    revoke: async (accessToken, scope, call) => {
      const route = '/auth/v1/logout';
      const answer = await post({ path: `${route}?scope=${scope}`, route }, accessToken, call, () => true);
      return answer.kind === 'ok' ? { kind: 'ok', value: undefined } : answer;
    },
    close: () => client.close(),
  };
}

const tokenRoute = '/auth/v1/token';

/** The first is what GoTrue reads, the second what a gateway in front of it reads. */
function forwarded(clientAddress: string | undefined): Readonly<Record<string, string>> {
  return clientAddress === undefined ? {} : { 'sb-forwarded-for': clientAddress, 'x-forwarded-for': clientAddress };
}

/** `undefined`: no connection, none in time, 5xx, or an answer that broke off or has no end. */
async function send(client: HttpClient, call: Call) {
  return client.send(call).catch(() => undefined);
}

/** The JSON body's `url`, or the `Location` of a 302 (docs/specification/auth.md#login): an http(s) address that a browser can be sent to. */
function readAuthorizationUrl(
  { status, headers, body }: Awaited<ReturnType<HttpClient['send']>>,
  asked: string,
): string | undefined {
  const found = status === 302 ? headers.location : status === 200 ? readUrl(body) : undefined;
  if (typeof found !== 'string' || !URL.canParse(found, status === 302 ? asked : undefined)) return undefined;
  const url = new URL(found, status === 302 ? asked : undefined);
  return ['http:', 'https:'].includes(url.protocol) ? url.href : undefined;
}

function readUrl(body: Buffer): string | undefined {
  return z.object({ url: z.string().min(1) }).safeParse(readJson(body)).data?.url;
}

const session = z.object({
  // What fits a header, and what a cookie holds.
  access_token: z
    .string()
    .min(1)
    .max(16_384)
    .regex(/^[\x21-\x7e]+$/),
  refresh_token: z.string().min(1).max(2048),
  expires_in: z.number().int().positive().optional().catch(undefined),
  expires_at: z.number().int().positive().optional().catch(undefined),
  user: z
    .object({ id: z.uuid(), email: z.string().max(320).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** `undefined`: it is no session, whatever status and type it came with. */
function readSession(body: Buffer, status: number): ProviderSession | undefined {
  const { data } = session.safeParse(readJson(body));
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

const claims = z.object({ sub: z.uuid(), email: z.string().max(320).optional().catch(undefined) });

/** Unverified: it came from the provider itself, and opens nothing. */
function readClaims(token: string): ProviderSession['user'] {
  try {
    const { sub, email } = claims.parse(decodeJwt(token));
    return { id: sub, email };
  } catch {
    // Not every provider's tokens are JWTs that say so.
    return undefined;
  }
}

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
