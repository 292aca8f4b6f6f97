/** Admits operators to their endpoints, and names them to what the endpoints do. */
import type { FastifyRequest } from 'fastify';
import { actorNamed } from '#platform/audit/audit.ts';
import { problems } from '#platform/problem.ts';
import { consoleProblems } from '../problems.ts';
import type { Operator, Sessions } from '../sessions.ts';

export interface OperatorGuard {
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
}

const admitted = new WeakMap<FastifyRequest, Operator>();

/** Throws 401 without a session, and 403 `read_only` for changes by operators who may only read. */
export function guardOperators(sessions: Sessions): OperatorGuard {
  return {
    onRequest: async (request) => {
      const operator = sessions.find(request.headers.cookie);
      if (operator === undefined) throw problems.unauthorized();
      if (operator.role === 'reader' && request.method !== 'GET' && request.method !== 'HEAD')
        throw consoleProblems.read_only();
      admitted.set(request, operator);
    },
  };
}

/** Returns the name for the audit log. Call it only behind the guard. */
export function operatorName(request: FastifyRequest): string {
  const operator = admitted.get(request);
  if (operator === undefined) throw new Error('the route has no guard');
  return actorNamed(operator.name);
}
