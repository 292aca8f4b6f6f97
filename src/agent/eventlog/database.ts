/** The event log in the database: a row for each batch. The run's own row holds the fence. */
import { type Interval, startInterval } from '#platform/background/interval.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { AgentTables } from '../tables.ts';
import type { Batch, EventLog } from './eventlog.ts';
import { deleteEvents, type EventRow, insertEvents, listEvents, listNewEvents } from './eventstore.ts';

export interface DatabaseLogOptions {
  readonly db: Db<AgentTables>;
  readonly log: Log;
  /** The interval for finding batches of other processes. Readers of this process are notified at once. */
  readonly pollEveryMs?: number;
}

const batchesAtOnce = 500;

interface Follower {
  readonly taskId: string;
  afterSeq: number;
  readonly onBatch: (batch: Batch) => void;
}

export function openDatabaseLog({ db, log, pollEveryMs = 100 }: DatabaseLogOptions): EventLog {
  const followers = new Set<Follower>();
  /** Runs while there are followers. */
  let polling: Interval | undefined;

  async function poll(): Promise<void> {
    const polled = [...followers];
    const rows = await listNewEvents(db, polled, batchesAtOnce);
    for (const follower of polled) deliver(follower, rows);
  }

  function deliver(follower: Follower, rows: readonly EventRow[]): void {
    for (const row of rows) {
      // The follower has left, or two followers of one run are at different events.
      if (!followers.has(follower) || row.taskId !== follower.taskId || row.lastSeq <= follower.afterSeq) continue;
      follower.afterSeq = row.lastSeq;
      follower.onBatch(toBatch(row));
    }
  }

  return {
    async append(run, batch) {
      const row = { taskId: run.taskId, ...batch, events: batch.events.join('\n') };
      if (await insertEvents(db, run.fence, row)) return 'appended';
      // Either our own row from a try whose answer was lost, or the fence was raised.
      const [written] = await listEvents(db, run.taskId, batch.lastSeq - 1, 1);
      return written?.lastSeq === batch.lastSeq && written.events === row.events ? 'appended' : 'fenced';
    },
    // The process that takes over a run raises the fence in the run's row, which is the one that decides.
    claim: async () => undefined,
    async read(run, afterSeq) {
      return (await listEvents(db, run.taskId, afterSeq, batchesAtOnce)).map(toBatch);
    },
    follow(run, afterSeq, onBatch) {
      const follower = { taskId: run.taskId, afterSeq, onBatch };
      followers.add(follower);
      polling ??= startInterval(pollEveryMs, poll, (error) => log.warn({ err: error }, 'new events could not be read'));
      return () => {
        followers.delete(follower);
        if (followers.size > 0) return;
        void polling?.stop();
        polling = undefined;
      };
    },
    remove: (taskIds) => deleteEvents(db, taskIds),
    close: async () => {
      followers.clear();
      await polling?.stop();
    },
  };
}

function toBatch({ firstSeq, lastSeq, events, isLast }: EventRow): Batch {
  return { firstSeq, lastSeq, events: events.split('\n'), isLast };
}
