/** Incidents: blocked content, and the decisions of operators about it (docs/specification/media.md#incidents). */

import { readCursor, writeCursor } from '#platform/db/paging.ts';
import { isUuid } from '#platform/ids.ts';
import { problems } from '#platform/problem.ts';
import type { MediaContext } from '../context.ts';
import { mediaProblems } from '../problems.ts';
import * as store from '../screening/incidentstore.ts';
import type { Incident, IncidentListing, IncidentPage, IncidentResolution } from './api.ts';

/** Throws 400 for a cursor that no page returned. */
export async function readIncidents(
  { db }: MediaContext,
  { limit, cursor, order, ...wanted }: IncidentListing,
): Promise<IncidentPage> {
  const byPriority = order === 'priority';
  const after = cursor === undefined ? undefined : placeIn(cursor, byPriority);
  // One row more than the page shows whether there is another page.
  const rows = await store.listIncidents(db, { ...wanted, byPriority }, after, limit + 1);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const end = byPriority ? (last?.isPriority ? '.first' : '.later') : '';
  return { incidents: page.map(toIncident), next_cursor: writeCursor(last && { ...last, id: last.id + end }) };
}

/** Throws 404. */
export async function readIncident({ db }: MediaContext, id: string): Promise<Incident> {
  return existing(await store.findIncident(db, id));
}

/**
 * The newest resolution of some content counts, in whichever incident. Removed objects are not restored, but can be
 * uploaded again. Throws 404, and 409 for reported content, which needs a decision with its reasons.
 */
export async function decideIncident(
  { db }: MediaContext,
  id: string,
  { resolution, note }: IncidentResolution,
): Promise<Incident> {
  const resolved = await store.resolveIncident(db, id, resolution, note ?? null);
  if (resolved === undefined && (await store.findIncident(db, id)) !== undefined)
    throw mediaProblems.not_decidable({ message: 'People reported this content. Decide about it, with a statement.' });
  return existing(resolved);
}

function existing(row: store.StoredIncident | undefined): Incident {
  if (row === undefined) throw problems.not_found({ message: 'There is no such incident.' });
  return toIncident(row);
}

export function toIncident(stored: store.StoredIncident): Incident {
  const { createdAtUs, isPriority, check, appeal, appealedAt, decision, statement, ...row } = stored;
  const resolvedAt = row.resolvedAt?.toISOString() ?? null;
  const isDecided = decision !== null && statement !== null && resolvedAt !== null;
  return {
    ...row,
    decision: isDecided ? { decision, statement, at: resolvedAt } : null,
    createdAt: row.createdAt.toISOString(),
    resolvedAt,
    evidenceUntil: row.evidenceUntil?.toISOString() ?? null,
    ...(appeal !== null && appealedAt !== null && { appeal: { text: appeal, at: appealedAt.toISOString() } }),
  };
}

/** In the order of priority, the id in a cursor is followed by `.first` or `.later`. */
function placeIn(cursor: string, byPriority: boolean): store.IncidentPlace {
  const isOfOrder = (id: string) =>
    isUuid(id.slice(0, 36)) && /^(|\.first|\.later)$/.test(id.slice(36)) && byPriority === id.length > 36;
  const { createdAtUs, id } = readCursor(cursor, 'next_cursor of the same order', isOfOrder);
  return { createdAtUs, id: id.slice(0, 36), isPriority: id.endsWith('.first') };
}
