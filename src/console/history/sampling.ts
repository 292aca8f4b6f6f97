/** Looks at all services every 15 seconds, and adds what they counted to the history. */

import { type Interval, startInterval } from '#platform/background/interval.ts';
import type { StoredContext } from '../context.ts';
import { inspectServices, isTraffic, type Sample, type ServiceReport } from '../overview.ts';
import { atMostS, type Counters, type Counts, type CountsBySubject, largest } from './counts.ts';
import { addSample } from './samplestore.ts';

const sampleEveryMs = 15_000;

/** The first sample is taken after an interval, when the services of this process have started. */
export function startSampling(deps: StoredContext): Interval {
  const everyMs = deps.sampleEveryMs ?? sampleEveryMs;
  const sample = () => takeSample(deps, everyMs / 2);
  const onError = (error: unknown) => deps.log.warn({ err: error }, 'cannot add a sample to the history');
  return startInterval(everyMs, async () => void (await sample()), onError);
}

/** `false`: another process took one less than `leastMs` earlier. */
export async function takeSample({ db, clock, services }: StoredContext, leastMs: number): Promise<boolean> {
  const reports = await inspectServices(services);
  return addSample(db, { readAt: new Date(clock.now()), ...readReports(reports) }, leastMs);
}

/** Responses that last as long as their client wants. Their time is no measure of speed. */
export const longLived: ReadonlySet<string> = new Set([
  '/stream/:taskId',
  '/chat',
  '/chat/:id/stream',
  '/events',
  '/mcp',
]);

interface Reading {
  readonly counters: Readonly<Record<string, Counters>>;
  readonly gauges: CountsBySubject;
}

function readReports(reports: readonly ServiceReport[]): Reading {
  const counters: Record<string, Counters> = {};
  const gauges: Record<string, Counts> = {};
  for (const { state, samples } of reports) {
    const process = samples.find(({ name }) => name === 'process_start_time_seconds')?.value;
    if (process !== undefined) counters[state.service] = { process: String(process), values: countersIn(samples) };
    gauges[state.service] = {
      checks: 1,
      ready: state.status === 'ready' ? 1 : 0,
      ...Object.fromEntries(
        Object.entries(state.engines).map(([engine, is]) => [`engine ${engine}`, is === 'ok' ? 1 : 0]),
      ),
    };
    for (const { name, labels, value } of samples)
      if (name === 'jobs' && labels.queue !== undefined && labels.status !== undefined)
        gauges[`queue ${labels.queue}`] = { ...gauges[`queue ${labels.queue}`], [`${largest}${labels.status}`]: value };
  }
  return { counters, gauges };
}

function countersIn(samples: readonly Sample[]): Counts {
  const counts: Record<string, number> = {};
  const add = (name: string, value: number) => {
    counts[name] = (counts[name] ?? 0) + value;
  };
  for (const { name, labels, value } of samples) {
    const isCounted = isTraffic(labels);
    if (name === 'http_request_duration_seconds_count' && isCounted) {
      add('requests', value);
      if (labels.status_code?.startsWith('5')) add('errors', value);
    } else if (name === 'http_request_duration_seconds_bucket' && isCounted && !longLived.has(labels.route ?? ''))
      add(atMostS(labels.le ?? ''), value);
    else if (name === 'agent_first_token_seconds_bucket') add(atMostS(labels.le ?? '', 'first '), value);
    else if (name === 'agent_runs_total') add(`runs ${labels.status}`, value);
    else if (name === 'agent_tokens_total') add(`tokens ${labels.direction}`, value);
  }
  return counts;
}
