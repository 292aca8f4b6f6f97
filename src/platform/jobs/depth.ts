/** Queue depths at `GET /metrics`: asked of the database when they are read. */
import { Gauge, type Registry } from 'prom-client';
import type { Jobs } from './jobs.ts';

/** Of the queues given, so that of several services on one database each shows its own. */
export function measureJobs(registry: Registry, jobs: Pick<Jobs, 'depths'>, queues: readonly string[]): void {
  new Gauge({
    name: 'jobs',
    help: 'Jobs that wait, run, or ended dead.',
    labelNames: ['queue', 'status'],
    registers: [registry],
    async collect() {
      // Without the database the others are told all the same.
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
