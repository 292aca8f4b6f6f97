import type { FastifyRequest } from 'fastify';

/** Rejects everyone except operators. Spread it into the options of a route. */
export interface OperatorGuard {
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
}
