/**
 * Rejects NUL in the query of every route that has a schema for it: PostgreSQL cannot compare with such a text. Routes with
 * `anyQuery` check their parameters themselves.
 */
import type { preValidationHookHandler } from 'fastify';
import { invalid } from '../problem.ts';
import type { HttpServer } from './httpserver.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accepts any query, because every response of the route is a redirect. */
    anyQuery?: boolean;
  }
}

export function rejectNulInQueries(app: HttpServer): void {
  app.addHook('onRoute', (route) => {
    if (route.schema?.querystring === undefined || route.config?.anyQuery === true) return;
    route.preValidation = [rejectNul, route.preValidation ?? []].flat();
  });
}

const rejectNul: preValidationHookHandler = (request, _reply, done) => {
  for (const [name, value] of Object.entries(request.query as Record<string, string | readonly string[]>))
    if ([value].flat().some((text) => text.includes('\0')))
      return done(invalid(`querystring.${name}`, 'must not contain NUL'));
  return done();
};
