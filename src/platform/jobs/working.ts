/** The workers of one queue in one process: claims as many as there is room for, runs them, and writes how they ended. */

import { type Database, type Tx, transaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import { retry } from '../resilience/retry.ts';
import { inScope, readTrace } from '../telemetry/trace.ts';
import {
  type Job,
  type JobTables,
  LeaseLost,
  type Queue,
  UnrecoverableError,
  WorkerStopping,
  type WorkOptions,
} from './jobs.ts';
import {
  buryJob,
  type ClaimedRow,
  claimInTurns,
  claimJobs,
  completeJob,
  findSpent,
  giveBackJob,
  jobsOf,
  releaseExpired,
  retryJob,
} from './rows.ts';

export interface WorkerDeps {
  readonly database: Database;
  readonly log: Log;
  readonly holder: string;
  readonly leaseMs: number;
}

export interface Worker {
  /** Claims what is due; a call while one runs makes that one look again. */
  wake(): void;
  /** Makes jobs of lost workers available again, or ends them. */
  sweep(): Promise<void>;
  readonly running: ReadonlyMap<string, RunningJob>;
  /** See `Jobs.stop`. */
  stop(drainMs: number): Promise<void>;
}

export interface RunningJob extends ClaimedRow {
  readonly controller: AbortController;
  /** performance.now() until which the lease is surely ours. */
  leasedUntilMs: number;
}

/** For handlers that do not heed their signal at once; after it the job is given back all the same. */
const abortGraceMs = 2000;
const longestReason = 500;

export function startWorker<Payload, Tables>(
  deps: WorkerDeps,
  queue: Queue<Payload>,
  handler: (job: Job<Payload>) => Promise<void>,
  { concurrency, onDead }: WorkOptions<Payload, Tables>,
): Worker {
  const { database, holder, leaseMs } = deps;
  const db = database.queries<JobTables>();
  const log = deps.log.child({ queue: queue.name });
  const maxAttempts = queue.maxAttempts ?? 10;
  const claim = queue.takesTurns ? claimInTurns : claimJobs;
  const running = new Map<string, RunningJob>();
  const ends = new Map<string, Promise<void>>();
  let claiming: Promise<void> | undefined;
  let isAskedAgain = false;
  let isStopping = false;

  function wake(): void {
    isAskedAgain = true;
    if (claiming !== undefined || isStopping) return;
    claiming = claimAll()
      .catch((error: unknown) => log.warn({ err: error }, 'jobs could not be claimed'))
      .finally(() => {
        claiming = undefined;
      });
  }

  async function claimAll(): Promise<void> {
    while (isAskedAgain && !isStopping && running.size < concurrency) {
      isAskedAgain = false;
      const startedAtMs = performance.now();
      const room = concurrency - running.size;
      const rows = await claim(db, queue.name, room, holder, leaseMs);
      for (const row of rows) begin(row, startedAtMs);
      if (rows.length === room) isAskedAgain = true;
    }
  }

  function begin(row: ClaimedRow, startedAtMs: number): void {
    const job = { ...row, controller: new AbortController(), leasedUntilMs: startedAtMs + leaseMs };
    running.set(idOf(row), job);
    const end = underItsRequest(row, () => run(job))
      .catch((error: unknown) => log.error({ err: error, jobId: row.jobId }, 'how a job ended could not be written'))
      .finally(() => {
        running.delete(idOf(row));
        ends.delete(idOf(row));
        wake();
      });
    ends.set(idOf(row), end);
  }

  /** Throws when the end could not be written: the job is run again when its lease has run out. */
  async function run(job: RunningJob): Promise<void> {
    const { signal } = job.controller;
    const parsed = queue.payload.safeParse(job.payload);
    if (!parsed.success) {
      await written(() => buryJob(db, job, 'the payload does not parse'));
      return log.error({ jobId: job.jobId }, 'a job ended dead: its payload does not parse');
    }
    let isCompleted = false;
    const complete = async <T>(tx: Tx<T>): Promise<void> => {
      if (!(await completeJob(jobsOf(tx), job))) throw new LeaseLost();
      isCompleted = true;
    };
    const { jobId, attempt } = job;
    const asked: Job<Payload> = {
      jobId,
      attempt,
      payload: parsed.data,
      isLastAttempt: attempt >= maxAttempts,
      signal,
      complete,
    };
    try {
      await handler(asked);
    } catch (error) {
      return fail(job, parsed.data, error);
    }
    if (isCompleted || (await written(() => completeJob(db, job)))) return;
    log.warn({ jobId, attempt }, 'a job was finished by a worker that had lost it: it counts for the other one');
  }

  async function fail(job: RunningJob, payload: Payload, error: unknown): Promise<void> {
    const { jobId, attempt, controller } = job;
    const why: unknown = controller.signal.reason;
    if (why instanceof LeaseLost) return log.warn({ jobId, attempt }, 'a job is left to another worker');
    if (why instanceof WorkerStopping) return void (await written(() => giveBackJob(db, job)));
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, longestReason);
    const isDead = error instanceof UnrecoverableError || attempt >= maxAttempts;
    log[isDead ? 'error' : 'warn']({ err: error, jobId, attempt }, isDead ? 'a job ended dead' : 'a job failed');
    if (isDead) return written(() => bury(job, payload, reason));
    await written(() => retryJob(db, job, retryDelayMs(queue, attempt), reason));
  }

  async function bury(row: ClaimedRow, payload: Payload, reason: string): Promise<void> {
    if (onDead === undefined) return void (await buryJob(db, row, reason));
    await transaction(database.queries<Tables>(), async (tx) => {
      if (await buryJob(jobsOf(tx), row, reason)) await onDead(tx, payload, reason);
    });
  }

  async function sweep(): Promise<void> {
    if (await releaseExpired(db, queue.name, maxAttempts)) log.warn('jobs of a lost worker are taken over');
    for (const row of await findSpent(db, queue.name, maxAttempts)) {
      const parsed = queue.payload.safeParse(row.payload);
      log.error({ jobId: row.jobId }, 'a job ended dead: its worker was lost in the last attempt');
      if (parsed.success) await bury(row, parsed.data, 'the worker was lost');
      else await buryJob(db, row, 'the worker was lost');
    }
  }

  async function stop(drainMs: number): Promise<void> {
    isStopping = true;
    // A claim under way may still bring some.
    await claiming;
    await settled([...ends.values()], drainMs);
    for (const { controller } of running.values()) controller.abort(new WorkerStopping());
    await settled([...ends.values()], abortGraceMs);
    const left = [...running.values()];
    if (left.length > 0) log.warn({ count: left.length }, 'jobs that do not stop are given back');
    await Promise.all(left.map((job) => giveBackJob(db, job)));
  }

  return { wake, sweep, stop, running };
}

/** What is done for a request is told under its ids, long after it was answered. */
function underItsRequest<T>({ requestId, traceparent }: ClaimedRow, work: () => T): T {
  const trace = traceparent === null ? undefined : readTrace({ traceparent });
  return trace === undefined || requestId === null ? work() : inScope({ requestId, trace }, work);
}

export function idOf({ jobId, fence }: Pick<ClaimedRow, 'jobId' | 'fence'>): string {
  return `${jobId} ${fence}`;
}

/** What a handler has done should not be done again for a moment's trouble of the database. */
function written<T>(write: () => Promise<T>): Promise<T> {
  return retry(write, { attempts: 5, baseDelayMs: 500, maxDelayMs: 3000, isRetryable: () => true });
}

/** Exponential with "equal jitter": never at once, never all together. */
function retryDelayMs({ retryAfterMs = 1000, longestRetryMs = 300_000 }: Queue<unknown>, attempt: number): number {
  const bound = Math.min(longestRetryMs, retryAfterMs * 2 ** (attempt - 1));
  return bound / 2 + (Math.random() * bound) / 2;
}

async function settled(ends: readonly Promise<void>[], timeoutMs: number): Promise<void> {
  if (ends.length === 0) return;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  await Promise.race([Promise.all(ends), late]);
  clearTimeout(timer);
}
