/** The queue of one process: hands out `Jobs`, and keeps the time for its workers (polling, leases, sweeping, removal). */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { type Interval, startInterval } from '../background/interval.ts';
import { afterCommit, type Database } from '../db/db.ts';
import type { Log } from '../log.ts';
import { type Jobs, type JobTables, LeaseLost } from './jobs.ts';
import {
  cancelJob,
  countJobs,
  expireOthers,
  findJob,
  hastenJob,
  insertJob,
  jobsOf,
  removeFinished,
  renewJobs,
  withdrawJobs,
} from './rows.ts';
import { idOf, startWorker, type Worker } from './working.ts';

export interface JobsOptions {
  readonly database: Database;
  readonly log: Log;
  /** How long a job outlives the last sign of its worker. With `sweepEveryMs` the longest until it is taken over. */
  readonly leaseMs?: number;
  /** For jobs of other processes, and for those whose time has come. */
  readonly pollEveryMs?: number;
  readonly sweepEveryMs?: number;
  /** For how long finished jobs are kept. */
  readonly keepDoneMs?: number;
  readonly keepDeadMs?: number;
  readonly removeEveryMs?: number;
  /** No other process works on this database: the embedded one, whose folder is locked. */
  readonly isSoleProcess?: boolean;
}

const hourMs = 3_600_000;
const drainMs = 5000;
/** What this process claims is told from what a former one did, however many queues are opened in it. */
const processHolder = randomUUID();

export function createJobs(options: JobsOptions): Jobs {
  const { database, log, leaseMs = 20_000, pollEveryMs = 1000, sweepEveryMs = leaseMs / 4 } = options;
  const { keepDoneMs = 24 * hourMs, keepDeadMs = 30 * 24 * hourMs, removeEveryMs = hourMs } = options;
  const { isSoleProcess = database.driver === 'pglite' } = options;
  const db = database.queries<JobTables>();
  const workers = new Map<string, Worker>();
  const intervals: Interval[] = [];
  // Jobs are nobody's request: they must not log under the id of the one that happens to wake them.
  const outsideRequests = AsyncLocalStorage.snapshot();
  let isAlone = false;

  const holdings = () => [...workers.values()].flatMap(({ running }) => [...running.values()]);

  async function renew(): Promise<void> {
    const jobs = holdings();
    if (jobs.length === 0) return;
    const startedAtMs = performance.now();
    const renewed = await renewJobs(db, jobs, leaseMs);
    for (const job of jobs) {
      if (renewed.has(idOf(job))) job.leasedUntilMs = startedAtMs + leaseMs;
      // It may have ended while the statement ran; then nobody listens.
      else job.controller.abort(new LeaseLost());
    }
  }

  /** Told by our own clock, so also when the database does not answer. */
  function dropExpired(): void {
    for (const job of holdings()) if (performance.now() >= job.leasedUntilMs) job.controller.abort(new LeaseLost());
  }

  async function sweep(): Promise<void> {
    // Once: no other process comes while this one lives.
    if (isSoleProcess && !isAlone) await expireOthers(db, processHolder);
    isAlone = true;
    for (const worker of workers.values()) await worker.sweep();
    wakeAll();
  }

  async function removeOld(): Promise<void> {
    while (await removeFinished(db, keepDoneMs, keepDeadMs));
  }

  function wakeAll(): void {
    for (const worker of workers.values()) worker.wake();
  }

  function startIntervals(): void {
    const every = (intervalMs: number, what: string, work: () => Promise<void>) => {
      const onError = (error: unknown) => log.warn({ err: error }, `${what} failed and will be retried`);
      intervals.push(startInterval(intervalMs, work, onError));
      return () => work().catch(onError);
    };
    every(leaseMs / 4, 'renewing the leases of jobs', renew);
    const sweeping = every(sweepEveryMs, 'sweeping the jobs', sweep);
    every(removeEveryMs, 'removing finished jobs', removeOld);
    every(pollEveryMs, 'looking for jobs', async () => {
      dropExpired();
      wakeAll();
    });
    // When the caller has named all its queues.
    queueMicrotask(() => void sweeping());
  }

  const wakeAfterCommit = (name: string) => afterCommit(() => outsideRequests(() => workers.get(name)?.wake()));

  return {
    enqueue: async (handle, queue, payload, enqueueOptions = {}) => {
      const enqueued = await insertJob(jobsOf(handle), queue.name, queue.payload.parse(payload), enqueueOptions);
      wakeAfterCommit(queue.name);
      return enqueued;
    },
    work: (queue, handler, workOptions) => {
      if (workers.has(queue.name)) throw new Error(`the queue ${queue.name} is worked on already`);
      const deps = { database, log, holder: processHolder, leaseMs };
      workers.set(queue.name, startWorker(deps, queue, handler, workOptions));
      if (intervals.length === 0) startIntervals();
    },
    look: (jobId) => findJob(db, jobId),
    cancel: (handle, queue, key) => cancelJob(jobsOf(handle), queue.name, key),
    withdraw: (handle, queue, keys) => withdrawJobs(jobsOf(handle), queue.name, keys),
    hasten: async (handle, queue, key) => {
      await hastenJob(jobsOf(handle), queue.name, key);
      wakeAfterCommit(queue.name);
    },
    depths: () => countJobs(db),
    stop: async (stopOptions = {}) => {
      const names = stopOptions.queues ?? [...workers.keys()];
      const stopping = names.flatMap((name) => workers.get(name) ?? []);
      // Their leases are renewed until they have ended.
      const outcomes = await Promise.allSettled(stopping.map((worker) => worker.stop(stopOptions.drainMs ?? drainMs)));
      for (const name of names) workers.delete(name);
      if (workers.size === 0) for (const interval of intervals.splice(0)) void interval.stop();
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') log.warn({ err: outcome.reason }, 'jobs could not be given back');
    },
  };
}
