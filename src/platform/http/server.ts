/** One Fastify instance per service, with every rule that is common to all services (CONTRACT §3). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import fastify, { type FastifyBaseLogger, type FastifyInstance, type RawServerDefault } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Caller } from '../access/caller.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import { addOperations, type Readiness } from './operations.ts';
import { renderProblems } from './rendering.ts';

export type HttpServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the access hook of the route (platform/access); reading it on an open route is a programming error. */
    caller: Caller;
  }
}

export interface ServerOptions {
  /** As `GET /` and `GET /health` report it (CONTRACT §3). */
  readonly service: string;
  readonly log: Log;
  /** Engine name → a check that throws when it does not answer; for `GET /ready`. */
  readonly readiness: Readiness;
  /** Bytes; 1 MiB unless the service says otherwise. */
  readonly bodyLimit?: number;
  /** The image service's health is the plain text `ok`. */
  readonly plainHealth?: boolean;
}

/** Requests in flight are finished at close; open sockets that idle are closed. */
export function createServer(options: ServerOptions): HttpServer {
  const app = fastify({
    loggerInstance: options.log as FastifyBaseLogger,
    disableRequestLogging: true,
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
    genReqId: (request) => acceptRequestId(request.headers['x-request-id']),
    requestIdHeader: false,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
  }).withTypeProvider<ZodTypeProvider>();

  app.decorateRequest('caller');
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  // Only JSON is read; everything else is 415 by Fastify's own check.
  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    // The pattern, not the address: addresses can be bearer secrets.
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
  });
  renderProblems(app);
  app.setNotFoundHandler(() => {
    throw problems.not_found();
  });
  addOperations(app, options);
  return app;
}

function acceptRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}
