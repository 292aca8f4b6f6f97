/** Only `GET /events` of the agent service. The argument is the number of users. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createStreamQuota } from '../src/agent/stream/readers.ts';
import type { AgentTables } from '../src/agent/tables.ts';
import { UserEventReaders } from '../src/agent/userevents/readers.ts';
import { createUserEvents } from '../src/agent/userevents/usereventstore.ts';
import { migrations } from '../src/app/migrations.ts';
import { transaction } from '../src/platform/db/db.ts';
import { openDatabase } from '../src/platform/db/open.ts';
import { createServer } from '../src/platform/http/server.ts';
import { createLog } from '../src/platform/log.ts';
import { openPubSub } from '../src/platform/pubsub/open.ts';
import { serve } from './peers/serving.mjs';

const userIds = Array.from({ length: Number(process.argv[2]) }, () => randomUUID());
const log = createLog({ level: 'silent' });
const dataDir = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
const database = await openDatabase({ url: 'embedded', dataDir, migrations, log });
const db = database.queries<AgentTables>();
const pubsub = openPubSub({ redis: undefined, name: 'agent', log });
const userEvents = createUserEvents(pubsub);
const readers = new UserEventReaders({ db, log, pubsub, countStream: createStreamQuota() });

const app = createServer({ service: 'agent', log, readiness: {}, servesRoot: true, isLongLived: () => true });
let opened = 0;
app.get('/', async (_request, reply) => {
  opened += 1;
  await readers.read(reply, { userId: userIds[opened % userIds.length] ?? '' }, undefined);
});
await app.listen({ port: 0, host: '127.0.0.1' });

serve({
  open: async () => ({ url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` }),
  /** One event for each user, in a transaction of its own, which names the time at which the transaction began. */
  async say() {
    for (const userId of userIds) {
      await transaction(db, (tx) => {
        const event = { type: 'thread.updated', threadId: `at-${Date.now()}` } as const;
        return userEvents.publish(tx, userId, [event]);
      });
      // The embedded database answers without a turn of the event loop. In the service, each change is another request.
      await nextTurn();
    }
  },
  async close() {
    await readers.close();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  },
});
