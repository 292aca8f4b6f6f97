/** The only place that opens Redis. */
import { ConfigFault } from '../config.ts';
import { createLog } from '../log.ts';
import type { ConnectOptions } from './client.ts';
import type { Redis } from './redis.ts';
import { reasonOf } from './writability.ts';

/** Throws a ConfigFault of one line if the server does not respond. */
export async function openRedis(options: ConnectOptions): Promise<Redis> {
  const { connectRedis } = await import('./client.ts');
  return connectRedis(options).catch((error: Error) => {
    // Never show the URL, which contains the password.
    throw new ConfigFault([
      `REDIS_URL: Redis does not respond (${error.message || (error as { code?: string }).code})`,
    ]);
  });
}

export interface RedisFacts {
  readonly version: string;
  /** When it is full, it refuses writes instead of evicting keys. */
  readonly keepsAll: boolean;
  /** It writes an append-only file. */
  readonly survivesRestart: boolean;
  /** Why it takes no writes; `undefined`: it does. */
  readonly refusal: string | undefined;
}

/** For doctor. Writes one key that expires within a minute. Throws ConfigFault if the server does not respond. */
export async function probeRedis(url: string, prefix: string): Promise<RedisFacts> {
  const redis = await openRedis({ url, prefix, log: createLog({ level: 'silent' }) });
  try {
    const refusal = await redis.check().then(() => undefined, reasonOf);
    const info = await redis.run((client) => client.info(), 2000);
    const lines = info.split(/\r?\n/);
    const fact = (name: string) => lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1) ?? '';
    return {
      version: fact('valkey_version') || fact('redis_version'),
      keepsAll: fact('maxmemory_policy') === 'noeviction',
      survivesRestart: fact('aof_enabled') === '1',
      refusal,
    };
  } finally {
    await redis.close();
  }
}
