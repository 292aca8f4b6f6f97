/** The memory back office: forwards the admin API calls that the page needs, with a token that browsers never see. */
import type { HttpClient } from '#platform/http/client.ts';
import type { Routes } from '#platform/http/routes.ts';
import type { OperatorGuard } from './operators/guard.ts';
import { forward } from './services.ts';

const calls = [
  ['get', '/memories'],
  ['post', '/memories'],
  ['get', '/memories/:id'],
  ['put', '/memories/:id'],
  ['delete', '/memories/:id'],
  ['get', '/memories/:id/history'],
  ['post', '/memories/:id/undo'],
  ['get', '/profiles'],
  ['get', '/profiles/:entity_type/:entity_id'],
  ['put', '/profiles/:entity_type/:entity_id'],
  ['delete', '/profiles/:entity_type/:entity_id'],
  ['delete', '/entities/:entity_type/:entity_id'],
  ['get', '/entities/:entity_type/:entity_id/export'],
] as const;

export interface MemoryBackOffice {
  readonly client: HttpClient;
  readonly adminToken: string;
}

export function addMemoryRoutes(routes: Routes, guard: OperatorGuard, { client, adminToken }: MemoryBackOffice): void {
  const headers = { 'x-admin-token': adminToken };
  for (const [method, path] of calls) {
    const name = method.toUpperCase() as Uppercase<typeof method>;
    routes[method](`/api/memory${path}`, guard, {
      summary: `${name} /admin${path} of the memory service`,
      // An addition and an undo are not repeated.
      handler: forward(client, name, `/admin${path}`, { headers, idempotent: name !== 'POST' }),
    });
  }
}
