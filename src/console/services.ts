/** The services that the operator's pages call, with the internal key, which browsers never see. */
import type { FastifyRequest } from 'fastify';
import { operatorHeader } from '#platform/audit/audit.ts';
import type { HttpClient } from '#platform/http/client.ts';
import { Problem, problems } from '#platform/problem.ts';
import { operatorName } from './operators/guard.ts';

export type CalledService = 'auth' | 'agent' | 'media' | 'memory' | 'notify';
export type ServiceClients = Readonly<Record<CalledService, HttpClient>>;

type Response = Awaited<ReturnType<HttpClient['send']>>;

/** The service records this name in the audit log. */
export const named = (request: FastifyRequest) => ({ [operatorHeader]: operatorName(request) });

/** Returns the body. Throws the problem of the service. A rejected key is a fault of the installation. */
export function bodyOf<T>(response: Response): T {
  const { status } = response;
  if (status < 300) return (response.body.length === 0 ? undefined : response.json()) as T;
  if (status === 401 || status === 403)
    throw problems.engine_unavailable({ cause: new Error('a service rejects INTERNAL_KEY') });
  const body = response.json();
  const textAt = (name: string) => {
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const message = textAt('message') ?? 'The service refused the request.';
  throw new Problem(textAt('error') ?? 'invalid_request', { status, message });
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
