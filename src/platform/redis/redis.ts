/**
 * Redis (or Valkey) as a process uses it: one connection for commands and one for messages, both reconnected
 * automatically. Redis only makes things fast: if it is flushed or lost, that costs speed and the streams in flight
 * (docs/specification/system.md#redis). Every caller works without it. Opened in `open.ts` only.
 */

import { Gauge, type Registry } from '@prometheus-io/client';
import type { RedisClientType } from '@redis/client';

/** node-redis, for commands; never for `subscribe` or what blocks. */
export type RedisClient = RedisClientType;

export interface Redis {
  /**
   * The beginning of every key and channel of this installation; ends in `:`. Several installations may share one
   * server. Lua scripts receive complete keys.
   */
  readonly prefix: string;
  /**
   * Identifies the running server process. It changes with a restart or a failover, which may lose the last writes and
   * bring back older ones. `undefined` without a connection.
   */
  readonly serverRun: string | undefined;
  /** `false`: it responds and refuses writes, as a replica or a full server does. `undefined`: it does not respond. */
  readonly isWritable: boolean | undefined;
  /**
   * One call, or several at once. Throws `engine_unavailable` without a connection, without a response within
   * `timeoutMs` (500), if the server refuses, and immediately while the breaker is open. The server may still carry out
   * a command that failed. Errors of the command itself are thrown unchanged. Throws inside a database transaction.
   */
  run<T>(call: (client: RedisClient) => Promise<T>, timeoutMs?: number): Promise<T>;
  /**
   * Subscribes to `channel` (complete, with the prefix), across reconnections, until `close`. Messages sent while there
   * is no connection are lost; `onGap` is called after every such time.
   */
  listen(channel: string, listener: ChannelListener): void;
  /** A separate connection for commands that block, each for at most 2 s. The caller closes it. */
  openBlocking(name: string): Promise<BlockingConnection>;
  /**
   * Ends all connections of this process, which then reconnect through the same name: after a failover, it leads to another server.
   * Returns `false`, and does nothing, without a connection or within 3 s of connecting.
   */
  leave(): boolean;
  /** For /ready. Throws if the server does not respond or refuses writes. */
  check(): Promise<void>;
  close(): Promise<void>;
}

interface BlockingConnection {
  /** `undefined` without a connection. */
  client(): RedisClient | undefined;
  close(): Promise<void>;
}

export interface ChannelListener {
  readonly onMessage: (message: string) => void;
  readonly onGap: () => void;
}

export function measureRedis(registry: Registry, redis: Redis): void {
  new Gauge({
    name: 'redis_writable',
    help: '1: Redis accepts writes. 0: it refuses them or does not respond.',
    registers: [registry],
    collect() {
      this.set(redis.isWritable === true ? 1 : 0);
    },
  });
}
