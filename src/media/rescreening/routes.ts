/** `/v1/rescreen`, for operators (docs/specification/media.md#rescreening). */

import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { MediaContext } from '../context.ts';
import { beginRescreening } from './rescreenjob.ts';
import { readProgress } from './rescreenstore.ts';

export const rescreening = z.object({ jobId: z.string() });

export const rescreeningProgress = z.object({
  startedAt: z.iso.datetime().nullable().describe('`null`: there was no rescreening yet.'),
  finishedAt: z.iso.datetime().nullable(),
  total: z.int().describe('The number of assets at its start.'),
  checked: z.int(),
  blocked: z.int(),
  withoutDigests: z.int(),
});

const none = { startedAt: null, finishedAt: null, total: 0, checked: 0, blocked: 0, withoutDigests: 0 };

export function addRescreenRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  const routes = routesOf(app, 'incidents');

  routes.post('/v1/rescreen', access.internalOnly, {
    id: 'rescreen',
    summary: 'Screen all assets again',
    description:
      'Starts a job that compares the stored digests of all assets with the current lists. While a job is running, the request returns its id.',
    client: { repeatable: true },
    response: { 202: rescreening },
    handler: async (_request, reply) => reply.code(202).send(await beginRescreening(deps)),
  });

  routes.get('/v1/rescreen', access.internalOnly, {
    id: 'readRescreening',
    summary: 'The progress of the newest rescreening',
    description: 'Returns the progress of the newest rescreening.',
    problems: ['not_found'],
    response: { 200: rescreeningProgress },
    handler: async () => {
      const found = await readProgress(deps.db);
      if (found === undefined) return none;
      const { startedAt, finishedAt, ...counts } = found;
      return { ...counts, startedAt: startedAt.toISOString(), finishedAt: finishedAt?.toISOString() ?? null };
    },
  });
}
