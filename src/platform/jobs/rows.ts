/** The statements of the queue. Times are the database's, so that processes need not agree on theirs. */
import { type RawBuilder, sql } from 'kysely';
import { type Db, holdName, json, type Tx } from '../db/db.ts';
import { currentScope, writeTrace } from '../telemetry/trace.ts';
import {
  type Enqueued,
  type EnqueueOptions,
  type JobHandle,
  type JobState,
  type JobTables,
  LaneFull,
  type QueueDepth,
} from './jobs.ts';

type Handle = JobHandle<JobTables>;

export interface ClaimedRow {
  readonly jobId: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly fence: number;
  /** Of the request that ordered it, if one did. */
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

/** The claim that a write is made for: it writes nothing once the job has another fence, or is gone. */
export type Claim = Pick<ClaimedRow, 'jobId' | 'fence'>;

/** Any handle reaches the jobs: they lie in the same database as everybody's tables. */
export function jobsOf<Tables>(handle: JobHandle<Tables>): Handle {
  return handle as unknown as Handle;
}

const now = sql<Date>`now()`;
/** Not `now()`, which stands still in a transaction: a lease must not begin in the past. */
const clock = sql<Date>`clock_timestamp()`;

function later(ms: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + make_interval(secs => ${ms / 1000})`;
}

export async function insertJob(
  db: Handle,
  queue: string,
  payload: unknown,
  { key, delayMs, lane = '', maxInLane }: EnqueueOptions,
): Promise<Enqueued> {
  if (maxInLane !== undefined) {
    if (!db.isTransaction) throw new Error('a lane is only bounded inside a transaction');
    await holdName(db as Tx<JobTables>, `jobs ${queue} ${lane}`);
    const standing = await findUnfinished(db, queue, key);
    if (standing !== undefined) return { jobId: standing.jobId, created: false };
    if ((await countLane(db, queue, lane)) >= maxInLane) throw new LaneFull();
  }
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
    })
    // Writes nothing new; it waits for whoever inserts the same key now, and answers with the row that stands.
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

async function findUnfinished(db: Handle, queue: string, key: string | undefined) {
  if (key === undefined) return undefined;
  return db
    .selectFrom('jobs')
    .select('job_id as jobId')
    .where('queue', '=', queue)
    .where('unique_key', '=', key)
    .where('status', 'in', unfinished)
    .executeTakeFirst();
}

async function countLane(db: Handle, queue: string, lane: string): Promise<number> {
  const { count } = await db
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('queue', '=', queue)
    .where('lane', '=', lane)
    .where('status', 'in', unfinished)
    .executeTakeFirstOrThrow();
  return count;
}

/** The oldest that are due, at most `count`, each for one worker only. */
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

/** As `claimJobs`, one lane after the other. Lanes that were never served come first, by their oldest job. */
export async function claimInTurns(
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

/** All that a process holds, in one statement; answers the claims that still stand, as `<jobId> <fence>`. */
export async function renewJobs(
  db: Db<JobTables>,
  claims: readonly Claim[],
  leaseMs: number,
): Promise<ReadonlySet<string>> {
  const jobIds = claims.map(({ jobId }) => jobId);
  const fences = claims.map(({ fence }) => fence);
  const { rows } = await sql<Claim>`
    update jobs set expires_at = ${later(leaseMs)}
    from unnest(${jobIds}::uuid[], ${fences}::bigint[]) as held(job_id, fence)
    where jobs.job_id = held.job_id and jobs.fence = held.fence and status = 'running' and expires_at > ${clock}
    returning jobs.job_id as "jobId", jobs.fence`.execute(db);
  return new Set(rows.map(({ jobId, fence }) => `${jobId} ${fence}`));
}

/** Of the attempt that the claim is for, as long as it is the present one. */
function held(db: Handle, { jobId, fence }: Claim) {
  return db.updateTable('jobs').where('job_id', '=', jobId).where('fence', '=', fence).where('status', '=', 'running');
}

const ended = { holder: null, expires_at: null } as const;

/** `false`: somebody else's by now, and nothing is written; so in the following. */
export async function completeJob(db: Handle, claim: Claim): Promise<boolean> {
  const done = { ...ended, status: 'done', reason: null, finished_at: clock } as const;
  const { numUpdatedRows } = await held(db, claim).set(done).executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function retryJob(db: Handle, claim: Claim, afterMs: number, reason: string): Promise<boolean> {
  const waiting = { ...ended, status: 'waiting', reason, run_at: later(afterMs) } as const;
  const { numUpdatedRows } = await held(db, claim).set(waiting).executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function buryJob(db: Handle, claim: Claim, reason: string): Promise<boolean> {
  const dead = { ...ended, status: 'dead', reason, finished_at: clock } as const;
  const { numUpdatedRows } = await held(db, claim).set(dead).executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** The attempt does not count: it was the process that ended. */
export async function giveBackJob(db: Handle, claim: Claim): Promise<void> {
  await held(db, claim)
    .set((eb) => ({ ...ended, status: 'waiting' as const, attempt: eb('attempt', '-', 1), run_at: clock }))
    .execute();
}

/** Jobs whose worker has shown no sign for a lease: waiting again, at once. Those without a further attempt are left. */
export async function releaseExpired(db: Db<JobTables>, queue: string, maxAttempts: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({ ...ended, status: 'waiting', run_at: now, reason: 'the worker was lost' })
    .where('queue', '=', queue)
    .where('status', '=', 'running')
    .where('expires_at', '<=', now)
    .where('attempt', '<', maxAttempts)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Jobs whose worker was lost in their last attempt. */
export function findSpent(db: Db<JobTables>, queue: string, maxAttempts: number): Promise<ClaimedRow[]> {
  return db
    .selectFrom('jobs')
    .select(['job_id as jobId', 'payload', 'attempt', 'fence', 'request_id as requestId', 'traceparent'])
    .where('queue', '=', queue)
    .where('status', '=', 'running')
    .where('expires_at', '<=', now)
    .where('attempt', '>=', maxAttempts)
    .limit(100)
    .execute();
}

/** Where one process alone has the database, whoever else held a job is dead. */
export async function expireOthers(db: Db<JobTables>, holder: string): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ expires_at: now })
    .where('status', '=', 'running')
    .where('holder', '<>', holder)
    .execute();
}

/** A bounded number at a time: statements stay small. `true`: there are more. */
export async function removeFinished(db: Db<JobTables>, doneForMs: number, deadForMs: number): Promise<boolean> {
  const batch = 1000;
  const { numAffectedRows } = await sql`
    delete from jobs where job_id in (
      select job_id from jobs where finished_at is not null
        and finished_at < now() - make_interval(secs => case status when 'done' then ${doneForMs / 1000}::float8 else ${deadForMs / 1000}::float8 end)
      limit ${batch}
    )`.execute(db);
  return Number(numAffectedRows) === batch;
}

export async function cancelJob(db: Handle, queue: string, key: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('jobs')
    .where('queue', '=', queue)
    .where('unique_key', '=', key)
    .where('status', 'in', unfinished)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Those that were never claimed. */
export async function withdrawJobs(db: Handle, queue: string, keys: readonly string[]): Promise<void> {
  await db
    .deleteFrom('jobs')
    .where('queue', '=', queue)
    .where(sql<boolean>`unique_key = any(${keys}::text[])`)
    .where('status', '=', 'waiting')
    .where('fence', '=', 0)
    .execute();
}

export function findJob(db: Db<JobTables>, jobId: string): Promise<JobState | undefined> {
  return db.selectFrom('jobs').select(['status', 'attempt', 'reason']).where('job_id', '=', jobId).executeTakeFirst();
}

export async function countJobs(db: Db<JobTables>): Promise<readonly QueueDepth[]> {
  const { rows } = await sql<QueueDepth>`
    select queue, status, count(*) as count from jobs where status in ('waiting', 'running', 'dead')
    group by queue, status order by queue, status`.execute(db);
  return rows;
}
