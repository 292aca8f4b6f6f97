/** `GET /v1/incidents/:id/export`: all that is known about an incident, for authorities (docs/specification/media.md#reports). */
import { z } from 'zod';
import type { Db } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { incident } from '../incidents/api.ts';
import { readIncident } from '../incidents/incidents.ts';
import { report } from './api.ts';
import { findContent, listReports, type ReportTables } from './reportstore.ts';

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
  reports: z.array(report),
});

/** Throws 404. */
export async function exportIncident(db: Db<ReportTables>, id: string): Promise<z.output<typeof incidentExport>> {
  const content = await findContent(db, id);
  if (content === undefined) throw problems.not_found({ message: 'There is no such incident.' });
  return {
    exportedAt: new Date().toISOString(),
    incident: await readIncident({ db }, id),
    content,
    reports: await readReports(db, id),
  };
}

export async function readReports(db: Db<ReportTables>, id: string) {
  const rows = await listReports(db, id);
  return rows.map(({ language, createdAt, ...row }) => ({ ...row, createdAt: createdAt.toISOString() }));
}
