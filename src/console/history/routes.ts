/** The graphs and errors of the Overview. */
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { serverErrors } from '#platform/http/servererrors.ts';
import type { ConsoleContext, StoredContext } from '../context.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { readJson } from '../overview.ts';
import type { TraceLink } from '../services.ts';
import { type ErrorList, errorList, type History, history, historyQuery } from './api.ts';
import { type Counts, largest, percentileOf } from './counts.ts';
import { type Bucket, buckets, listBuckets } from './samplestore.ts';

export function addHistoryRoutes(app: HttpServer, guard: OperatorGuard, deps: StoredContext): void {
  const routes = routesOf(app, 'console');
  routes.get(
    '/api/history',
    guard,
    { summary: 'The last hour or day of all services', querystring: historyQuery, response: { 200: history } },
    async ({ query }) => readHistory(deps, query.range),
  );
}

export function addErrorRoutes(app: HttpServer, guard: OperatorGuard, { services, traceLink }: ConsoleContext): void {
  const routes = routesOf(app, 'console');
  routes.get('/api/errors', guard, { summary: 'The last server errors', response: { 200: errorList } }, async () =>
    readErrors(services, traceLink),
  );
}

// The last server errors of all services, from their processes.

const longestList = 50;

async function readErrors(services: Readonly<Record<string, string>>, traceLink: TraceLink): Promise<ErrorList> {
  const lists = await Promise.all(
    Object.entries(services).map(async ([service, address]) => ({
      service,
      read: await readJson(`${address}/metrics/errors`, serverErrors),
    })),
  );
  const errors = lists.flatMap(({ service, read }) =>
    (read?.body.errors ?? []).map(({ traceId, ...error }) => ({ service, ...error, traceUrl: traceLink(traceId) })),
  );
  return {
    errors: errors.sort((one, other) => (one.at < other.at ? 1 : -1)).slice(0, longestList),
    unread: lists.flatMap(({ service, read }) => (read === undefined ? [service] : [])),
  };
}

// Turns the buckets of a range into the lists that the graphs show.

const steps = { hour: 60, day: 144 } as const;

async function readHistory({ db, clock }: StoredContext, range: 'hour' | 'day'): Promise<History> {
  const { widthS } = buckets[range];
  const widthMs = widthS * 1000;
  const lastMs = Math.floor(clock.now() / widthMs) * widthMs;
  const starts = Array.from({ length: steps[range] }, (_, step) => lastMs - (steps[range] - 1 - step) * widthMs);
  const found = await listBuckets(db, widthS, new Date(starts[0] ?? lastMs));
  return describe(found, starts, widthS);
}

function describe(found: readonly Bucket[], starts: readonly number[], widthS: number): History {
  const byStart = new Map(found.map((bucket) => [bucket.startsAt.getTime(), bucket.counts]));
  const subjects = [...new Set(found.flatMap(({ counts }) => Object.keys(counts)))].sort();
  const series = (subject: string, measure: (counts: Counts) => number | null) =>
    starts.map((start) => {
      const counts = byStart.get(start)?.[subject];
      return counts === undefined ? null : measure(counts);
    });
  // The newest bucket is not full yet, and a service may have been away for a part of any.
  const overMinutes = (value: number, { seconds = 0 }: Counts) => (seconds === 0 ? null : (value * 60) / seconds);
  const perMinute = (name: string) => (counts: Counts) => overMinutes(counts[name] ?? 0, counts);
  const ms = (share: number, prefix?: string) => (counts: Counts) => {
    const seconds = percentileOf(counts, share, prefix);
    return seconds === null ? null : Math.round(seconds * 1000);
  };
  const ended = (counts: Counts) => {
    const ofRuns = Object.entries(counts).filter(([name]) => name.startsWith('runs '));
    return overMinutes(
      ofRuns.reduce((sum, [, value]) => sum + value, 0),
      counts,
    );
  };
  const services = subjects.filter((subject) => !subject.startsWith('queue '));
  const engines = services.flatMap((service) => {
    const names = new Set(found.flatMap(({ counts }) => Object.keys(counts[service] ?? {})));
    return [...names].filter((name) => name.startsWith('engine ')).map((name) => ({ service, name }));
  });
  return {
    stepS: widthS,
    startsAt: starts.map((start) => new Date(start).toISOString()),
    services: services.map((service) => ({
      service,
      ready: series(service, ({ ready = 0, checks = 0 }) => (checks === 0 ? null : ready / checks)),
      perMinute: series(service, perMinute('requests')),
      errorsPerMinute: series(service, perMinute('errors')),
      p50Ms: series(service, ms(0.5)),
      p95Ms: series(service, ms(0.95)),
    })),
    runs: {
      endedPerMinute: series('agent', ended),
      failedPerMinute: series('agent', perMinute('runs failed')),
      inputTokensPerMinute: series('agent', perMinute('tokens input')),
      outputTokensPerMinute: series('agent', perMinute('tokens output')),
      firstTokenP50Ms: series('agent', ms(0.5, 'first ')),
      firstTokenP95Ms: series('agent', ms(0.95, 'first ')),
    },
    queues: subjects
      .filter((subject) => subject.startsWith('queue '))
      .map((subject) => ({
        queue: subject.slice('queue '.length),
        waiting: series(subject, (counts) => counts[`${largest}waiting`] ?? null),
        running: series(subject, (counts) => counts[`${largest}running`] ?? null),
        dead: series(subject, (counts) => counts[`${largest}dead`] ?? null),
      })),
    engines: engines.map(({ service, name }) => ({
      service,
      engine: name.slice('engine '.length),
      // A service that is away checks no engine.
      ok: series(service, (counts) =>
        counts[name] === undefined ? null : counts[name] / Math.max(1, counts.checks ?? 1),
      ),
    })),
  };
}
