/** One Fastify instance per service, with every rule that is common to all services (docs/specification/http.md; docs/http.md). */
import fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { randomHex } from '../ids.ts';
import type { Log } from '../log.ts';
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
import { wordFault } from './validationmessages.ts';

export type { CorsRule, HttpServer, Readiness, ServerCommons, ServerOptions } from './httpserver.ts';

/** Enough for 1 MiB at 420 kbit/s. The head has no longer, whatever the service says. */
const arrivalTimeoutMs = 20_000;
/** Longer than any path that Node lets through: what a parameter may be is the schema's to say. */
const maxParamLength = 16 * 1024;

// Of the whole process: each service words the faults of its callers alike.
z.config({ customError: wordFault });

export function createServer(options: ServerOptions): HttpServer {
  const { log, service, telemetry = noTelemetry, requestTimeoutMs = arrivalTimeoutMs } = options;
  const headersTimeout = Math.min(arrivalTimeoutMs, requestTimeoutMs);
  const app = fastify({
    loggerInstance: oneForAll(log),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
    requestTimeout: requestTimeoutMs,
    genReqId: (request) => acceptRequestId(request.headers['x-request-id']),
    requestIdHeader: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
    routerOptions: { maxParamLength },
    // A missing host is refused in a hook, in our own words.
    http: {
      requireHostHeader: false,
      headersTimeout,
      connectionsCheckingInterval: Math.min(1000, headersTimeout / 4),
    },
    frameworkErrors: renderBadUrl,
    clientErrorHandler: refuseBadHttp,
    // Ours are set below: Fastify's own need not even be loaded.
    schemaController: { compilersFactory: { buildValidator: replaced, buildSerializer: replaced } },
  }).withTypeProvider<ZodTypeProvider>();

  // What else a client expects of us than `100-continue` is not held against it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.decorateRequest('caller');
  app.setValidatorCompiler(validatorCompiler);
  // What we send is held by the types; the response schemas serve the reference.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  acceptJson(app);
  addReference(app, options);
  addMetrics(app, service);
  observeRequests(app, { log, telemetry });
  if (options.cors !== undefined) allowOrigins(app, options.cors);
  admitRequests(app, options);
  renderProblems(app);
  addOperations(app, options);
  return app;
}

function replaced(): never {
  throw new Error('a schema compiler of Fastify was asked for');
}

/** The log finds the ids of a request by itself: no logger is made per request. */
function oneForAll(log: Log): FastifyBaseLogger {
  const logger: FastifyBaseLogger = Object.create(log, { child: { value: () => logger } });
  return logger;
}

function acceptRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomHex(16);
}
