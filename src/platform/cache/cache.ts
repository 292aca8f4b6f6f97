/**
 * Caches that never return outdated values after a change. Values are strings, read and written in batches. If the cache fails,
 * a lookup is a miss. Code that changes cached data calls `forget` right before and right after the change. Then neither an older
 * entry nor a fill with data read before the change survives it, even if the process dies in between or the cache is unreachable.
 */
import { LRUCache } from 'lru-cache';

export interface Cache {
  readonly driver: 'memory' | 'redis';
  /** Never rejects. Like all methods here, it throws inside a database transaction. */
  lookUp(keys: readonly string[]): Promise<Lookup>;
  /**
   * After it resolves, no process reads the old values, and for `fillBarrierMs` no fills are accepted, so that data read earlier
   * cannot be cached later. Rejects with `engine_unavailable` if this cannot be guaranteed; the caller must then abort the change.
   * It may take a second if Redis does not respond.
   */
  forget(keys: readonly string[]): Promise<void>;
  /** Works like `forget`, for all keys. */
  clear(): Promise<void>;
}

export interface Lookup {
  /** The cached values by key. */
  readonly found: ReadonlyMap<string, string>;
  /**
   * Stores values that were read after this lookup, for `ttlMs`. Keys forgotten since the lookup are skipped, and nothing is stored
   * if the lookup is older than `fillWithinMs`. Never rejects, and the caller need not await it.
   */
  fill(entries: ReadonlyMap<string, string>, ttlMs: number): Promise<void>;
}

/** Longer than the time limit of a query. */
export const fillWithinMs = 10_000;
/** Longer than any fill that began earlier, and longer than a change takes from the first `forget` to the second. */
export const fillBarrierMs = 30_000;

/** Runs a change between two calls of `forget`. `alsoAfter` returns the keys that are known only after the change. */
export async function forgetAround<Result>(
  cache: Cache,
  keys: readonly string[],
  change: () => Promise<Result>,
  alsoAfter?: (result: Result) => Promise<readonly string[]>,
): Promise<Result> {
  await cache.forget(keys);
  const result = await change();
  await cache.forget([...keys, ...((await alsoAfter?.(result)) ?? [])]);
  return result;
}

// Maps in memory with a maximum number of entries, of which the least recently used are evicted first.

/** Counts entries as sizes, because the library allocates the space for a maximum number of entries at once. */
export function createLru<Key extends string, Value extends object | string | number>(
  maxEntries: number,
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ maxSize: maxEntries, sizeCalculation: () => 1 });
}
