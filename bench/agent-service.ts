/** The streams of the agent service, and nothing else of it; their log is in the Redis that the argument names, or embedded. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '../src/agent/eventlog/open.ts';
import { insertRun, type Run } from '../src/agent/runs/runstore.ts';
import { EventWriter } from '../src/agent/stream/eventwriter.ts';
import { createStreamQuota, StreamReaders } from '../src/agent/stream/readers.ts';
import { type OwnedRunBuffer, RunEventBuffers } from '../src/agent/stream/runbuffer.ts';
import type { AgentTables } from '../src/agent/tables.ts';
import { migrations } from '../src/app/migrations.ts';
import { transaction } from '../src/platform/db/db.ts';
import { openDatabase } from '../src/platform/db/open.ts';
import { createServer } from '../src/platform/http/server.ts';
import { createLog } from '../src/platform/log.ts';
import { openRedis } from '../src/platform/redis/open.ts';
import { eventsPerRun, textOfEvent } from './fanout.ts';
import { serve } from './peers/serving.mjs';

const [url] = process.argv.slice(2);
const log = createLog({ level: 'silent' });
const dataDir = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
const database = await openDatabase({ url: 'embedded', dataDir, migrations, log });
const redis = url === undefined ? undefined : await openRedis({ url, prefix: `bench-${randomUUID()}:`, log });
const db = database.queries<AgentTables>();
const eventLog = await openEventLog({ db, redis, log, ttlS: 60 });
const buffers = new RunEventBuffers({ db, eventLog, log });
const sign = async (_owner: string, frames: readonly string[]) => frames;
const readers = new StreamReaders(buffers, sign, createStreamQuota(Number.POSITIVE_INFINITY));

const newRun = () =>
  transaction(db, (tx) => {
    const [taskId, threadId, ownerId, messageId, holder] = Array.from({ length: 5 }, () => randomUUID());
    return insertRun(tx, { taskId, threadId, ownerId, messageId, holder, leaseMs: 600_000 } as never);
  });
let run: Run;
let buffer: OwnedRunBuffer;

const app = createServer({ service: 'agent', log, readiness: {}, servesRoot: true, isLongLived: () => true });
app.get('/', async (_request, reply) => {
  await readers.read(reply, run, undefined);
});
await app.listen({ port: 0, host: '127.0.0.1' });
serve({
  async open() {
    run = await newRun();
    buffer = buffers.own(run);
    return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` };
  },
  async say() {
    const writer = new EventWriter({ eventLog, buffer }, run);
    for (let index = 0; index < eventsPerRun; index++)
      await writer.write({ type: 'data-said', id: String(index), data: textOfEvent });
    const failure = await writer.finish();
    if (failure !== undefined) throw failure;
    await writer.close({ type: 'finish' });
    await eventLog.remove([run.taskId]);
  },
  async close() {
    await eventLog.remove([run.taskId]).catch(() => undefined);
    await Promise.all([redis?.close(), database.close()]);
    await rm(dataDir, { recursive: true, force: true });
  },
});
