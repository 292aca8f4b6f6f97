/** Queue depths at `GET /metrics`, counted in the database on each scrape. */
import { Gauge, type Registry } from '@prometheus-io/client';
import type { Jobs, QueueDepth } from './jobs.ts';

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
