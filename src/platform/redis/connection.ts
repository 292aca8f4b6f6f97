/**
 * A connection to Redis that is reconnected automatically. Each connection is a client of its own, without the library's
 * reconnection: no command is repeated on another connection, which may lead to another server, and a connection that
 * stops responding is dropped.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import type { Log } from '../log.ts';
import { withDeadline } from '../resilience/deadline.ts';
import type { RedisClient } from './redis.ts';

export interface Connection {
  readonly client: RedisClient;
  /** The value of performance.now(). */
  readonly openedAtMs: number;
  readonly serverRun: string;
}

export interface ReconnectingConnection {
  /** `undefined` without a connection. */
  current(): Connection | undefined;
  /** Ends the connection. The next one resolves the server's name again. */
  leave(): void;
  close(): Promise<void>;
}

interface ReconnectingOptions {
  readonly url: string;
  /** For the log. */
  readonly name: string;
  readonly log: Log;
  /** Called on each new connection, before it is `current`. */
  readonly prepare?: (client: RedisClient) => Promise<void>;
}

const connectTimeoutMs = 3000;
const pingEveryMs = 2000;
const pingTimeoutMs = 3000;
const maxQueuedCommands = 10_000;
const firstDelayMs = 50;
const maxDelayMs = 1000;

/** Throws if the first connection cannot be made. Later ones are retried until they succeed. */
export async function connectPersistently(options: ReconnectingOptions): Promise<ReconnectingConnection> {
  const { log, name } = options;
  const closing = new AbortController();
  let connection: Connection | undefined = await connect(options);
  let isLeaving = false;

  async function keepUp(): Promise<void> {
    let delayMs = firstDelayMs;
    while (!closing.signal.aborted) {
      if (connection !== undefined) {
        const reason = await untilItFails(connection.client, closing.signal);
        connection.client.destroy();
        connection = undefined;
        if (closing.signal.aborted) return;
        if (!isLeaving) log.warn({ connection: name, reason }, 'Redis is unavailable');
        delayMs = firstDelayMs;
      }
      await sleep(delayMs * (0.5 + Math.random() / 2), undefined, { signal: closing.signal }).catch(() => undefined);
      delayMs = Math.min(maxDelayMs, delayMs * 2);
      if (closing.signal.aborted) return;
      connection = await connect(options).catch(() => undefined);
      if (connection === undefined) continue;
      if (!isLeaving) log.info({ connection: name }, 'Redis is available again');
      isLeaving = false;
    }
  }

  const kept = keepUp();
  return {
    current: () => (connection?.client.isReady ? connection : undefined),
    leave: () => {
      if (!connection?.client.isOpen) return;
      isLeaving = true;
      connection.client.destroy();
    },
    close: async () => {
      const { client } = connection ?? {};
      closing.abort();
      await kept;
      if (client?.isOpen) client.destroy();
      if (connection?.client.isOpen) connection.client.destroy();
    },
  };
}

async function connect({ url, prepare }: ReconnectingOptions): Promise<Connection> {
  const client: RedisClient = createClient({
    url,
    name: 'atelier',
    disableOfflineQueue: true,
    commandsQueueMaxLength: maxQueuedCommands,
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false, keepAlive: true },
  });
  // Without a listener an error would end the process. Callers see it in their own calls.
  client.on('error', () => undefined);
  try {
    return await withDeadline(connectTimeoutMs, async () => {
      await client.connect();
      const serverRun = /^run_id:(\w+)/m.exec(await client.info('server'))?.[1];
      if (serverRun === undefined) throw new Error('the server does not return its run_id');
      await prepare?.(client);
      return { client, serverRun, openedAtMs: performance.now() };
    });
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw error;
  }
}

/** Returns the reason. */
async function untilItFails(client: RedisClient, closing: AbortSignal): Promise<string> {
  const ended = new AbortController();
  const signal = AbortSignal.any([closing, ended.signal]);
  const reasons = [
    once(client, 'error', { signal }).then(([error]) => (error as Error).message),
    once(client, 'end', { signal }).then(() => 'it was closed'),
    untilSilent(client, signal),
  ];
  try {
    return await Promise.race(reasons);
  } catch (error) {
    return (error as Error).message;
  } finally {
    ended.abort();
    await Promise.allSettled(reasons);
  }
}

/** Without traffic, a dead connection may look open for a quarter of an hour. */
async function untilSilent(client: RedisClient, signal: AbortSignal): Promise<string> {
  for (;;) {
    await sleep(pingEveryMs, undefined, { signal, ref: false });
    await withDeadline(pingTimeoutMs, () => client.ping(), signal);
  }
}
