/** The doorway: in the database where no Redis is. */
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { Redis } from '#platform/redis/redis.ts';
import type { EventLog } from '../eventlog.ts';
import { openDatabaseLog } from './database.ts';
import type { EventTables } from './store.ts';

export interface OpenEventLogOptions {
  readonly db: Db<EventTables>;
  readonly redis: Redis | undefined;
  readonly log: Log;
  /** AGENT_TASK_TTL_SECS. */
  readonly ttlS: number;
}

export function openEventLog({ db, log }: OpenEventLogOptions): EventLog {
  return openDatabaseLog({ db, log });
}
