/** The services that the operator's pages call, with the internal key, which browsers never see. */
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { operatorHeader } from '#platform/audit/audit.ts';
import { bodyOf, type Call, type HttpClient } from '#platform/http/client.ts';
import type { Routes } from '#platform/http/routes.ts';
import { Problem } from '#platform/problem.ts';
import { type OperatorGuard, operatorName } from './operators/guard.ts';

export type CalledService = 'auth' | 'agent' | 'media' | 'memory' | 'notify';
export type ServiceClients = Readonly<Record<CalledService, HttpClient>>;

/** The request of an operator, to send it on to a service, which records the name of the operator in the audit log. */
export function callOf(request: FastifyRequest): Pick<Call, 'params' | 'query' | 'headers' | 'json'> {
  const { params, query, body: json } = request as Pick<Call, 'params' | 'query'> & { readonly body: unknown };
  return {
    headers: { [operatorHeader]: operatorName(request) },
    ...(params && { params }),
    ...(query && { query }),
    ...(json != null && { json }),
  };
}

/** Handles a route by the same request to a service. Repeating it must be safe, unless `options` deny it. Throws the service's error. */
export function forward(
  client: HttpClient,
  method: Call['method'],
  route: string,
  options: Partial<Call> = {},
  recorded?: Recorded,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const call = callOf(request);
    const headers = { ...call.headers, ...options.headers };
    const response = await client.send({ method, route, idempotent: true, ...call, ...options, headers });
    if (response.status >= 300) bodyOf(response);
    await recorded?.(request);
    reply.code(response.status);
    if (response.body.length === 0) return reply.send();
    return reply.type(String(response.headers['content-type'])).send(response.body);
  };
}

/** Throws as `bodyOf`. */
export const readFrom = async <T = unknown>(
  client: HttpClient,
  route: string,
  query: object,
  params = {},
): Promise<T> => bodyOf<T>(await client.send({ method: 'GET', route, query: { ...query }, params }));

/** Records what the service has done, before the response. */
type Recorded = (request: FastifyRequest) => Promise<void>;

type Forwarded = readonly [
  method: 'get' | 'post' | 'put' | 'delete',
  url: string,
  route: string,
  summary: string,
  schema?: FastifySchema,
  recorded?: Recorded,
];

/** Adds routes that only forward a request. */
export function addForwards(routes: Routes, guard: OperatorGuard, client: HttpClient, all: readonly Forwarded[]): void {
  for (const [method, url, route, summary, schema, recorded] of all) {
    const handler = forward(client, method.toUpperCase() as Call['method'], route, {}, recorded);
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
