import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import type { KyselyPlugin } from 'kysely';
import { expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { transaction } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import type { PubSubListener } from '#platform/pubsub/pubsub.ts';
import { listen } from '../../../test/agent/userevents.fixture.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import type { AgentTables } from '../tables.ts';
import { UserEventReaders } from './readers.ts';
import { insertUserEvents } from './usereventstore.ts';

it('delivers an event whose notification comes in any microtask after a query without events', async () => {
  const database = await openTestDatabase(migrations);
  const db = database.queries<AgentTables>();
  const userId = randomUUID();
  let afterQuery: (() => Promise<void>) | undefined;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      const act = afterQuery;
      afterQuery = undefined;
      await act?.();
      return result;
    },
  };
  let listener: PubSubListener | undefined;
  const readers = new UserEventReaders(
    {
      db: db.withPlugin(plugin),
      log: createLog({ level: 'silent' }),
      pubsub: {
        publish: () => undefined,
        subscribe: (_topic, subscribed) => {
          listener = subscribed;
          return () => undefined;
        },
      },
      countStream: () => () => undefined,
    },
    { lookEveryMs: 3_600_000 },
  );
  const server = Fastify();
  server.get('/events', (_request, reply) => readers.read(reply, { userId }, undefined));
  const listening = await listen(await server.listen(), { credential: {} });
  // The first query has ended.
  await expect.poll(listening.comments).toBe(1);
  const wakeAfter = async (microtasks: number) => {
    for (let left = microtasks; left > 0; left--) await undefined;
    listener?.onMessage(userId);
  };
  for (let microtasks = 0; microtasks < 40; microtasks++) {
    const event = { type: 'thread.updated', threadId: randomUUID() } as const;
    afterQuery = async () => {
      await transaction(db, (tx) => insertUserEvents(tx, userId, [event]));
      void wakeAfter(microtasks);
    };
    listener?.onMessage(userId);
    await expect.poll(() => listening.events.length, { interval: 5 }).toBe(microtasks + 1);
  }
  await readers.close();
  await listening.ended;
  await server.close();
  await database.close();
});
