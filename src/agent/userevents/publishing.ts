/**
 * Publishes events to their user in the transaction of the change that they report, as webhooks do. After the commit, the
 * readers of all processes are woken; a reader that is not woken finds the event at its next look.
 */
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { removeAll } from '#platform/background/removal.ts';
import { afterCommit, type Db, type Tx } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import type { AgentTables } from '../tables.ts';
import type { UserEvent } from '../userevent.ts';
import { deleteOldUserEvents, insertUserEvents } from './usereventstore.ts';

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

// Deletes events after the hour in which they can be read again (docs/specification/agent.md#events).

export const keptForS = 3600;
const deleteEveryMs = 60_000;
const atOnce = 5000;

export function startDeletingOldEvents({ db, log }: { readonly db: Db<AgentTables>; readonly log: Log }): Interval {
  return startInterval(
    deleteEveryMs,
    (stopped) => deleteExpired(db, stopped),
    (error) => log.warn({ err: error }, 'old events of users could not be deleted'),
  );
}

export async function deleteExpired(db: Db<AgentTables>, stopped: AbortSignal): Promise<void> {
  await removeAll(atOnce, (limit) => deleteOldUserEvents(db, keptForS, limit), stopped);
}
