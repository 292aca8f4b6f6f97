/**
 * Publishes events to their user in the transaction of the change that they report, as webhooks do. After the commit, the
 * readers of all processes are woken; a reader that is not woken finds the event at its next look.
 */
import { afterCommit, type Tx } from '#platform/db/db.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import { insertUserEvents } from '../store/usereventstore.ts';
import type { UserEvent } from '../userevent.ts';

export interface UserEvents {
  /** Locks the events of the user until the commit. Call it last, when the transaction holds all of its other locks. */
  publish<Tables>(tx: Tx<Tables>, userId: string, events: readonly UserEvent[]): Promise<void>;
}

/** Each message is the id of a user who has new events. */
export const userEventsTopic = 'user-events';

export function createUserEvents(pubsub: Pick<PubSub, 'publish'>): UserEvents {
  return {
    publish: async (tx, userId, events) => {
      if (events.length === 0) return;
      await insertUserEvents(tx, userId, events);
      afterCommit(() => pubsub.publish(userEventsTopic, userId));
    },
  };
}
