/** Chooses the driver: Redis if it is configured, memory otherwise. */
import type { Log } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import { createMemoryPubSub, type PubSub } from './pubsub.ts';
import { createRedisPubSub } from './redis.ts';

export interface OpenPubSubOptions {
  readonly redis: Redis | undefined;
  /** The name of the service. Only processes with the same name receive each other's messages. */
  readonly name: string;
  readonly log: Log;
}

/** Open it once per process and name, because messages are not passed between two instances in the same process. */
export function openPubSub({ redis, name, log }: OpenPubSubOptions): PubSub {
  return redis === undefined ? createMemoryPubSub(log) : createRedisPubSub({ redis, name, log });
}
