/** The only driver: node-redis behind a breaker and deadlines. */
import { ErrorReply } from '@redis/client';
import { monotonicClock } from '../clock.ts';
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import { createBreaker } from '../resilience/breaker.ts';
import { withDeadline } from '../resilience/deadline.ts';
import { connectPersistently, type ReconnectingConnection } from './connection.ts';
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
  const connections = new Set<ReconnectingConnection>([commands, messages]);
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
