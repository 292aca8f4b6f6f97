/** Deletes events after the hour in which they can be read again (docs/specification/agent.md#events). */
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { removeAll } from '#platform/background/removal.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import { deleteOldUserEvents } from '../store/usereventstore.ts';
import type { AgentTables } from '../tables.ts';

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
