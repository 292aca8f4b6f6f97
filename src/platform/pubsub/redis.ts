/**
 * The distributed driver: one channel of Redis for all topics of a name. Every process of the name hears all of it and
 * picks its topics, so that no subscription has to be made, or made anew, while somebody waits for a message.
 */
import { randomUUID } from 'node:crypto';
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import type { Redis } from '../redis/redis.ts';
import type { PubSub } from './pubsub.ts';
import { createTopics } from './topics.ts';

export function createRedisPubSub({
  redis,
  name,
  log,
}: {
  readonly redis: Redis;
  readonly name: string;
  readonly log: Log;
}): PubSub {
  const channel = `${redis.prefix}wakeups:${name}`;
  const sender = randomUUID();
  const topics = createTopics(log);
  redis.listen(channel, {
    onMessage: (told) => {
      const [from, topic, message] = JSON.parse(told) as [string, string, string];
      // Our own were told without the way over Redis.
      if (from !== sender) topics.tell(topic, message);
    },
    onGap: () => topics.tellGap(),
  });
  return {
    driver: 'redis',
    publish: (topic, message) => {
      assertOutsideTransaction('a message');
      setImmediate(() => topics.tell(topic, message));
      const told = JSON.stringify([sender, topic, message]);
      redis
        .run((client) => client.publish(channel, told))
        .catch((error: unknown) => {
          log.debug({ err: error }, 'a message was not sent');
        });
    },
    subscribe: topics.add,
  };
}
