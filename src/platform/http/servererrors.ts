/**
 * `GET /metrics/errors`: the last responses with a 5xx status, so that an operator finds their log lines and traces. They hold neither a
 * URL nor a user, and are gone when the process ends.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Problem } from '../problem.ts';
import { currentScope } from '../telemetry/trace.ts';
import { describeOperation } from './apireference.ts';
import type { HttpServer } from './httpserver.ts';

export const serverErrors = z.object({
  errors: z
    .array(
      z.object({
        at: z.iso.datetime(),
        requestId: z.string(),
        traceId: z.string().nullable(),
        method: z.string(),
        route: z.string().describe('The pattern; `none` for unknown ones.'),
        status: z.int(),
        code: z.string(),
      }),
    )
    .describe('The newest first; at most 50.'),
});
export type ServerError = z.output<typeof serverErrors>['errors'][number];

const longestList = 50;

export type RememberError = (problem: Problem, request: FastifyRequest) => void;

export function addServerErrors(app: HttpServer): RememberError {
  const errors: ServerError[] = [];
  app.get(
    '/metrics/errors',
    {
      schema: {
        ...describeOperation({
          id: 'listErrors',
          summary: 'The last server errors',
          description: 'Returns the last responses of the process with a 5xx status, with their request ids.',
        }),
        response: { 200: serverErrors },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'no-store');
      return { errors: errors.toReversed() };
    },
  );
  return ({ status, code }, { id, method, routeOptions }) => {
    errors.push({
      at: new Date().toISOString(),
      requestId: id,
      traceId: currentScope()?.trace.traceId ?? null,
      method,
      route: routeOptions.url ?? 'none',
      status,
      code,
    });
    if (errors.length > longestList) errors.shift();
  };
}
