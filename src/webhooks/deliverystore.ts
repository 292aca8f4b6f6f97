/** Deliveries as operators see them: jobs of the delivery queue. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { JobHandle, JobStatus, JobTables } from '#platform/jobs/jobs.ts';
import { type Delivery, deliveryQueue } from './publishing.ts';

export interface DeliveryRow {
  readonly jobId: string;
  readonly payload: Delivery;
  readonly status: JobStatus;
  readonly attempt: number;
  readonly reason: string | null;
  readonly runAt: Date;
  readonly createdAt: Date;
}

/** Newest first. `undefined`: of every status. */
export async function findDeliveries(
  db: Db<JobTables>,
  status: JobStatus | undefined,
  limit: number,
): Promise<readonly DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    select job_id as "jobId", payload, status, attempt, reason, run_at as "runAt", created_at as "createdAt" from jobs
    where queue = ${deliveryQueue.name} ${status === undefined ? sql`` : sql`and status = ${status}`}
    order by created_at desc, job_id limit ${limit}`.execute(db);
  return rows;
}

/** The number ends at `atMost`. */
export async function countDead(db: Db<JobTables>, atMost: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from jobs where queue = ${deliveryQueue.name} and status = 'dead'
      order by finished_at desc, job_id limit ${atMost}
    ) as counted`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Makes a dead delivery due now, with another 24 hours from `nowMs`. The id and the body stay. `false`: it is not dead. */
export async function reviveDelivery(db: JobHandle<JobTables>, jobId: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({
      status: 'waiting',
      attempt: 0,
      run_at: sql<Date>`clock_timestamp()`,
      finished_at: null,
      payload: sql`jsonb_set(payload, '{publishedAtMs}', to_jsonb(${nowMs}::bigint))`,
    })
    .where('job_id', '=', jobId)
    .where('queue', '=', deliveryQueue.name)
    .where('status', '=', 'dead')
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function isDelivery(db: JobHandle<JobTables>, jobId: string): Promise<boolean> {
  const row = await db
    .selectFrom('jobs')
    .select('job_id')
    .where('job_id', '=', jobId)
    .where('queue', '=', deliveryQueue.name)
    .executeTakeFirst();
  return row !== undefined;
}
