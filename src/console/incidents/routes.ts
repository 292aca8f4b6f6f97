/** The Incidents page: what screening blocked or people reported, and the decisions of operators (docs/specification/media.md#incidents). */

import type { Names } from '#accounts/people/api.ts';
import { assetParams } from '#media/api.ts';
import * as api from '#media/incidents/api.ts';
import { decisionRequest, incidentOrder } from '#media/reports/api.ts';
import { bodyOf } from '#platform/http/client.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { addForwards, forward, named, readFrom, type ServiceClients } from '../services.ts';

export function addIncidentRoutes(app: HttpServer, guard: OperatorGuard, { auth, media }: ServiceClients): void {
  const routes = routesOf(app, 'console');
  const params = api.incidentParams;
  const [resolution, decision] = [api.incidentResolution, decisionRequest].map((body) => ({ params, body }));

  routes.get('/api/incidents', guard, {
    summary: 'Incidents and their counts',
    querystring: api.incidentListing,
    handler: async ({ query }) => {
      const counting = readFrom(media, '/v1/incidents/counts', {});
      const [page, counts] = await Promise.all([readFrom<object>(media, '/v1/incidents', query), counting]);
      return { ...page, counts };
    },
  });

  routes.get('/api/incidents/:id/preview', guard, {
    summary: 'A small rendition, blurred or not',
    params,
    querystring: api.incidentPreview,
    handler: async (request, reply) => {
      const { params, query } = request;
      const look = { params, query, headers: named(request) };
      const response = await media.send({ method: 'GET', route: '/v1/incidents/:id/preview', ...look });
      if (response.status !== 200) bodyOf(response);
      return reply.type('image/webp').send(response.body);
    },
  });

  addForwards(app, guard, media, [
    ['get', '/api/files/:assetId/places', '/v1/assets/:assetId/places', 'Where a file is', { params: assetParams }],
    ['post', '/api/incidents', '/v1/incidents', 'Open an incident of a file', { body: incidentOrder }],
    ['get', '/api/incidents/:id', '/v1/incidents/:id', 'An incident', { params }],
    ['get', '/api/incidents/:id/reports', '/v1/incidents/:id/reports', 'The reports of an incident', { params }],
    ['get', '/api/rescreening', '/v1/rescreen', 'The progress of the newest rescreening'],
    ['post', '/api/incidents/:id/resolution', '/v1/incidents/:id/resolution', 'Uphold or clear it', resolution],
    ['post', '/api/incidents/:id/decision', '/v1/incidents/:id/decision', 'Allow, restrict or remove it', decision],
  ]);
  const exported = forward(media, 'GET', '/v1/incidents/:id/export');
  routes.post('/api/incidents/:id/export', guard, {
    summary: 'An incident with its reports and the email address of the owner, for authorities',
    params,
    handler: async (request) => {
      const record = (await exported(request)) as { readonly incident: api.Incident };
      const { ownerId: id } = record.incident;
      const { names } = await readFrom<Names>(auth, '/v1/people/names', { ids: id });
      return { ...record, owner: { id, email: names[id] ?? null } };
    },
  });

  const rescreen = forward(media, 'POST', '/v1/rescreen');
  routes.post('/api/rescreening', guard, {
    summary: 'Match all assets with the current lists',
    handler: async (request, reply) => reply.code(202).send(await rescreen(request)),
  });
}
