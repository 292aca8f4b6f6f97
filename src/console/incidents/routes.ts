/** The Incidents page: what screening blocked or people reported, and the decisions of operators (docs/specification/media.md#incidents). */

import type { Names } from '#accounts/people/api.ts';
import { assetParams } from '#media/api.ts';
import * as api from '#media/incidents/api.ts';
import { decisionRequest, incidentOrder } from '#media/reports/api.ts';
import { bodyOf } from '#platform/http/client.ts';
import type { Routes } from '#platform/http/routes.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { addForwards, callOf, readFrom, type ServiceClients } from '../services.ts';

export function addIncidentRoutes(routes: Routes, guard: OperatorGuard, { auth, media }: ServiceClients): void {
  const params = api.incidentParams;
  const preview = { params, querystring: api.incidentPreview };
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

  addForwards(routes, guard, media, [
    ['get', '/api/files/:assetId/places', '/v1/assets/:assetId/places', 'Where a file is', { params: assetParams }],
    ['post', '/api/incidents', '/v1/incidents', 'Open an incident of a file', { body: incidentOrder }],
    ['get', '/api/incidents/:id', '/v1/incidents/:id', 'An incident', { params }],
    ['get', '/api/incidents/:id/reports', '/v1/incidents/:id/reports', 'The reports of an incident', { params }],
    ['get', '/api/incidents/:id/preview', '/v1/incidents/:id/preview', 'A small rendition, blurred or not', preview],
    ['post', '/api/rescreening', '/v1/rescreen', 'Match all assets with the current lists'],
    ['get', '/api/rescreening', '/v1/rescreen', 'The progress of the newest rescreening'],
    ['post', '/api/incidents/:id/resolution', '/v1/incidents/:id/resolution', 'Uphold or clear it', resolution],
    ['post', '/api/incidents/:id/decision', '/v1/incidents/:id/decision', 'Allow, restrict or remove it', decision],
  ]);

  routes.post('/api/incidents/:id/export', guard, {
    summary: 'An incident with its reports and the email address of the owner, for authorities',
    params,
    handler: async (request) => {
      const call = callOf(request);
      const record = bodyOf<{ readonly incident: api.Incident }>(
        await media.send({ method: 'GET', route: '/v1/incidents/:id/export', ...call }),
      );
      const { ownerId: id } = record.incident;
      const { names } = await readFrom<Names>(auth, '/v1/people/names', { ids: id });
      return { ...record, owner: { id, email: names[id] ?? null } };
    },
  });
}
