/**
 * Durable jobs on the configured database (docs/specification/system.md#engines: "all truth"; docs/jobs.md). A job is a row, written in the caller's
 * own transaction. It is carried out at least once: an attempt holds a lease, and what it writes about the job compares the
 * attempt's fence, so a worker that was taken over can neither finish nor fail it. Handlers may be run twice, by two
 * processes at once even; what must happen once they write together with `complete(tx)`.
 */
import type { Generated } from 'kysely';
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
  };
}

export type JobStatus = 'waiting' | 'running' | 'done' | 'dead';

/** The database or a transaction, whatever tables its holder knows. */
export type JobHandle<Tables> = Db<Tables> | Tx<Tables>;

/** Declared once, beside the deed, and used by who enqueues and who works. */
export interface Queue<Payload> {
  /** Such as `media/watermark-video`; stays the same for as long as rows of it may be there. */
  readonly name: string;
  /** JSON. Rows outlive versions of the program: what does not parse any more ends dead. */
  readonly payload: z.ZodType<Payload>;
  /** Attempts in all; 10 when left out. */
  readonly maxAttempts?: number;
  /** Upper bound of the wait after the first failure, doubled for each further one; 1 s when left out. */
  readonly retryAfterMs?: number;
  /** Bound of that doubling; 5 minutes when left out. */
  readonly longestRetryMs?: number;
  /** Lanes take turns: the next job is of the lane that was served longest ago. Otherwise the oldest job is next. */
  readonly takesTurns?: boolean;
}

export interface Job<Payload> {
  readonly jobId: string;
  readonly payload: Payload;
  /** From 1. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  /** Aborted when the lease is lost, or when the process ends and waits no longer: stop, throw, leave nothing running. */
  readonly signal: AbortSignal;
  /**
   * Finishes the job in the transaction of the handler's own last write: both are committed or neither. Throws LeaseLost,
   * and the transaction is to be rolled back, when somebody else has the job by now.
   */
  complete<Tables>(tx: Tx<Tables>): Promise<void>;
}

export interface EnqueueOptions {
  /** While an unfinished job of the queue has this key, that job is the answer and nothing is written. */
  readonly key?: string;
  /** Not before this time from now on; at once when left out. */
  readonly delayMs?: number;
  /** Not before this time, by the clock of the database. */
  readonly at?: Date;
  /** Whose job it is, in a queue that `takesTurns`. */
  readonly lane?: string;
  /**
   * Most unfinished jobs of the lane; with as many, a further one throws LaneFull. Only inside a transaction, which
   * then holds back every other such call for the lane until it ends.
   */
  readonly maxInLane?: number;
}

export interface Enqueued {
  readonly jobId: string;
  /** `false`: it was there already. */
  readonly created: boolean;
}

export interface WorkOptions<Payload, Tables> {
  /** Jobs of the queue that this process runs at once. */
  readonly concurrency: number;
  /** In the transaction in which the job ends dead, whichever process does that; not for a payload that does not parse. */
  readonly onDead?: (tx: Tx<Tables>, payload: Payload, reason: string) => Promise<void>;
}

export interface JobState {
  readonly status: JobStatus;
  readonly attempt: number;
  /** Why the last attempt failed, for the log and the operator. */
  readonly reason: string | null;
}

export interface QueueDepth {
  readonly queue: string;
  readonly status: Exclude<JobStatus, 'done'>;
  readonly count: number;
}

export interface Jobs {
  /** Inside the caller's transaction, or by itself. Workers of this process are woken after the commit. */
  enqueue<Tables, Payload>(
    handle: JobHandle<Tables>,
    queue: Queue<Payload>,
    payload: Payload,
    options?: EnqueueOptions,
  ): Promise<Enqueued>;
  /** Starts working; once per queue and process. A handler that returns has done the job, one that throws has failed it. */
  work<Payload, Tables = unknown>(
    queue: Queue<Payload>,
    handler: (job: Job<Payload>) => Promise<void>,
    options: WorkOptions<Payload, Tables>,
  ): void;
  /** `undefined`: never enqueued, or finished so long ago that its row is removed. */
  look(jobId: string): Promise<JobState | undefined>;
  /** Takes a job that waits off the queue, and ends one that runs: its worker is told within seconds. By its key. */
  cancel<Tables, Payload>(handle: JobHandle<Tables>, queue: Queue<Payload>, key: string): Promise<boolean>;
  /** Takes jobs that no worker has begun off the queue, by their keys. Jobs that were begun go on. */
  withdraw<Tables, Payload>(handle: JobHandle<Tables>, queue: Queue<Payload>, keys: readonly string[]): Promise<void>;
  /** Makes a waiting job due now, by its key. */
  hasten<Tables, Payload>(handle: JobHandle<Tables>, queue: Queue<Payload>, key: string): Promise<void>;
  /** Unfinished and dead jobs, of all queues. */
  depths(): Promise<readonly QueueDepth[]>;
  /** Work on these queues, or on all: no new claims; what runs is awaited for `drainMs`, then told to stop and given back. */
  stop(options?: { readonly drainMs?: number; readonly queues?: readonly string[] }): Promise<void>;
}

/** The reason of `Job.signal` when another worker may have the job, and what `complete` throws. */
export class LeaseLost extends Error {
  constructor() {
    super('The lease of the job is lost');
    this.name = 'LeaseLost';
  }
}

/** The reason of `Job.signal` when the process ends. The attempt does not count, unless the handler goes on to finish. */
export class WorkerStopping extends Error {
  constructor() {
    super('The worker is stopping');
    this.name = 'WorkerStopping';
  }
}

/** The lane has as many unfinished jobs as `EnqueueOptions.maxInLane` allows. */
export class LaneFull extends Error {
  constructor() {
    super('The lane is full');
    this.name = 'LaneFull';
  }
}

/** Thrown by a handler whose job no repeat can mend: it ends dead at once. */
export class UnrecoverableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnrecoverableError';
  }
}
