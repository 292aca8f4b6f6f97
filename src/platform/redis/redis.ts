/**
 * Redis (or Valkey), as far as a process uses it: one connection for commands, one for messages, both kept up by
 * themselves. It only makes things fast: flushed or lost, it costs speed and the streams in flight (docs/specification/system.md#redis), so
 * whoever calls it knows what to do without it. Opened in `open.ts` only.
 */
import type { RedisClientType } from 'redis';

/** node-redis, for commands; never for `subscribe` or what blocks. */
export type RedisClient = RedisClientType;

export interface Redis {
  /**
   * What every key and every channel of this installation begins with; ends in `:`. Several installations may share one
   * server. Lua scripts are given their keys whole.
   */
  readonly prefix: string;
  /**
   * Which run of which server is connected: another one after a restart or a fail-over, by which the last writes may be
   * lost, and older ones be back. `undefined` while nothing is connected.
   */
  readonly serverRun: string | undefined;
  /**
   * One call, or several at once. Throws `engine_unavailable` when there is no connection, no answer within `timeoutMs`
   * (500) or the server is not able to; at once while the breaker is open. What it was told to do it may still do then.
   * Errors of the command itself are thrown as they are. Throws inside a database transaction.
   */
  run<T>(call: (client: RedisClient) => Promise<T>, timeoutMs?: number): Promise<T>;
  /**
   * Hears `channel` (whole, with the prefix) until the function it gives is called; across reconnections. Resolves at
   * once, heard from or not: messages of the time without a connection are lost, and `onGap` tells of every such time
   * when it is over.
   */
  listen(channel: string, listener: ChannelListener): () => void;
  /** A connection of its own, kept up by itself, for commands that block (2 s at most at a time); to be closed. */
  openBlocking(name: string): Promise<BlockingConnection>;
  /** Throws when it does not answer; for /ready and doctor. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface BlockingConnection {
  /** `undefined` while there is none. */
  client(): RedisClient | undefined;
  close(): Promise<void>;
}

export interface ChannelListener {
  readonly onMessage: (message: string) => void;
  readonly onGap: () => void;
}
