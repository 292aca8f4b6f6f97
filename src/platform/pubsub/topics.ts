/** The listeners of each topic within a process, for all drivers. */
import type { Log } from '../log.ts';
import type { PubSubListener } from './pubsub.ts';

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
