import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import {
  openTestRedis,
  type RedisServer,
  redisUrl,
  skipWithoutRedis,
  startRedisServer,
} from '../../../test/redis.fixture.ts';
import { transaction } from '../db/db.ts';
import { createLog } from '../log.ts';
import { openRedis, probeRedis } from './open.ts';
import type { Redis } from './redis.ts';

const log = createLog({ level: 'silent' });
const answerOf = (redis: Redis) => redis.run((client) => client.ping());

describe('opening Redis', () => {
  it('rejects an address without a server, in one line without the password', async () => {
    const opening = openRedis({ url: 'redis://:hidden@127.0.0.1:1', prefix: '', log });
    await expect(opening).rejects.toThrow(/^Configuration: REDIS_URL: Redis does not respond \((?!.*hidden).+\)\.$/);
  });
});

describe.skipIf(skipWithoutRedis)('Redis', () => {
  const opened: Redis[] = [];
  const open = async (options: { url?: string } = {}) => {
    const redis = await openTestRedis(options);
    opened.push(redis);
    return redis;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((redis) => redis.close()));
  });

  it('runs commands, several at once, and gives texts', async () => {
    const redis = await open();
    const key = `${redis.prefix}a`;
    const answers = await redis.run((client) => Promise.all([client.set(key, 'ü\0'), client.get(key)]));
    expect(answers).toEqual(['OK', 'ü\0']);
    await expect(redis.check()).resolves.toBeUndefined();
  });

  it('passes on the errors of commands, and continues', async () => {
    const redis = await open();
    const wrong = () => redis.run((client) => client.sendCommand(['GET']));
    for (let time = 0; time < 10; time++) await expect(wrong()).rejects.toThrow('wrong number of arguments');
    await expect(answerOf(redis)).resolves.toBe('PONG');
  });

  it('is not used inside a transaction', async () => {
    const [redis, database] = [await open(), await openTestDatabase()];
    await expect(transaction(database.queries(), () => answerOf(redis))).rejects.toThrow('inside a transaction');
    await database.close();
  });

  it('is probed', async () => {
    expect(await probeRedis(redisUrl, 'atelier:doctor:')).toMatchObject({ version: expect.stringMatching(/^\d+\./) });
  });

  describe('with a server that fails', () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await startRedisServer();
    });
    afterAll(() => server.close());

    it('that is killed: fails at once, and recovers automatically, as another run of the server', async () => {
      const redis = await open({ url: server.url });
      const gaps: string[] = [];
      const heard: string[] = [];
      const listenTo = (channel: string, onGap: () => void) =>
        redis.listen(redis.prefix + channel, { onMessage: (message) => heard.push(message), onGap });
      listenTo('c', () => {
        gaps.push('gap');
        // The connection is not complete yet.
        listenTo('late', () => undefined);
      });
      const run = redis.serverRun;
      server.signal('SIGKILL');
      await expect.poll(() => answerOf(redis).catch((error) => error.code)).toBe('engine_unavailable');
      await expect.poll(() => redis.serverRun).toBeUndefined();
      await server.start();
      await expect.poll(() => answerOf(redis).catch(() => undefined), { timeout: 15_000 }).toBe('PONG');
      expect(redis.serverRun).not.toBe(run);
      await expect.poll(() => gaps.length, { timeout: 15_000 }).toBe(1);
      await redis.run((client) => client.publish(`${redis.prefix}c`, 'again'));
      await expect.poll(() => heard).toEqual(['again']);
      await redis.run((client) => client.publish(`${redis.prefix}late`, 'late'));
      await expect.poll(() => heard).toEqual(['again', 'late']);
    });

    it('that hangs: fails within the deadline, then at once, and recovers automatically', async () => {
      const redis = await open({ url: server.url });
      server.signal('SIGSTOP');
      const startedAt = performance.now();
      const outcomes = [];
      for (let time = 0; time < 100; time++) outcomes.push(await answerOf(redis).catch((error) => error.code));
      expect(new Set(outcomes)).toEqual(new Set(['engine_unavailable']));
      // A hundred deadlines would take 50 s.
      expect(performance.now() - startedAt).toBeLessThan(20_000);
      // The client drops the connection that does not answer.
      await expect.poll(() => redis.serverRun, { timeout: 15_000 }).toBeUndefined();
      server.signal('SIGCONT');
      await expect.poll(() => answerOf(redis).catch(() => undefined), { timeout: 15_000 }).toBe('PONG');
    });

    it('that is full: its reads go on', async () => {
      const redis = await open({ url: server.url });
      const key = `${redis.prefix}a`;
      const setting = (bytes: string) => redis.run((client) => client.configSet('maxmemory', bytes));
      await redis.run((client) => client.set(key, '1'));
      await setting('1');
      for (let time = 0; time < 20; time++)
        await expect(redis.run((client) => client.set(key, '2'))).rejects.toMatchObject({ code: 'engine_unavailable' });
      await expect(redis.run((client) => client.get(key))).resolves.toBe('1');
      await setting('0');
    });
  });
});
