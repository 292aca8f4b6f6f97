/** Chooses the driver: Redis if it is configured, memory otherwise. */
import type { Database } from '../db/db.ts';
import type { Log } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import type { Cache } from './cache.ts';
import { createEpochs, type EpochTables } from './epochs.ts';
import { createMemoryCache } from './memory.ts';
import { createRedisCache } from './redis.ts';

export interface OpenCacheOptions {
  readonly redis: Redis | undefined;
  /** A migrated database. With Redis, it is read about once a second while the cache is used. */
  readonly database: Database;
  /** The name of the cache. Processes that use the same name share it. */
  readonly name: string;
  /** Limit for the memory driver. */
  readonly maxBytes: number;
  readonly log: Log;
}

export function openCache({ redis, database, name, maxBytes, log }: OpenCacheOptions): Cache {
  if (redis === undefined) return createMemoryCache({ maxBytes });
  return createRedisCache({ redis, name, epochs: createEpochs(database.queries<EpochTables>(), name), log });
}
