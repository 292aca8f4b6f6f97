/** The memory back office: forwards the admin API calls that the page needs, with a token that browsers never see. */
import { operatorHeader } from '#platform/audit/audit.ts';
import type { HttpClient } from '#platform/http/client.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import { type OperatorGuard, operatorName } from './operators/guard.ts';

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

export function addMemoryRoutes(app: HttpServer, guard: OperatorGuard, { client, adminToken }: MemoryBackOffice): void {
  for (const [method, path] of calls) {
    app.route({
      method,
      url: `/api/memory${path}`,
      ...guard,
      schema: { tags: ['console'], summary: `${method} /admin${path} of the memory service` },
      handler: async (request, reply) => {
        const query = new URL(request.url, 'http://console').search;
        const response = await client.send({
          method,
          path: `/admin${fill(path, request.params as Record<string, string>)}${query}`,
          route: `/admin${path}`,
          headers: { 'x-admin-token': adminToken, [operatorHeader]: operatorName(request) },
          signal: reply.abandoned,
          ...(request.body === undefined || request.body === null ? {} : { json: request.body }),
        });
        // It is about the token of the console, not about the session of the operator.
        if (response.status === 401)
          throw problems.engine_unavailable({ cause: new Error('the memory service rejects MEMORY_ADMIN_TOKEN') });
        reply.code(response.status);
        if (response.body.length === 0) return reply.send();
        return reply.type('application/json; charset=utf-8').send(response.body);
      },
    });
  }
}

function fill(pattern: string, values: Readonly<Record<string, string>>): string {
  return pattern.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(values[name] ?? ''));
}
