/** Queue depths at `GET /metrics`, read from the database on each scrape. */
import { Gauge, type Registry } from 'prom-client';
import type { Jobs } from './jobs.ts';

/** Reports only the given queues, because several services share one database. */
export function measureJobs(registry: Registry, jobs: Pick<Jobs, 'depths'>, queues: readonly string[]): void {
  new Gauge({
    name: 'jobs',
    help: 'Jobs that are waiting, running or dead.',
    labelNames: ['queue', 'status'],
    registers: [registry],
    async collect() {
      // If the database is unavailable, the other metrics are still reported.
      const depths = await jobs.depths().catch(() => undefined);
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
