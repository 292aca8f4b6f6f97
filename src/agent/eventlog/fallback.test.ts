/** If Redis rejects writes, the event log continues in the database. */
import { randomUUID } from 'node:crypto';
import { ErrorReply } from '@redis/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { openRedis } from '#platform/redis/open.ts';
import type { Redis } from '#platform/redis/redis.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import { type RedisServer, skipWithoutRedis, startRedisServer } from '../../../test/redis.fixture.ts';
import { insertRun } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';
import type { Batch, EventLog, FencedKey, LogKey } from './eventlog.ts';
import { openFallbackLog } from './fallback.ts';
import { openEventLog } from './open.ts';

const log = createLog({ level: 'silent' });
const batch = (seq: number, isLast = false): Batch => ({
  firstSeq: seq,
  lastSeq: seq,
  events: [`{"n":${seq}}`],
  isLast,
});

/** How Redis comes to refuse writes, and to take them again. */
const ways: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ['full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
];

describe.skipIf(skipWithoutRedis)('the event log with a Redis that takes no writes', () => {
  let server: RedisServer;
  let admin: Redis;
  let database: Database;
  const opened: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    [server, database] = await Promise.all([startRedisServer(), openTestDatabase(migrations)]);
    admin = await openRedis({ url: server.url, prefix: 'admin:', log, probeEveryMs: 600_000 });
  });
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close();
  });
  afterAll(async () => {
    await admin?.close();
    await Promise.all([server?.close(), database?.close()]);
  });

  const command = (words: readonly string[]) => admin.run((client) => client.sendCommand([...words]), 5_000);
  const open = async (url = server.url): Promise<EventLog> => {
    const redis = await openRedis({ url, prefix: 'test:', log });
    opened.push(redis);
    const eventLog = await openEventLog({ db: database.queries<AgentTables>(), redis, log, ttlS: 60 });
    opened.push(eventLog);
    return eventLog;
  };
  const newRun = (): Promise<FencedKey> =>
    transaction(database.queries<AgentTables>(), (tx) =>
      insertRun(tx, {
        taskId: randomUUID(),
        threadId: randomUUID(),
        ownerId: randomUUID(),
        messageId: randomUUID(),
        model: 'offline-demo',
        credits: 1,
        holder: randomUUID(),
        leaseMs: 60_000,
      }),
    );
  const readAll = async (eventLog: EventLog, run: LogKey): Promise<readonly number[]> => {
    const found: number[] = [];
    for (let afterSeq = 0; ; afterSeq = found.at(-1) ?? 0) {
      const batches = await eventLog.read(run, afterSeq);
      if (batches.length === 0) return found;
      found.push(...batches.map(({ lastSeq }) => lastSeq));
    }
  };
  const follow = (eventLog: EventLog, run: LogKey): readonly number[] => {
    const seen: number[] = [];
    const unfollow = eventLog.follow(run, 0, ({ lastSeq }) => void seen.push(lastSeq));
    opened.push({ close: async () => unfollow() });
    return seen;
  };

  it.each(ways)('%s: a started run loses no event, also for readers in other processes', async (_way, begin, end) => {
    const [own, other] = [await open(), await open()];
    const run = await newRun();
    const seen = follow(other, run);
    for (const seq of [1, 2, 3]) expect(await own.append(run, batch(seq))).toBe('appended');
    await expect.poll(() => seen).toEqual([1, 2, 3]);
    await command(begin);
    try {
      for (const seq of [4, 5]) expect(await own.append(run, batch(seq))).toBe('appended');
      expect(await readAll(other, run)).toEqual([1, 2, 3, 4, 5]);
      await expect.poll(() => seen, { timeout: 5_000 }).toEqual([1, 2, 3, 4, 5]);
    } finally {
      await command(end);
    }
    // Redis has the beginning of this log only, so the run stays where it is.
    expect(await own.append(run, batch(6, true))).toBe('appended');
    expect(await readAll(other, run)).toEqual([1, 2, 3, 4, 5, 6]);
    await expect.poll(() => seen, { timeout: 5_000 }).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it.each(ways)('%s: a new run is in the database, and the next one in Redis again', async (_way, begin, end) => {
    const [own, other] = [await open(), await open()];
    const [run, next] = [await newRun(), await newRun()];
    await command(begin);
    try {
      const seen = follow(other, run);
      expect(await own.append(run, batch(1))).toBe('appended');
      await expect.poll(() => seen, { timeout: 5_000 }).toEqual([1]);
    } finally {
      await command(end);
    }
    expect(await own.append(next, batch(1))).toBe('appended');
    expect(await command(['EXISTS', `test:agent:{${run.taskId}}:events`, `test:agent:{${next.taskId}}:events`])).toBe(
      1,
    );
    expect(await readAll(other, next)).toEqual([1]);
  });

  it('continues in the database where another process stopped', async () => {
    const [own, other] = [await open(), await open()];
    const run = await newRun();
    await own.append(run, batch(1));
    await command(['REPLICAOF', '127.0.0.1', '1']);
    await own.append(run, batch(2)).finally(() => command(['REPLICAOF', 'NO', 'ONE']));
    expect(await other.append(run, batch(3))).toBe('appended');
    expect(await readAll(own, run)).toEqual([1, 2, 3]);
  });

  it('reports a log whose beginning the replica does not have as vanished', async () => {
    const own = await open();
    const run = await newRun();
    for (const seq of [1, 2]) await own.append(run, batch(seq));
    await command(['XDEL', `test:agent:{${run.taskId}}:events`, `${run.epochMs}-2`]);
    await command(['REPLICAOF', '127.0.0.1', '1']);
    const outcome = await own.append(run, batch(3)).finally(() => command(['REPLICAOF', 'NO', 'ONE']));
    expect(outcome).toBe('vanished');
  });

  it('an ACL without our keys: runs are written and read in the database', async () => {
    await command(['ACL', 'SETUSER', 'limited', 'on', '>secret', '~other:*', '+@all', 'resetchannels']);
    const url = server.url.replace('redis://', 'redis://limited:secret@');
    const [own, other] = [await open(url), await open(url)];
    const run = await newRun();
    expect(await other.read(run, 0)).toEqual([]);
    const seen = follow(other, run);
    for (const seq of [1, 2]) expect(await own.append(run, batch(seq))).toBe('appended');
    expect(await readAll(other, run)).toEqual([1, 2]);
    await expect.poll(() => seen, { timeout: 5_000 }).toEqual([1, 2]);
    await own.claim(run);
    await own.remove([run.taskId]);
    expect(await other.read(run, 0)).toEqual([]);
  });
});

it('a log of many batches moves with few reads', async () => {
  const written = Array.from({ length: 1200 }, (_, index) => batch(index + 1));
  const copied: number[] = [];
  let reads = 0;
  const redisLog = {
    append: () => Promise.reject(new ErrorReply('OOM command not allowed')),
    read: async (_run: LogKey, afterSeq: number) => {
      reads += 1;
      return written.slice(afterSeq, afterSeq + 500);
    },
    close: async () => undefined,
  };
  const databaseLog = {
    append: async (_run: LogKey, { lastSeq }: Batch) => {
      copied.push(lastSeq);
      return 'appended';
    },
    close: async () => undefined,
  };
  const eventLog = openFallbackLog({
    redisLog: redisLog as unknown as EventLog,
    databaseLog: databaseLog as unknown as EventLog,
    findMoved: async () => new Set(),
    log,
  });
  const run = { taskId: randomUUID(), epochMs: 1, fence: 1 };
  expect(await eventLog.append(run, batch(1101))).toBe('appended');
  expect(copied).toEqual(Array.from({ length: 1101 }, (_, index) => index + 1));
  expect(reads).toBe(3);
  await eventLog.close();
});
