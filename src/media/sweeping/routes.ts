import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { MediaStores } from '../context.ts';
import { sweepRequest, swept } from './api.ts';
import { sweepPage } from './sweep.ts';

export function addSweepRoutes(app: HttpServer, access: Access, deps: MediaStores): void {
  const routes = routesOf(app, 'media');
  routes.post('/v1/sweep', access.internalOnly, {
    id: 'sweep',
    summary: 'Find orphaned objects, and optionally delete them',
    description:
      'Finds one page of objects and rows without their counterparts. With `apply: true`, it removes them. Pass the `cursor` of the response to read the next page.',
    example: { apply: false },
    body: sweepRequest,
    response: { 200: swept },
    handler: async (request) => sweepPage(deps, request.body),
  });
}
