/** Passes the response of a service on to the page. */
import type { FastifyReply } from 'fastify';
import type { HttpClient } from '#platform/http/client.ts';
import { problems } from '#platform/problem.ts';

type ServiceResponse = Awaited<ReturnType<HttpClient['send']>>;

/**
 * Throws `engine_unavailable` for a 401, which is about the console's key, not about the session of the operator.
 * `setting` is the one that holds the key.
 */
export function assertKeyAccepted({ status }: ServiceResponse, service: string, setting = 'INTERNAL_KEY'): void {
  if (status === 401)
    throw problems.engine_unavailable({ cause: new Error(`the ${service} service rejects ${setting}`) });
}

/** Throws as `assertKeyAccepted`. */
export function passOn(
  reply: FastifyReply,
  response: ServiceResponse,
  service: string,
  setting?: string,
): FastifyReply {
  assertKeyAccepted(response, service, setting);
  reply.code(response.status);
  if (response.body.length === 0) return reply.send();
  return reply.type('application/json; charset=utf-8').send(response.body);
}
