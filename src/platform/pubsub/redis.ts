/**
 * The distributed driver: one Redis channel for all topics of a name. Every process with that name receives all messages and
 * filters by topic, so no subscription must be created or restored while a caller waits for a message.
 */
import { randomUUID } from 'node:crypto';
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import { createTopics, type PubSub } from './pubsub.ts';

interface RedisPubSubOptions {
  readonly redis: Redis;
  readonly name: string;
  readonly log: Log;
}

export function createRedisPubSub({ redis, name, log }: RedisPubSubOptions): PubSub {
  const channel = `${redis.prefix}wakeups:${name}`;
  const sender = randomUUID();
  const topics = createTopics(log);
  redis.listen(channel, {
    onMessage: (payload) => {
      const [from, topic, message] = JSON.parse(payload) as [string, string, string];
      // Local listeners have already received the message without Redis.
      if (from !== sender) topics.notify(topic, message);
    },
    onGap: () => topics.notifyGap(),
  });
  return {
    publish: (topic, message) => {
      assertOutsideTransaction('a message');
      setImmediate(() => topics.notify(topic, message));
      const payload = JSON.stringify([sender, topic, message]);
      redis
        .run((client) => client.publish(channel, payload))
        .catch((error: unknown) => {
          log.debug({ err: error }, 'cannot send a message');
        });
    },
    subscribe: topics.add,
  };
}
