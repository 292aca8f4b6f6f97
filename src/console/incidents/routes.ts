/** The Incidents page: what screening blocked or people reported, and the decisions of operators (docs/specification/media.md#incidents). */

import { z } from 'zod';
import { incidentPreview } from '#media/incidents/api.ts';
import { decisionRequest } from '#media/reports/api.ts';
import { bodyOf, type HttpClient } from '#platform/http/client.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { forward, named } from '../services.ts';

const incidentQuery = z.object({
  status: z.enum(['open', 'upheld', 'cleared']).optional(),
  list: z.string().max(200).optional(),
  ownerId: z.guid().optional(),
  appealed: z.enum(['true', 'open']).optional(),
  order: z.enum(['newest', 'priority']).optional(),
  cursor: z.string().max(200).optional(),
});
const incidentPath = z.object({ id: z.uuid() });
const resolution = z.object({
  resolution: z.enum(['upheld', 'cleared']),
  note: z.string().max(2000).optional(),
});

export function addIncidentRoutes(app: HttpServer, guard: OperatorGuard, media: HttpClient): void {
  const routes = routesOf(app, 'console');

  routes.get(
    '/api/incidents',
    guard,
    { summary: 'Incidents and their counts', querystring: incidentQuery },
    async ({ query }) => {
      const [page, counts] = await Promise.all([
        media.send({ method: 'GET', route: '/v1/incidents', query: { ...query, limit: 50 } }),
        media.send({ method: 'GET', route: '/v1/incidents/counts' }),
      ]);
      return { ...bodyOf<object>(page), counts: bodyOf<object>(counts) };
    },
  );

  routes.get(
    '/api/incidents/:id',
    guard,
    { summary: 'An incident', params: incidentPath },
    forward(media, 'GET', '/v1/incidents/:id'),
  );

  routes.get(
    '/api/incidents/:id/preview',
    guard,
    { summary: 'A small rendition, blurred or not', params: incidentPath, querystring: incidentPreview },
    async (request, reply) => {
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
  );

  routes.post(
    '/api/incidents/:id/resolution',
    guard,
    { summary: 'Uphold or clear an incident', params: incidentPath, body: resolution },
    forward(media, 'POST', '/v1/incidents/:id/resolution'),
  );

  routes.get(
    '/api/incidents/:id/reports',
    guard,
    { summary: 'The reports of an incident', params: incidentPath },
    forward(media, 'GET', '/v1/incidents/:id/reports'),
  );

  routes.post(
    '/api/incidents/:id/decision',
    guard,
    { summary: 'Dismiss a report, or restrict or remove the content', params: incidentPath, body: decisionRequest },
    forward(media, 'POST', '/v1/incidents/:id/decision'),
  );

  routes.post(
    '/api/incidents/:id/export',
    guard,
    { summary: 'An incident with its reports, for authorities', params: incidentPath },
    forward(media, 'GET', '/v1/incidents/:id/export'),
  );

  routes.get(
    '/api/rescreening',
    guard,
    { summary: 'The progress of the newest rescreening' },
    forward(media, 'GET', '/v1/rescreen'),
  );

  const rescreen = forward(media, 'POST', '/v1/rescreen');
  routes.post(
    '/api/rescreening',
    guard,
    { summary: 'Match all assets with the current lists' },
    async (request, reply) => reply.code(202).send(await rescreen(request)),
  );
}
