/** The endpoints of incidents, for operators (docs/specification/media.md#incidents). */

import { Readable } from 'node:stream';
import { toTransform } from '#image/engine/specs.ts';
import type { Access } from '#platform/access/access.ts';
import type { Caller } from '#platform/access/caller.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { isUuid } from '#platform/ids.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import type { MediaContext } from '../context.ts';
import { lookUpAssets } from '../lookup/assetlookup.ts';
import { mediaProblems } from '../problems.ts';
import { readUnchanged } from '../reading/unchanged.ts';
import { countIncidents, findOrigin, findOwnIncident, writeAppeal } from '../screening/incidentstore.ts';
import * as api from './api.ts';
import { decideIncident, readIncident, readIncidents } from './incidents.ts';

export function addIncidentRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  const routes = routesOf(app, 'incidents');

  routes.get('/v1/incidents', access.internalOnly, {
    id: 'listIncidents',
    summary: 'List incidents, newest first',
    description: 'Returns a page of content that screening has blocked.',
    querystring: api.incidentListing,
    response: { 200: api.incidentPage },
    handler: async (request) => readIncidents(deps, request.query),
  });

  routes.get('/v1/incidents/counts', access.internalOnly, {
    id: 'countIncidents',
    summary: 'Count incidents by status and list',
    description: 'Returns the numbers of incidents by status and by list, and the open appeals.',
    response: { 200: api.incidentCounts },
    handler: async () => countIncidents(deps.db),
  });

  routes.get('/v1/incidents/:id/preview', access.internalOnly, {
    id: 'previewIncident',
    summary: 'Preview the content of an incident, blurred',
    description:
      'Returns a blurred image of at most 24 pixels, if the same bytes remain elsewhere. Reported and flagged content can be shown as it is. A video is shown by its poster.',
    problems: ['not_found', 'nothing_left_to_show'],
    otherResponses: { 200: ['A WebP image.', 'image/webp'] },
    client: { kind: 'foreign' },
    params: api.incidentParams,
    querystring: api.incidentPreview,
    handler: async ({ params, query }, reply) =>
      reply.type('image/webp').send(await renderPreview(deps, params.id, query.sharp !== undefined)),
  });

  routes.get('/v1/incidents/:id/evidence', access.internalOnly, {
    id: 'readEvidence',
    summary: 'Read the blocked object of an incident',
    description:
      'Returns the bytes of the blocked object as they were uploaded, if `MEDIA_QUARANTINE_KEY` was set then. Each request is recorded in the audit log.',
    problems: ['not_found', 'no_evidence', 'evidence_locked'],
    otherResponses: { 200: ['The bytes, of any type.', 'application/octet-stream'] },
    client: { kind: 'foreign' },
    params: api.incidentParams,
    handler: async (request, reply) => {
      const bytes = await deps.quarantine.open(request.params.id);
      return reply
        .type('application/octet-stream')
        .header('content-disposition', `attachment; filename="${request.params.id}.bin"`)
        .send(Readable.from(bytes, { objectMode: false }));
    },
  });

  routes.post('/v1/incidents/:id/appeal', access.userOrInternal, {
    id: 'appealIncident',
    summary: 'Appeal once against the blocking of your content, by the id of the incident or of the asset',
    description:
      'Records an appeal of the owner. An incident can have one appeal. A cleared incident cannot be appealed.',
    problems: ['forbidden', 'not_found', 'not_appealable'],
    example: { text: 'This is a photo of a public monument.' },
    params: api.incidentParams,
    body: api.incidentAppeal,
    response: { 200: api.appealedIncident },
    handler: async ({ caller, params, body }) => appeal(deps, caller, params.id, body.text),
  });

  routes.get('/v1/incidents/:id', access.internalOnly, {
    id: 'readIncident',
    summary: 'Read an incident',
    description: 'Returns an incident.',
    problems: ['not_found'],
    params: api.incidentParams,
    response: { 200: api.incident },
    handler: async (request) => readIncident(deps, request.params.id),
  });

  routes.post('/v1/incidents/:id/resolution', access.internalOnly, {
    id: 'resolveIncident',
    summary: 'Uphold or clear an incident',
    description:
      'Records a decision. After `cleared`, the same content passes screening. Removed objects are not restored.',
    problems: ['not_found', 'not_decidable'],
    example: { resolution: 'cleared', note: 'A false positive: the photo of a public monument.' },
    client: { repeatable: true },
    params: api.incidentParams,
    body: api.incidentResolution,
    response: { 200: api.incident },
    handler: async (request) => decideIncident(deps, request.params.id, request.body),
  });
}

// The owner of blocked content appeals once, and an operator reads it beside the incident.

/**
 * `id`: of the incident, or of the blocked asset, which is what the owner knows. Throws 403 for servers, 404 for what is not
 * the caller's, and 409 after the first appeal or once the incident is cleared.
 */
async function appeal({ db }: MediaContext, caller: Caller, id: string, text: string): Promise<api.AppealedIncident> {
  if (caller.kind !== 'user') throw problems.forbidden({ message: 'Only the owner of the content can appeal.' });
  const incident = await findOwnIncident(db, caller.userId, id);
  if (incident === undefined) throw problems.not_found({ message: 'There is no such incident.' });
  const appealedAt = await writeAppeal(db, incident.id, text);
  if (appealedAt === undefined) throw mediaProblems.not_appealable();
  return { id: incident.id, status: incident.status, appealedAt: appealedAt.toISOString() };
}

// A small, strongly blurred rendition of blocked content for operators, where the same bytes remain in the product: in the
// asset that was copied, or in a legacy file. The blocked object itself is removed, with everything made of it. Operators must
// see what they decide about, so reported and flagged content is also shown as it is.

/** Shapes and colors remain, details do not. */
const sidePx = 24;
const sigma = 2;
const maxBytes = 64 * 1024 * 1024;

const blurred = toTransform({ width: sidePx, height: sidePx, quality: 40, blur: sigma, resampling: 'linear' });
const sharp = toTransform({ width: 1024, height: 1024, quality: 80, resampling: 'linear' });

/** Returns WebP. Throws 404 if the incident is unknown, or if none of its bytes remain as an image. */
async function renderPreview(deps: MediaContext, incidentId: string, isSharp: boolean): Promise<Uint8Array> {
  const found = await findOrigin(deps.db, incidentId);
  if (found === undefined) throw problems.not_found({ message: 'There is no such incident.' });
  // What was reported or flagged is still there, under its own id.
  const isThere = ['report', 'label'].includes(found.origin ?? '');
  const origin = isThere ? found.assetId : found.origin;
  if (isSharp && !isThere) throw mediaProblems.nothing_left_to_show();
  const place = origin === null ? undefined : await locate(deps, origin);
  const bytes = place && (await read(place.objects, place.key));
  if (bytes === undefined) throw mediaProblems.nothing_left_to_show();
  let output: Uint8Array | undefined;
  const deliver = (made: Uint8Array) => {
    output = made;
  };
  await deps.engine
    .transform(bytes, [{ transform: isSharp ? sharp : blurred, deliver }], found.ownerId)
    .catch((cause: unknown) => {
      throw mediaProblems.nothing_left_to_show({ cause });
    });
  if (output === undefined) throw mediaProblems.nothing_left_to_show();
  return output;
}

async function locate(deps: MediaContext, origin: string) {
  if (isUuid(origin)) {
    const found = (await lookUpAssets(deps, [origin], '')).get(origin);
    // A video is shown by its poster.
    const poster = found?.mime.startsWith('video/') ? found.row?.namedThumbId : undefined;
    const asset = poster ? (await lookUpAssets(deps, [poster], '')).get(poster) : found;
    return asset && { objects: asset.objects, key: asset.storageKey };
  }
  // Blocked paths resolve to nothing, so the file is read by its place.
  const end = origin.indexOf('/');
  const objects = deps.legacy.bucket(origin.slice(0, end));
  return objects && { objects, key: origin.slice(end + 1) };
}

async function read(objects: Objects, key: string): Promise<Uint8Array | undefined> {
  const head = await objects.head(key);
  if (head === undefined || head.size > maxBytes) return undefined;
  return (await readUnchanged(objects, key, { ifMatch: head.etag, whole: true }))?.bytes;
}
