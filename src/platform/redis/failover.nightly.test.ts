/** Two real Redis servers behind one name. A failover swaps their roles and leaves all connections open. */
import { randomUUID } from 'node:crypto';
import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import { type RedisServer, skipWithoutRedis, startRedisServer } from '../../../test/redis.fixture.ts';
import { startTcpFront, type TcpFront } from '../../../test/tcpfront.fixture.ts';
import { type Cache, forgetAround } from '../cache/cache.ts';
import { openCache } from '../cache/open.ts';
import type { Database } from '../db/db.ts';
import { createLog } from '../log.ts';
import { createRedisPubSub } from '../pubsub/redis.ts';
import { openRedis } from './open.ts';
import type { Redis } from './redis.ts';

const log = createLog({ level: 'silent' });
const hourMs = 3_600_000;
/** Includes the time in which a loaded machine notices. */
const leftWithin = { timeout: 15_000 };

describe.skipIf(skipWithoutRedis)('a Redis failover that leaves connections open', { timeout: 60_000 }, () => {
  let servers: readonly [RedisServer, RedisServer];
  let database: Database;
  let front: TcpFront;
  let prefix: string;
  let name: string;
  const opened: Redis[] = [];

  beforeAll(async () => {
    servers = await Promise.all([startRedisServer(), startRedisServer()]);
    database = await openTestDatabase();
  });
  afterAll(async () => {
    for (const server of servers ?? []) await server.close();
    await database?.close();
  });
  beforeEach(async () => {
    [prefix, name] = [`test:${randomUUID()}:`, randomUUID()];
    await command(servers[0], 'REPLICAOF', 'NO', 'ONE');
    await follow(servers[1], servers[0]);
    front = await startTcpFront(servers[0].url);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((redis) => redis.close()));
    await front.close();
    for (const server of servers) await command(server, 'CONFIG', 'SET', 'min-replicas-to-write', '0');
  });

  async function command({ url }: RedisServer, ...words: readonly string[]): Promise<string> {
    const client = await createClient({ url }).connect();
    try {
      return String(await client.sendCommand([...words]));
    } finally {
      client.destroy();
    }
  }

  async function follow(replica: RedisServer, primary: RedisServer): Promise<void> {
    const { hostname, port } = new URL(primary.url);
    await command(replica, 'REPLICAOF', hostname, port);
    await expect.poll(() => command(replica, 'INFO', 'replication'), leftWithin).toContain('master_link_status:up');
  }

  async function failOver(from: RedisServer, to: RedisServer): Promise<void> {
    await command(to, 'REPLICAOF', 'NO', 'ONE');
    front.switchTo(to.url);
    await follow(from, to);
  }

  async function openProcess(): Promise<{ readonly redis: Redis; readonly cache: Cache }> {
    const redis = await openRedis({ url: front.urlOf(servers[0].url), prefix, log });
    opened.push(redis);
    return { redis, cache: openCache({ redis, database, name, maxBytes: 1000, log }) };
  }

  const get = async (cache: Cache) => (await cache.lookUp(['a'])).found.get('a');
  const put = async (cache: Cache, value: string) => (await cache.lookUp(['a'])).fill(new Map([['a', value]]), hourMs);
  const works = (redis: Redis) => expect.poll(() => redis.check().then(() => redis.isWritable), leftWithin).toBe(true);

  it('ends with every process on the new primary, with messages and blocking reads', async () => {
    const stayed = await openProcess();
    const before = stayed.redis.serverRun;
    const heard: string[] = [];
    createRedisPubSub({ redis: stayed.redis, name, log }).subscribe('topic', {
      onMessage: (message) => heard.push(message),
    });
    const blocking = await stayed.redis.openBlocking('test');
    await failOver(...servers);
    const came = await openProcess();
    await works(stayed.redis);
    expect(came.redis.serverRun).not.toBe(before);
    expect(stayed.redis.serverRun).toBe(came.redis.serverRun);
    const messages = createRedisPubSub({ redis: came.redis, name, log });
    await expect
      .poll(() => {
        messages.publish('topic', 'after');
        return heard.length;
      }, leftWithin)
      .toBeGreaterThan(0);
    const key = `${prefix}stream`;
    await came.redis.run((client) => client.xAdd(key, '1-1', { a: 'b' }));
    await expect.poll(() => blocking.client()?.xRead([{ key, id: '0' }], { BLOCK: 10 }), leftWithin).toHaveLength(1);
    await blocking.close();
  });

  it('returns no cache entry that another process invalidated on the new primary', async () => {
    const stayed = await openProcess();
    await put(stayed.cache, 'old');
    expect(await get(stayed.cache)).toBe('old');
    await failOver(...servers);
    const came = await openProcess();
    await forgetAround(came.cache, ['a'], async () => undefined);
    expect(await get(stayed.cache)).toBeUndefined();
    await works(stayed.redis);
    expect(await get(stayed.cache)).toBeUndefined();
    expect(await get(came.cache)).toBeUndefined();
  });

  it('returns no entry of a primary that accepts writes on after another one was promoted', async () => {
    const stayed = await openProcess();
    await put(stayed.cache, 'old');
    await command(servers[1], 'REPLICAOF', 'NO', 'ONE');
    front.switchTo(servers[1].url);
    const came = await openProcess();
    await forgetAround(came.cache, ['a'], async () => undefined);
    expect(await get(stayed.cache)).toBeUndefined();
    await expect
      .poll(async () => [await get(stayed.cache), stayed.redis.serverRun], leftWithin)
      .toEqual([undefined, came.redis.serverRun]);
  });

  it('returns no entry of before, once the first primary is the primary again', async () => {
    const stayed = await openProcess();
    await put(stayed.cache, 'old');
    await failOver(...servers);
    const came = await openProcess();
    await forgetAround(came.cache, ['a'], async () => undefined);
    await works(stayed.redis);
    await failOver(servers[1], servers[0]);
    await Promise.all([stayed, came].map(({ redis }) => works(redis)));
    for (const { cache } of [stayed, came]) expect(await get(cache)).toBeUndefined();
  });

  it('invalidates for processes on both servers, whichever of them forgets', async () => {
    const stayed = await openProcess();
    await put(stayed.cache, 'old');
    await failOver(...servers);
    const came = await openProcess();
    expect(await get(came.cache)).toBeUndefined();
    await forgetAround(stayed.cache, ['a'], async () => undefined);
    for (const { cache } of [stayed, came]) expect(await get(cache)).toBeUndefined();
  });

  it('leaves a primary that lacks its replicas', async () => {
    const stayed = await openProcess();
    await put(stayed.cache, 'old');
    await command(servers[1], 'REPLICAOF', 'NO', 'ONE');
    await command(servers[0], 'CONFIG', 'SET', 'min-replicas-to-write', '1');
    front.switchTo(servers[1].url);
    await expect.poll(() => stayed.redis.isWritable, leftWithin).toBe(false);
    expect(await get(stayed.cache)).toBeUndefined();
    await works(stayed.redis);
  });
});
