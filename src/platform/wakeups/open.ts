/** The doorway: Redis where there is one. */
import type { Log } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import { createMemoryWakeups } from './memory.ts';
import { createRedisWakeups } from './redis.ts';
import type { Wakeups } from './wakeups.ts';

export interface OpenWakeupsOptions {
  readonly redis: Redis | undefined;
  /** Of the service: its processes hear one another, and nobody else. */
  readonly name: string;
  readonly log: Log;
}

/** Open it once per process and name: others do not hear it within the process. */
export function openWakeups({ redis, name, log }: OpenWakeupsOptions): Wakeups {
  return redis === undefined ? createMemoryWakeups(log) : createRedisWakeups({ redis, name, log });
}
