/** Queue depths at `GET /metrics`, counted in the database on each scrape. */
import { Gauge, type Registry } from '@prometheus-io/client';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/db.ts';
import type { Jobs, JobTables, QueueDepth } from './jobs.ts';

type CountedJobs = Pick<Jobs, 'depths' | 'overdueS'>;

interface Counted {
  readonly depths: readonly QueueDepth[];
  readonly overdueS: number;
}

/** Counts in progress. */
const counts = new WeakMap<CountedJobs, Promise<Counted>>();

/** The services of a process are scraped at the same time. They share their queries. */
function countOnce(jobs: CountedJobs): Promise<Counted> {
  const count = async () => ({ depths: await jobs.depths(), overdueS: await jobs.overdueS() });
  const counting = counts.get(jobs) ?? count().finally(() => counts.delete(jobs));
  counts.set(jobs, counting);
  return counting;
}

/** Also reports how far behind the removal of completed jobs is. Reports only the given queues, because several services share one database. */
export function measureJobs(registry: Registry, jobs: CountedJobs, queues: readonly string[]): void {
  new Gauge({
    name: 'jobs',
    help: 'Jobs that are waiting, running or dead. Counts end at 10,001.',
    labelNames: ['queue', 'status'],
    registers: [registry],
    async collect() {
      // If the database is unavailable, the other metrics are still reported.
      const counted = await countOnce(jobs).catch(() => undefined);
      this.reset();
      if (counted === undefined) return;
      for (const queue of queues) {
        for (const status of ['waiting', 'running', 'dead'] as const) {
          const depth = counted.depths.find((found) => found.queue === queue && found.status === status);
          this.set({ queue, status }, depth?.count ?? 0);
        }
      }
    },
  });
  new Gauge({
    name: 'jobs_overdue_seconds',
    help: 'How long ago the oldest completed job of all queues should have been removed.',
    registers: [registry],
    async collect() {
      const counted = await countOnce(jobs).catch(() => undefined);
      this.reset();
      if (counted !== undefined) this.set(counted.overdueS);
    },
  });
}

// The number of jobs in each queue, for operators and metrics.

export interface QueueState {
  readonly queue: string;
  /** Due now. */
  readonly waiting: number;
  /** Due later, for the first time. */
  readonly scheduled: number;
  /** Due later, after an attempt that failed. */
  readonly failing: number;
  readonly running: number;
  readonly dead: number;
  /** The due time of the first waiting job. `null`: none is waiting. */
  readonly oldestDueAt: Date | null;
}

/** Queues with unfinished or dead jobs. Each number ends at `atMost`, so that the time of the call is bounded. */
export async function summarizeQueues(db: Db<JobTables>, atMost: number): Promise<readonly QueueState[]> {
  // The order is that of the index. Without it, the planner may read the whole table to find few rows.
  const count = (condition: RawBuilder<unknown>) =>
    sql`(select count(*) from (select 1 from jobs where jobs.queue = names.queue and ${condition} limit ${atMost}) as counted)`;
  // Steps from one name to the next, because `distinct` would read every row.
  const namesOf = (status: 'waiting' | 'dead') => {
    const next = (after: RawBuilder<unknown>) =>
      sql`select jobs.queue from jobs where status = '${sql.raw(status)}' ${after} order by jobs.queue limit 1`;
    return sql`(${next(sql``)}) union all
      select (${next(sql`and jobs.queue > steps.queue`)}) from steps where steps.queue is not null`;
  };
  const { rows } = await sql<QueueState>`
    with held as materialized (select queue, count(*) as count from jobs where status = 'running' group by queue),
    names as (
      (with recursive steps(queue) as (${namesOf('waiting')}) select queue from steps)
      union (with recursive steps(queue) as (${namesOf('dead')}) select queue from steps)
      union (select queue from held)
    )
    select queue,
      ${count(sql`status = 'waiting' and run_at <= now() order by run_at`)} as waiting,
      later.scheduled, later.failing,
      -- An index of the running jobs of one queue would cost a write for each attempt.
      coalesce((select held.count from held where held.queue = names.queue), 0) as running,
      ${count(sql`status = 'dead' order by finished_at desc, job_id`)} as dead,
      (select run_at from jobs where jobs.queue = names.queue and status = 'waiting' and run_at <= now()
        order by run_at limit 1) as "oldestDueAt"
    from names cross join lateral (
      select count(*) filter (where attempt = 0) as scheduled, count(*) filter (where attempt > 0) as failing
      from (select attempt from jobs where jobs.queue = names.queue and status = 'waiting' and run_at > now()
        order by run_at limit ${atMost}) as due
    ) as later where queue is not null order by queue`.execute(db);
  return rows;
}

/** The unfinished and dead jobs of all queues. Each number ends at `atMost`. */
export async function countJobs(db: Db<JobTables>, atMost: number): Promise<readonly QueueDepth[]> {
  const queues = await summarizeQueues(db, atMost);
  return queues.flatMap(({ queue, waiting, scheduled, failing, running, dead }) =>
    [
      { queue, status: 'waiting' as const, count: Math.min(waiting + scheduled + failing, atMost) },
      { queue, status: 'running' as const, count: Math.min(running, atMost) },
      { queue, status: 'dead' as const, count: dead },
    ].filter(({ count }) => count > 0),
  );
}
