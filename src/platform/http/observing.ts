/**
 * Records every request: its ids, its trace, one log line and one measurement. None of them contains a URL, because a URL can be
 * a bearer secret or identify a user. The pattern of the route replaces it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.ts';
import type { Span, Telemetry } from '../telemetry/telemetry.ts';
import { inScope, readBaggage, readTrace, type Scope, type Trace } from '../telemetry/trace.ts';
import type { HttpServer } from './httpserver.ts';
import { measureRequests } from './metrics.ts';
import { commonHeaders } from './rendering.ts';

interface ObservingDeps {
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** Paths that machines poll all the time. */
const routine: ReadonlySet<string | undefined> = new Set(['/health', '/ready', '/metrics', '/metrics/errors']);
/** As in nginx: the client closed the connection before the response. */
const abandonedStatus = 499;

export function observeRequests(app: HttpServer, { log, telemetry }: ObservingDeps): void {
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
