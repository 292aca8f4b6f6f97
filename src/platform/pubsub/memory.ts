/** The embedded driver: one process, so every listener is in it. */
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import { createTopics, type PubSub } from './pubsub.ts';

export function createMemoryPubSub(log: Log): PubSub {
  const topics = createTopics(log);
  return {
    driver: 'memory',
    publish: (topic, message) => {
      assertOutsideTransaction('a message');
      setImmediate(() => topics.notify(topic, message));
    },
    subscribe: topics.add,
  };
}
