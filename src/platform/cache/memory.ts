/** The embedded driver: in process, with a bounded total size of its strings. Use it only if no other process can change the cached data. */
import { LRUCache } from 'lru-cache';
import { type Clock, monotonicClock } from '../clock.ts';
import { assertOutsideTransaction } from '../db/db.ts';
import { type Cache, fillBarrierMs, fillWithinMs } from './cache.ts';

export interface MemoryCacheOptions {
  /** Approximate limit for keys and values together. The least recently used entries are evicted first. */
  readonly maxBytes: number;
  readonly clock?: Clock;
}

/** Overhead of an entry in addition to its strings. */
const entryBytes = 200;

export function createMemoryCache({ maxBytes, clock = monotonicClock }: MemoryCacheOptions): Cache {
  const entries = new LRUCache<string, string>({
    maxSize: maxBytes,
    // Latin text takes one byte per character. Other text is undercounted by half, which is accurate enough for this limit.
    sizeCalculation: (value, key) => value.length + key.length + entryBytes,
    ttl: 1,
    perf: clock,
  });
  const barrier = createFillBarrier(clock);
  let clearings = 0;

  return {
    driver: 'memory',
    lookUp: async (keys) => {
      assertOutsideTransaction('the cache');
      const lookedUpAt = clock.now();
      const clearingsBefore = clearings;
      const found = new Map<string, string>();
      for (const key of keys) {
        const value = entries.get(key);
        if (value !== undefined) found.set(key, value);
      }
      const fill = async (filled: ReadonlyMap<string, string>, ttlMs: number): Promise<void> => {
        assertOutsideTransaction('the cache');
        if (clearings !== clearingsBefore || clock.now() > lookedUpAt + fillWithinMs) return;
        for (const [key, value] of filled) if (!barrier.has(key)) entries.set(key, value, { ttl: ttlMs });
      };
      return { found, fill };
    },
    forget: async (keys) => {
      assertOutsideTransaction('the cache');
      for (const key of keys) entries.delete(key);
      barrier.add(keys);
    },
    clear: async () => {
      assertOutsideTransaction('the cache');
      entries.clear();
      clearings += 1;
    },
  };
}

/** The keys that were forgotten within the last `fillBarrierMs`. */
function createFillBarrier(clock: Clock) {
  const until = new Map<string, number>();
  return {
    has: (key: string) => (until.get(key) ?? 0) > clock.now(),
    add: (keys: readonly string[]) => {
      const nowMs = clock.now();
      for (const key of keys) {
        // Insert at the end, so that entries stay in the order in which they expire.
        until.delete(key);
        until.set(key, nowMs + fillBarrierMs);
      }
      // Once per call and not per key, because each new iteration of a map skips all deleted entries at its beginning again.
      for (const [old, end] of until) {
        if (end > nowMs) break;
        until.delete(old);
      }
    },
  };
}
