/** The one driver: node-redis behind a breaker and deadlines. */
import { ErrorReply } from 'redis';
import { monotonicClock } from '../clock.ts';
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import { createBreaker } from '../resilience/breaker.ts';
import { withDeadline } from '../resilience/deadline.ts';
import { keepConnection } from './connection.ts';
import type { ChannelListener, Redis, RedisClient } from './redis.ts';

export interface ConnectOptions {
  readonly url: string;
  readonly prefix: string;
  readonly log: Log;
}

const defaultTimeoutMs = 500;
const failuresToOpen = 5;
const trialEveryMs = 500;

/** Throws when it does not answer. */
export async function connectRedis({ url, prefix, log }: ConnectOptions): Promise<Redis> {
  const listeners = new Map<string, Set<ChannelListener>>();
  const hear = (client: RedisClient, channel: string) =>
    client.subscribe(channel, (message) => {
      for (const { onMessage } of listeners.get(channel) ?? []) onMessage(message);
    });
  const commands = await keepConnection({ url, name: 'commands', log });
  const messages = await keepConnection({
    url,
    name: 'messages',
    log,
    prepare: async (client) => {
      for (const channel of listeners.keys()) await hear(client, channel);
      for (const { onGap } of [...listeners.values()].flatMap((set) => [...set])) onGap();
    },
  }).catch(async (error: unknown) => {
    await commands.close();
    throw error;
  });
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

  return {
    prefix,
    get serverRun() {
      return commands.current()?.serverRun;
    },
    run,
    listen: (channel, listener) => {
      const heard = listeners.get(channel);
      if (heard === undefined) {
        listeners.set(channel, new Set([listener]));
        const client = messages.current()?.client;
        // A connection that fails here is replaced, and the next one hears the channel from the start.
        if (client) hear(client, channel).catch(() => client.isOpen && client.destroy());
      } else heard.add(listener);
      return () => {
        const set = listeners.get(channel);
        set?.delete(listener);
        if (set?.size !== 0) return;
        listeners.delete(channel);
        messages
          .current()
          ?.client.unsubscribe(channel)
          .catch(() => undefined);
      };
    },
    openBlocking: async (name) => {
      const kept = await keepConnection({ url, name, log });
      return { client: () => kept.current()?.client, close: () => kept.close() };
    },
    check: async () => {
      await run((client) => client.ping(), 2000);
    },
    close: async () => {
      await Promise.all([commands.close(), messages.close()]);
    },
  };
}

/** Answers by which the server says that it does nothing at all now. */
const away = /^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|NOAUTH)/;
/** … that it does not take this command now: it is full, cannot save, or is a replica. Others it may take. */
const unable = /^(OOM|MISCONF|READONLY|NOREPLICAS|TRYAGAIN)/;

/** No connection, no answer in time, or an answer that says so. */
function isAway(error: unknown): boolean {
  return !(error instanceof ErrorReply) || away.test(error.message);
}

function isOfEngine(error: unknown): boolean {
  return isAway(error) || unable.test((error as Error).message);
}
