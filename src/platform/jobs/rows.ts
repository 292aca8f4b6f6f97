/** The SQL of the job queue. Times come from the database, so the clocks of processes need not agree. */

import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { type Db, hasChanged, holdName, json, type Tx } from '../db/db.ts';
import { currentScope, writeTrace } from '../telemetry/trace.ts';
import {
  type Enqueued,
  type EnqueueOptions,
  type JobHandle,
  type JobState,
  type JobTables,
  LaneFull,
  type Queue,
} from './jobs.ts';

type Handle = JobHandle<JobTables>;

export interface ClaimedRow {
  readonly jobId: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly fence: number;
  /** The id of the request that enqueued the job, if any. */
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

/** The claim that a write belongs to. If the job has another fence or no longer exists, nothing is written. */
type Claim = Pick<ClaimedRow, 'jobId' | 'fence'>;

/** Any handle can access the jobs, because they are in the same database as all tables. */
export function jobsOf<Tables>(handle: JobHandle<Tables>): Handle {
  return handle as unknown as Handle;
}

const now = sql<Date>`now()`;
/** `now()` is constant within a transaction, and a lease must not begin in the past. */
const clock = sql<Date>`clock_timestamp()`;

function later(ms: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + make_interval(secs => ${ms / 1000})`;
}

export async function insertJob(
  db: Handle,
  { name: queue, movesTo }: Pick<Queue<unknown>, 'name' | 'movesTo'>,
  payload: unknown,
  { key, delayMs, at, lane = '', maxInLane }: EnqueueOptions,
): Promise<Enqueued> {
  const queues = movesTo === undefined ? [queue] : [queue, movesTo];
  if (maxInLane !== undefined) {
    if (!db.isTransaction) throw new Error('a lane limit requires a transaction');
    await holdName(db as Tx<JobTables>, `jobs ${queue} ${lane}`);
  }
  if (maxInLane !== undefined || movesTo !== undefined) {
    const existing = await findUnfinished(db, queues, key);
    if (existing !== undefined) return { jobId: existing.jobId, created: false };
  }
  if (maxInLane !== undefined && (await countLane(db, queues, lane)) >= maxInLane)
    throw new LaneFull('the lane is full');
  const scope = currentScope();
  const row = await db
    .insertInto('jobs')
    .values({
      queue,
      payload: json(payload),
      unique_key: key ?? null,
      lane,
      ...(scope && { request_id: scope.requestId, traceparent: writeTrace(scope.trace).traceparent }),
      ...(delayMs === undefined ? {} : { run_at: later(delayMs) }),
      ...(at === undefined ? {} : { run_at: at }),
    })
    // Changes no data. It waits for a concurrent insert of the same key and returns the existing row.
    .onConflict((conflict) =>
      conflict
        .columns(['queue', 'unique_key'])
        .where(sql<boolean>`status in ('waiting', 'running')`)
        .doUpdateSet({ unique_key: sql<string>`excluded.unique_key` }),
    )
    .returning(['job_id as jobId', sql<boolean>`xmax = 0`.as('created')])
    .executeTakeFirstOrThrow();
  return row;
}

const unfinished = ['waiting', 'running'] as const;

async function findUnfinished(db: Handle, queues: readonly string[], key: string | undefined) {
  if (key === undefined) return undefined;
  return db
    .selectFrom('jobs')
    .select('job_id as jobId')
    .where('queue', 'in', queues)
    .where('unique_key', '=', key)
    .where('status', 'in', unfinished)
    .executeTakeFirst();
}

async function countLane(db: Handle, queues: readonly string[], lane: string): Promise<number> {
  const { count } = await db
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('queue', 'in', queues)
    .where('lane', '=', lane)
    .where('status', 'in', unfinished)
    .executeTakeFirstOrThrow();
  return count;
}

/** Claims the oldest due jobs, at most `count`, each for one worker only. */
export async function claimJobs(
  db: Db<JobTables>,
  queue: string,
  count: number,
  holder: string,
  leaseMs: number,
): Promise<readonly ClaimedRow[]> {
  const { rows } = await sql<ClaimedRow>`
    with due as materialized (
      select job_id from jobs where queue = ${queue} and status = 'waiting' and run_at <= now()
      order by run_at limit ${count} for update skip locked
    )
    ${claimDue(holder, leaseMs)}`.execute(db);
  return rows;
}

/** Works like `claimJobs`, one lane after the other. Lanes that were never served come first, in the order of their oldest job. */
export async function claimRoundRobin(
  db: Db<JobTables>,
  queue: string,
  count: number,
  holder: string,
  leaseMs: number,
): Promise<readonly ClaimedRow[]> {
  const { rows } = await sql<ClaimedRow>`
    with waiting as (
      select job_id, lane, run_at, row_number() over (partition by lane order by run_at, job_id) as place
      from jobs where queue = ${queue} and status = 'waiting' and run_at <= now()
    ),
    lanes as (
      select lane, (
        select max(served.claimed_at) from jobs served
        where served.queue = ${queue} and served.lane = waiting.lane
          and served.lane <> '' and served.claimed_at is not null
      ) as served_at
      from waiting where place = 1
    ),
    due as materialized (
      select jobs.job_id from jobs join waiting using (job_id) join lanes on lanes.lane = waiting.lane
      where jobs.status = 'waiting'
      order by place, served_at nulls first, waiting.run_at limit ${count} for update of jobs skip locked
    )
    ${claimDue(holder, leaseMs)}`.execute(db);
  return rows;
}

function claimDue(holder: string, leaseMs: number) {
  return sql`
    update jobs set status = 'running', attempt = attempt + 1, fence = fence + 1, holder = ${holder},
      expires_at = ${later(leaseMs)}, claimed_at = ${clock}
    from due where jobs.job_id = due.job_id
    returning jobs.job_id as "jobId", payload, attempt, fence, request_id as "requestId", traceparent`;
}

/**
 * Renews all claims of a process in one statement, also expired ones that no process took over. Returns the claims that are still valid,
 * as `<jobId> <fence>`, with whether they were renewed. It skips rows that a transaction has locked, so it neither waits for one that
 * ends a job nor deadlocks with one that ends several.
 */
export async function renewJobs(
  db: Db<JobTables>,
  claims: readonly Claim[],
  leaseMs: number,
): Promise<ReadonlyMap<string, boolean>> {
  const jobIds = claims.map(({ jobId }) => jobId);
  const fences = claims.map(({ fence }) => fence);
  const { rows } = await sql<Claim & { readonly isRenewed: boolean }>`
    with held as materialized (
      select job_id, fence from jobs join unnest(${jobIds}::uuid[], ${fences}::bigint[]) as claim(job_id, fence) using (job_id, fence)
      where status = 'running'
    ), unlocked as materialized (
      select job_id from jobs join held using (job_id, fence) where status = 'running' for update of jobs skip locked
    ), renewed as (
      update jobs set expires_at = ${later(leaseMs)} from unlocked where jobs.job_id = unlocked.job_id
      returning jobs.job_id
    )
    select job_id as "jobId", fence, renewed.job_id is not null as "isRenewed" from held left join renewed using (job_id)`.execute(
    db,
  );
  return new Map(rows.map(({ jobId, fence, isRenewed }) => [`${jobId} ${fence}`, isRenewed]));
}

/** Selects the job only if the claim is still current. */
function held(db: Handle, { jobId, fence }: Claim) {
  return db.updateTable('jobs').where('job_id', '=', jobId).where('fence', '=', fence).where('status', '=', 'running');
}

const ended = { holder: null, expires_at: null } as const;

/** Returns `false` and writes nothing if another worker holds the job. The same applies to the functions below. */
export async function completeJob(db: Handle, claim: Claim): Promise<boolean> {
  const { rows } = await completionOf(claim).execute(db);
  return rows.length === 1;
}

/**
 * Moves the job to another queue, where all its attempts are left. A finished row stays in its place, because the turns of a lane follow
 * from the claims of its queue. If the other queue has an unfinished job with the same key, the job is only completed.
 */
export async function moveJob(db: Handle, claim: Claim, queue: string): Promise<boolean> {
  const { rows } = await sql<{ readonly isTaken: boolean }>`
    insert into jobs (queue, lane, payload, status, attempt, fence, claimed_at, finished_at)
    select queue, lane, payload, 'done', attempt, fence, claimed_at, ${clock} from jobs
    where job_id = ${claim.jobId} and fence = ${claim.fence} and status = 'running'
    returning exists (
      select from jobs other join jobs moved on other.unique_key = moved.unique_key
      where moved.job_id = ${claim.jobId} and other.queue = ${queue} and other.status in ('waiting', 'running')
    ) as "isTaken"`.execute(db);
  if (rows[0]?.isTaken) return completeJob(db, claim);
  const waiting = {
    ...ended,
    status: 'waiting',
    queue,
    attempt: 0,
    claimed_at: null,
    reason: null,
    run_at: clock,
  } as const;
  return held(db, claim).set(waiting).$call(hasChanged);
}

/** Makes the job due again after `afterMs`. */
export async function retryJob(db: Handle, claim: Claim, afterMs: number, reason: string): Promise<boolean> {
  const waiting = { ...ended, status: 'waiting', reason, run_at: later(afterMs) } as const;
  return held(db, claim).set(waiting).$call(hasChanged);
}

/** Makes the job due again after `afterMs`. All its attempts are left, because the last one did its work. */
export async function postponeJob(db: Handle, claim: Claim, afterMs: number): Promise<boolean> {
  const waiting = { ...ended, status: 'waiting', attempt: 0, reason: null, run_at: later(afterMs) } as const;
  return held(db, claim).set(waiting).$call(hasChanged);
}

/** `settled`: the transaction also runs the queue's own handling, so a retry has no effect. */
export async function endJobAsDead(db: Handle, claim: Claim, reason: string, settled = false): Promise<boolean> {
  const dead = { ...ended, status: 'dead', reason, settled, finished_at: clock } as const;
  return held(db, claim).set(dead).$call(hasChanged);
}

/** The attempt does not count, because the process ended. */
export async function returnJob(db: Handle, claim: Claim): Promise<void> {
  await held(db, claim)
    .set((eb) => ({ ...ended, status: 'waiting' as const, attempt: eb('attempt', '-', 1), run_at: clock }))
    .execute();
}

/** The jobs of lost workers. `running`: ids of jobs that this process runs, so it is late and not lost. */
export const isLost = (queue: string, running: readonly string[]) =>
  sql<boolean>`queue = ${queue} and status = 'running' and expires_at <= now() and job_id <> all(${running}::uuid[])`;

/** Makes jobs of lost workers available again at once. Jobs without a remaining attempt are not changed. Returns whether there were any. */
export function releaseExpired(db: Db<JobTables>, lost: RawBuilder<boolean>, maxAttempts: number): Promise<boolean> {
  return db
    .updateTable('jobs')
    .set({ ...ended, status: 'waiting', run_at: now, reason: 'the worker was lost' })
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('job_id')
        .where(lost)
        .where('attempt', '<', maxAttempts)
        // Locked jobs are skipped: another process is changing them, perhaps together with others.
        .forUpdate()
        .skipLocked(),
    )
    .$call(hasChanged);
}

/** Returns up to 100 jobs whose worker was lost in their last attempt. */
export function findSpent(db: Db<JobTables>, lost: RawBuilder<boolean>, maxAttempts: number): Promise<ClaimedRow[]> {
  return db
    .selectFrom('jobs')
    .select(['job_id as jobId', 'payload', 'attempt', 'fence', 'request_id as requestId', 'traceparent'])
    .where(lost)
    .where('attempt', '>=', maxAttempts)
    .limit(100)
    .execute();
}

/** If one process has exclusive use of the database, every other holder of a job is dead. */
export async function expireOthers(db: Db<JobTables>, holder: string): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ expires_at: now })
    .where('status', '=', 'running')
    .where('holder', '<>', holder)
    .execute();
}

/** Deletes the unfinished job with this key. Returns `false` if there is none. */
export async function cancelJob(db: Handle, queue: string, key: string): Promise<boolean> {
  return db
    .deleteFrom('jobs')
    .where((eb) => eb.and({ queue, unique_key: key }))
    .where('status', 'in', unfinished)
    .$call(hasChanged);
}

/** Makes the waiting job with this key due now. */
export async function expediteJob(db: Handle, queue: string, key: string): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ run_at: clock })
    .where((eb) => eb.and({ queue, unique_key: key, status: 'waiting' }))
    .execute();
}

/** Removes jobs that were never claimed. Locks them in the order of their ids, so that concurrent calls do not wait for each other. */
export async function withdrawJobs(db: Handle, queue: string, keys: readonly string[]): Promise<void> {
  await sql`
    with withdrawn as materialized (
      select job_id from jobs
      where queue = ${queue} and unique_key = any(${keys}::text[]) and status = 'waiting' and fence = 0
      order by job_id for update
    )
    delete from jobs using withdrawn where jobs.job_id = withdrawn.job_id`.execute(db);
}

export function findJob(db: Db<JobTables>, jobId: string): Promise<JobState | undefined> {
  return db.selectFrom('jobs').select(['status', 'attempt', 'reason']).where('job_id', '=', jobId).executeTakeFirst();
}

// Parts of a `with`, by which one statement writes a row together with its job.

/** The worker that holds a job from its insertion. */
export interface Holder {
  readonly holder: string;
  readonly leaseMs: number;
}

/** A new job as its first claim returns it. */
export function newJob(payload: unknown): ClaimedRow {
  const scope = currentScope();
  const traceparent = scope === undefined ? null : (writeTrace(scope.trace).traceparent ?? null);
  return { jobId: randomUUID(), payload, attempt: 1, fence: 1, requestId: scope?.requestId ?? null, traceparent };
}

/** A part of a `with`: inserts the job if `from` has a row. Without a holder, the job waits for its first claim. */
export function insertionOf(
  queue: string,
  { jobId, payload, attempt, fence, requestId, traceparent }: ClaimedRow,
  { key, lane = '' }: Pick<EnqueueOptions, 'key' | 'lane'>,
  held: Holder | undefined,
) {
  return (from: string): RawBuilder<unknown> => {
    const common = sql`${jobId}::uuid, ${queue}::text, ${JSON.stringify(payload)}::jsonb, ${key ?? null}::text, ${lane}::text,
      ${requestId}::text, ${traceparent}::text`;
    const columns = sql`job_id, queue, payload, unique_key, lane, request_id, traceparent`;
    if (held === undefined) return sql`insert into jobs (${columns}) select ${common} from ${sql.ref(from)}`;
    return sql`
      insert into jobs (${columns}, status, attempt, fence, holder, expires_at, claimed_at)
      select ${common}, 'running', ${attempt}::int, ${fence}::bigint, ${held.holder}::text, ${later(held.leaseMs)}, ${clock}
      from ${sql.ref(from)}`;
  };
}

/** A part of a `with`, which completes the job and returns a row, or does nothing if another worker holds the job. */
export function completionOf({ jobId, fence }: Claim): RawBuilder<unknown> {
  return sql`
    update jobs set status = 'done', holder = null, expires_at = null, reason = null, finished_at = ${clock}
    where job_id = ${jobId} and fence = ${fence} and status = 'running' returning job_id`;
}
