/** The last hour of all services, in the memory of this process: what they counted, summed up by minutes. */
import { type Interval, startInterval } from '#platform/background/interval.ts';
import type { History } from '../api.ts';
import type { ConsoleContext, ServiceHistory } from '../context.ts';
import { inspectServices, isTraffic, type Sample } from '../overview.ts';

const sampleEveryMs = 15_000;
const minuteMs = 60_000;
const minutesShown = 60;
/** After a longer pause, such as the sleep of a laptop, what was counted since belongs to no minute. */
const longestPauseMs = 120_000;

/** Responses that last as long as their client wants. Their time is no measure of speed. */
export const longLived: ReadonlySet<string> = new Set([
  '/stream/:taskId',
  '/chat',
  '/chat/:id/stream',
  '/events',
  '/mcp',
]);

interface Minute {
  readonly services: Record<string, Record<string, number>>;
}

export function createHistory({ services, clock }: Pick<ConsoleContext, 'services' | 'clock'>): ServiceHistory {
  const minutes = new Map<number, Minute>();
  let last = { atMs: -Infinity, counters: {} as Readonly<Record<string, Counters>> };
  const startOf = (atMs: number) => Math.floor(atMs / minuteMs) * minuteMs;

  async function sample(): Promise<void> {
    const reports = await inspectServices(services);
    const atMs = clock.now();
    const sinceMs = atMs - last.atMs;
    const isContinued = sinceMs > 0 && sinceMs <= longestPauseMs;
    const minute = minutes.get(startOf(atMs)) ?? { services: {} };
    const counters: Record<string, Counters> = {};
    for (const { state, samples } of reports) {
      const process = samples.find(({ name }) => name === 'process_start_time_seconds')?.value;
      if (process === undefined) continue;
      const read = { process, values: countersIn(samples) };
      counters[state.service] = read;
      const counted = isContinued ? countedSince(last.counters[state.service], read, last.atMs) : undefined;
      if (counted === undefined) continue;
      minute.services[state.service] = sumOf(
        minute.services[state.service] ?? {},
        Object.entries({ ...counted, seconds: sinceMs / 1000 }),
      );
    }
    last = { atMs, counters };
    minutes.set(startOf(atMs), minute);
    for (const start of [...minutes.keys()].slice(0, -minutesShown)) minutes.delete(start);
  }

  function read(): History {
    const nowMs = startOf(clock.now());
    const starts = Array.from({ length: minutesShown }, (_, step) => nowMs - (minutesShown - 1 - step) * minuteMs);
    const found = starts.map((start) => minutes.get(start));
    const series = (service: string, measure: (counts: Counts) => number | null) =>
      found.map((minute) => {
        const counts = minute?.services[service];
        return counts === undefined ? null : measure(counts);
      });
    // The newest minute is not full yet, and a service may have been away for a part of any.
    const perMinute = (service: string, name: string) =>
      series(service, ({ [name]: value = 0, seconds = 0 }) => (seconds > 0 ? (value * 60) / seconds : null));
    return {
      startsAt: starts.map((start) => new Date(start).toISOString()),
      services: Object.keys(services).map((service) => ({
        service,
        perMinute: perMinute(service, 'requests'),
        errorsPerMinute: perMinute(service, 'errors'),
        p50Ms: series(service, (counts) => percentileOf(counts, 0.5)),
        p95Ms: series(service, (counts) => percentileOf(counts, 0.95)),
      })),
      runs: {
        endedPerMinute: perMinute('agent', 'runs'),
        failedPerMinute: perMinute('agent', 'failed runs'),
        inputTokensPerMinute: perMinute('agent', 'input tokens'),
        outputTokensPerMinute: perMinute('agent', 'output tokens'),
        firstTokenP50Ms: series('agent', (counts) => percentileOf(counts, 0.5, 'first le ')),
        firstTokenP95Ms: series('agent', (counts) => percentileOf(counts, 0.95, 'first le ')),
      },
    };
  }

  return { sample, read };
}

/** The first sample is taken after an interval, when the services of this process have started. */
export function startSampling(
  { sample }: ServiceHistory,
  { log, sampleEveryMs: everyMs = sampleEveryMs }: Pick<ConsoleContext, 'log' | 'sampleEveryMs'>,
): Interval {
  return startInterval(everyMs, sample, (error) => log.warn({ err: error }, 'cannot add a sample to the history'));
}

const countersIn = (samples: readonly Sample[]): Counts =>
  sumOf(
    {},
    samples.flatMap((sample) => namesOf(sample).map((name) => [name, sample.value] as const)),
  );

/** The counters to which a sample adds. */
function namesOf({ name, labels }: Sample): readonly string[] {
  const { route = '', status_code = '', le, status, direction } = labels;
  if (name === 'agent_first_token_seconds_bucket') return [`first le ${le}`];
  if (name === 'agent_runs_total') return status === 'failed' ? ['runs', 'failed runs'] : ['runs'];
  if (name === 'agent_tokens_total') return [`${direction} tokens`];
  if (!isTraffic(labels)) return [];
  if (name === 'http_request_duration_seconds_count')
    return status_code.startsWith('5') ? ['requests', 'errors'] : ['requests'];
  return name === 'http_request_duration_seconds_bucket' && !longLived.has(route) ? [`le ${le}`] : [];
}

function sumOf(first: Counts, added: readonly (readonly [string, number])[]): Record<string, number> {
  const sum = { ...first };
  for (const [name, value] of added) sum[name] = (sum[name] ?? 0) + value;
  return sum;
}

// Counters of a process, and the times in their histograms.

/** Numbers by name, such as `requests`. Names like `le 0.1` count what took at most this many seconds. */
export type Counts = Readonly<Record<string, number>>;

/** The counters of a process, which only grow while it lives. */
interface Counters {
  /** When the process began, in seconds, as it reports it. */
  readonly process: number;
  readonly values: Counts;
}

/** What a process counted between two readings. `undefined`: the earlier reading is of another process, or failed. */
export function countedSince(
  earlier: Counters | undefined,
  { process, values }: Counters,
  earlierAtMs: number,
): Counts | undefined {
  if (earlier?.process === process)
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, value - (earlier.values[name] ?? 0)]),
    );
  // A process that began after the earlier reading has counted everything since.
  return process * 1000 > earlierAtMs ? values : undefined;
}

/**
 * The time in milliseconds that `share` of the values did not exceed, from cumulative buckets, with linear interpolation inside a
 * bucket. `null` without values. Values above the last bound count as the last bound.
 */
export function percentileOf(counts: Counts, share: number, start = 'le '): number | null {
  const buckets = Object.entries(counts)
    .filter(([name]) => name.startsWith(start))
    .map(([name, count]) => ({ bound: Number(name.slice(start.length).replace('+Inf', 'Infinity')), count }))
    .sort((one, other) => one.bound - other.bound);
  const wanted = share * (buckets.at(-1)?.count ?? 0);
  if (wanted === 0) return null;
  const at = buckets.findIndex(({ count }) => count >= wanted);
  const below = buckets[at - 1] ?? { bound: 0, count: 0 };
  const { bound, count } = buckets[at] ?? below;
  if (bound === Infinity) return Math.round(below.bound * 1000);
  return Math.round((below.bound + ((bound - below.bound) * (wanted - below.count)) / (count - below.count)) * 1000);
}
