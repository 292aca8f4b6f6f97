/**
 * What is seen of every request: its ids, its trace, one log line, one measurement. None of them holds an address: an
 * address can be a bearer secret or name a user; the pattern of the route stands for it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.ts';
import type { Span, Telemetry } from '../telemetry/telemetry.ts';
import { inScope, readBaggage, readTrace, type Scope, type Trace } from '../telemetry/trace.ts';
import type { HttpServer } from './httpserver.ts';
import { measureRequests } from './metrics.ts';
import { headersOfEveryAnswer } from './rendering.ts';

interface ObservingDeps {
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** Addresses that machines ask all the time. */
const routine: ReadonlySet<string | undefined> = new Set(['/health', '/ready', '/metrics']);
/** As nginx writes it: the client did not wait for its answer. */
const abandonedStatus = 499;

export function observeRequests(app: HttpServer, { log, telemetry }: ObservingDeps): void {
  const measure = measureRequests(app.metrics);
  app.decorateReply('abandoned', { getter: abandonedSignal });
  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    const span = startSpan(telemetry, request);
    const scope = new RequestScope(request, span);
    reply.headers(headersOfEveryAnswer).header('x-request-id', request.id);
    measure.begin();
    reply.raw.on('close', () => {
      const { method } = request;
      const route = request.routeOptions.url;
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

function startSpan(telemetry: Telemetry, { method, headers }: FastifyRequest): Span {
  return telemetry.startSpan('server', method, readTrace(headers), { 'http.request.method': method });
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

  /** Looked at by few: see `noTelemetry`. */
  get trace(): Trace {
    return this.#span.trace;
  }
}

/** Fastify's own `request.signal` fires as soon as the body is read, so the response's end is watched instead. */
function abandonedSignal(this: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = this;
  const judge = () => {
    if (!raw.writableEnded) controller.abort();
  };
  if (raw.destroyed) judge();
  else raw.once('close', judge);
  return controller.signal;
}
