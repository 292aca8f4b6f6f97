/**
 * The distributed driver. Keys carry the run of the server and the epoch of the cache, so that nothing is read that a
 * server brought back from before its restart, nor what it could not be told to forget.
 *
 *   <prefix>cache:<name>:<run>:<epoch>:life     a random text, made anew after a flush
 *                                     :=<key>   an entry
 *                                     :!<key>   was forgotten: nothing is filled in
 */
import { randomUUID } from 'node:crypto';
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import { type Cache, fillWithinMs, type Lookup, quietMs } from './cache.ts';
import type { Epochs } from './epochs.ts';

export interface RedisCacheOptions {
  readonly redis: Redis;
  readonly name: string;
  readonly epochs: Epochs;
  readonly log: Log;
}

/** A change waits for it rather than void all that is cached. */
const forgetTimeoutMs = 1500;
/** In one script: Lua takes no arguments without end. */
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
    log.debug({ err: error, cache: name }, 'a cache does not answer');
    return nothing;
  };
  const baseOf = (run: string, epoch: number) => `${redis.prefix}cache:${name}:${run}:${epoch}`;

  async function lookUp(keys: readonly string[]): Promise<Lookup> {
    const epoch = await epochs.current();
    const run = redis.serverRun;
    if (epoch === undefined || run === undefined) return nothing;
    const base = baseOf(run, epoch.number);
    const lifeKey = `${base}:life`;
    const [[life, ...values], [nowS]] = await redis.run((client) =>
      Promise.all([
        client.mGet([lifeKey, ...keys.map((key) => `${base}:=${key}`)]),
        // Sent first or second, at most one answer apart: seconds before the fill's limit.
        client.sendCommand<[string, string]>(['TIME']),
      ]),
    );
    // Another connection meanwhile, so perhaps another server.
    if (redis.serverRun !== run) return nothing;
    const found = new Map(
      keys.flatMap((key, index): [string, string][] => {
        const value = values[index];
        return typeof value === 'string' ? [[key, value]] : [];
      }),
    );
    if (typeof life !== 'string') {
      // A cache that is new or was flushed: the next lookup can fill.
      redis.run((client) => client.set(lifeKey, randomUUID(), { condition: 'NX' })).catch(miss);
      return { found, fill: nothing.fill };
    }
    if (epoch.isQuiet) return { found, fill: nothing.fill };
    const untilS = Number(nowS) + fillWithinMs / 1000;
    const fill: Lookup['fill'] = async (entries, ttlMs) => {
      for (const batch of inBatches([...entries.keys()])) {
        const filled = redis.run((client) =>
          client.eval(fillScript, {
            keys: [lifeKey, ...batch.map((key) => `${base}:=${key}`), ...batch.map((key) => `${base}:!${key}`)],
            arguments: [life, String(untilS), String(ttlMs), ...batch.map((key) => entries.get(key) ?? '')],
          }),
        );
        await filled.catch(miss);
      }
    };
    return { found, fill };
  }

  async function forget(keys: readonly string[]): Promise<void> {
    const [epoch, run] = [await epochs.current(), redis.serverRun];
    if (epoch === undefined || run === undefined) throw new Error('it is not known what Redis holds');
    const base = baseOf(run, epoch.number);
    for (const batch of inBatches(keys)) {
      await redis.run(
        (client) =>
          client.eval(forgetScript, {
            keys: [...batch.map((key) => `${base}:=${key}`), ...batch.map((key) => `${base}:!${key}`)],
            arguments: [String(quietMs)],
          }),
        forgetTimeoutMs,
      );
    }
    if (redis.serverRun !== run) throw new Error('the connection to Redis changed meanwhile');
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
      // There is nothing, and nothing is filled in for a while: a change in many steps does not wait at each of them.
      const isVoid = epochs.justRaised();
      if (isVoid !== undefined) return isVoid;
      await forget(keys).catch(async (error: unknown) => {
        log.warn({ err: error, cache: name }, 'Redis could not be told of a change: all that is cached is void');
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
