/** Creates one Fastify instance per service, with all rules that services share (docs/specification/http.md; docs/http.md). */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type preValidationHookHandler,
  type RouteOptions,
} from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { randomHex } from '../ids.ts';
import type { Log } from '../log.ts';
import { invalid } from '../problem.ts';
import {
  inScope,
  noTelemetry,
  readBaggage,
  readTrace,
  type Scope,
  type Span,
  type Telemetry,
  type Trace,
} from '../telemetry/trace.ts';
import { commit, version } from '../version.ts';
import { admitRequests } from './admission.ts';
import type { ApiDocument } from './apidocument.ts';
import { describeOperation } from './apireference.ts';
import { acceptJson } from './bodies.ts';
import { allowOrigins } from './cors.ts';
import type { HttpServer, ServerOptions } from './httpserver.ts';
import { addOperations } from './operations.ts';
import { renderReferencePage } from './referencepage.ts';
import { commonHeaders, refuseBadHttp, renderBadUrl, renderProblems } from './rendering.ts';
import { addServerErrors } from './servererrors.ts';

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

// Records every request: its ids, its trace, one log line and one measurement. None of them contains a URL, because a URL can be
// a bearer secret or identify a user. The pattern of the route replaces it.

interface ObservingOptions {
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** Paths that machines poll all the time. */
const routine: ReadonlySet<string | undefined> = new Set(['/health', '/ready', '/metrics', '/metrics/errors']);
/** As in nginx: the client closed the connection before the response. */
const abandonedStatus = 499;

function observeRequests(app: HttpServer, { log, telemetry }: ObservingOptions): void {
  const measure = measureRequests(app.metrics);
  app.decorateReply('abandoned', { getter: abandonedSignal });
  app.decorateRequest('route');
  app.decorateReply('onClose');
  app.addHook('onRequest', (request, reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url;
    request.route = route;
    const startedAt = performance.now();
    const span = telemetry.startSpan('server', method, readTrace(request.headers), { 'http.request.method': method });
    const scope = new RequestScope(request, span);
    reply.headers(commonHeaders).header('x-request-id', request.id);
    measure.begin();
    // The only listener for the end of a response, because each one costs time on every request.
    reply.raw.on('close', () => {
      reply.onClose?.(reply);
      const status = reply.raw.writableEnded ? reply.raw.statusCode : abandonedStatus;
      const durationMs = performance.now() - startedAt;
      measure.end({ method, route: route ?? 'none', status_code: status }, durationMs / 1000);
      span.end?.({
        name: route === undefined ? method : `${method} ${route}`,
        attributes: { 'http.response.status_code': status, ...(route === undefined ? {} : { 'http.route': route }) },
        failed: status >= 500,
      });
      const level = routine.has(route) ? 'debug' : 'info';
      if (!log.isLevelEnabled(level)) return;
      const facts = { method, route: route ?? 'none', status, durationMs: Math.round(durationMs * 10) / 10 };
      inScope(scope, () => log[level](facts, 'request'));
    });
    inScope(scope, done);
  });
}

class RequestScope implements Scope {
  readonly requestId: string;
  readonly baggage: string | undefined;
  readonly #span: Span;

  constructor(request: FastifyRequest, span: Span) {
    this.requestId = request.id;
    this.baggage = readBaggage(request.headers);
    this.#span = span;
  }

  /** A lazy getter, because most requests do not need it: see `noTelemetry`. */
  get trace(): Trace {
    return this.#span.trace;
  }
}

/** Fastify's own `request.signal` fires as soon as the body is read, so this watches the end of the response instead. */
function abandonedSignal(this: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = this;
  const abortIfUnfinished = () => {
    if (!raw.writableEnded) controller.abort();
  };
  if (raw.destroyed) abortIfUnfinished();
  else raw.once('close', abortIfUnfinished);
  return controller.signal;
}

// `GET /openapi.json` (3.1) and `GET /docs`, both generated from the routes and their schemas
// (docs/specification/http.md#service-endpoints).

const css = readFileSync(new URL('./reference.css', import.meta.url), 'utf8');
const cssHash = createHash('sha256').update(css).digest('base64');
const script = readFileSync(new URL('./reference.js', import.meta.url), 'utf8');
/** The page runs only the script of this service, which calls only this service. */
const pagePolicy = `default-src 'none'; style-src 'sha256-${cssHash}'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

function addReference(app: HttpServer, options: Pick<ServerOptions, 'service' | 'reference'>): void {
  const routes: RouteOptions[] = [];
  let document: Promise<ApiDocument> | undefined;
  let page: string | undefined;
  app.addHook('onRoute', (route) => void routes.push(route));
  // Loaded on first use, so that a start does not wait for it.
  const describeService = () =>
    (document ??= import('./openapi.ts').then((api) => api.describeRoutes(routes, options)));

  app.get(
    '/openapi.json',
    {
      schema: describeOperation({
        id: 'readOpenApi',
        summary: 'Read the OpenAPI document',
        description: 'Returns this document.',
        otherResponses: { 200: ['The result.', 'application/json'] },
      }),
    },
    describeService,
  );
  app.get(
    '/docs',
    {
      schema: describeOperation({
        id: 'readReference',
        summary: 'Show the reference page',
        description: 'Shows this document as a page, with examples and a form for requests.',
        otherResponses: { 200: ['The page.', 'text/html'] },
      }),
    },
    async (_request, reply) => {
      page ??= renderReferencePage(await describeService(), css);
      return reply.header('content-security-policy', pagePolicy).type('text/html; charset=utf-8').send(page);
    },
  );
  app.get('/docs/reference.js', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(script),
  );
}

// Validation messages that follow the name of the field: `body.to: is required` (docs/specification/http.md#errors).

type Fault = z.core.$ZodRawIssue;

/** Returns a message for common issues, or `undefined` to use zod's. A message set in a schema takes precedence. */
export function validationMessage(fault: Fault): string | undefined {
  switch (fault.code) {
    case 'invalid_type':
      return fault.input === undefined ? 'is required' : `must be ${withArticle(fault.expected)}`;
    case 'invalid_value':
      return fault.input === undefined ? 'is required' : `must be ${joinChoices(fault.values.map(shown))}`;
    case 'invalid_union':
      return fault.input === undefined ? 'is required' : unionMessage(fault.errors);
    case 'too_small':
      if (fault.minimum === 1 && hasLength(fault.origin)) return 'must not be empty';
      return `must be at least ${bound(fault.minimum, fault.origin)}`;
    case 'too_big':
      return `must be at most ${bound(fault.maximum, fault.origin)}`;
    case 'invalid_format':
      return fault.format === 'uuid' || fault.format === 'guid' ? 'must be a UUID' : undefined;
    default:
      return undefined;
  }
}

/** Reports the issue of the branch whose type matches. If no branch matches, lists all types. */
function unionMessage(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const firstIssues = branches.flatMap((branch) => branch.slice(0, 1));
  const matching = firstIssues.find((fault) => fault.code !== 'invalid_type' || fault.path.length > 0);
  if (matching) return matching.path.length > 0 ? `${matching.path.join('.')}: ${matching.message}` : matching.message;
  const types = firstIssues.flatMap((fault) => (fault.code === 'invalid_type' ? [withArticle(fault.expected)] : []));
  return types.length > 0 ? `must be ${joinChoices(types)}` : undefined;
}

const withArticle = (type: string): string => {
  const name = { int: 'integer', record: 'object', tuple: 'array' }[type] ?? type;
  return name === 'null' || name === 'undefined' ? name : `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;
};

const shown = (value: unknown): string => (typeof value === 'string' ? value : String(value));

function joinChoices(choices: readonly string[]): string {
  const unique = [...new Set(choices)];
  return unique.length < 2 ? unique.join('') : `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`;
}

const hasLength = (origin: string): boolean => origin === 'string' || origin === 'array';

function bound(limit: number | bigint, origin: string): string {
  const one = Number(limit) === 1;
  if (origin === 'string') return `${limit} ${one ? 'character' : 'characters'} long`;
  return origin === 'array' ? `${limit} ${one ? 'entry' : 'entries'} long` : String(limit);
}

// `GET /metrics` in Prometheus text (docs/specification/http.md#service-endpoints). No metric identifies a user, and every label is
// bounded.

/** Metrics of the process, shared by all its services. */
let processMetrics: Registry | undefined;

function registryOfProcess(): Registry {
  if (processMetrics === undefined) {
    processMetrics = new Registry();
    collectDefaultMetrics({ register: processMetrics });
  }
  return processMetrics;
}

function addMetrics(app: HttpServer, service: string): void {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  new Gauge({
    name: 'atelier_info',
    help: 'Always 1. Its labels describe the running program.',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ version, commit }, 1);
  app.decorate('metrics', registry);
  const ofProcess = registryOfProcess();
  app.get(
    '/metrics',
    {
      schema: describeOperation({
        id: 'readMetrics',
        summary: 'Read the metrics',
        description: 'Returns the metrics of the process in the text format of Prometheus.',
        otherResponses: { 200: ['The metrics.', 'text/plain'] },
      }),
    },
    async (_request, reply) => {
      const text = await Promise.all([registry.metrics(), ofProcess.metrics()]);
      return reply.type(registry.contentType).header('cache-control', 'no-store').send(text.join('\n'));
    },
  );
}

function measureRequests(registry: Registry) {
  let inFlight = 0;
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests in progress.',
    registers: [registry],
    collect() {
      this.set(inFlight);
    },
  });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response.',
    labelNames: ['method', 'route', 'status_code'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  });
  const lastErrorAt = new Gauge({
    name: 'http_last_server_error_timestamp_seconds',
    help: 'Unix time of the last response of a route with this status.',
    labelNames: ['method', 'route', 'status_code'],
    registers: [registry],
  });
  return {
    begin: () => {
      inFlight += 1;
    },
    end(labels: RequestLabels, durationS: number) {
      inFlight -= 1;
      duration.observe({ ...labels }, durationS);
      if (labels.status_code >= 500) lastErrorAt.set({ ...labels }, Date.now() / 1000);
    },
  };
}

interface RequestLabels {
  readonly method: string;
  /** The pattern, such as `/v1/media-tasks/:taskId`. `none` for unknown routes. */
  readonly route: string;
  /** 499: the client closed the connection before the response. */
  readonly status_code: number;
}
