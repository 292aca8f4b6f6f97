import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { readLastUserEventId, type UserEventReaders } from './readers.ts';

export function addUserEventRoutes(
  app: HttpServer,
  access: Access,
  { userEventReaders }: { readonly userEventReaders: UserEventReaders },
): void {
  const routes = routesOf(app, 'agent');
  routes.get(
    '/events',
    access.userOnly,
    {
      id: 'events',
      summary: 'Stream changes of the runs, media, threads and credits of a user',
      description:
        "Streams changes of the user's data from all processes. Send the last id as `Last-Event-ID` to resume, for up to an hour.",
      problems: ['too_many_streams'],
      otherResponses: { 200: ['A stream of server-sent events.', 'text/event-stream'] },
      client: { kind: 'events' },
    },
    async ({ caller, headers }, reply) => {
      if (caller.kind !== 'user') throw new Error('the guard admits only users');
      await userEventReaders.read(reply, caller, readLastUserEventId(headers['last-event-id']));
    },
  );
}
