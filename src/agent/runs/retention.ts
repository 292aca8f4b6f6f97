/** Deletes runs, and the starts that repeated requests return, after the time for which they can be read. */
import { removeAll } from '#platform/background/removal.ts';
import type { Db } from '#platform/db/db.ts';
import type { EventLog } from '../eventlog/eventlog.ts';
import { deleteExpiredRuns, type RunTables } from '../store/runstore.ts';
import { deleteOldStarts, type StartTables } from '../store/startstore.ts';

const runsAtOnce = 500;
const startsAtOnce = 1000;

export interface RetentionDeps {
  readonly db: Db<RunTables & StartTables>;
  readonly eventLog: Pick<EventLog, 'remove'>;
  readonly ttlS: number;
}

export async function removeExpiredRuns({ db, eventLog, ttlS }: RetentionDeps, stopped: AbortSignal): Promise<void> {
  const removeRuns = async (limit: number) => {
    const gone = await deleteExpiredRuns(db, ttlS, limit);
    // If the process dies here, streams in Redis expire.
    if (gone.length > 0) await eventLog.remove(gone);
    return gone.length;
  };
  await removeAll(runsAtOnce, removeRuns, stopped);
  await removeAll(startsAtOnce, (limit) => deleteOldStarts(db, limit), stopped);
}
