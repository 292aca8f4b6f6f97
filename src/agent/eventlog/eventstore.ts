/** The event log in the database. */
import { sql } from 'kysely';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { type Db, inCamelCase, type Tx } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { AgentTables } from '../tables.ts';
import type { Batch, EventLog } from './eventlog.ts';

type EventRow = Awaited<ReturnType<typeof listEvents>>[number];

const columns = inCamelCase('task_id first_seq last_seq events is_last');

/**
 * Inserts a batch if the run's row still has this fence. The row is locked during the write, so a process that raises
 * the fence waits for it, and vice versa. Returns `false` if the fence was raised or a row with this number exists.
 */
async function insertEvents(db: Db<AgentTables>, fence: number, row: EventRow): Promise<boolean> {
  const { rows } = await sql<{ task_id: string }>`
    with run as (select task_id from agent_runs where task_id = ${row.taskId} and fence = ${fence} for share)
    insert into agent_events (task_id, first_seq, last_seq, events, is_last)
    select task_id, ${row.firstSeq}::integer, ${row.lastSeq}::integer, ${row.events}::text, ${row.isLast}::boolean
    from run
    on conflict (task_id, last_seq) do nothing
    returning task_id`.execute(db);
  return rows.length === 1;
}

export function listEvents(db: Db<AgentTables>, taskId: string, afterSeq: number, limit: number) {
  return db
    .selectFrom('agent_events')
    .select(columns)
    .where('task_id', '=', taskId)
    .where('last_seq', '>', afterSeq)
    .orderBy('last_seq')
    .limit(limit)
    .execute();
}

/** Of many runs at once, each after its own last one. */
async function listNewEvents(
  db: Db<AgentTables>,
  cursors: readonly { readonly taskId: string; readonly afterSeq: number }[],
  limit: number,
): Promise<readonly EventRow[]> {
  const { rows } = await sql<EventRow>`
    select e.task_id as "taskId", e.first_seq as "firstSeq", e.last_seq as "lastSeq", e.events, e.is_last as "isLast"
    from unnest(${cursors.map(({ taskId }) => taskId)}::uuid[], ${cursors.map(({ afterSeq }) => afterSeq)}::integer[])
      as followed (task_id, after_seq)
    join agent_events e on e.task_id = followed.task_id and e.last_seq > followed.after_seq
    order by e.task_id, e.last_seq
    limit ${limit}`.execute(db);
  return rows;
}

export async function findRunsWithEvents(
  db: Db<AgentTables>,
  taskIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('agent_events')
    .select('task_id')
    .distinct()
    .where(sql<boolean>`task_id = any(${taskIds}::uuid[])`)
    .execute();
  return new Set(rows.map((row) => row.task_id));
}

export async function deleteEvents(db: Db<AgentTables> | Tx<AgentTables>, taskIds: readonly string[]): Promise<void> {
  await db.deleteFrom('agent_events').where(sql<boolean>`task_id = any(${taskIds}::uuid[])`).execute();
}

// The event log in the database: a row for each batch. The run's own row holds the fence.

interface DatabaseLogOptions {
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
