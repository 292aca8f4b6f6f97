/** `POST /v1/rescreen`, for operators (docs/specification/media.md#rescreening). */
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { beginRescreening, type RescreenJobDeps } from './rescreenjob.ts';

const rescreening = z.object({ jobId: z.string() });

export function addRescreenRoutes(app: HttpServer, access: Access, deps: RescreenJobDeps): void {
  app.post(
    '/v1/rescreen',
    {
      ...access.internalOnly,
      schema: {
        tags: ['incidents'],
        summary: 'Screen all assets again',
        response: { 202: rescreening },
      },
    },
    async (_request, reply) => reply.code(202).send(await beginRescreening(deps)),
  );
}
