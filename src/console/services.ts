/** The services that the operator's pages call, with the internal key, which browsers never see. */
import type { FastifyRequest, FastifySchema } from 'fastify';
import { operatorHeader } from '#platform/audit/audit.ts';
import { bodyOf, type Call, type HttpClient } from '#platform/http/client.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { Problem } from '#platform/problem.ts';
import { type OperatorGuard, operatorName } from './operators/guard.ts';

export type CalledService = 'auth' | 'agent' | 'media' | 'memory' | 'notify';
export type ServiceClients = Readonly<Record<CalledService, HttpClient>>;

/** The service records this name in the audit log. */
export const named = (request: FastifyRequest) => ({ [operatorHeader]: operatorName(request) });

/** Handles a route by the same request to a service, in the name of the operator. Repeating it must be safe. Throws the service's error. */
export function forward(client: HttpClient, method: Call['method'], route: string, options: Partial<Call> = {}) {
  return async (request: FastifyRequest): Promise<object> => {
    const { params, query, body } = request as Pick<Call, 'params' | 'query'> & { readonly body: unknown };
    const json = body ?? undefined;
    const headers = named(request);
    const call = { method, route, headers, idempotent: true, ...(params && { params }), ...(query && { query }) };
    return bodyOf<object>(await client.send({ ...call, ...(json !== undefined && { json }), ...options }));
  };
}

/** Throws as `bodyOf`. */
export const readFrom = async <T = unknown>(
  client: HttpClient,
  route: string,
  query: object,
  params = {},
): Promise<T> => bodyOf<T>(await client.send({ method: 'GET', route, query: { ...query }, params }));

type Forwarded = readonly [
  method: 'get' | 'post' | 'delete',
  url: string,
  route: string,
  summary: string,
  schema?: FastifySchema,
];

/** Adds routes that only forward a request. */
export function addForwards(
  app: HttpServer,
  guard: OperatorGuard,
  client: HttpClient,
  all: readonly Forwarded[],
): void {
  const routes = routesOf(app, 'console');
  for (const [method, url, route, summary, schema] of all) {
    const handler = forward(client, method.toUpperCase() as Call['method'], route);
    routes[method](url, guard, { summary, ...schema, handler });
  }
}

/** For pages that show many parts: one that a service does not give leaves the others. */
export type Part<T> =
  | { readonly isThere: true; readonly value: T }
  | { readonly isThere: false; readonly reason: string };

export async function partOf<T>(load: Promise<T>): Promise<Part<T>> {
  try {
    return { isThere: true, value: await load };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { isThere: false, reason: error.message };
  }
}

// Links to traces, for installations that send them to a collector.

/** `null`: there is no trace, or no page for traces is set. */
export type TraceLink = (traceId: string | undefined | null) => string | null;

/** `template`: CONSOLE_TRACE_URL, with `{traceId}` where the id belongs. */
export function createTraceLink(template: string | undefined): TraceLink {
  return (traceId) =>
    template === undefined || !/^[0-9a-f]{32}$/.test(traceId ?? '')
      ? null
      : template.replaceAll('{traceId}', traceId ?? '');
}
