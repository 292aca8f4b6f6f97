/**
 * Who may call a route (CONTRACT §3). A guard is spread into the route's options:
 *
 *     app.post('/v1/uploads', { ...access.userOrInternal, schema: { body: uploadRequest } }, handler);
 *
 * It decides 401 before the body is read, and 403 only after the request's form is judged, in the order of CONTRACT §3.
 * Afterwards `request.caller` says who calls.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { Problem, problems } from '../problem.ts';
import type { Caller } from './caller.ts';
import { createKeySet } from './keyset.ts';
import { limitRate } from './ratelimit.ts';
import { matchSecret, type SecretMatcher } from './secrets.ts';
import { createTokenVerifier, type TokenVerifier } from './tokens.ts';

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For the reference page. */
    access?: Accepts;
  }
}

/** Which credentials a route takes. */
export type Accepts = 'user' | 'internal' | 'userOrInternal' | 'admin';

interface Guard {
  readonly config: { readonly access: Accepts };
  readonly onRequest: Hook;
  readonly preHandler?: Hook;
}

export interface Access {
  /** A JWT or `X-Internal-Key`; the key decides alone when it is there. */
  readonly userOrInternal: Guard;
  /** `X-Internal-Key` only: 403 with a good JWT, 401 otherwise. Without `jwksUrl` no JWT is known, and all else is 401. */
  readonly internalOnly: Guard;
  /** A JWT only; `X-Internal-Key` is ignored. */
  readonly userOnly: Guard;
}

export interface AccessOptions {
  /** Accepted values of `X-Internal-Key`; empty: none is. */
  readonly internalKeys: readonly string[];
  /** Absent on services that know no JWT (image, notify). */
  readonly jwksUrl?: string;
  readonly log: Log;
  /** Calls a minute of one user (RATE_LIMIT_PER_MINUTE); 0 or absent: no limit. */
  readonly rateLimitPerMinute?: number;
  readonly clock?: Clock;
}

export function createAccess(options: AccessOptions): Access {
  const { jwksUrl, log, clock = systemClock } = options;
  const isInternalKey = matchSecret(options.internalKeys);
  const tokens = jwksUrl === undefined ? undefined : createTokenVerifier(createKeySet({ jwksUrl, log, clock }), clock);

  const limitUser = limitRate(options.rateLimitPerMinute ?? 0, clock);

  const identify = async (request: FastifyRequest): Promise<Caller> =>
    internalCaller(request, isInternalKey) ?? (await userCaller(request, tokens));
  const guard = (who: (request: FastifyRequest) => Promise<Caller>): Hook => {
    return async (request, reply) => {
      // What a credential opens is nobody else's to keep.
      reply.header('cache-control', 'no-store');
      try {
        request.caller = await who(request);
      } catch (error) {
        if (tokens !== undefined && error instanceof Problem && error.status === 401)
          reply.header('www-authenticate', 'Bearer');
        throw error;
      }
      if (request.caller.kind === 'user') limitUser(request.caller.userId);
    };
  };

  return {
    userOrInternal: { config: { access: 'userOrInternal' }, onRequest: guard(identify) },
    internalOnly: { config: { access: 'internal' }, onRequest: guard(identify), preHandler: refuseUsers },
    userOnly: { config: { access: 'user' }, onRequest: guard((request) => userCaller(request, tokens)) },
  };
}

const refuseUsers: Hook = async (request) => {
  if (request.caller.kind !== 'internal') throw problems.forbidden();
};

/** `undefined`: the header is not there at all. Sent twice it arrives joined by a comma, and fits no key. */
function internalCaller(request: FastifyRequest, isInternalKey: SecretMatcher): Caller | undefined {
  const given = request.headers['x-internal-key'];
  if (given === undefined) return undefined;
  if (typeof given !== 'string' || !isInternalKey(given)) throw problems.unauthorized();
  return { kind: 'internal' };
}

async function userCaller(request: FastifyRequest, tokens: TokenVerifier | undefined): Promise<Caller> {
  const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(soleAuthorization(request.raw) ?? '')?.[1];
  if (token === undefined || tokens === undefined) throw problems.unauthorized();
  return { kind: 'user', userId: await tokens.verify(token) };
}

/** Node keeps the first of two `Authorization` headers in silence; which of them a proxy in front judged is unknown. */
function soleAuthorization(request: IncomingMessage): string | undefined {
  const { rawHeaders } = request;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'authorization') count += 1;
  }
  return count === 1 ? request.headers.authorization : undefined;
}
