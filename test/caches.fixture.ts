/** An in-process cache for tests. `database` is not used. */
import type { Cache } from '#platform/cache/cache.ts';
import { openCache } from '#platform/cache/open.ts';
import type { Database } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';

export function openTestCache(database: Database): Cache {
  return openCache({
    redis: undefined,
    database,
    name: 'test',
    maxBytes: 10_000_000,
    log: createLog({ level: 'silent' }),
  });
}
