/** The Incidents page: what screening blocked or people reported, and the decisions of operators (docs/specification/media.md#incidents). */

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { incidentPreview } from '#media/incidents/api.ts';
import { decisionRequest } from '#media/reports/api.ts';
import { bodyOf, type HttpClient } from '#platform/http/client.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { named } from '../services.ts';

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
  /** In the name of the operator. The changes can be repeated. */
  const call = (request: FastifyRequest, route: string, method: 'GET' | 'POST' = 'GET') => {
    const { params, query, body } = request as { params: Record<string, string>; query: object; body?: object };
    const json = method === 'POST' && body ? { json: body } : {};
    return media.send({
      method,
      route,
      params,
      query: { ...query },
      ...json,
      headers: named(request),
      idempotent: true,
    });
  };
  const relay = async (...given: Parameters<typeof call>) => bodyOf<object>(await call(...given));
  const one = { params: incidentPath };

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

  routes.get('/api/incidents/:id', guard, { ...one, summary: 'An incident' }, async (request) =>
    relay(request, '/v1/incidents/:id'),
  );

  routes.get(
    '/api/incidents/:id/preview',
    guard,
    { ...one, summary: 'A small rendition, blurred or not', querystring: incidentPreview },
    async (request, reply) => {
      const response = await call(request, '/v1/incidents/:id/preview');
      if (response.status !== 200) bodyOf(response);
      return reply.type('image/webp').send(response.body);
    },
  );

  routes.post(
    '/api/incidents/:id/resolution',
    guard,
    { ...one, summary: 'Uphold or clear an incident', body: resolution },
    async (request) => relay(request, '/v1/incidents/:id/resolution', 'POST'),
  );

  routes.get('/api/incidents/:id/reports', guard, { ...one, summary: 'The reports of an incident' }, async (request) =>
    relay(request, '/v1/incidents/:id/reports'),
  );

  routes.post(
    '/api/incidents/:id/decision',
    guard,
    { ...one, summary: 'Dismiss a report, or restrict or remove the content', body: decisionRequest },
    async (request) => relay(request, '/v1/incidents/:id/decision', 'POST'),
  );

  routes.post(
    '/api/incidents/:id/export',
    guard,
    { ...one, summary: 'An incident with its reports, for authorities' },
    async (request) => relay(request, '/v1/incidents/:id/export'),
  );

  routes.get('/api/rescreening', guard, { summary: 'The progress of the newest rescreening' }, async (request) =>
    relay(request, '/v1/rescreen'),
  );

  routes.post(
    '/api/rescreening',
    guard,
    { summary: 'Match all assets with the current lists' },
    async (request, reply) => reply.code(202).send(await relay(request, '/v1/rescreen', 'POST')),
  );
}
