/**
 * Who may call a route (docs/specification/http.md#credentials). A guard is spread into the route's options:
 *
 *     app.post('/v1/uploads', { ...access.userOrInternal, schema: { body: uploadRequest } }, handler);
 *
 * It decides 401 before the body is read, and 403 only after the request's form is judged, in the order of docs/specification/http.md#order-of-checks.
 * Afterwards `request.caller` says who calls.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, systemClock } from '../clock.ts';
import { countHeader } from '../http/headers.ts';
import { isUuid } from '../ids.ts';
import type { Log } from '../log.ts';
import { invalid, Problem, problems } from '../problem.ts';
import { type Caller, onBehalfHeader } from './caller.ts';
import { createKeySet } from './keyset.ts';
import { limitRate } from './ratelimit.ts';
import { matchSecret } from './secrets.ts';
import { createTokenVerifier } from './tokens.ts';

/** Of callbacks, not promises: with a key there is nothing to wait for. */
type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

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
  /** A JWT or `X-Internal-Key`; the key decides alone when it is there. With `X-On-Behalf-Of` it has that user's rights. */
  readonly userOrInternal: Guard;
  /** `X-Internal-Key` only: 403 with a good JWT, 401 otherwise. Without `jwksUrl` no JWT is known, and all else is 401. */
  readonly internalOnly: Guard;
  /** As `internalOnly`; without `X-Internal-Key` the key may come as `Authorization: Bearer`. No JWT is accepted. */
  readonly internalOrBearer: Guard;
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

  const identifyUser = async (request: FastifyRequest): Promise<Caller> => {
    const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(soleAuthorization(request) ?? '')?.[1];
    if (token === undefined || tokens === undefined) throw problems.unauthorized();
    const userId = await tokens.verify(token);
    limitUser(userId);
    return { kind: 'user', userId };
  };
  const guard = (keyOf: (request: FastifyRequest) => string | string[] | undefined): Hook => {
    return (request, reply, done) => {
      // What a credential opens is nobody else's to keep.
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
      // Sent twice it arrives joined by a comma, and fits no key.
      else if (typeof key === 'string' && isInternalKey(key)) {
        const caller = serverIn(request);
        if (caller instanceof Problem) refuse(caller);
        else admit(caller);
      } else refuse(problems.unauthorized());
    };
  };

  return {
    userOrInternal: { config: { access: 'userOrInternal' }, onRequest: guard(keyHeader) },
    internalOnly: { config: { access: 'internal' }, onRequest: guard(keyHeader), preHandler: refuseUsers },
    internalOrBearer: {
      config: { access: 'internal' },
      onRequest: guard((request) => keyHeader(request) ?? bearerOf(request) ?? ''),
      preHandler: refuseUsers,
    },
    userOnly: { config: { access: 'user' }, onRequest: guard(() => undefined) },
  };
}

const keyHeader = ({ headers }: FastifyRequest) => headers['x-internal-key'];

const bearerOf = (request: FastifyRequest) =>
  /^Bearer +(\S.*)$/i.exec(soleAuthorization(request) ?? '')?.[1]?.trimEnd();

const refuseUsers: Hook = ({ caller }, _reply, done) =>
  done(caller.kind === 'internal' ? undefined : problems.forbidden());

/** The header never adds rights: without a valid key nobody reads it, and with one it takes away all but the user's. */
function serverIn({ headers }: FastifyRequest): Caller | Problem {
  const userId = headers[onBehalfHeader];
  if (userId === undefined) return { kind: 'internal' };
  // Sent twice it arrives joined by a comma.
  if (typeof userId !== 'string' || !isUuid(userId)) return invalid(`headers.${onBehalfHeader}`, 'must be a UUID');
  return { kind: 'user', userId: userId.toLowerCase(), isOnBehalf: true };
}

/** Node keeps the first of two `Authorization` headers in silence; which of them a proxy in front judged is unknown. */
function soleAuthorization(request: FastifyRequest): string | undefined {
  return countHeader(request, 'authorization') === 1 ? request.headers.authorization : undefined;
}
