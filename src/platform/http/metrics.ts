/**
 * `GET /metrics` in Prometheus text (docs/specification/http.md#service-endpoints). No metric identifies a user, and every label is
 * bounded.
 */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { commit, version } from '../version.ts';
import { describeOperation } from './apireference.ts';
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

// `http_request_duration_seconds`. The library's histogram checks and hashes the labels of each value, which costs a tenth of a
// small request. Here the series of a route is found by comparison.

interface RequestLabels {
  readonly method: string;
  /** The pattern, such as `/v1/media-tasks/:taskId`. `none` for unknown routes. */
  readonly route: string;
  /** 499: the client closed the connection before the response. */
  readonly status_code: number;
}

/** The number of requests per bucket: at most this bound, and above the previous one. */
interface Series {
  readonly labels: RequestLabels;
  readonly counts: number[];
  count: number;
  sum: number;
}

const name = 'http_request_duration_seconds';
const help = 'Time from the head of a request to the end of its response.';
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

class RequestDurations extends Histogram<keyof RequestLabels> {
  readonly #byRoute = new Map<string, Series[]>();

  constructor(registry: Registry) {
    super({
      name,
      help,
      labelNames: ['method', 'route', 'status_code'],
      registers: [registry],
    });
  }

  record(labels: RequestLabels, durationS: number): void {
    const series = this.#seriesOf(labels);
    const bound = bounds.findIndex((atMostS) => durationS <= atMostS);
    if (bound !== -1) series.counts[bound] = (series.counts[bound] ?? 0) + 1;
    series.count += 1;
    series.sum += durationS;
  }

  #seriesOf({ method, route, status_code }: RequestLabels): Series {
    const ofRoute = this.#byRoute.get(route);
    const known = ofRoute?.find(({ labels }) => labels.status_code === status_code && labels.method === method);
    if (known !== undefined) return known;
    const series = { labels: { method, route, status_code }, counts: bounds.map(() => 0), count: 0, sum: 0 };
    this.#byRoute.set(route, [...(ofRoute ?? []), series]);
    return series;
  }

  /** The library calls this to print the metric, and `get` is derived from it. */
  async getForPromString() {
    const values = [...this.#byRoute.values()].flat().flatMap(valuesOf);
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }
}

function valuesOf({ labels: sharedLabels, counts, count, sum }: Series) {
  let within = 0;
  const bucket = (le: number | string, value: number) => ({ metricName: `${name}_bucket`, labels: { le }, value });
  const buckets = bounds.map((bound, index) => {
    within += counts[index] ?? 0;
    return bucket(bound, within);
  });
  const total = (metric: string, value: number) => ({ metricName: `${name}_${metric}`, labels: {}, value });
  return [...buckets, bucket('+Inf', count), total('sum', sum), total('count', count)].map((value) => ({
    ...value,
    sharedLabels,
  }));
}
