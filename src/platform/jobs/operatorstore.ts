/** Jobs as operators see them. Dead jobs can be retried and discarded. */
import { type RawBuilder, sql } from 'kysely';
import { deleteBatch } from '../background/removal.ts';
import { type Db, hasChanged, json, type Tx } from '../db/db.ts';
import type { JobTables } from './jobs.ts';

/** A waiting job is `scheduled` until it is due, or `failing` if an attempt failed. */
export type ShownState = 'waiting' | 'scheduled' | 'failing' | 'running' | 'dead';

export interface ShownJob {
  readonly jobId: string;
  readonly fence: number;
  /** Of a round-robin queue: mostly the id of a user. */
  readonly lane: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly reason: string | null;
  readonly settled: boolean;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  readonly createdAt: Date;
  readonly runAt: Date;
  readonly claimedAt: Date | null;
  readonly finishedAt: Date | null;
}

const conditions: Readonly<Record<ShownState, RawBuilder<unknown>>> = {
  waiting: sql`status = 'waiting' and run_at <= now() order by run_at, job_id`,
  scheduled: sql`status = 'waiting' and run_at > now() and attempt = 0 order by run_at, job_id`,
  failing: sql`status = 'waiting' and run_at > now() and attempt > 0 order by run_at, job_id`,
  running: sql`status = 'running' order by claimed_at, job_id`,
  dead: sql`status = 'dead' order by finished_at desc, job_id`,
};
/** A search reads the first of them, because no index finds a part of a text. */
const searched = 10_000;

/** Dead jobs: newest first. Others: the next one first. `words`: a part of the id, the request id, the reason or the payload. */
export async function listJobs(
  db: Db<JobTables>,
  queue: string,
  state: ShownState,
  limit: number,
  words = '',
): Promise<readonly ShownJob[]> {
  const pattern = `%${words.replace(/[\\%_]/g, '\\$&')}%`;
  const matches = sql`concat_ws(' ', "jobId", "requestId", reason, lane, payload) ilike ${pattern}`;
  const { rows } = await sql<ShownJob>`
    select * from (
    select job_id as "jobId", fence, lane, payload, attempt as attempts, reason, settled, request_id as "requestId", traceparent,
      created_at as "createdAt", run_at as "runAt", claimed_at as "claimedAt", finished_at as "finishedAt"
    from jobs where queue = ${queue} and ${conditions[state]} limit ${words === '' ? limit : searched}
    ) as shown where ${words === '' ? sql`true` : matches} limit ${limit}`.execute(db);
  return rows;
}

export function findShownJob(db: Db<JobTables>, jobId: string) {
  return db
    .selectFrom('jobs')
    .select(['queue', 'status', 'fence', 'settled', 'payload', 'lane'])
    .where('job_id', '=', jobId)
    .executeTakeFirst();
}

/** A dead job, in the state in which the operator saw it. */
export interface SeenJob {
  readonly jobId: string;
  readonly fence: number;
}

/** Merged into the payload of a job that starts over, such as a new deadline. */
export type PayloadChange = Readonly<Record<string, unknown>>;

const revived = (change: PayloadChange) => sql`
  status = 'waiting', attempt = 0, run_at = clock_timestamp(), finished_at = null,
  payload = case when jsonb_typeof(payload) = 'object' then payload || ${json(change)} else payload end`;

/** An attempt has failed, and another one follows. */
export const isFailing = sql<boolean>`status = 'waiting' and attempt > 0`;

/**
 * Restarts a job that has ended, or makes the next attempt of a failing one due now. `false`: it did neither, or was tried since. Fails with
 * a unique violation if an unfinished job of its queue has its key. If one in the queue that it can move to has it, this job ends when it
 * would move.
 */
export async function retryJob(
  tx: Tx<JobTables>,
  { jobId, fence }: SeenJob,
  change: PayloadChange = {},
): Promise<boolean> {
  const seen = sql`job_id = ${jobId} and fence = ${fence}`;
  const { numAffectedRows: revivedRows } = await sql`
    update jobs set ${revived(change)} where ${seen} and status in ('dead', 'done') and not settled`.execute(tx);
  if (revivedRows === 1n) return true;
  const { numAffectedRows } = await sql`
    update jobs set run_at = least(run_at, clock_timestamp()) where ${seen} and ${isFailing}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Makes the next attempt of up to `limit` failing jobs of a queue due now, and returns how many were due later. */
export async function hastenFailing(tx: Tx<JobTables>, queue: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with batch as materialized (
      select job_id from jobs where queue = ${queue} and ${isFailing} and run_at > clock_timestamp()
      order by run_at limit ${limit} for update skip locked
    )
    update jobs set run_at = clock_timestamp() from batch where jobs.job_id = batch.job_id`.execute(tx);
  return Number(numAffectedRows);
}

/** When waiting jobs with these keys are due, by key. */
export async function findDueTimes<Tables>(
  db: Db<Tables>,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await sql<{ key: string; at: Date }>`
    select unique_key as key, min(run_at) as at from jobs
    where status = 'waiting' and unique_key = any(${keys}::text[]) group by unique_key`.execute(db);
  return new Map(rows.map(({ key, at }) => [key, at]));
}

/** `false`: it is not dead, or died again since. */
export async function discardJob(tx: Tx<JobTables>, { jobId, fence }: SeenJob): Promise<boolean> {
  return tx
    .deleteFrom('jobs')
    .where((eb) => eb.and({ job_id: jobId, fence, status: 'dead' }))
    .$call(hasChanged);
}

/**
 * Retries up to `limit` dead jobs of a queue, and returns how many. One job of each key starts over, and none whose key an unfinished job
 * has. Fails with a unique violation if a job with such a key is enqueued at the same time.
 */
export async function reviveDead(
  tx: Tx<JobTables>,
  queue: string,
  limit: number,
  change: PayloadChange = {},
): Promise<number> {
  const { numAffectedRows } = await sql`
    with batch as materialized (
      select job_id, unique_key from jobs dead
      where queue = ${queue} and status = 'dead' and not settled
        and not exists (
          select 1 from jobs other
          where other.queue = ${queue} and other.unique_key = dead.unique_key and other.status in ('waiting', 'running')
          offset 0 -- Otherwise the planner may compare each dead job with all others.
        )
      order by finished_at desc, job_id limit ${limit} for update skip locked
    ), chosen as (
      select distinct on (coalesce(unique_key, job_id::text)) job_id from batch
    )
    update jobs set ${revived(change)} from chosen where jobs.job_id = chosen.job_id`.execute(tx);
  return Number(numAffectedRows);
}

/** Discards up to `limit` dead jobs of a queue, and returns how many. */
export async function discardDead(tx: Tx<JobTables>, queue: string, limit: number): Promise<number> {
  const dead = sql`queue = ${queue} and status = 'dead' order by finished_at desc, job_id limit ${limit}`;
  return deleteBatch<JobTables>(tx, 'jobs', ['job_id'], dead);
}
