/** The endpoints of reports (docs/specification/media.md#reports). */
import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import type { Caller } from '#platform/access/caller.ts';
import { type Db, holdName, transaction } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { toContentLanguage } from '#platform/language.ts';
import { invalid, problems } from '#platform/problem.ts';
import { assetParams } from '../api.ts';
import { findAsset } from '../assets/assetstore.ts';
import { mayRead, ownerFor } from '../assets/ownership.ts';
import type { MediaContext } from '../context.ts';
import { incident, incidentParams } from '../incidents/api.ts';
import { readIncident, toIncident } from '../incidents/incidents.ts';
import { listIncidents } from '../screening/incidentstore.ts';
import { findShare } from '../shares/sharestore.ts';
import type { MediaTables } from '../tables.ts';
import * as api from './api.ts';
import { decide, readOwnDecisions } from './deciding.ts';
import * as store from './reportstore.ts';

export function addReportRoutes(
  app: HttpServer,
  access: Access,
  deps: MediaContext,
  /** Of the client of a request. */
  addressOf: (request: FastifyRequest) => string,
): void {
  const routes = routesOf(app, 'reports');

  routes.post('/v1/reports', access.anyone, {
    id: 'reportContent',
    summary: 'Report an asset, or the page of a share',
    description:
      'Reports content that the caller can read. The page of a share can be reported without an account. Another report by the same person returns the first one with status 200. A person, or an address without an account, can report 20 times a day.',
    problems: ['not_found', 'rate_limited'],
    example: { shareId: 'Zp3mJx0kT1S8bq2VvWcA5g', reason: 'copyright', note: 'This is my photo.' },
    body: api.reportRequest,
    response: { 200: api.reported.describe('The caller has reported it before.'), 201: api.reported },
    handler: async (request, reply) => {
      const caller = request.isAnonymous ? undefined : request.caller;
      const { id, isNew } = await reportContent(deps, caller, request.body, addressOf(request));
      return reply.code(isNew ? 201 : 200).send({ id });
    },
  });

  routes.get('/v1/reports', access.userOrInternal, {
    id: 'listOwnReports',
    summary: 'List the reports of a person',
    description: 'Returns a page of what the person reported with their account.',
    problems: ['forbidden'],
    querystring: api.ownReportListing,
    response: { 200: api.ownReportPage },
    handler: async ({ caller, query }) => readOwnReports(deps, caller, query),
  });

  routes.get('/v1/incidents/:id/reports', access.internalOnly, {
    id: 'listReports',
    summary: 'List the reports of an incident',
    description: 'Returns what people wrote, oldest first.',
    params: incidentParams,
    response: { 200: api.reportPage },
    handler: async ({ params }) => ({ reports: await readReports(deps.db, params.id) }),
  });

  routes.post('/v1/incidents/:id/decision', access.internalOnly, {
    id: 'decideIncident',
    summary: 'Dismiss a report, or restrict or remove the content',
    description:
      'Records a decision and its reasons. The owner and the people who reported the content get an email with the statement. The same decision again changes nothing.',
    problems: ['not_found', 'not_decidable'],
    example: { decision: 'restrict', statement: 'The photo shows a person who did not agree.' },
    client: { repeatable: true },
    params: incidentParams,
    body: api.decisionRequest,
    response: { 200: incident },
    handler: async ({ params, body }) => decide(deps, params.id, body),
  });

  routes.post('/v1/incidents', access.internalOnly, {
    id: 'openIncident',
    summary: 'Open an incident of an asset, to decide about it',
    description: 'Returns the open incident of the asset, or a new one without a report.',
    problems: ['not_found'],
    example: { assetId: '5f0c3d4e-8a7b-4c1d-9e2f-3a4b5c6d7e8f' },
    client: { kind: 'foreign' },
    body: api.incidentOrder,
    response: { 200: incident },
    handler: async ({ body }) => {
      const id = await store.joinAssetIncident(deps.db, body.assetId, null, false, 0);
      if (id === undefined) throw noSuchContent();
      return readIncident(deps, id);
    },
  });

  routes.get('/v1/assets/:assetId/places', access.internalOnly, {
    id: 'listPlaces',
    summary: 'List where the content of an asset is, and its incidents',
    description: 'Returns the asset, its copies, and uploads of the same bytes by anyone. The asset can be deleted.',
    client: { kind: 'foreign' },
    params: assetParams,
    response: { 200: api.contentPlaces },
    handler: async ({ params: { assetId } }) => {
      const places = await store.findPlaces(deps.db, assetId, mostPlaces);
      const alike = [assetId, ...places.map((place) => place.assetId)];
      const incidents = await listIncidents(deps.db, { alike }, undefined, mostPlaces);
      return { places, incidents: incidents.map(toIncident) };
    },
  });

  routes.get('/v1/decisions', access.userOrInternal, {
    id: 'listOwnDecisions',
    summary: 'List the decisions about your content',
    description: 'Returns the decisions of operators about reported and flagged content, with their reasons.',
    problems: ['forbidden'],
    response: { 200: api.ownDecisions },
    handler: async ({ caller }) => readOwnDecisions(deps, caller),
  });

  routes.get('/v1/incidents/:id/export', access.internalOnly, {
    id: 'exportIncident',
    summary: 'Export an incident with its reports, for authorities',
    description: 'Returns the incident, the digests of the content, the reports and the decision.',
    problems: ['not_found'],
    params: incidentParams,
    response: { 200: incidentExport },
    handler: async ({ params }) => exportIncident(deps, params.id),
  });
}

const mostPlaces = 100;

// `GET /v1/incidents/:id/export`: all that is known about an incident, for authorities (docs/specification/media.md#reports).

export const incidentExport = z.object({
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
  reports: z.array(api.report),
});

/** Throws 404. */
async function exportIncident(deps: MediaContext, id: string): Promise<z.output<typeof incidentExport>> {
  const incident = await readIncident(deps, id);
  const [content, reports] = [await store.findContent(deps.db, id), await readReports(deps.db, id)];
  return { exportedAt: new Date().toISOString(), incident, content, reports };
}

async function readReports(db: Db<MediaTables>, id: string) {
  const rows = await store.listReports(db, id);
  return rows.map(({ language, createdAt, ...row }) => ({ ...row, createdAt: createdAt.toISOString() }));
}

// `POST /v1/reports` (docs/specification/media.md#reports): anyone who can read content can report it, once. A page needs no account;
// its reporters are counted by their address, of which only a keyed digest is stored.

/** Of a person or an address. */
const mostPerDay = 20;
const priorityReasons: readonly string[] = ['minor', 'intimate'];

interface Reporter {
  readonly name: string;
  /** `null`: without an account. */
  readonly userId: string | null;
}

/** `caller`: `undefined` without a credential. Throws 400, 401, 404 (what the caller cannot read) and 429. */
async function reportContent(
  deps: MediaContext,
  caller: Caller | undefined,
  request: api.ReportRequest,
  address: string,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { shareId, reason, note, contact } = request;
  if (caller?.kind === 'internal' && request.address === undefined)
    throw invalid('body.address', 'is required with X-Internal-Key');
  if (caller?.kind !== 'internal' && request.address !== undefined)
    throw invalid('body.address', 'is accepted with X-Internal-Key only');
  if (caller?.kind !== 'user' && shareId === undefined) throw problems.unauthorized();
  const reporter = reporterOf(deps, caller, request.address ?? address);
  const target = await findTarget(deps, caller, request);
  const isPriority = priorityReasons.includes(reason);
  return transaction(deps.db, async (tx) => {
    await holdName(tx, `report ${reporter.name}`);
    // People behind one address cannot be distinguished, so every request without an account counts.
    if (reporter.userId === null && !(await store.countReport(tx, reporter.name, mostPerDay))) throw tooMany();
    const known = await store.findReport(tx, reporter.name, target.name);
    if (known !== undefined) return { id: known, isNew: false };
    if (reporter.userId !== null && !(await store.countReport(tx, reporter.name, mostPerDay))) throw tooMany();
    const incidentId =
      target.assetId === null
        ? await store.joinThreadIncident(tx, String(shareId), isPriority)
        : await store.joinAssetIncident(tx, target.assetId, shareId ?? null, isPriority, 1);
    if (incidentId === undefined) throw noSuchContent();
    const id = await store.insertReport(tx, {
      incident_id: incidentId,
      reporter: reporter.name,
      target: target.name,
      reporter_id: reporter.userId,
      reason,
      note: note || null,
      contact: contact || null,
      language: toContentLanguage(request.locale ?? '') ?? null,
    });
    return { id, isNew: true };
  });
}

const tooMany = () =>
  problems.rate_limited({ message: `A person or an address can report ${mostPerDay} times a day.`, retryAfterS: 3600 });

const noSuchContent = () => problems.not_found({ message: 'There is no such content.' });

function reporterOf({ addressSecret }: MediaContext, caller: Caller | undefined, address: string): Reporter {
  if (caller?.kind === 'user') return { name: `user:${caller.userId}`, userId: caller.userId };
  const digest = createHmac('sha256', addressSecret).update(networkOf(address)).digest('base64url');
  return { name: `address:${digest}`, userId: null };
}

/** A household has a network of IPv6 addresses. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return '';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}

async function findTarget(
  { db, publicScopes }: MediaContext,
  caller: Caller | undefined,
  { assetId, shareId }: api.ReportRequest,
): Promise<{ readonly name: string; readonly assetId: string | null }> {
  if (shareId !== undefined) {
    const share = await findShare(db, shareId);
    if (share === undefined) throw noSuchContent();
    if (share.assetId === null) return { name: `thread:${share.ownerId}/${share.threadId}`, assetId: null };
    return { name: `asset:${share.assetId}`, assetId: share.assetId };
  }
  const row = await findAsset(db, String(assetId));
  if (!row?.readyAt || caller === undefined || !mayRead(caller, row, publicScopes)) throw noSuchContent();
  return { name: `asset:${row.assetId}`, assetId: row.assetId };
}

/** Throws 400 (server without `ownerId`) and 403. */
async function readOwnReports(
  { db }: MediaContext,
  caller: Caller,
  { ownerId, cursor, limit }: api.OwnReportListing,
): Promise<api.OwnReportPage> {
  const rows = await store.listReportsOf(db, ownerFor(caller, ownerId, 'querystring.ownerId'), cursor, limit + 1);
  const page = rows.slice(0, limit).map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
  return { reports: page, nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
