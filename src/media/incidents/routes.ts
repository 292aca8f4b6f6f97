/** The endpoints of incidents, for operators (docs/specification/media.md#incidents). */
import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { incident, incidentListing, incidentPage, incidentParams, incidentResolution } from './api.ts';
import { decideIncident, type IncidentDeps, readIncident, readIncidents } from './incidents.ts';

export function addIncidentRoutes(app: HttpServer, access: Access, deps: IncidentDeps): void {
  const tags = ['incidents'];

  app.get(
    '/v1/incidents',
    {
      ...access.internalOnly,
      schema: {
        tags,
        summary: 'List incidents, newest first',
        querystring: incidentListing,
        response: { 200: incidentPage },
      },
    },
    async (request) => readIncidents(deps, request.query),
  );

  app.get(
    '/v1/incidents/:id',
    {
      ...access.internalOnly,
      schema: { tags, summary: 'Read an incident', params: incidentParams, response: { 200: incident } },
    },
    async (request) => readIncident(deps, request.params.id),
  );

  app.post(
    '/v1/incidents/:id/resolution',
    {
      ...access.internalOnly,
      schema: {
        tags,
        summary: 'Uphold or clear an incident',
        params: incidentParams,
        body: incidentResolution,
        response: { 200: incident },
      },
    },
    async (request) => decideIncident(deps, request.params.id, request.body),
  );
}
