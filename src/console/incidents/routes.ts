/** The Incidents page: what screening blocked or people reported, and the decisions of operators (docs/specification/media.md#incidents). */

import { z } from 'zod';
import { assetParams } from '#media/api.ts';
import { incidentListing, incidentPreview } from '#media/incidents/api.ts';
import { decisionRequest, incidentOrder } from '#media/reports/api.ts';
import { bodyOf, type HttpClient } from '#platform/http/client.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { addForwards, forward, named } from '../services.ts';

const incidentPath = z.object({ id: z.uuid() });
const resolution = z.object({
  resolution: z.enum(['upheld', 'cleared']),
  note: z.string().max(2000).optional(),
});

export function addIncidentRoutes(app: HttpServer, guard: OperatorGuard, media: HttpClient): void {
  const routes = routesOf(app, 'console');

  routes.get('/api/incidents', guard, {
    summary: 'Incidents and their counts',
    querystring: incidentListing,
    handler: async ({ query }) => {
      const [page, counts] = await Promise.all([
        media.send({ method: 'GET', route: '/v1/incidents', query }),
        media.send({ method: 'GET', route: '/v1/incidents/counts' }),
      ]);
      return { ...bodyOf<object>(page), counts: bodyOf<object>(counts) };
    },
  });

  routes.get('/api/incidents/:id/preview', guard, {
    summary: 'A small rendition, blurred or not',
    params: incidentPath,
    querystring: incidentPreview,
    handler: async (request, reply) => {
      const response = await media.send({
        method: 'GET',
        route: '/v1/incidents/:id/preview',
        params: request.params,
        query: request.query,
        headers: named(request),
      });
      if (response.status !== 200) bodyOf(response);
      return reply.type('image/webp').send(response.body);
    },
  });

  const params = incidentPath;
  addForwards(app, guard, media, [
    ['get', '/api/files/:assetId/places', '/v1/assets/:assetId/places', 'Where a file is', { params: assetParams }],
    ['post', '/api/incidents', '/v1/incidents', 'Open an incident of a file', { body: incidentOrder }],
    ['get', '/api/incidents/:id', '/v1/incidents/:id', 'An incident', { params }],
    ['get', '/api/incidents/:id/reports', '/v1/incidents/:id/reports', 'The reports of an incident', { params }],
    ['get', '/api/rescreening', '/v1/rescreen', 'The progress of the newest rescreening'],
    [
      ...(['post', '/api/incidents/:id/resolution', '/v1/incidents/:id/resolution'] as const),
      ...(['Uphold or clear an incident', { params, body: resolution }] as const),
    ],
    [
      ...(['post', '/api/incidents/:id/decision', '/v1/incidents/:id/decision'] as const),
      ...(['Dismiss a report, or restrict or remove the content', { params, body: decisionRequest }] as const),
    ],
  ]);
  routes.post('/api/incidents/:id/export', guard, {
    summary: 'An incident with its reports, for authorities',
    params,
    handler: forward(media, 'GET', '/v1/incidents/:id/export'),
  });

  const rescreen = forward(media, 'POST', '/v1/rescreen');
  routes.post('/api/rescreening', guard, {
    summary: 'Match all assets with the current lists',
    handler: async (request, reply) => reply.code(202).send(await rescreen(request)),
  });
}
