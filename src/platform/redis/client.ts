/** The only driver: node-redis behind a breaker and deadlines. */

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, ErrorReply } from '@redis/client';
import { monotonicClock } from '../clock.ts';
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import { createBreaker, withDeadline } from '../resilience.ts';
import type { ChannelListener, Redis, RedisClient } from './redis.ts';
import { isWriteRefused, watchWrites } from './writability.ts';

export interface ConnectOptions {
  /** redis:// or rediss:// */
  readonly url: string;
  readonly prefix: string;
  readonly log: Log;
  /** How often a small write shows whether the server takes writes. */
  readonly probeEveryMs?: number;
}

const defaultTimeoutMs = 500;
const failuresToOpen = 5;
const trialEveryMs = 500;
/** An outage is known within 10 s. */
const defaultProbeEveryMs = 2_000;
const checkTimeoutMs = 2_000;
/** Limits how often the connections are replaced while no other server takes over. */
const leastStayMs = 3_000;

/** Throws if the server does not respond. A server that takes no writes is only logged. */
export async function connectRedis({
  url,
  prefix,
  log,
  probeEveryMs = defaultProbeEveryMs,
}: ConnectOptions): Promise<Redis> {
  const listeners = new Map<string, Set<ChannelListener>>();
  /** The newest connection for messages. It is not current until all channels are subscribed. */
  let subscriber: RedisClient | undefined;
  const subscribe = (client: RedisClient, channel: string) =>
    client.subscribe(channel, (message) => {
      for (const { onMessage } of listeners.get(channel) ?? []) onMessage(message);
    });
  const commands = await connectPersistently({ url, name: 'commands', log });
  const messages = await connectPersistently({
    url,
    name: 'messages',
    log,
    prepare: async (client) => {
      // From here on, `listen` subscribes new channels.
      subscriber = client;
      for (const channel of [...listeners.keys()]) await subscribe(client, channel);
      for (const { onGap } of [...listeners.values()].flatMap((set) => [...set])) onGap();
    },
  }).catch(async (error: unknown) => {
    await commands.close();
    throw error;
  });
  const connections = new Set([commands, messages]);
  const breaker = createBreaker({ failuresToOpen, trialEveryMs, isFailure: isAway, clock: monotonicClock });

  const run: Redis['run'] = async (call, timeoutMs = defaultTimeoutMs) => {
    assertOutsideTransaction('Redis');
    try {
      return await breaker.run(() => {
        const connection = commands.current();
        if (connection === undefined) throw new Error('Redis is not connected');
        return withDeadline(timeoutMs, () => call(connection.client));
      });
    } catch (error) {
      throw isOfEngine(error) ? problems.engine_unavailable({ cause: error }) : error;
    }
  };
  function leave(): boolean {
    const { openedAtMs = Number.POSITIVE_INFINITY } = commands.current() ?? {};
    if (performance.now() - openedAtMs < leastStayMs) return false;
    for (const connection of connections) connection.leave();
    return true;
  }

  const writes = watchWrites({ prefix, run: (call) => run(call, checkTimeoutMs), leave, log, everyMs: probeEveryMs });
  await writes.probe().catch(() => undefined);

  return {
    prefix,
    get serverRun() {
      return commands.current()?.serverRun;
    },
    get isWritable() {
      return commands.current() === undefined ? undefined : writes.isWritable;
    },
    run,
    listen: (channel, listener) => {
      const known = listeners.get(channel);
      if (known !== undefined) return void known.add(listener);
      listeners.set(channel, new Set([listener]));
      const client = subscriber;
      // A connection that fails here is replaced, and the next one subscribes when it opens.
      if (client) subscribe(client, channel).catch(() => client.isOpen && client.destroy());
    },
    openBlocking: async (name) => {
      const kept = await connectPersistently({ url, name, log });
      connections.add(kept);
      return {
        client: () => kept.current()?.client,
        close: () => {
          connections.delete(kept);
          return kept.close();
        },
      };
    },
    leave,
    check: () => writes.probe(),
    close: async () => {
      writes.close();
      await Promise.all([commands.close(), messages.close()]);
    },
  };
}

/** Errors with which the server refuses every command. */
const away = /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|NOAUTH)/;

/** No connection, no response in time, or a response that means this. */
function isAway(error: unknown): boolean {
  return !(error instanceof ErrorReply) || away.test(error.message);
}

function isOfEngine(error: unknown): boolean {
  return isAway(error) || isWriteRefused(error) || (error instanceof Error && error.message.startsWith('TRYAGAIN'));
}

// A connection to Redis that is reconnected automatically. Each connection is a client of its own, without the library's
// reconnection: no command is repeated on another connection, which may lead to another server, and a connection that
// stops responding is dropped.

interface Connection {
  readonly client: RedisClient;
  /** The value of performance.now(). */
  readonly openedAtMs: number;
  readonly serverRun: string;
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
async function connectPersistently(options: ReconnectingOptions) {
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
    /** `undefined` without a connection. */
    current: () => (connection?.client.isReady ? connection : undefined),
    /** Ends the connection. The next one resolves the server's name again. */
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
