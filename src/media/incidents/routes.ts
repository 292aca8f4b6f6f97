/** The endpoints of incidents, for operators (docs/specification/media.md#incidents). */

import { Readable } from 'node:stream';
import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Quarantine } from '../quarantine/quarantine.ts';
import {
  appealed,
  incident,
  incidentAppeal,
  incidentCounts,
  incidentListing,
  incidentPage,
  incidentParams,
  incidentPreview,
  incidentResolution,
} from './api.ts';
import { appeal } from './appealing.ts';
import { countIncidents, decideIncident, type IncidentDeps, readIncident, readIncidents } from './incidents.ts';
import { type PreviewDeps, renderPreview } from './preview.ts';

export interface IncidentRouteDeps extends IncidentDeps, PreviewDeps {
  readonly db: PreviewDeps['db'];
  readonly quarantine: Pick<Quarantine, 'open'>;
}

export function addIncidentRoutes(app: HttpServer, access: Access, deps: IncidentRouteDeps): void {
  const routes = routesOf(app, 'incidents');

  routes.get(
    '/v1/incidents',
    access.internalOnly,
    {
      id: 'listIncidents',
      summary: 'List incidents, newest first',
      description: 'Returns a page of content that screening has blocked.',
      problems: ['forbidden'],
      client: { query: 'IncidentListing', answer: 'IncidentPage' },
      querystring: incidentListing,
      response: { 200: incidentPage },
    },
    async (request) => readIncidents(deps, request.query),
  );

  routes.get(
    '/v1/incidents/counts',
    access.internalOnly,
    {
      id: 'countIncidents',
      summary: 'Count incidents by status and list',
      description: 'Returns the numbers of incidents by status and by list, and the open appeals.',
      problems: ['forbidden'],
      client: { answer: 'IncidentCounts' },
      response: { 200: incidentCounts },
    },
    async () => countIncidents(deps),
  );

  routes.get(
    '/v1/incidents/:id/preview',
    access.internalOnly,
    {
      id: 'previewIncident',
      summary: 'Preview the content of an incident, blurred',
      description:
        'Returns a blurred image of at most 24 pixels, if the same bytes remain elsewhere. Reported and flagged content can be shown as it is. A video is shown by its poster.',
      problems: ['forbidden', 'not_found', 'nothing_left_to_show'],
      otherResponses: { 200: ['A WebP image.', 'image/webp'] },
      client: { kind: 'foreign' },
      params: incidentParams,
      querystring: incidentPreview,
    },
    async ({ params, query }, reply) =>
      reply.type('image/webp').send(await renderPreview(deps, params.id, query.sharp !== undefined)),
  );

  routes.get(
    '/v1/incidents/:id/evidence',
    access.internalOnly,
    {
      id: 'readEvidence',
      summary: 'Read the blocked object of an incident',
      description:
        'Returns the bytes of the blocked object as they were uploaded, if `MEDIA_QUARANTINE_KEY` was set then. Each request is recorded in the audit log.',
      problems: ['forbidden', 'not_found', 'no_evidence', 'evidence_locked'],
      otherResponses: { 200: ['The bytes, of any type.', 'application/octet-stream'] },
      client: { kind: 'foreign' },
      params: incidentParams,
    },
    async (request, reply) => {
      const bytes = await deps.quarantine.open(request.params.id);
      return reply
        .type('application/octet-stream')
        .header('content-disposition', `attachment; filename="${request.params.id}.bin"`)
        .send(Readable.from(bytes, { objectMode: false }));
    },
  );

  routes.post(
    '/v1/incidents/:id/appeal',
    access.userOrInternal,
    {
      id: 'appealIncident',
      summary: 'Appeal once against the blocking of your content, by the id of the incident or of the asset',
      description:
        'Records an appeal of the owner. An incident can have one appeal. A cleared incident cannot be appealed.',
      problems: ['forbidden', 'not_found', 'not_appealable'],
      example: { text: 'This is a photo of a public monument.' },
      client: { body: 'IncidentAppeal', answer: 'AppealedIncident' },
      params: incidentParams,
      body: incidentAppeal,
      response: { 200: appealed },
    },
    async ({ caller, params, body }) => appeal(deps, caller, params.id, body.text),
  );

  routes.get(
    '/v1/incidents/:id',
    access.internalOnly,
    {
      id: 'readIncident',
      summary: 'Read an incident',
      description: 'Returns an incident.',
      problems: ['forbidden', 'not_found'],
      client: { answer: 'Incident' },
      params: incidentParams,
      response: { 200: incident },
    },
    async (request) => readIncident(deps, request.params.id),
  );

  routes.post(
    '/v1/incidents/:id/resolution',
    access.internalOnly,
    {
      id: 'resolveIncident',
      summary: 'Uphold or clear an incident',
      description:
        'Records a decision. After `cleared`, the same content passes screening. Removed objects are not restored.',
      problems: ['forbidden', 'not_found', 'not_decidable'],
      example: { resolution: 'cleared', note: 'A false positive: the photo of a public monument.' },
      client: { body: 'IncidentResolution', answer: 'Incident', repeatable: true },
      params: incidentParams,
      body: incidentResolution,
      response: { 200: incident },
    },
    async (request) => decideIncident(deps, request.params.id, request.body),
  );
}
