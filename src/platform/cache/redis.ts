/**
 * The distributed driver. Keys contain the run id of the Redis server and the epoch of the cache. Entries that a server restored
 * after a restart, or did not invalidate, are therefore never read. The database names the server whose entries are valid, because
 * after a failover a process may still be connected to the server before it.
 *
 *   <prefix>cache:<name>:<run>:<epoch>:life     a random string, created again after a flush
 *                                     :=<key>   an entry
 *                                     :!<key>   a forgotten key, which accepts no fill
 */
import { randomUUID } from 'node:crypto';
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import { type Cache, fillBarrierMs, fillWithinMs, type Lookup } from './cache.ts';
import type { Epoch, Epochs } from './epochs.ts';

export interface RedisCacheOptions {
  readonly redis: Redis;
  readonly name: string;
  readonly epochs: Epochs;
  readonly log: Log;
}

/** A change waits this long before it invalidates the whole cache instead. */
const forgetTimeoutMs = 1500;
/** Limit per script, because Lua has a maximum number of arguments. */
const keysAtOnce = 1000;

const fillScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(redis.call('TIME')[1]) > tonumber(ARGV[2]) then return 0 end
local count = (#KEYS - 1) / 2
for i = 1, count do
  if redis.call('EXISTS', KEYS[1 + count + i]) == 0 then redis.call('SET', KEYS[1 + i], ARGV[3 + i], 'PX', ARGV[3]) end
end
return 1`;

const forgetScript = `
local count = #KEYS / 2
for i = 1, count do
  redis.call('SET', KEYS[count + i], '', 'PX', ARGV[1])
  redis.call('UNLINK', KEYS[i])
end
return 1`;

const nothing: Lookup = { found: new Map(), fill: async () => undefined };

export function createRedisCache({ redis, name, epochs, log }: RedisCacheOptions): Cache {
  const miss = (error: unknown) => {
    log.debug({ err: error, cache: name }, 'the cache is not responding');
    return nothing;
  };
  const baseOf = (run: string, epoch: number) => `${redis.prefix}cache:${name}:${run}:${epoch}`;

  /** Returns the life of the new generation, which another process may have begun at the same time. */
  async function begin(lifeKey: string): Promise<string> {
    const life = randomUUID();
    const other = await redis.run((client) => client.set(lifeKey, life, { condition: 'NX', GET: true }));
    return other?.toString() ?? life;
  }

  /** The server that this process used last, while the database named it. */
  let usedRun: string | undefined;
  let adopting: Promise<Epoch | undefined> | undefined;

  /** Returns `undefined` while the entries of the connected server must not be used. */
  async function epochOn(run: string): Promise<Epoch | undefined> {
    const epoch = await epochs.current();
    if (epoch === undefined || redis.isWritable !== true) return undefined;
    if (epoch.serverRun === run) {
      usedRun = run;
      return epoch;
    }
    if (usedRun !== run) {
      adopting ??= adopt(run).finally(() => {
        adopting = undefined;
      });
      const adopted = await adopting;
      return adopted?.serverRun === run ? adopted : undefined;
    }
    // Another process was connected to another server later than this one.
    if (redis.leave()) {
      usedRun = undefined;
      log.warn({ cache: name }, 'another process uses another Redis server; connecting again');
    }
    return undefined;
  }

  /** Only a server that accepts writes now, so that no replica is adopted. */
  async function adopt(run: string): Promise<Epoch | undefined> {
    await redis.check();
    if (redis.serverRun !== run) return undefined;
    const epoch = await epochs.adopt(run);
    usedRun = run;
    return epoch;
  }

  async function lookUp(keys: readonly string[]): Promise<Lookup> {
    const run = redis.serverRun;
    if (run === undefined) return nothing;
    const epoch = await epochOn(run);
    if (epoch === undefined) return nothing;
    const base = baseOf(run, epoch.number);
    const lifeKey = `${base}:life`;
    const [[life, ...values], [nowS]] = await redis.run((client) =>
      Promise.all([
        client.mGet([lifeKey, ...keys.map((key) => `${base}:=${key}`)]),
        // The two commands run at most one round trip apart, which is seconds below the fill's limit.
        client.sendCommand<[string, string]>(['TIME']),
      ]),
    );
    // The connection changed during the call, so the server may be another one.
    if (redis.serverRun !== run) return nothing;
    const found = new Map(
      keys.flatMap((key, index): [string, string][] => {
        const value = values[index];
        return typeof value === 'string' ? [[key, value]] : [];
      }),
    );
    if (epoch.blocksFills) return { found, fill: nothing.fill };
    // Without a life, the cache is new or was flushed.
    const generation = typeof life === 'string' ? life : await begin(lifeKey);
    const untilS = Number(nowS) + fillWithinMs / 1000;
    const fill: Lookup['fill'] = async (entries, ttlMs) => {
      for (const batch of inBatches([...entries.keys()])) {
        const filled = redis.run((client) =>
          client.eval(fillScript, {
            keys: [lifeKey, ...batch.map((key) => `${base}:=${key}`), ...batch.map((key) => `${base}:!${key}`)],
            arguments: [generation, String(untilS), String(ttlMs), ...batch.map((key) => entries.get(key) ?? '')],
          }),
        );
        await filled.catch(miss);
      }
    };
    return { found, fill };
  }

  async function forget(keys: readonly string[]): Promise<void> {
    const run = redis.serverRun;
    const epoch = run === undefined ? undefined : await epochOn(run);
    if (run === undefined || epoch === undefined) throw new Error('the state of Redis is unknown');
    if (epoch.isSettling) throw new Error('a process may still use another Redis server');
    const base = baseOf(run, epoch.number);
    for (const batch of inBatches(keys)) {
      await redis.run(
        (client) =>
          client.eval(forgetScript, {
            keys: [...batch.map((key) => `${base}:=${key}`), ...batch.map((key) => `${base}:!${key}`)],
            arguments: [String(fillBarrierMs)],
          }),
        forgetTimeoutMs,
      );
    }
    if (redis.serverRun !== run) throw new Error('the connection to Redis changed during the call');
  }

  return {
    driver: 'redis',
    lookUp: async (keys) => {
      assertOutsideTransaction('the cache');
      return keys.length === 0 ? nothing : lookUp(keys).catch(miss);
    },
    forget: async (keys) => {
      assertOutsideTransaction('the cache');
      if (keys.length === 0) return;
      // The cache is empty and accepts no fills for a while, so a change in many steps need not wait at each step.
      const raising = epochs.recentRaise();
      if (raising !== undefined) return raising;
      await forget(keys).catch(async (error: unknown) => {
        log.warn({ err: error, cache: name }, 'Redis did not accept an invalidation; invalidating the whole cache');
        await epochs.raise();
      });
    },
    clear: async () => {
      assertOutsideTransaction('the cache');
      await epochs.raise();
    },
  };
}

function inBatches(keys: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(keys.length / keysAtOnce) }, (_, batch) =>
    keys.slice(batch * keysAtOnce, (batch + 1) * keysAtOnce),
  );
}
