/** Chooses the driver: Redis where there is one, with the database for what it refuses; the database otherwise. */
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { Redis } from '#platform/redis/redis.ts';
import type { AgentTables } from '../tables.ts';
import type { EventLog } from './eventlog.ts';
import { findRunsWithEvents, openDatabaseLog } from './eventstore.ts';
import { openFallbackLog } from './fallback.ts';
import { openRedisLog } from './redis.ts';

export interface OpenEventLogOptions {
  readonly db: Db<AgentTables>;
  readonly redis: Redis | undefined;
  readonly log: Log;
  /** AGENT_TASK_TTL_SECS. */
  readonly ttlS: number;
}

export async function openEventLog({ db, redis, log, ttlS }: OpenEventLogOptions): Promise<EventLog> {
  const databaseLog = openDatabaseLog({ db, log });
  if (redis === undefined) return databaseLog;
  const redisLog = await openRedisLog({ redis, log, ttlS });
  return openFallbackLog({ redisLog, databaseLog, findMoved: (taskIds) => findRunsWithEvents(db, taskIds), log });
}
