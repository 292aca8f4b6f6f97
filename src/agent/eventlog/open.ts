/** The doorway: in Redis where there is one, in the database otherwise. */
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { Redis } from '#platform/redis/redis.ts';
import type { EventTables } from '../store/eventstore.ts';
import { openDatabaseLog } from './database.ts';
import type { EventLog } from './eventlog.ts';
import { openRedisLog } from './redis.ts';

export interface OpenEventLogOptions {
  readonly db: Db<EventTables>;
  readonly redis: Redis | undefined;
  readonly log: Log;
  /** AGENT_TASK_TTL_SECS. */
  readonly ttlS: number;
}

export async function openEventLog({ db, redis, log, ttlS }: OpenEventLogOptions): Promise<EventLog> {
  return redis === undefined ? openDatabaseLog({ db, log }) : openRedisLog({ redis, log, ttlS });
}
