import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { transaction } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { memoryTopic } from '../services/memory.ts';
import type { ServingContext } from '../servingcontext.ts';
import { signedIn } from '../threads/changes.ts';
import { readLastUserEventId } from './readers.ts';

export const libraryNews = z.strictObject({
  userId: z.guid().toLowerCase(),
  type: z.enum(['library.changed', 'memory.changed']),
});

export function addUserEventRoutes(
  app: HttpServer,
  access: Access,
  { db, pubsub, userEvents, userEventReaders }: ServingContext,
): void {
  const routes = routesOf(app, 'agent');
  routes.get('/events', access.userOnly, {
    id: 'events',
    summary: 'Stream changes of the runs, media, threads and credits of a user',
    description:
      "Streams changes of the user's data from all processes. Send the last id as `Last-Event-ID` to resume, for up to an hour.",
    problems: ['too_many_streams'],
    otherResponses: { 200: ['A stream of server-sent events.', 'text/event-stream'] },
    client: { kind: 'events' },
    handler: async ({ caller, headers }, reply) => {
      await userEventReaders.read(reply, signedIn(caller), readLastUserEventId(headers['last-event-id']));
    },
  });

  routes.post('/events', access.internalOnly, {
    id: 'announceLibraryChange',
    summary: 'Announce that the library or the memory of a user has changed',
    description:
      'Sends `library.changed` to the devices of a user. After `memory.changed`, no run uses what was read of the memory before. The media service and the memory service call it.',
    example: { userId: '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21', type: 'library.changed' },
    body: libraryNews,
    response: { 204: z.null() },
    handler: async ({ body: { userId, type } }) => {
      // It may report an erasure, after which no row has the id of the user.
      if (type === 'memory.changed') pubsub.publish(memoryTopic, userId);
      else await transaction(db, (tx) => userEvents.publish(tx, userId, [{ type }]));
    },
  });
}
