/**
 * What is seen of every request: its ids, its trace, one log line, one measurement. None of them holds an address: an
 * address can be a bearer secret or name a user; the pattern of the route stands for it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.ts';
import type { Telemetry } from '../telemetry.ts';
import { inScope, readBaggage, readTrace } from '../trace.ts';
import type { HttpServer } from './httpserver.ts';
import { measureRequests } from './metrics.ts';
import { headersOfEveryAnswer } from './rendering.ts';

interface ObservingDeps {
  readonly service: string;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** Addresses that machines ask all the time. */
const routine: ReadonlySet<string | undefined> = new Set(['/health', '/ready', '/metrics']);
/** As nginx writes it: the client did not wait for its answer. */
const abandonedStatus = 499;

export function observeRequests(app: HttpServer, deps: ObservingDeps): void {
  const measure = measureRequests(app.metrics);
  app.decorateReply('abandoned', { getter: abandonedSignal });
  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    const { span, scope } = openScope(deps.telemetry, request);
    reply.headers(headersOfEveryAnswer).header('x-request-id', request.id);
    measure.begin();
    reply.raw.once('close', () => {
      const { method } = request;
      const route = request.routeOptions.url;
      const status = reply.raw.writableFinished ? reply.raw.statusCode : abandonedStatus;
      const durationMs = performance.now() - startedAt;
      measure.end({ method, route: route ?? 'none', status_code: status }, durationMs / 1000);
      span.end({
        name: route === undefined ? method : `${method} ${route}`,
        attributes: { 'http.response.status_code': status, ...(route === undefined ? {} : { 'http.route': route }) },
        failed: status >= 500,
      });
      const level = routine.has(route) ? 'debug' : 'info';
      inScope(scope, () =>
        deps.log[level](
          { method, route: route ?? 'none', status, durationMs: Math.round(durationMs * 10) / 10 },
          'request',
        ),
      );
    });
    inScope(scope, done);
  });
}

function openScope(telemetry: Telemetry, request: FastifyRequest) {
  const headers: IncomingHttpHeaders = request.headers;
  const span = telemetry.startSpan('server', request.method, readTrace(headers), {
    'http.request.method': request.method,
  });
  return { span, scope: { requestId: request.id, trace: span.trace, baggage: readBaggage(headers) } };
}

/** Fastify's own `request.signal` fires as soon as the body is read, so the response's end is watched instead. */
function abandonedSignal(this: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = this;
  const judge = () => {
    if (!raw.writableFinished) controller.abort();
  };
  if (raw.destroyed) judge();
  else raw.once('close', judge);
  return controller.signal;
}
