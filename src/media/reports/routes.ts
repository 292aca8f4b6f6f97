/** The endpoints of reports (docs/specification/media.md#reports). */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import type { Db } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import type { MediaContext } from '../context.ts';
import { incident, incidentParams } from '../incidents/api.ts';
import { readIncident } from '../incidents/incidents.ts';
import type { MediaTables } from '../tables.ts';
import {
  decisionRequest,
  ownDecisions,
  ownReportListing,
  ownReportPage,
  report,
  reported,
  reportPage,
  reportRequest,
} from './api.ts';
import { decide, readOwnDecisions } from './deciding.ts';
import { readOwnReports, reportContent } from './reporting.ts';
import { findContent, listReports } from './reportstore.ts';

export function addReportRoutes(
  app: HttpServer,
  access: Access,
  deps: MediaContext,
  /** Of the client of a request. */
  addressOf: (request: FastifyRequest) => string,
): void {
  const routes = routesOf(app, 'reports');

  routes.post(
    '/v1/reports',
    access.anyone,
    {
      id: 'reportContent',
      summary: 'Report an asset, or the page of a share',
      description:
        'Reports content that the caller can read. The page of a share can be reported without an account. Another report by the same person returns the first one with status 200. A person, or an address without an account, can report 20 times a day.',
      problems: ['not_found', 'rate_limited'],
      example: { shareId: 'Zp3mJx0kT1S8bq2VvWcA5g', reason: 'copyright', note: 'This is my photo.' },
      client: { body: 'ReportRequest', answer: 'Reported' },
      body: reportRequest,
      response: { 200: reported.describe('The caller has reported it before.'), 201: reported },
    },
    async (request, reply) => {
      const caller = request.isAnonymous ? undefined : request.caller;
      const { id, isNew } = await reportContent(deps, caller, request.body, addressOf(request));
      return reply.code(isNew ? 201 : 200).send({ id });
    },
  );

  routes.get(
    '/v1/reports',
    access.userOrInternal,
    {
      id: 'listOwnReports',
      summary: 'List the reports of a person',
      description: 'Returns a page of what the person reported with their account.',
      problems: ['forbidden'],
      client: { query: 'OwnReportListing', answer: 'OwnReportPage' },
      querystring: ownReportListing,
      response: { 200: ownReportPage },
    },
    async ({ caller, query }) => readOwnReports(deps, caller, query),
  );

  routes.get(
    '/v1/incidents/:id/reports',
    access.internalOnly,
    {
      id: 'listReports',
      summary: 'List the reports of an incident',
      description: 'Returns what people wrote, oldest first.',
      problems: ['forbidden'],
      client: { answer: 'ReportPage' },
      params: incidentParams,
      response: { 200: reportPage },
    },
    async ({ params }) => ({ reports: await readReports(deps.db, params.id) }),
  );

  routes.post(
    '/v1/incidents/:id/decision',
    access.internalOnly,
    {
      id: 'decideIncident',
      summary: 'Dismiss a report, or restrict or remove the content',
      description:
        'Records a decision and its reasons. The owner and the people who reported the content get an email with the statement. The same decision again changes nothing.',
      problems: ['forbidden', 'not_found', 'not_decidable'],
      example: { decision: 'restrict', statement: 'The photo shows a person who did not agree.' },
      client: { body: 'DecisionRequest', answer: 'Incident', repeatable: true },
      params: incidentParams,
      body: decisionRequest,
      response: { 200: incident },
    },
    async ({ params, body }) => decide(deps, params.id, body),
  );

  routes.get(
    '/v1/decisions',
    access.userOrInternal,
    {
      id: 'listOwnDecisions',
      summary: 'List the decisions about your content',
      description: 'Returns the decisions of operators about reported and flagged content, with their reasons.',
      problems: ['forbidden'],
      client: { answer: 'OwnDecisions' },
      response: { 200: ownDecisions },
    },
    async ({ caller }) => readOwnDecisions(deps, caller),
  );

  routes.get(
    '/v1/incidents/:id/export',
    access.internalOnly,
    {
      id: 'exportIncident',
      summary: 'Export an incident with its reports, for authorities',
      description: 'Returns the incident, the digests of the content, the reports and the decision.',
      problems: ['forbidden', 'not_found'],
      client: { answer: 'IncidentExport' },
      params: incidentParams,
      response: { 200: incidentExport },
    },
    async ({ params }) => exportIncident(deps, params.id),
  );
}

// `GET /v1/incidents/:id/export`: all that is known about an incident, for authorities (docs/specification/media.md#reports).

const incidentExport = z.object({
  exportedAt: z.iso.datetime(),
  incident,
  content: z.object({
    kind: z.string(),
    mime: z.string(),
    byteSize: z.int(),
    sha256: z.string(),
    md5: z.string(),
    pdq: z.string().nullable(),
  }),
  reports: z.array(report),
});

/** Throws 404. */
async function exportIncident(deps: MediaContext, id: string): Promise<z.output<typeof incidentExport>> {
  const content = await findContent(deps.db, id);
  if (content === undefined) throw problems.not_found({ message: 'There is no such incident.' });
  return {
    exportedAt: new Date().toISOString(),
    incident: await readIncident(deps, id),
    content,
    reports: await readReports(deps.db, id),
  };
}

async function readReports(db: Db<MediaTables>, id: string) {
  const rows = await listReports(db, id);
  return rows.map(({ language, createdAt, ...row }) => ({ ...row, createdAt: createdAt.toISOString() }));
}
