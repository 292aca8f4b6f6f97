/** Creates one Fastify instance per service, with all rules that services share (docs/specification/http.md; docs/http.md). */
import fastify, { type FastifyBaseLogger, LogController, type preValidationHookHandler } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { randomHex } from '../ids.ts';
import type { Log } from '../log.ts';
import { invalid } from '../problem.ts';
import { noTelemetry } from '../telemetry/telemetry.ts';
import { admitRequests } from './admission.ts';
import { acceptJson } from './bodies.ts';
import { allowOrigins } from './cors.ts';
import type { HttpServer, ServerOptions } from './httpserver.ts';
import { addMetrics } from './metrics.ts';
import { observeRequests } from './observing.ts';
import { addOperations } from './operations.ts';
import { addReference } from './reference.ts';
import { refuseBadHttp, renderBadUrl, renderProblems } from './rendering.ts';
import { addServerErrors } from './servererrors.ts';
import { validationMessage } from './validationmessages.ts';

export type { CorsRule, HttpServer, Readiness, ServerCommons, ServerOptions } from './httpserver.ts';

/** Enough for 1 MiB at 420 kbit/s. The headers never have longer than this. */
const arrivalTimeoutMs = 20_000;
/** Longer than any path that Node accepts, because the schema decides which parameters are valid. */
const maxParamLength = 16 * 1024;

// Applies to the whole process: all services use the same validation messages.
z.config({ customError: validationMessage });

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accepts any query, because every response of the route is a redirect. */
    anyQuery?: boolean;
  }
}

export function createServer(options: ServerOptions): HttpServer {
  const { log, service, telemetry = noTelemetry, requestTimeoutMs = arrivalTimeoutMs } = options;
  const logger = sharedLogger(log);
  const headersTimeout = Math.min(arrivalTimeoutMs, requestTimeoutMs);
  const app = fastify({
    // With a logger of its own, Fastify would add two listeners to each response for log lines that are disabled.
    childLoggerFactory: () => logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
    requestTimeout: requestTimeoutMs,
    // Fastify would also apply this limit to `preClose` hooks: a drain of more than 10 s would make `close` fail.
    pluginTimeout: 0,
    genReqId: (request) => acceptRequestId(request.headers['x-request-id']),
    requestIdHeader: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
    routerOptions: { maxParamLength },
    // A hook rejects a missing host header with a problem response.
    http: {
      requireHostHeader: false,
      headersTimeout,
      connectionsCheckingInterval: Math.min(1000, headersTimeout / 4),
    },
    frameworkErrors: renderBadUrl,
    clientErrorHandler: refuseBadHttp,
    // The compilers are set below, so Fastify's own need not be loaded.
    schemaController: { compilersFactory: { buildValidator: unexpectedCompiler, buildSerializer: unexpectedCompiler } },
  }).withTypeProvider<ZodTypeProvider>();
  app.log = logger;

  // Expectations other than `100-continue` are ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.decorateRequest('caller');
  app.decorateRequest('isAnonymous', false);
  app.setValidatorCompiler(validatorCompiler);
  // TypeScript checks responses, so the response schemas only serve the reference page.
  app.setSerializerCompiler(() => serialize);
  app.setReplySerializer(serialize);
  acceptJson(app);
  rejectNulInQueries(app);
  addReference(app, options);
  addMetrics(app, service);
  observeRequests(app, { log, telemetry });
  if (options.cors !== undefined) allowOrigins(app, options.cors);
  admitRequests(app, options);
  renderProblems(app, addServerErrors(app));
  addOperations(app, options);
  return app;
}

const serialize = (payload: unknown): string => JSON.stringify(payload);

function unexpectedCompiler(): never {
  throw new Error('a schema compiler of Fastify was called');
}

/** The log adds the ids of the current request to each line, so one logger serves all requests. */
function sharedLogger(log: Log): FastifyBaseLogger {
  const logger: FastifyBaseLogger = Object.create(log, { child: { value: () => logger } });
  return logger;
}

function acceptRequestId(value: string | string[] | undefined): string {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(value) ? value : randomHex(16);
}

/**
 * Rejects NUL in the query of every route that has a schema for it: PostgreSQL cannot compare with such a text. Routes with
 * `anyQuery` check their parameters themselves.
 */
function rejectNulInQueries(app: HttpServer): void {
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
