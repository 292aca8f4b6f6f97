/** `GET /metrics` in Prometheus text (CONTRACT §3): nothing that names a user, and no label without bound. */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { version } from '../version.ts';
import type { HttpServer } from './httpserver.ts';

/** Of the process, shared by all services in it. */
let processMetrics: Registry | undefined;

function registryOfProcess(): Registry {
  if (processMetrics === undefined) {
    processMetrics = new Registry();
    collectDefaultMetrics({ register: processMetrics });
  }
  return processMetrics;
}

export function addMetrics(app: HttpServer, service: string): void {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  new Gauge({
    name: 'atelier_info',
    help: 'Always 1; its labels say what runs here.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  app.decorate('metrics', registry);
  const ofProcess = registryOfProcess();
  app.get(
    '/metrics',
    { schema: { tags: ['operations'], summary: 'Measurements, in Prometheus text' } },
    async (_request, reply) => {
      const text = await Promise.all([registry.metrics(), ofProcess.metrics()]);
      return reply.type(registry.contentType).header('cache-control', 'no-store').send(text.join('\n'));
    },
  );
}

interface RequestLabels {
  readonly method: string;
  /** The pattern, such as `/v1/media-tasks/:taskId`; `none` for unknown routes. */
  readonly route: string;
  /** 499: the client did not wait. */
  readonly status_code: number;
}

export function measureRequests(registry: Registry) {
  const inFlight = new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that are being answered.',
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status_code'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  });
  return {
    begin: () => inFlight.inc(),
    end(labels: RequestLabels, durationS: number) {
      inFlight.dec();
      duration.observe({ ...labels }, durationS);
    },
  };
}
