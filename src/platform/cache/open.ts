/** The doorway: Redis where there is one. */
import type { Database } from '../db/db.ts';
import type { Log } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import type { Cache } from './cache.ts';
import { createEpochs, type EpochTables } from './epochs.ts';
import { createMemoryCache } from './memory.ts';
import { createRedisCache } from './redis.ts';

export interface OpenCacheOptions {
  readonly redis: Redis | undefined;
  /** Migrated. Asked once a second, with Redis, while the cache is used. */
  readonly database: Database;
  /** Of the cache: processes that give one name share it. */
  readonly name: string;
  /** In memory. */
  readonly maxBytes: number;
  readonly log: Log;
}

export function openCache({ redis, database, name, maxBytes, log }: OpenCacheOptions): Cache {
  if (redis === undefined) return createMemoryCache({ maxBytes });
  return createRedisCache({ redis, name, epochs: createEpochs(database.queries<EpochTables>(), name), log });
}
