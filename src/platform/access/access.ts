/**
 * Guards that decide who may call a route (docs/specification/http.md#credentials):
 *
 *     routes.post('/v1/uploads', access.userOrInternal, { body: uploadRequest }, handler);
 *
 * A guard returns 401 before the body is read, and 403 only after the request is validated (docs/specification/http.md#order-of-checks).
 * It sets `request.caller`.
 */

import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decodeJwt, errors, jwtVerify } from 'jose';
import { createLru } from '../cache/cache.ts';
import { type Clock, systemClock } from '../clock.ts';
import { isUuid } from '../ids.ts';
import type { Log } from '../log.ts';
import { invalid, Problem, problems } from '../problem.ts';
import { type Caller, onBehalfHeader } from './caller.ts';
import { createKeySet, type KeySet } from './keyset.ts';

/** Uses callbacks instead of promises: a call with an internal key has nothing to wait for. */
type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The reference page shows this. */
    access?: Accepts;
    /** Codes of the guard, beyond those that `access` implies. */
    problems?: readonly string[];
    /** `false`: CORS does not apply to the route. */
    cors?: false;
  }
}

/** The credentials that a route accepts. */
export type Accepts = 'user' | 'internal' | 'userOrInternal' | 'admin' | 'anyone';

interface Guard {
  readonly config: { readonly access: Accepts; readonly cors?: false; readonly problems?: readonly string[] };
  readonly onRequest: Hook;
  readonly preHandler?: Hook;
}

export interface Access {
  /**
   * Accepts a JWT or `X-Internal-Key`. If the key is present, only the key counts. With `X-On-Behalf-Of` the caller has that user's
   * rights.
   */
  readonly userOrInternal: Guard;
  /**
   * Accepts `X-Internal-Key` only: returns 403 for a valid JWT, and 401 otherwise. Without `jwksUrl` no JWT is valid, so the result is
   * always 401.
   */
  readonly internalOnly: Guard;
  /** As `internalOnly`, for services whose CORS admits pages: they cannot call it. */
  readonly internalWithoutCors: Guard;
  /** Works like `internalOnly`, and also accepts the key as `Authorization: Bearer` if `X-Internal-Key` is absent. Accepts no JWT. */
  readonly internalOrBearer: Guard;
  /** As `userOrInternal`. A request without a credential is let in too, and has `isAnonymous` instead of a caller. */
  readonly anyone: Guard;
  /** Accepts a JWT only, and ignores `X-Internal-Key`. */
  readonly userOnly: Guard;
}

interface AccessOptions {
  /** Accepted values of `X-Internal-Key`. If the list is empty, no key is accepted. */
  readonly internalKeys: readonly string[];
  /** Absent for services that accept no JWT (image, notify). */
  readonly jwksUrl?: string;
  readonly log: Log;
  /** Calls per minute per user (RATE_LIMIT_PER_MINUTE). 0 or absent: no limit. */
  readonly rateLimitPerMinute?: number;
  /** Throws for users who may start and change nothing. They can still read and delete what they have. */
  readonly refuseChanges?: (userId: string, email: string | undefined) => Promise<void>;
  readonly clock?: Clock;
}

export function createAccess(options: AccessOptions): Access {
  const { jwksUrl, log, clock = systemClock } = options;
  const isInternalKey = matchSecret(options.internalKeys);
  const tokens = jwksUrl === undefined ? undefined : createTokenVerifier(createKeySet({ jwksUrl, log, clock }), clock);

  const limitUser = limitRate(options.rateLimitPerMinute ?? 0, clock);

  const identifyUser = async (request: FastifyRequest): Promise<Caller> => {
    const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(singleAuthorization(request) ?? '')?.[1];
    if (token === undefined || tokens === undefined) throw problems.unauthorized();
    const verified = await tokens.verify(token);
    limitUser(verified.userId);
    return { kind: 'user', ...verified };
  };
  const guard = (keyOf: (request: FastifyRequest) => string | string[] | undefined): Hook => {
    return (request, reply, done) => {
      // Caches must not store responses to authenticated requests.
      reply.header('cache-control', 'no-store');
      const admit = (caller: Caller) => {
        request.caller = caller;
        done();
      };
      const refuse = (error: Error) => {
        if (tokens !== undefined && error instanceof Problem && error.status === 401)
          reply.header('www-authenticate', 'Bearer');
        done(error);
      };
      const key = keyOf(request);
      if (key === undefined) identifyUser(request).then(admit, refuse);
      // Node joins repeated headers with a comma, so a header that is sent twice matches no key.
      else if (typeof key === 'string' && isInternalKey(key)) {
        const caller = serverCaller(request);
        if (caller instanceof Problem) refuse(caller);
        else admit(caller);
      } else refuse(problems.unauthorized());
    };
  };

  // Without keys of tokens, a token is refused as unknown.
  const config = { access: 'internal', ...(tokens && { problems: ['forbidden'] }) } as const;
  const internalOnly: Guard = { config, onRequest: guard(keyHeader), preHandler: refuseUsers };
  const preHandler: Hook = ({ caller, method }, _reply, done) => {
    const isOwnChange = caller?.kind === 'user' && !caller.isOnBehalf && !/^(GET|HEAD|DELETE)$/.test(method);
    if (!isOwnChange || options.refuseChanges === undefined) return done();
    options.refuseChanges(caller.userId, caller.email).then(() => done(), done);
  };
  return {
    userOrInternal: { config: { access: 'userOrInternal' }, onRequest: guard(keyHeader), preHandler },
    internalOnly,
    internalWithoutCors: { ...internalOnly, config: { access: 'internal', cors: false } },
    internalOrBearer: {
      config,
      onRequest: guard((request) => keyHeader(request) ?? bearerOf(request) ?? ''),
      preHandler: refuseUsers,
    },
    anyone: {
      config: { access: 'anyone' },
      onRequest: (request, reply, done) => {
        if (request.headers.authorization !== undefined || keyHeader(request) !== undefined)
          return guard(keyHeader)(request, reply, done);
        reply.header('cache-control', 'no-store');
        request.isAnonymous = true;
        done();
      },
      preHandler,
    },
    userOnly: { config: { access: 'user' }, onRequest: guard(() => undefined), preHandler },
  };
}

const keyHeader = ({ headers }: FastifyRequest) => headers['x-internal-key'];

const bearerOf = (request: FastifyRequest) =>
  /^Bearer +(\S.*)$/i.exec(singleAuthorization(request) ?? '')?.[1]?.trimEnd();

const refuseUsers: Hook = ({ caller }, _reply, done) =>
  done(caller.kind === 'internal' ? undefined : problems.forbidden());

/** The header never adds rights. Without a valid key it is ignored, and with one it reduces the caller's rights to those of the user. */
function serverCaller({ headers }: FastifyRequest): Caller | Problem {
  const userId = headers[onBehalfHeader];
  if (userId === undefined) return { kind: 'internal' };
  // Node joins repeated headers with a comma, so a header that is sent twice is not a UUID.
  if (typeof userId !== 'string' || !isUuid(userId)) return invalid(`headers.${onBehalfHeader}`, 'must be a UUID');
  return { kind: 'user', userId: userId.toLowerCase(), isOnBehalf: true };
}

/** Rejects a second `Authorization` header. Node silently drops it, and a proxy in front may have checked either one. */
function singleAuthorization(request: FastifyRequest): string | undefined {
  return countHeader(request, 'authorization') === 1 ? request.headers.authorization : undefined;
}

// Limits how often one user may call one service (RATE_LIMIT_PER_MINUTE, docs/specification/http.md#limits). Each process counts
// separately.

/** Throws `rate_limited` (429) if `subject` has used up its calls. */
export type RateLimit = (subject: string) => void;

/** Maximum number of remembered users. A user who was evicted starts with a full bucket. */
const maxSubjects = 100_000;

/** Creates a token bucket per subject. It holds one minute's calls and refills evenly. 0: no limit. */
export function limitRate(perMinute: number, clock: Clock): RateLimit {
  if (perMinute === 0) return () => undefined;
  const perMs = perMinute / 60_000;
  const buckets = createLru<string, { calls: number; atMs: number }>(maxSubjects);
  return (subject) => {
    const nowMs = clock.now();
    const bucket = buckets.get(subject) ?? { calls: perMinute, atMs: nowMs };
    const calls = Math.min(perMinute, bucket.calls + (nowMs - bucket.atMs) * perMs);
    if (calls < 1) throw problems.rate_limited({ retryAfterS: Math.ceil((1 - calls) / perMs / 1000) });
    buckets.set(subject, { calls: calls - 1, atMs: nowMs });
  };
}

// Access for operators: only `X-Admin-Token` counts. Without it, or with a wrong one, the server returns 401
// (docs/specification/memory.md#admin-api).

export interface AdminGuard {
  readonly config: { readonly access: 'admin' };
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** If `token` is empty, every request is rejected. */
export function guardAdmins(token: string): AdminGuard {
  const isToken = matchSecret(token === '' ? [] : [token]);
  return {
    config: { access: 'admin' },
    onRequest: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const candidate = request.headers['x-admin-token'];
      if (typeof candidate !== 'string' || !isToken(candidate)) throw problems.unauthorized();
    },
  };
}

// Constant-time comparison of secrets that callers send (docs/specification/http.md#credentials).

type SecretMatcher = (given: string) => boolean;

/** Reports whether `given` is one of `accepted`. Both sides are hashed, so timing reveals neither the length nor the position. */
export function matchSecret(accepted: readonly string[]): SecretMatcher {
  const digests = accepted.map(digest);
  return (given) => {
    const sought = digest(given);
    return digests.reduce((found, candidate) => timingSafeEqual(candidate, sought) || found, false);
  };
}

function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

// Access tokens of users (docs/specification/http.md#credentials): ES256, `exp` and `aud` = `authenticated` required, `sub` a UUID.

interface VerifiedToken {
  /** In lower case. */
  readonly userId: string;
  readonly expiresAtMs: number;
  /** The claim `email`, which the identity provider has verified. */
  readonly email?: string;
}

export interface TokenVerifier {
  /** Throws `unauthorized`, or `engine_unavailable` without keys. */
  verify(token: string): Promise<VerifiedToken>;
  /** Also returns all claims, for the few callers that need others. Throws like `verify`. */
  verifyClaims(token: string): Promise<VerifiedToken & { readonly claims: Readonly<Record<string, unknown>> }>;
}

const maxTokenLength = 8192;
/** Seconds that `nbf` may be ahead of the server's clock. `exp` has no tolerance, because clients refresh before it. */
const clockToleranceS = 5;

/** How long a verified token stays valid after the provider revokes its key, in addition to the age of the key set. */
const rememberMs = 60_000;

/**
 * Remembers verified tokens for a minute. A verification costs about as much as the rest of a small request, and a client sends
 * one token for an hour. Only a hash of the token is stored.
 */
export function createTokenVerifier(keys: KeySet, clock: Clock = systemClock): TokenVerifier {
  const remembered = createLru<string, { readonly verified: VerifiedToken; readonly untilMs: number }>(10_000);

  const verify = async (token: string): Promise<VerifiedToken> => {
    if (token.length > maxTokenLength) throw problems.unauthorized();
    const name = hash('sha256', token, 'base64');
    const nowMs = clock.now();
    const known = remembered.get(name);
    if (known !== undefined && nowMs < known.untilMs) return known.verified;
    const verified = await verifySignature(token, keys, nowMs);
    remembered.set(name, { verified, untilMs: Math.min(verified.expiresAtMs, nowMs + rememberMs) });
    return verified;
  };
  return {
    verify,
    // The signature is of this text, so its claims are verified too.
    verifyClaims: async (token) => ({ ...(await verify(token)), claims: decodeJwt(token) }),
  };
}

async function verifySignature(token: string, keys: KeySet, nowMs: number): Promise<VerifiedToken> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = typeof kid === 'string' ? await keys.find(kid) : undefined;
        if (key === undefined) throw problems.unauthorized();
        return key;
      },
      {
        algorithms: ['ES256'],
        audience: 'authenticated',
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockToleranceS,
        currentDate: new Date(nowMs),
      },
    );
    const expiresAtMs = (payload.exp ?? 0) * 1000;
    if (expiresAtMs <= nowMs || typeof payload.sub !== 'string' || !isUuid(payload.sub)) throw problems.unauthorized();
    const { email } = payload;
    return { userId: payload.sub.toLowerCase(), expiresAtMs, ...(typeof email === 'string' && { email }) };
  } catch (error) {
    throw error instanceof errors.JOSEError ? problems.unauthorized({ cause: error }) : error;
  }
}

// Headers as they were sent. Node drops duplicates of some headers.

/** Returns how many times the request has the header. `name` is in lower case. */
export function countHeader({ raw: { rawHeaders } }: FastifyRequest, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index];
    if (sent?.length === name.length && sent.toLowerCase() === name) count += 1;
  }
  return count;
}
