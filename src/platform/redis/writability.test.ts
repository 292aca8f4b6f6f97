/** A real Redis that answers and refuses writes. */
import { Registry } from '@prometheus-io/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RedisServer, skipWithoutRedis, startRedisServer } from '../../../test/redis.fixture.ts';
import { createLog } from '../log.ts';
import { openRedis, probeRedis } from './open.ts';
import { measureRedis, type Redis } from './redis.ts';

const quiet = createLog({ level: 'silent' });

describe.skipIf(skipWithoutRedis)('a Redis that rejects writes', () => {
  let server: RedisServer;
  let admin: Redis;
  const opened: Redis[] = [];
  const command = (...words: readonly string[]) => admin.run((client) => client.sendCommand([...words]), 5_000);

  beforeAll(async () => {
    server = await startRedisServer();
    admin = await openRedis({ url: server.url, prefix: 'admin:', log: quiet, probeEveryMs: 600_000 });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((redis) => redis.close()));
  });
  afterAll(async () => {
    await admin?.close();
    await server?.close();
  });

  async function watch() {
    const lines: { readonly level: string; readonly msg: string; readonly reason?: string }[] = [];
    const log = createLog({
      level: 'info',
      destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
    });
    const redis = await openRedis({ url: server.url, prefix: 'atelier:x:', log, probeEveryMs: 50 });
    opened.push(redis);
    const registry = new Registry();
    measureRedis(registry, redis);
    const measured = async () => /^redis_writable (\d)$/m.exec(await registry.metrics())?.[1];
    return { redis, lines, measured };
  }

  it.each([
    ['a replica', 'READONLY', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    ['full', 'OOM', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
  ])('%s: is not ready, says so once, and recovers', async (_name, reason, begin, end) => {
    const { redis, lines, measured } = await watch();
    await expect(redis.check()).resolves.toBeUndefined();
    expect([redis.isWritable, await measured(), lines]).toEqual([true, '1', []]);
    await command(...begin);
    try {
      await expect.poll(() => redis.isWritable).toBe(false);
      await expect(redis.check()).rejects.toMatchObject({ code: 'engine_unavailable' });
      expect(await measured()).toBe('0');
      expect((await probeRedis(server.url, 'atelier:doctor:')).refusal).toMatch(new RegExp(`^${reason}`));
    } finally {
      await command(...end);
    }
    await expect.poll(() => redis.isWritable).toBe(true);
    expect(lines).toEqual([
      expect.objectContaining({ level: 'warn', reason: expect.stringMatching(new RegExp(`^${reason}`)) }),
      expect.objectContaining({ level: 'info', msg: 'Redis accepts writes again' }),
    ]);
  });

  it('an ACL without our keys: opens, and is not ready', async () => {
    await command('ACL', 'SETUSER', 'stranger', 'on', '>secret', '~other:*', '+@all');
    const url = server.url.replace('redis://', 'redis://stranger:secret@');
    const redis = await openRedis({ url, prefix: 'atelier:x:', log: quiet });
    opened.push(redis);
    expect(redis.isWritable).toBe(false);
    await expect(redis.check()).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect((await probeRedis(url, 'atelier:doctor:')).refusal).toMatch(/^NOPERM/);
  });

  it('the documented ACL is enough for all that is used', async () => {
    await command(
      'ACL',
      'SETUSER',
      'own',
      'on',
      '>secret',
      '~atelier:*',
      '&atelier:*',
      '+@all',
      '-@dangerous',
      '+info',
    );
    const url = server.url.replace('redis://', 'redis://own:secret@');
    const redis = await openRedis({ url, prefix: 'atelier:x:', log: quiet });
    opened.push(redis);
    await redis.check();
    const heard: string[] = [];
    redis.listen('atelier:x:channel', { onMessage: (message) => void heard.push(message), onGap: () => undefined });
    await expect
      .poll(async () => {
        await redis.run((client) => client.publish('atelier:x:channel', 'one'));
        return heard.length > 0;
      })
      .toBe(true);
    const blocking = await redis.openBlocking('test');
    const key = 'atelier:x:stream';
    await redis.run((client) =>
      client.eval(`return redis.call('XADD', KEYS[1], '*', 'a', 'b')`, { keys: [key], arguments: [] }),
    );
    expect(await blocking.client()?.xRead([{ key, id: '0' }], { BLOCK: 10 })).toHaveLength(1);
    await blocking.close();
    expect((await probeRedis(url, 'atelier:doctor:')).refusal).toBeUndefined();
  });
});
