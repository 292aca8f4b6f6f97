/**
 * Access for operators: only `X-Admin-Token` counts. Without it, or with a wrong one, the server returns 401
 * (docs/specification/memory.md#admin-api).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problems } from '../problem.ts';
import { matchSecret } from './secrets.ts';

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
