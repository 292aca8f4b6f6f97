/** The memory back office: calls of the admin API that the page needs, made with the token that browsers never see. */
import type { FastifyRequest } from 'fastify';
import { operatorHeader } from '#platform/audit/audit.ts';
import type { HttpClient } from '#platform/http/client.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';

const calls = [
  ['GET', '/memories'],
  ['POST', '/memories'],
  ['GET', '/memories/:id'],
  ['PUT', '/memories/:id'],
  ['DELETE', '/memories/:id'],
  ['GET', '/memories/:id/history'],
  ['POST', '/memories/:id/undo'],
  ['GET', '/profiles'],
  ['GET', '/profiles/:entity_type/:entity_id'],
  ['PUT', '/profiles/:entity_type/:entity_id'],
  ['DELETE', '/profiles/:entity_type/:entity_id'],
  ['DELETE', '/entities/:entity_type/:entity_id'],
  ['GET', '/entities/:entity_type/:entity_id/export'],
] as const;

export interface MemoryBackOffice {
  readonly client: HttpClient;
  readonly adminToken: string;
}

/** `guard` refuses everybody but operators. */
export function addMemoryRoutes(
  app: HttpServer,
  guard: { readonly onRequest: (request: FastifyRequest) => Promise<void> },
  { client, adminToken }: MemoryBackOffice,
): void {
  for (const [method, path] of calls) {
    app.route({
      method,
      url: `/api/memory${path}`,
      ...guard,
      schema: { tags: ['console'], summary: `${method} /admin${path} of the memory service` },
      handler: async (request, reply) => {
        const query = new URL(request.url, 'http://console').search;
        const answer = await client.send({
          method,
          path: `/admin${fill(path, request.params as Record<string, string>)}${query}`,
          route: `/admin${path}`,
          headers: { 'x-admin-token': adminToken, [operatorHeader]: 'console' },
          signal: reply.abandoned,
          ...(request.body === undefined || request.body === null ? {} : { json: request.body }),
        });
        // Its refusal is of our token, not of the operator's session.
        if (answer.status === 401)
          throw problems.engine_unavailable({ cause: new Error('MEMORY_ADMIN_TOKEN is refused') });
        reply.code(answer.status);
        if (answer.body.length === 0) return reply.send();
        return reply.type('application/json; charset=utf-8').send(answer.body);
      },
    });
  }
}

function fill(pattern: string, values: Readonly<Record<string, string>>): string {
  return pattern.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(values[name] ?? ''));
}
