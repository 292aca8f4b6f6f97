/**
 * `http_request_duration_seconds`. The library's histogram checks and hashes the labels of each value, which costs a tenth of a
 * small request. Here the series of a route is found by comparison.
 */
import { Histogram, type Registry } from '@prometheus-io/client';

export interface RequestLabels {
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

export class RequestDurations extends Histogram<keyof RequestLabels> {
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
