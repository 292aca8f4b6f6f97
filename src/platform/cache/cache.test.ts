import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import { openTestRedis, skipWithoutRedis } from '../../../test/redis.fixture.ts';
import { type Database, transaction } from '../db/db.ts';
import { createLog } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import { type Cache, forgetAround, type Lookup } from './cache.ts';
import type { EpochTables } from './epochs.ts';
import { openCache } from './open.ts';

const log = createLog({ level: 'silent' });
const hourMs = 3_600_000;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

interface Ground {
  readonly cache: Cache;
  /** The same cache as seen by another process. The memory driver has one process, so it is the same object. */
  readonly elsewhere: Cache;
}

async function open(onRedis: boolean): Promise<Ground> {
  // Each test has its own cache, because a cleared cache accepts no fills for a while.
  const cacheName = randomUUID();
  const openOne = async (prefix?: string) => {
    const redis = onRedis ? await openTestRedis({ ...(prefix && { prefix }) }) : undefined;
    if (redis) closers.push(() => redis.close());
    return { redis, cache: openCache({ redis, database, name: cacheName, maxBytes: 100_000, log }) };
  };
  const { redis, cache } = await openOne();
  const elsewhere = onRedis ? (await openOne(redis?.prefix)).cache : cache;
  return { cache, elsewhere };
}

/** Fills the cache and returns a second lookup of the same keys. */
async function put(cache: Cache, entries: Record<string, string>, ttlMs = hourMs): Promise<Lookup> {
  const lookup = await cache.lookUp(Object.keys(entries));
  await lookup.fill(new Map(Object.entries(entries)), ttlMs);
  return cache.lookUp(Object.keys(entries));
}

const get = async (cache: Cache, ...keys: string[]) => Object.fromEntries((await cache.lookUp(keys)).found);

describe.skipIf(skipWithoutRedis)('a cache whose Redis is down', () => {
  it('misses, and raises the epoch once for a change in many steps', async () => {
    const near = await openTestRedis();
    const lost = await openTestRedis({ prefix: near.prefix });
    await lost.close();
    closers.push(() => near.close());
    const cacheName = randomUUID();
    const openOn = (connection: Redis) =>
      openCache({ redis: connection, database, name: cacheName, maxBytes: 1000, log });
    const [far, here] = [openOn(lost), openOn(near)];
    await expect.poll(async () => (await put(here, { a: '1' })).found.size).toBe(1);
    expect(await get(far, 'a')).toEqual({});
    for (let step = 0; step < 30; step++) await far.forget(['a']);
    expect(await get(here, 'a')).toEqual({});
    expect((await put(here, { a: 'of before' })).found.size).toBe(0);
    const epoch = await database
      .queries<EpochTables>()
      .selectFrom('cache_epochs')
      .select('epoch')
      .where('name', '=', cacheName)
      .executeTakeFirst();
    expect(epoch).toEqual({ epoch: 1 });
  });
});

for (const [name, missing] of [
  ['memory', false],
  ['redis', skipWithoutRedis],
] as const) {
  describe.skipIf(missing)(`a cache on ${name}`, () => {
    it('returns filled values in every process, many at once', async () => {
      const { cache, elsewhere } = await open(name === 'redis');
      await put(cache, { a: '1', b: 'ü\n"', c: '' });
      expect(await get(cache, 'a', 'b', 'c', 'd')).toEqual({ a: '1', b: 'ü\n"', c: '' });
      expect(await get(elsewhere, 'd', 'b', 'a')).toEqual({ a: '1', b: 'ü\n"' });
      expect(await get(cache)).toEqual({});
    });

    it('accepts thousands of keys', async () => {
      const { cache } = await open(name === 'redis');
      const keys = Array.from({ length: 2500 }, (_, index) => `k${index}`);
      const lookup = await cache.lookUp(keys);
      await lookup.fill(new Map(keys.slice(0, 300).map((key) => [key, 'v'])), hourMs);
      expect((await cache.lookUp(keys)).found.size).toBe(300);
      await cache.forget(keys);
      expect((await cache.lookUp(keys)).found.size).toBe(0);
    });

    it('expires entries', async () => {
      const { cache } = await open(name === 'redis');
      expect((await put(cache, { a: '1' }, 300)).found.get('a')).toBe('1');
      await expect.poll(() => get(cache, 'a')).toEqual({});
    });

    it('invalidates only the given keys in every process', async () => {
      const { cache, elsewhere } = await open(name === 'redis');
      await put(cache, { a: '1', b: '2' });
      await elsewhere.forget(['a']);
      expect(await get(cache, 'a', 'b')).toEqual({ b: '2' });
    });

    it('rejects a fill whose lookup came before a change', async () => {
      const { cache, elsewhere } = await open(name === 'redis');
      const lookup = await cache.lookUp(['a', 'b']);
      await elsewhere.forget(['a']);
      const entries = { a: 'of before', b: '2' };
      await lookup.fill(new Map(Object.entries(entries)), hourMs);
      expect(await get(cache, 'a', 'b')).toEqual({ b: '2' });
    });

    it('rejects a fill between the two halves of a change', async () => {
      const { cache, elsewhere } = await open(name === 'redis');
      await put(cache, { a: 'of before', b: 'too' });
      const changed = await forgetAround(
        cache,
        ['a'],
        async () => {
          await put(elsewhere, { a: 'of before' });
          expect(await get(elsewhere, 'a')).toEqual({});
          return 'b';
        },
        async (key) => [key],
      );
      expect(changed).toBe('b');
      expect(await get(cache, 'a', 'b')).toEqual({});
    });

    it('aborts a change that fails', async () => {
      const { cache } = await open(name === 'redis');
      await put(cache, { a: '1' });
      await expect(forgetAround(cache, ['a'], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
      expect(await get(cache, 'a')).toEqual({});
    });

    it('clears every process, including fills of earlier lookups', async () => {
      const { cache, elsewhere } = await open(name === 'redis');
      await put(cache, { a: '1' });
      const lookup = await elsewhere.lookUp(['b']);
      await cache.clear();
      await lookup.fill(new Map([['b', '2']]), hourMs);
      expect(await get(cache, 'a', 'b')).toEqual({});
      expect(await get(elsewhere, 'a', 'b')).toEqual({});
    });

    it('throws inside a transaction', async () => {
      const { cache } = await open(name === 'redis');
      for (const use of [async () => void (await cache.lookUp(['a'])), () => cache.forget(['a']), () => cache.clear()])
        await expect(transaction(database.queries(), use)).rejects.toThrow('inside a transaction');
    });
  });
}
