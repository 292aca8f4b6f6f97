import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { sweepRequest, swept } from './api.ts';
import type { SweepDeps } from './page.ts';
import { sweepPage } from './sweep.ts';

export function addSweepRoutes(app: HttpServer, access: Access, deps: SweepDeps): void {
  app.post(
    '/v1/sweep',
    {
      ...access.internalOnly,
      schema: {
        tags: ['media'],
        summary: 'Find orphaned objects, and optionally delete them',
        body: sweepRequest,
        response: { 200: swept },
      },
    },
    async (request) => sweepPage(deps, request.body),
  );
}
