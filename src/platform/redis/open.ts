/** The doorway to Redis. */
import { ConfigFault } from '../config.ts';
import type { Log } from '../log.ts';
import type { Redis } from './redis.ts';

export interface OpenRedisOptions {
  /** redis:// or rediss:// */
  readonly url: string;
  readonly prefix: string;
  readonly log: Log;
}

/** A server that does not answer is a ConfigFault of one line. */
export async function openRedis(options: OpenRedisOptions): Promise<Redis> {
  const { connectRedis } = await import('./client.ts');
  return connectRedis(options).catch((error: Error) => {
    // Never the address: it holds the password.
    throw new ConfigFault([`REDIS_URL: Redis does not answer (${error.message || (error as { code?: string }).code})`]);
  });
}
