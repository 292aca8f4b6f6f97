/** Queue depths at `GET /metrics`, counted in the database on each scrape. */
import { Gauge, type Registry } from '@prometheus-io/client';
import type { Jobs, QueueDepth } from './jobs.ts';

type CountedJobs = Pick<Jobs, 'depths'>;

/** Counts in progress. */
const counts = new WeakMap<CountedJobs, Promise<readonly QueueDepth[]>>();

/** The services of a process are scraped at the same time. One query counts the jobs for all of them. */
function countOnce(jobs: CountedJobs): Promise<readonly QueueDepth[]> {
  const counting = counts.get(jobs) ?? jobs.depths().finally(() => counts.delete(jobs));
  counts.set(jobs, counting);
  return counting;
}

/** Reports only the given queues, because several services share one database. */
export function measureJobs(registry: Registry, jobs: CountedJobs, queues: readonly string[]): void {
  new Gauge({
    name: 'jobs',
    help: 'Jobs that are waiting, running or dead. Counts end at 10,001.',
    labelNames: ['queue', 'status'],
    registers: [registry],
    async collect() {
      // If the database is unavailable, the other metrics are still reported.
      const depths = await countOnce(jobs).catch(() => undefined);
      this.reset();
      if (depths === undefined) return;
      for (const queue of queues) {
        for (const status of ['waiting', 'running', 'dead'] as const) {
          const depth = depths.find((found) => found.queue === queue && found.status === status);
          this.set({ queue, status }, depth?.count ?? 0);
        }
      }
    },
  });
}
