/** The job queues of one process: provides `Jobs` and schedules its workers (polling, leases, sweeping, removal). */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type Interval, startInterval } from '../background/interval.ts';
import { deleteBatch, findOverdueS, removeAll } from '../background/removal.ts';
import { afterCommit, assertOutsideTransaction, type Database, type Db } from '../db/db.ts';
import type { Log } from '../log.ts';
import { countJobs } from './depth.ts';
import { type JobInsertion, type Jobs, type JobTables, LeaseLost, largestDepth } from './jobs.ts';
import * as rows from './rows.ts';
import { type Attempt, idOf, type RunningJob, startWorker, type Worker } from './working.ts';

export interface JobsOptions {
  readonly database: Database;
  readonly log: Log;
  /** How long a lease lasts without renewal. A lost job is taken over at most `sweepEveryMs` later. */
  readonly leaseMs?: number;
  /** Finds jobs that other processes enqueued, and jobs that became due. */
  readonly pollEveryMs?: number;
  readonly sweepEveryMs?: number;
  /** How long finished jobs are retained. */
  readonly keepDoneMs?: number;
  readonly removeEveryMs?: number;
  /** No other process works on this database, because it is the embedded one and its folder is locked. */
  readonly isSoleProcess?: boolean;
}

const hourMs = 3_600_000;
/** How long dead jobs are retained. */
const keepDeadMs = 30 * 24 * hourMs;
const drainMs = 5000;
/** The services of the process first start. On the embedded database, their queries and those of the workers share a thread. */
const firstSweepMs = 500;
/** Distinguishes the claims of this process from those of an earlier one. All queues of the process share it. */
const processHolder = randomUUID();

export function createJobs(options: JobsOptions): Jobs {
  const { database, log, leaseMs = 20_000, pollEveryMs = 1000, sweepEveryMs = leaseMs / 4 } = options;
  const { keepDoneMs = 24 * hourMs, removeEveryMs = hourMs } = options;
  const { isSoleProcess = database.driver === 'pglite' } = options;
  const db = database.queries<JobTables>();
  const workers = new Map<string, Worker>();
  const intervals: Interval[] = [];
  // Workers run outside any request context, so that they do not log under the id of the request that woke them.
  const outsideRequests = AsyncLocalStorage.snapshot();
  let hasExpiredOthers = false;

  const holdings = () => [...workers.values()].flatMap(({ running }) => [...running.values()]);

  const lose = ({ controller }: RunningJob) => controller.abort(new LeaseLost());

  async function renew(): Promise<void> {
    const jobs = holdings();
    if (jobs.length === 0) return;
    const startedAtMs = performance.now();
    const renewed = await rows.renewJobs(db, jobs, leaseMs).catch((error: unknown) => {
      // Another process that reaches the database may have taken them. A renewal that began before may have failed because this one stood still.
      if (!isSoleProcess) for (const job of jobs) if (job.leasedUntilMs <= startedAtMs) lose(job);
      throw error;
    });
    for (const job of jobs) {
      const isRenewed = renewed.get(idOf(job));
      if (isRenewed) job.leasedUntilMs = startedAtMs + leaseMs;
      // The job may have ended while the statement ran. Then the abort has no listener.
      else if (isRenewed === undefined) lose(job);
    }
  }

  async function sweep(): Promise<void> {
    // Once is enough, because no other process can start while this one runs.
    if (isSoleProcess && !hasExpiredOthers) await rows.expireOthers(db, processHolder);
    hasExpiredOthers = true;
    for (const queue of await findLostQueues(db)) {
      const worker = workers.get(queue);
      await worker?.sweep();
      worker?.wake();
    }
  }

  /** One statement for all queues, because an idle process does this every second. */
  async function poll(): Promise<void> {
    for (const queue of await findDueQueues(db, [...workers.keys()])) workers.get(queue)?.wake();
  }

  function startIntervals(): void {
    const every = (intervalMs: number, what: string, work: (stopped: AbortSignal) => Promise<void>) => {
      const onError = (error: unknown) => log.warn({ err: error }, `${what} failed and will be retried`);
      intervals.push(startInterval(intervalMs, work, onError));
      return onError;
    };
    every(leaseMs / 4, 'renewal of job leases', renew);
    const onSweepError = every(sweepEveryMs, 'sweep for lost jobs', sweep);
    every(removeEveryMs, 'removal of finished jobs', (stopped) => removeFinished(db, keepDoneMs, keepDeadMs, stopped));
    every(pollEveryMs, 'poll for jobs', poll);
    const first = setTimeout(() => void sweep().then(poll).catch(onSweepError), Math.min(firstSweepMs, sweepEveryMs));
    intervals.push({ stop: async () => clearTimeout(first) });
  }

  const wakeAfterCommit = (name: string) => afterCommit(() => outsideRequests(() => workers.get(name)?.wake()));

  return {
    enqueue: async (handle, queue, payload, enqueueOptions = {}) => {
      const enqueued = await rows.insertJob(rows.jobsOf(handle), queue, queue.payload.parse(payload), enqueueOptions);
      wakeAfterCommit(queue.name);
      return enqueued;
    },
    start: async (queue, payload, insert, { attempt, ...place } = {}) => {
      assertOutsideTransaction('the start of a job');
      if (queue.movesTo !== undefined)
        throw new Error(`jobs of the queue ${queue.name} can move, so they are enqueued`);
      const row = rows.newJob(queue.payload.parse(payload));
      const insertion = (held?: rows.Holder): JobInsertion => ({
        isClaimed: held !== undefined,
        statement: rows.insertionOf(queue.name, row, place, held),
      });
      const insertHeld = () => insert(insertion({ holder: processHolder, leaseMs }));
      const started = workers.get(queue.name)?.start(row, insertHeld, attempt as Attempt<unknown> | undefined);
      if (started !== undefined) return started;
      const isInserted = await insert(insertion());
      if (isInserted) wakeAfterCommit(queue.name);
      return isInserted;
    },
    work: (queue, handler, workOptions) => {
      if (workers.has(queue.name)) throw new Error(`the queue ${queue.name} already has a worker in this process`);
      const deps = { database, log, holder: processHolder, leaseMs, wakeAfterCommit };
      workers.set(queue.name, startWorker(deps, queue, handler, workOptions));
      if (intervals.length === 0) startIntervals();
    },
    find: (jobId) => rows.findJob(db, jobId),
    cancel: (handle, queue, key) => rows.cancelJob(rows.jobsOf(handle), queue.name, key),
    withdraw: (handle, queue, keys) => rows.withdrawJobs(rows.jobsOf(handle), queue.name, keys),
    hasten: async (handle, queue, key) => {
      await rows.expediteJob(rows.jobsOf(handle), queue.name, key);
      wakeAfterCommit(queue.name);
    },
    overdueS: () => findOverdueJobsS(db, keepDoneMs),
    depths: () => countJobs(db, largestDepth + 1),
    stop: async (stopOptions = {}) => {
      const names = stopOptions.queues ?? [...workers.keys()];
      const stopping = names.flatMap((name) => workers.get(name) ?? []);
      // Leases are renewed until the jobs have ended.
      const outcomes = await Promise.allSettled(stopping.map((worker) => worker.stop(stopOptions.drainMs ?? drainMs)));
      for (const name of names) workers.delete(name);
      if (workers.size === 0) for (const interval of intervals.splice(0)) void interval.stop();
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') log.warn({ err: outcome.reason }, 'cannot return jobs to the queue');
    },
  };
}

// The queues that have work for a process.

/** Returns which of `queues` have a job that can be claimed: in one statement, because an idle process runs it every second. */
async function findDueQueues(db: Db<JobTables>, queues: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ queue: string }>`
    select queue from unnest(${queues}::text[]) as names(queue)
    where exists (select from jobs where jobs.queue = names.queue and status = 'waiting' and run_at <= now())`.execute(
    db,
  );
  return rows.map(({ queue }) => queue);
}

/** Returns the queues that have a job with an expired lease. */
async function findLostQueues(db: Db<JobTables>): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('queue')
    .distinct()
    .where('status', '=', 'running')
    .where('expires_at', '<=', sql<Date>`now()`)
    .execute();
  return rows.map(({ queue }) => queue);
}

// Removes finished jobs after the time for which they are retained.

const batch = 1000;

type Finished = 'done' | 'dead';

/** In short statements of a thousand rows each, until none is left or the process stops. */
export async function removeFinished(
  db: Db<JobTables>,
  doneForMs: number,
  deadForMs: number,
  stopped: Pick<AbortSignal, 'aborted'>,
): Promise<void> {
  await removeAll(batch, (limit) => removeOld(db, 'done', doneForMs, limit), stopped);
  await removeAll(batch, (limit) => removeOld(db, 'dead', deadForMs, limit), stopped);
}

/** The status is part of the text, because each status has its own index. */
async function removeOld(db: Db<JobTables>, status: Finished, keptForMs: number, limit: number): Promise<number> {
  const old = sql`status = '${sql.raw(status)}' and finished_at < now() - make_interval(secs => ${keptForMs / 1000})`;
  return deleteBatch(db, 'jobs', ['job_id'], sql`${old} order by finished_at limit ${limit}`);
}

const findOverdueJobsS = (db: Db<JobTables>, doneForMs: number) =>
  findOverdueS(db, sql`finished_at`, sql`jobs where status = 'done'`, doneForMs / 1000);
