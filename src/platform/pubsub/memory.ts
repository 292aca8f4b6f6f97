/** The embedded driver: one process, so whoever listens is here. */
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import type { PubSub } from './pubsub.ts';
import { createTopics } from './topics.ts';

export function createMemoryPubSub(log: Log): PubSub {
  const topics = createTopics(log);
  return {
    driver: 'memory',
    publish: (topic, message) => {
      assertOutsideTransaction('a message');
      setImmediate(() => topics.tell(topic, message));
    },
    subscribe: topics.add,
  };
}
