/** The endpoints of incidents, for operators (docs/specification/media.md#incidents). */

import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import {
  appealed,
  incident,
  incidentAppeal,
  incidentCounts,
  incidentListing,
  incidentPage,
  incidentParams,
  incidentResolution,
} from './api.ts';
import { appeal } from './appealing.ts';
import { countIncidents, decideIncident, type IncidentDeps, readIncident, readIncidents } from './incidents.ts';
import { type PreviewDeps, renderPreview } from './preview.ts';

export function addIncidentRoutes(app: HttpServer, access: Access, deps: IncidentDeps & PreviewDeps): void {
  const routes = routesOf(app, 'incidents');

  routes.get(
    '/v1/incidents',
    access.internalOnly,
    { summary: 'List incidents, newest first', querystring: incidentListing, response: { 200: incidentPage } },
    async (request) => readIncidents(deps, request.query),
  );

  routes.get(
    '/v1/incidents/counts',
    access.internalOnly,
    { summary: 'Count incidents by status and list', response: { 200: incidentCounts } },
    async () => countIncidents(deps),
  );

  routes.get(
    '/v1/incidents/:id/preview',
    access.internalOnly,
    { summary: 'Preview the content of an incident, blurred', params: incidentParams },
    async (request, reply) => reply.type('image/webp').send(await renderPreview(deps, request.params.id)),
  );

  routes.post(
    '/v1/incidents/:id/appeal',
    access.userOrInternal,
    {
      summary: 'Appeal once against the blocking of your content, by the id of the incident or of the asset',
      params: incidentParams,
      body: incidentAppeal,
      response: { 200: appealed },
    },
    async ({ caller, params, body }) => appeal(deps, caller, params.id, body.text),
  );

  routes.get(
    '/v1/incidents/:id',
    access.internalOnly,
    { summary: 'Read an incident', params: incidentParams, response: { 200: incident } },
    async (request) => readIncident(deps, request.params.id),
  );

  routes.post(
    '/v1/incidents/:id/resolution',
    access.internalOnly,
    {
      summary: 'Uphold or clear an incident',
      params: incidentParams,
      body: incidentResolution,
      response: { 200: incident },
    },
    async (request) => decideIncident(deps, request.params.id, request.body),
  );
}
