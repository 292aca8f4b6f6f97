/** Deliveries as operators see them: jobs of the delivery queue. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { type Delivery, deliveryQueue } from './publishing.ts';

/** `failing`: an attempt failed, and another one follows or is running. `waiting`: the first attempt has not ended. */
export const deliveryStates = ['failing', 'dead', 'waiting', 'done'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

const state = sql<DeliveryState>`case
  when status = 'waiting' and attempt > 0 or status = 'running' and attempt > 1 then 'failing'
  when status = 'running' then 'waiting' else status end`;

export interface DeliveryRow {
  readonly jobId: string;
  readonly fence: number;
  readonly payload: Delivery;
  readonly state: DeliveryState;
  readonly attempt: number;
  readonly reason: string | null;
  readonly runAt: Date;
  readonly claimedAt: Date | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

interface DeliverySearch {
  readonly status?: DeliveryState | undefined;
  readonly type?: string | undefined;
  /** A part of the id, the reason or the body. */
  readonly q?: string | undefined;
}

/** A search reads the newest of them, because no index finds a part of a text. */
const searched = 10_000;

/** Newest first. */
export async function findDeliveries(
  db: Db<JobTables>,
  { status: wanted, type, q = '' }: DeliverySearch,
  limit: number,
): Promise<readonly DeliveryRow[]> {
  const body = sql`payload->>'body'`;
  const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`;
  const ofType = type === undefined ? sql`true` : sql`starts_with(${body}, ${`{"type":"${type}"`})`;
  const matches = q === '' ? sql`true` : sql`concat_ws(' ', "jobId", payload->>'id', reason, ${body}) ilike ${pattern}`;
  const { rows } = await sql<DeliveryRow>`
    select * from (
    select job_id as "jobId", fence, payload, ${state} as state, attempt, reason, run_at as "runAt", claimed_at as "claimedAt",
      created_at as "createdAt", finished_at as "finishedAt"
    from jobs where queue = ${deliveryQueue.name} ${wanted === undefined ? sql`` : sql`and ${state} = ${wanted}`}
    order by created_at desc, job_id limit ${type === undefined && q === '' ? limit : searched}
    ) as newest where ${ofType} and ${matches} limit ${limit}`.execute(db);
  return rows;
}

export interface DeliveryCounts {
  readonly failing: number;
  readonly dead: number;
  readonly waiting: number;
  /** Among the newest deliveries. */
  readonly done: number;
  /** The oldest event that fails. */
  readonly failingSince: Date | null;
  /** Of the latest attempt that failed. */
  readonly reason: string | null;
  readonly lastDoneAt: Date | null;
}

/** Each number ends at `atMost`, so that the time of the call is bounded. */
export async function countDeliveries(db: Db<JobTables>, atMost: number): Promise<DeliveryCounts> {
  const some = (of: RawBuilder<unknown>, order: RawBuilder<unknown>) => sql`(
    select ${state} as state, created_at, claimed_at, finished_at, reason from jobs
    where queue = ${deliveryQueue.name} ${of} order by ${order} limit ${atMost})`;
  const { rows } = await sql<DeliveryCounts>`
    with newest as materialized ${some(sql``, sql`created_at desc, job_id`)},
    -- The attempts that failed are due later than those that wait.
    open as materialized (${some(sql`and status = 'waiting'`, sql`run_at desc`)}
      union all ${some(sql`and status = 'running'`, sql`job_id`)}),
    dead as materialized ${some(sql`and status = 'dead'`, sql`finished_at desc, job_id`)}
    select (select count(*) from open where state = 'failing') as failing,
      (select count(*) from open where state = 'waiting') as waiting, (select count(*) from dead) as dead,
      (select count(*) from newest where state = 'done') as done,
      (select min(created_at) from open where state = 'failing') as "failingSince",
      (select max(finished_at) from newest where state = 'done') as "lastDoneAt",
      (select reason from (table open union all table dead) as failed where state in ('failing', 'dead')
        order by claimed_at desc nulls last limit 1) as reason`.execute(db);
  if (rows[0] === undefined) throw new Error('the deliveries have no counts');
  return rows[0];
}
