/**
 * Caches that cannot lie after a change. Values are texts, looked up and filled many at once. A cache that fails is a
 * miss. Whoever changes what is cached calls `forget` right before and right after; then neither an entry of before nor a
 * fill with what was read before survives the change, also when the process dies in between, and when the cache cannot be
 * reached meanwhile.
 */

export interface Cache {
  readonly driver: 'memory' | 'redis';
  /** Never rejects. Throws inside a database transaction, as all of these. */
  lookUp(keys: readonly string[]): Promise<Lookup>;
  /**
   * When it resolves, nobody gets what was there, here or in another process; and for `quietMs` nothing is filled in, so
   * that what was read before cannot come after. Rejects with `engine_unavailable` when that cannot be said: the caller
   * goes no further then. May take a second when Redis does not answer.
   */
  forget(keys: readonly string[]): Promise<void>;
  /** As `forget`, of all keys. */
  clear(): Promise<void>;
}

export interface Lookup {
  /** What was there, by key. */
  readonly found: ReadonlyMap<string, string>;
  /**
   * Puts in what was read since this lookup, for `ttlMs`, but what was forgotten meanwhile; nothing once the lookup is
   * older than `fillWithinMs`. Never rejects; need not be waited for.
   */
  fill(entries: ReadonlyMap<string, string>, ttlMs: number): Promise<void>;
}

/** Longer than a query may take. */
export const fillWithinMs = 10_000;
/** Longer than any fill that began before, and than a change takes from the first `forget` to the second. */
export const quietMs = 30_000;

/** Runs a change between the two calls of `forget`. `alsoAfter`: keys that only the change tells. */
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
