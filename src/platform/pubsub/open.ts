/** The doorway: Redis where there is one. */
import type { Log } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import { createMemoryPubSub } from './memory.ts';
import type { PubSub } from './pubsub.ts';
import { createRedisPubSub } from './redis.ts';

export interface OpenPubSubOptions {
  readonly redis: Redis | undefined;
  /** Of the service: its processes hear one another, and nobody else. */
  readonly name: string;
  readonly log: Log;
}

/** Open it once per process and name: others do not hear it within the process. */
export function openPubSub({ redis, name, log }: OpenPubSubOptions): PubSub {
  return redis === undefined ? createMemoryPubSub(log) : createRedisPubSub({ redis, name, log });
}
