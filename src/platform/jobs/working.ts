/** The workers of one queue in one process: claims as many jobs as its concurrency allows, runs them and writes their outcome. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Database, type Tx, transaction } from '../db/db.ts';
import type { Log } from '../log.ts';
import { retry, waitAtMost } from '../resilience.ts';
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
import * as rows from './rows.ts';

export interface WorkerOptions {
  readonly database: Database;
  readonly log: Log;
  readonly holder: string;
  readonly leaseMs: number;
  /** Wakes the worker of a queue, if this process has one. */
  readonly wakeAfterCommit: (queue: string) => void;
}

export interface Worker {
  /** Claims due jobs. If a claim is in progress, it runs again. */
  wake(): void;
  /**
   * Runs a job that `insert` writes as held by this process, as soon as it resolves with `true`. Returns `undefined`, and inserts
   * nothing, if the worker has no room.
   */
  start(row: rows.ClaimedRow, insert: () => Promise<boolean>, attempt?: Attempt<unknown>): Promise<boolean> | undefined;
  /** Makes jobs of lost workers available again, or ends them. */
  sweep(): Promise<void>;
  readonly running: ReadonlyMap<string, RunningJob>;
  /** See `Jobs.stop`. */
  stop(drainMs: number): Promise<void>;
}

export type Attempt<Payload> = (job: Job<Payload>) => Promise<void>;

export interface RunningJob extends rows.ClaimedRow {
  readonly controller: AbortController;
  /** The value of performance.now() until which the lease is certainly valid. */
  leasedUntilMs: number;
}

/** Time for handlers that do not respond to their signal at once. After it the job is returned to the queue anyway. */
const abortGraceMs = 2000;
const longestReason = 500;
/** The clock of the database decides what is due. */
const dueSlackMs = 10;

export function startWorker<Payload, Tables>(
  deps: WorkerOptions,
  queue: Queue<Payload>,
  handler: Attempt<Payload>,
  { concurrency, onDead }: WorkOptions<Payload, Tables>,
): Worker {
  const { database, holder, leaseMs } = deps;
  const db = database.queries<JobTables>();
  const log = deps.log.child({ queue: queue.name });
  const maxAttempts = queue.maxAttempts ?? 10;
  const claim = queue.isRoundRobin ? rows.claimRoundRobin : rows.claimJobs;
  // A job must not run in the context of the request that starts it.
  const outsideRequests = AsyncLocalStorage.snapshot();
  const running = new Map<string, RunningJob>();
  const ends = new Map<string, Promise<void>>();
  /** Insertions of jobs that this process will run. Each has a place. */
  const inserting = new Set<Promise<boolean>>();
  /** Places of the claim in progress. */
  let reserved = 0;
  /** A claim leaves half of the places to jobs that start while it is in progress, unless lanes take turns. */
  let sharesRoom = false;
  let claiming: Promise<void> | undefined;
  let isWakePending = false;
  let isStopping = false;

  function wake(): void {
    isWakePending = true;
    if (claiming !== undefined || isStopping || roomLeft() <= 0) return;
    claiming = claimAll()
      .catch((error: unknown) => log.warn({ err: error }, 'cannot claim jobs'))
      .finally(() => {
        claiming = undefined;
        // A wake-up can come after the last check of the loop and before this.
        if (isWakePending && running.size < concurrency) wake();
      });
  }

  const roomLeft = () => concurrency - running.size - inserting.size - reserved;

  async function claimAll(): Promise<void> {
    while (isWakePending && !isStopping && roomLeft() > 0) {
      isWakePending = false;
      const startedAtMs = performance.now();
      reserved = sharesRoom ? Math.ceil(roomLeft() / 2) : roomLeft();
      const room = reserved;
      let rows: readonly rows.ClaimedRow[];
      try {
        rows = await claim(db, queue.name, room, holder, leaseMs);
      } finally {
        reserved = 0;
      }
      for (const row of rows) begin(row, startedAtMs);
      if (rows.length === room) isWakePending = true;
    }
  }

  function start(row: rows.ClaimedRow, insert: () => Promise<boolean>, attempt: Attempt<Payload> = handler) {
    sharesRoom = !queue.isRoundRobin;
    if (isStopping || roomLeft() <= 0) return undefined;
    const started = insertAndBegin(row, insert, attempt).finally(() => {
      inserting.delete(started);
      wakeIfPending();
    });
    inserting.add(started);
    return started;
  }

  async function insertAndBegin(row: rows.ClaimedRow, insert: () => Promise<boolean>, attempt: Attempt<Payload>) {
    const startedAtMs = performance.now();
    const isInserted = await insert();
    if (isInserted) outsideRequests(() => begin(row, startedAtMs, attempt));
    return isInserted;
  }

  /** For places that no claim has filled: other jobs wait only if a claim is pending. */
  function wakeIfPending(): void {
    if (isWakePending) wake();
  }

  function begin(row: rows.ClaimedRow, startedAtMs: number, attempt?: Attempt<Payload>): void {
    const job = { ...row, controller: new AbortController(), leasedUntilMs: startedAtMs + leaseMs };
    running.set(idOf(row), job);
    const end = inRequestScope(row, () => run(job, attempt ?? handler))
      .catch((error: unknown) => log.error({ err: error, jobId: row.jobId }, 'cannot write the outcome of a job'))
      .finally(() => {
        running.delete(idOf(row));
        ends.delete(idOf(row));
        if (attempt === undefined) wake();
        else wakeIfPending();
      });
    ends.set(idOf(row), end);
  }

  /** Throws if the outcome could not be written. The job runs again when its lease has expired. */
  async function run(job: RunningJob, attemptOf: Attempt<Payload>): Promise<void> {
    const { signal } = job.controller;
    const parsed = queue.payload.safeParse(job.payload);
    if (!parsed.success) {
      await retryWrite(() => rows.endJobAsDead(db, job, 'the payload does not parse'));
      return log.error({ jobId: job.jobId }, 'a job is dead: its payload does not parse');
    }
    let isCompleted = false;
    const complete = async <T>(tx: Tx<T>): Promise<void> => {
      if (!(await rows.completeJob(rows.jobsOf(tx), job))) throw new LeaseLost();
      isCompleted = true;
    };
    const completeBy: Job<Payload>['completeBy'] = async (write) => {
      if (!(await write(rows.completionOf(job)))) throw new LeaseLost();
      isCompleted = true;
    };
    const move = async <T>(tx: Tx<T>): Promise<void> => {
      if (queue.movesTo === undefined) throw new Error(`jobs of the queue ${queue.name} do not move`);
      if (!(await rows.moveJob(rows.jobsOf(tx), job, queue.movesTo))) throw new LeaseLost();
      isCompleted = true;
      deps.wakeAfterCommit(queue.movesTo);
    };
    let dueInMs: number | undefined;
    const postpone = async <T>(tx: Tx<T>, delayMs: number): Promise<void> => {
      if (!(await rows.postponeJob(rows.jobsOf(tx), job, delayMs))) throw new LeaseLost();
      isCompleted = true;
      dueInMs = delayMs;
    };
    const { jobId, attempt } = job;
    const claimed: Job<Payload> = {
      jobId,
      attempt,
      payload: parsed.data,
      isLastAttempt: attempt >= maxAttempts,
      signal,
      complete,
      completeBy,
      move,
      postpone,
    };
    try {
      await attemptOf(claimed);
    } catch (error) {
      return fail(job, parsed.data, error);
    }
    // The poll for due jobs may be up to a second late.
    if (dueInMs !== undefined) setTimeout(wake, dueInMs + dueSlackMs).unref();
    if (isCompleted || (await retryWrite(() => rows.completeJob(db, job)))) return;
    log.warn(
      { jobId, attempt },
      'a worker finished a job after it lost its lease; only the attempt of the new worker counts',
    );
  }

  async function fail(job: RunningJob, payload: Payload, error: unknown): Promise<void> {
    const { jobId, attempt, controller } = job;
    const why: unknown = controller.signal.reason;
    if (why instanceof LeaseLost) return log.warn({ jobId, attempt }, 'a job now belongs to another worker');
    if (why instanceof WorkerStopping) return void (await retryWrite(() => rows.returnJob(db, job)));
    const reason = reasonOf(error);
    const isDead = error instanceof UnrecoverableError || attempt >= maxAttempts;
    const end = () =>
      isDead ? endAsDead(job, payload, reason) : rows.retryJob(db, job, retryDelayMs(queue, attempt), reason);
    const isWritten = await retryWrite(end).catch((cause: unknown) => {
      log.warn({ err: error, jobId, attempt }, 'a job failed');
      throw cause;
    });
    // The handler may have met the loss itself.
    const cause = error instanceof LeaseLost ? {} : { err: error };
    if (!isWritten)
      return log.warn({ ...cause, jobId, attempt }, 'a job was canceled, or now belongs to another worker');
    log[isDead ? 'error' : 'warn']({ err: error, jobId, attempt }, isDead ? 'a job is dead' : 'a job failed');
  }

  /** `false`: another worker holds the job, or it was canceled. Then nothing is written. */
  async function endAsDead(row: rows.ClaimedRow, payload: Payload, reason: string): Promise<boolean> {
    if (onDead === undefined) return rows.endJobAsDead(db, row, reason);
    return transaction(database.queries<Tables>(), async (tx) => {
      const isEnded = await rows.endJobAsDead(rows.jobsOf(tx), row, reason, true);
      if (isEnded) await onDead(tx, payload, reason);
      return isEnded;
    });
  }

  async function sweep(): Promise<void> {
    const own = [...running.values()].map(({ jobId }) => jobId);
    const lost = rows.isLost(queue.name, own);
    if (await rows.releaseExpired(db, lost, maxAttempts)) log.warn('taking over jobs of a lost worker');
    for (const row of await rows.findSpent(db, lost, maxAttempts)) {
      // A job that cannot be ended must not keep the others, and those of other queues, from being taken over.
      await endSpent(row).catch((error: unknown) => log.error({ err: error, jobId: row.jobId }, 'cannot end a job'));
    }
  }

  async function endSpent(row: rows.ClaimedRow): Promise<void> {
    const parsed = queue.payload.safeParse(row.payload);
    const reason = 'the worker was lost';
    const isEnded = await (parsed.success ? endAsDead(row, parsed.data, reason) : rows.endJobAsDead(db, row, reason));
    if (isEnded) log.error({ jobId: row.jobId }, 'a job is dead: its worker was lost in the last attempt');
  }

  async function stop(drainMs: number): Promise<void> {
    isStopping = true;
    // A claim or an insertion in progress may still add jobs.
    await Promise.allSettled([claiming, ...inserting]);
    await waitAtMost(drainMs, Promise.all(ends.values()));
    for (const { controller } of running.values()) controller.abort(new WorkerStopping('the worker is stopping'));
    await waitAtMost(abortGraceMs, Promise.all(ends.values()));
    const left = [...running.values()];
    if (left.length > 0) log.warn({ count: left.length }, 'returning jobs that do not stop to the queue');
    await Promise.all(left.map((job) => rows.returnJob(db, job)));
  }

  return { wake, start, sweep, stop, running };
}

/** Work for a request is logged under its ids, even long after its response. */
function inRequestScope<T>({ requestId, traceparent }: rows.ClaimedRow, work: () => T): T {
  const trace = traceparent === null ? undefined : readTrace({ traceparent });
  return trace === undefined || requestId === null ? work() : inScope({ requestId, trace }, work);
}

export function idOf({ jobId, fence }: Pick<rows.ClaimedRow, 'jobId' | 'fence'>): string {
  return `${jobId} ${fence}`;
}

/** Another program may have written the message. A reason that cannot be stored would make the job wait for the end of its lease. */
function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error) };
  // Such as the host that refused the connection. The message of an unrecoverable error is a code that a caller reads.
  const isMore = cause instanceof Error && !message.includes(cause.message) && !(error instanceof UnrecoverableError);
  const why = isMore ? `: ${cause.message}` : '';
  return (message + why).replaceAll('\0', '').slice(0, longestReason).toWellFormed();
}

/** Retries the write, so that a short database outage does not repeat the handler's work. */
function retryWrite<T>(write: () => Promise<T>): Promise<T> {
  return retry(write, { attempts: 5, baseDelayMs: 500, maxDelayMs: 3000, isRetryable: () => true });
}

/** Exponential delay with "equal jitter": retries are neither immediate nor simultaneous. */
function retryDelayMs({ retryAfterMs = 1000, longestRetryMs = 300_000 }: Queue<unknown>, attempt: number): number {
  const bound = Math.min(longestRetryMs, retryAfterMs * 2 ** (attempt - 1));
  return bound / 2 + (Math.random() * bound) / 2;
}
