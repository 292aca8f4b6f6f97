import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { readLastUserEventId, type UserEventReaders } from './readers.ts';

export function addUserEventRoutes(
  app: HttpServer,
  access: Access,
  { userEventReaders }: { readonly userEventReaders: UserEventReaders },
): void {
  app.get(
    '/events',
    {
      ...access.userOnly,
      schema: {
        tags: ['agent'],
        summary: 'Stream changes of the runs, media, threads and credits of a user',
      },
    },
    async ({ caller, headers }, reply) => {
      if (caller.kind !== 'user') throw new Error('the guard admits only users');
      await userEventReaders.read(reply, caller, readLastUserEventId(headers['last-event-id']));
    },
  );
}
