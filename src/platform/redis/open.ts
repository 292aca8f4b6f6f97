/** The doorway to Redis. */
import { ConfigFault } from '../config.ts';
import { createLog, type Log } from '../log.ts';
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

export interface RedisFacts {
  readonly version: string;
  /** It refuses writes when it is full, rather than drop what it holds. */
  readonly keepsAll: boolean;
  /** By its append-only file. */
  readonly survivesRestart: boolean;
}

/** For doctor. Changes nothing; a server that does not answer is a ConfigFault. */
export async function probeRedis(url: string): Promise<RedisFacts> {
  const redis = await openRedis({ url, prefix: '', log: createLog({ level: 'silent' }) });
  try {
    const info = await redis.run((client) => client.info(), 2000);
    const lines = info.split(/\r?\n/);
    const fact = (name: string) => lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1) ?? '';
    return {
      version: fact('valkey_version') || fact('redis_version'),
      keepsAll: fact('maxmemory_policy') === 'noeviction',
      survivesRestart: fact('aof_enabled') === '1',
    };
  } finally {
    await redis.close();
  }
}
