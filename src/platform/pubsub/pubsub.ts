/**
 * Notifications between processes. Delivery is not guaranteed: a message may be lost, duplicated or late. A message names
 * what changed but never contains the new state, and subscribers must also poll at intervals.
 */

import { assertOutsideTransaction } from '../db/db.ts';
import type { Log } from '../log.ts';

export interface PubSub {
  /**
   * Reaches the listeners in this process in any case, and those in other processes while Redis is reachable. Does not wait for
   * delivery. `message` is small: an id, not a document. Throws inside a database transaction, because listeners could not see its
   * changes yet.
   */
  publish(topic: string, message: string): void;
  /**
   * Listens until the returned function is called. Errors that a listener throws are logged. A process receives its own messages
   * once and asynchronously, never within `publish`.
   */
  subscribe(topic: string, listener: PubSubListener): () => void;
}

export interface PubSubListener {
  readonly onMessage: (message: string) => void;
  /** Messages may have been lost, because the connection was interrupted. */
  readonly onGap?: () => void;
}

// The listeners of each topic within a process, for all drivers.

export function createTopics(log: Log) {
  const byTopic = new Map<string, Set<PubSubListener>>();
  const call = (callback: () => void) => {
    try {
      callback();
    } catch (error) {
      log.error({ err: error }, 'a listener failed');
    }
  };
  return {
    add(topic: string, listener: PubSubListener): () => void {
      const listeners = byTopic.get(topic) ?? new Set();
      byTopic.set(topic, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byTopic.get(topic) === listeners) byTopic.delete(topic);
      };
    },
    notify(topic: string, message: string): void {
      for (const { onMessage } of [...(byTopic.get(topic) ?? [])]) call(() => onMessage(message));
    },
    notifyGap(): void {
      for (const { onGap } of [...byTopic.values()].flatMap((set) => [...set])) call(() => onGap?.());
    },
  };
}

// The embedded driver: one process, so every listener is in it.

export function createMemoryPubSub(log: Log): PubSub {
  const topics = createTopics(log);
  return {
    publish: (topic, message) => {
      assertOutsideTransaction('a message');
      setImmediate(() => topics.notify(topic, message));
    },
    subscribe: topics.add,
  };
}
