/** The owner of blocked content appeals once, and an operator reads it beside the incident. */
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { mediaProblems } from '../problems.ts';
import type { IncidentTables } from '../screening/incidentstore.ts';
import type { Appealed } from './api.ts';
import { findOwnIncident, writeAppeal } from './appealstore.ts';

/**
 * `id`: of the incident, or of the blocked asset, which is what the owner knows. Throws 403 for servers, 404 for what is not
 * the caller's, and 409 after the first appeal or once the incident is cleared.
 */
export async function appeal(
  { db }: { readonly db: Db<IncidentTables> },
  caller: Caller,
  id: string,
  text: string,
): Promise<Appealed> {
  if (caller.kind !== 'user') throw problems.forbidden({ message: 'Only the owner of the content can appeal.' });
  const incident = await findOwnIncident(db, caller.userId, id);
  if (incident === undefined) throw problems.not_found({ message: 'There is no such incident.' });
  const appealedAt = await writeAppeal(db, incident.id, text);
  if (appealedAt === undefined) throw mediaProblems.not_appealable();
  return { id: incident.id, status: incident.status, appealedAt: appealedAt.toISOString() };
}
