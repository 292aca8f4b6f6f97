/**
 * `GET /metrics` in Prometheus text (docs/specification/http.md#service-endpoints). No metric identifies a user, and every label is
 * bounded.
 */
import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import { commit, version } from '../version.ts';
import { describeOperation } from './apireference.ts';
import { RequestDurations, type RequestLabels } from './durations.ts';
import type { HttpServer } from './httpserver.ts';

/** Metrics of the process, shared by all its services. */
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
    help: 'Always 1. Its labels describe the running program.',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ version, commit }, 1);
  app.decorate('metrics', registry);
  const ofProcess = registryOfProcess();
  app.get(
    '/metrics',
    {
      schema: describeOperation({
        id: 'readMetrics',
        summary: 'Read the metrics',
        description: 'Returns the metrics of the process in the text format of Prometheus.',
        otherResponses: { 200: ['The metrics.', 'text/plain'] },
      }),
    },
    async (_request, reply) => {
      const text = await Promise.all([registry.metrics(), ofProcess.metrics()]);
      return reply.type(registry.contentType).header('cache-control', 'no-store').send(text.join('\n'));
    },
  );
}

export function measureRequests(registry: Registry) {
  let inFlight = 0;
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests in progress.',
    registers: [registry],
    collect() {
      this.set(inFlight);
    },
  });
  const duration = new RequestDurations(registry);
  const lastErrorAt = new Gauge({
    name: 'http_last_server_error_timestamp_seconds',
    help: 'Unix time of the last response of a route with this status.',
    labelNames: ['method', 'route', 'status_code'],
    registers: [registry],
  });
  return {
    begin: () => {
      inFlight += 1;
    },
    end(labels: RequestLabels, durationS: number) {
      inFlight -= 1;
      duration.record(labels, durationS);
      if (labels.status_code >= 500) lastErrorAt.set({ ...labels }, Date.now() / 1000);
    },
  };
}
