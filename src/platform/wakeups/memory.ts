/** The embedded driver: one process, so whoever listens is here. */
import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import { createTopics } from './topics.ts';
import type { Wakeups } from './wakeups.ts';

export function createMemoryWakeups(log: Log): Wakeups {
  const topics = createTopics(log);
  return {
    driver: 'memory',
    publish: (topic, message) => {
      assertOutsideTransaction('a wake-up');
      setImmediate(() => topics.tell(topic, message));
    },
    subscribe: topics.add,
  };
}
