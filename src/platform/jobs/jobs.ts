/**
 * Durable jobs on the configured database (docs/specification/system.md#engines: "all truth"; docs/jobs.md). A job is a row, written in
 * the caller's own transaction. It runs at least once. An attempt holds a lease, and every write about the job compares the attempt's
 * fence, so a worker that lost its lease can neither complete nor fail the job. Handlers may run twice, even concurrently in two
 * processes. Writes that must happen exactly once use `complete(tx)`.
 */
import type { Generated, RawBuilder } from 'kysely';
import type { z } from 'zod';
import type { Db, Tx } from '../db/db.ts';

export interface JobTables {
  jobs: {
    job_id: Generated<string>;
    queue: string;
    unique_key: string | null;
    lane: Generated<string>;
    claimed_at: Date | null;
    payload: unknown;
    status: Generated<JobStatus>;
    attempt: Generated<number>;
    fence: Generated<number>;
    run_at: Generated<Date>;
    holder: string | null;
    expires_at: Date | null;
    reason: string | null;
    request_id: string | null;
    traceparent: string | null;
    created_at: Generated<Date>;
    finished_at: Date | null;
    /** `onDead` has run, so a retry has no effect. */
    settled: Generated<boolean>;
  };
}

export type JobStatus = 'waiting' | 'running' | 'done' | 'dead';

/** The database or a transaction, with any set of tables. */
export type JobHandle<Tables> = Db<Tables> | Tx<Tables>;

/** Declared once beside the feature, and used by producers and workers. */
export interface Queue<Payload> {
  /** Such as `media/watermark-video`. It must not change while rows with this name may exist. */
  readonly name: string;
  /** A JSON payload. Rows outlive versions of the program: a payload that no longer parses ends as dead. */
  readonly payload: z.ZodType<Payload>;
  /** Total attempts. Default: 10. */
  readonly maxAttempts?: number;
  /** Upper bound of the delay after the first failure, doubled for each further one. Default: 1 s. */
  readonly retryAfterMs?: number;
  /** Upper bound of the doubled delay. Default: 5 minutes. */
  readonly longestRetryMs?: number;
  /** Lanes are served round-robin: the next job is from the lane served longest ago. Otherwise the oldest job is next. */
  readonly isRoundRobin?: boolean;
  /**
   * The name of the queue that `Job.move` moves jobs to, such as a queue for jobs that take long. It has the same payload and is not
   * enqueued directly. A key is unique, and a lane is limited, across both queues.
   */
  readonly movesTo?: string;
}

export interface Job<Payload> {
  readonly jobId: string;
  readonly payload: Payload;
  /** Starts at 1. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  /** Aborts when the lease is lost, or when the process ends and its drain time is over. The handler must stop all its work and throw. */
  readonly signal: AbortSignal;
  /**
   * Completes the job in the transaction of the handler's last write, so that both are committed or neither. Throws LeaseLost if
   * another worker holds the job; the transaction must then be rolled back.
   */
  complete<Tables>(tx: Tx<Tables>): Promise<void>;
  /**
   * As `complete`, in the statement of the handler's last write. `completion` is a part of a `with`, which returns a row if this worker
   * holds the job. `write` must write nothing without that row, and resolve with whether there was one.
   */
  completeBy(write: (completion: RawBuilder<unknown>) => Promise<boolean>): Promise<void>;
  /**
   * Makes the job due again after `delayMs`, with all its attempts, because the work has to wait and needs no worker until then.
   * The handler must return after that. Throws as `complete` does.
   */
  postpone<Tables>(tx: Tx<Tables>, delayMs: number): Promise<void>;
  /** Moves the job to `Queue.movesTo`, with the same id and all its attempts. The handler must return then. Throws as `complete` does. */
  move<Tables>(tx: Tx<Tables>): Promise<void>;
}

/** A job that the caller's own statement inserts, together with the row that the job is about. */
export interface JobInsertion {
  /** This process runs the first attempt as soon as the statement is committed. */
  readonly isClaimed: boolean;
  /** A part of a `with`, which inserts the job if the earlier part `from` has a row. */
  readonly statement: (from: string) => RawBuilder<unknown>;
}

export interface StartOptions<Payload> {
  /** If the queue has an unfinished job with this key, the statement fails with a unique violation. */
  readonly key?: string;
  /** As in `EnqueueOptions`. */
  readonly lane?: string;
  /** The first attempt, if this process runs it at once. By default, and for every other attempt: the handler of the queue. */
  readonly attempt?: (job: Job<Payload>) => Promise<void>;
}

export interface EnqueueOptions {
  /** If the queue, or `movesTo`, has an unfinished job with this key, that job is returned and nothing is written. */
  readonly key?: string;
  /** Delay before the job may start. Default: none. */
  readonly delayMs?: number;
  /** The earliest start, by the clock of the database. Default: now. */
  readonly at?: Date;
  /** The owner of the job, in a queue with `isRoundRobin`. */
  readonly lane?: string;
  /**
   * Maximum number of unfinished jobs in the lane. Beyond it, enqueuing throws LaneFull. Only valid inside a transaction, which then
   * blocks other such calls for the lane until it ends.
   */
  readonly maxInLane?: number;
}

export interface Enqueued {
  readonly jobId: string;
  /** `false`: the job already existed. */
  readonly created: boolean;
}

export interface WorkOptions<Payload, Tables> {
  /** Maximum number of jobs of the queue that this process runs concurrently. */
  readonly concurrency: number;
  /** Called in the transaction that ends the job as dead, in whichever process that happens. Not called for a payload that does not parse. */
  readonly onDead?: (tx: Tx<Tables>, payload: Payload, reason: string) => Promise<void>;
}

export interface JobState {
  readonly status: JobStatus;
  readonly attempt: number;
  /** Why the last attempt failed, for the log and the operator. */
  readonly reason: string | null;
}

/** Counts of jobs end one above this number, because counting a million jobs takes longer than a scrape should. */
export const largestDepth = 10_000;

export interface QueueDepth {
  readonly queue: string;
  readonly status: Exclude<JobStatus, 'done'>;
  readonly count: number;
}

export interface Jobs {
  /** Runs in the caller's transaction, or in its own. Workers of this process are notified after the commit. */
  enqueue<Tables, Payload>(
    handle: JobHandle<Tables>,
    queue: Queue<Payload>,
    payload: Payload,
    options?: EnqueueOptions,
  ): Promise<Enqueued>;
  /**
   * Enqueues a job by the statement that inserts the row which the job is about. `insert` executes it, alone or in a transaction, and
   * resolves with whether both are committed. If this process has room, it holds the job from its insertion, so no statement claims it.
   * Outside transactions only. Resolves as `insert`. Throws for a queue with `movesTo`, because the statement compares the key in one queue only.
   */
  start<Payload>(
    queue: Queue<Payload>,
    payload: Payload,
    insert: (insertion: JobInsertion) => Promise<boolean>,
    options?: StartOptions<Payload>,
  ): Promise<boolean>;
  /** Starts a worker. Call it once per queue and process. If a handler returns, the job is complete; if it throws, the attempt failed. */
  work<Payload, Tables = unknown>(
    queue: Queue<Payload>,
    handler: (job: Job<Payload>) => Promise<void>,
    options: WorkOptions<Payload, Tables>,
  ): void;
  /** Returns `undefined` if the job was never enqueued, or was removed some time after it finished. */
  find(jobId: string): Promise<JobState | undefined>;
  /** Removes a waiting job, and ends a running one, by key. The signal of a running job aborts within seconds. */
  cancel<Tables, Payload>(handle: JobHandle<Tables>, queue: Queue<Payload>, key: string): Promise<boolean>;
  /** Removes jobs that no worker has started, by key. Started jobs continue. */
  withdraw<Tables, Payload>(handle: JobHandle<Tables>, queue: Queue<Payload>, keys: readonly string[]): Promise<void>;
  /** Makes a waiting job due now, by its key. */
  hasten<Tables, Payload>(handle: JobHandle<Tables>, queue: Queue<Payload>, key: string): Promise<void>;
  /** Counts unfinished and dead jobs of all queues. Each number ends one above `largestDepth`. */
  depths(): Promise<readonly QueueDepth[]>;
  /** Seconds since the oldest completed job should have been removed. 0 if none is due. */
  overdueS(): Promise<number>;
  /**
   * Stops work on these queues, or on all. Claims nothing more and waits `drainMs` for running jobs, then aborts them and returns them to
   * the queue.
   */
  stop(options?: { readonly drainMs?: number; readonly queues?: readonly string[] }): Promise<void>;
}

/** The reason of `Job.signal` if another worker may hold the job. `complete` throws it. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease of the job is lost');
    this.name = 'LeaseLost';
  }
}

/** The reason of `Job.signal` if the process ends. The attempt does not count, unless the handler still finishes. */
export class WorkerStopping extends Error {
  override readonly name = 'WorkerStopping';
}

/** The lane has as many unfinished jobs as `EnqueueOptions.maxInLane` allows. */
export class LaneFull extends Error {
  override readonly name = 'LaneFull';
}

/** Thrown by a handler when no retry can succeed: the job ends as dead at once. */
export class UnrecoverableError extends Error {
  override readonly name = 'UnrecoverableError';
}
