/** The services that the operator's pages call, with the internal key, which browsers never see. */
import type { FastifyRequest } from 'fastify';
import { operatorHeader } from '#platform/audit/audit.ts';
import type { HttpClient } from '#platform/http/client.ts';
import { Problem } from '#platform/problem.ts';
import { operatorName } from './operators/guard.ts';

export type CalledService = 'auth' | 'agent' | 'media' | 'memory' | 'notify';
export type ServiceClients = Readonly<Record<CalledService, HttpClient>>;

/** The service records this name in the audit log. */
export const named = (request: FastifyRequest) => ({ [operatorHeader]: operatorName(request) });

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
