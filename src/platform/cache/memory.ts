/** The embedded driver: in process, bounded by the size of its texts. For where nobody else may change what is cached. */
import { LRUCache } from 'lru-cache';
import { type Clock, monotonicClock } from '../clock.ts';
import { assertOutsideTransaction } from '../db/db.ts';
import { type Cache, fillWithinMs, quietMs } from './cache.ts';

export interface MemoryCacheOptions {
  /** Of keys and values together, about; the least used go first. */
  readonly maxBytes: number;
  readonly clock?: Clock;
}

/** What an entry costs beyond its texts. */
const entryBytes = 200;

export function createMemoryCache({ maxBytes, clock = monotonicClock }: MemoryCacheOptions): Cache {
  const entries = new LRUCache<string, string>({
    maxSize: maxBytes,
    // Latin texts take one byte a character; others count half, which the bound is coarse enough for.
    sizeCalculation: (value, key) => value.length + key.length + entryBytes,
    ttl: 1,
    perf: clock,
  });
  const quiet = createQuiet(clock);
  let clearings = 0;

  return {
    driver: 'memory',
    lookUp: async (keys) => {
      assertOutsideTransaction('the cache');
      const lookedUpAt = clock.now();
      const clearingsBefore = clearings;
      const found = new Map(
        keys.flatMap((key): [string, string][] => {
          const value = entries.get(key);
          return value === undefined ? [] : [[key, value]];
        }),
      );
      const fill = async (filled: ReadonlyMap<string, string>, ttlMs: number): Promise<void> => {
        assertOutsideTransaction('the cache');
        if (clearings !== clearingsBefore || clock.now() > lookedUpAt + fillWithinMs) return;
        for (const [key, value] of filled) if (!quiet.has(key)) entries.set(key, value, { ttl: ttlMs });
      };
      return { found, fill };
    },
    forget: async (keys) => {
      assertOutsideTransaction('the cache');
      for (const key of keys) entries.delete(key);
      quiet.add(keys);
    },
    clear: async () => {
      assertOutsideTransaction('the cache');
      entries.clear();
      clearings += 1;
    },
  };
}

/** The keys that were forgotten within the last `quietMs`. */
function createQuiet(clock: Clock) {
  const until = new Map<string, number>();
  return {
    has: (key: string) => (until.get(key) ?? 0) > clock.now(),
    add: (keys: readonly string[]) => {
      const nowMs = clock.now();
      for (const key of keys) {
        // In the order in which they end: those that are over stand first.
        until.delete(key);
        until.set(key, nowMs + quietMs);
      }
      // Once for all: a map passes over what was deleted at its beginning each time that it is begun.
      for (const [old, end] of until) {
        if (end > nowMs) break;
        until.delete(old);
      }
    },
  };
}
