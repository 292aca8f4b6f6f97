/** How every service is: what `/`, `/ready` and `/metrics` say, asked all at once. */
import { request } from 'undici';
import { z } from 'zod';
import { userAgent } from '#platform/http/outgoing.ts';
import type { Overview, ServiceState } from './api.ts';
import { parseSamples, type Sample } from './measurements.ts';

export interface OverviewDeps {
  /** Service → where this process reaches it. */
  readonly services: Readonly<Record<string, string>>;
  readonly engines: Overview['engines'];
}

/** A service asks its engines for up to 2 s. */
const answerWithinMs = 3000;
/** Asked all the time, by us too: neither traffic nor errors. */
const forProbes: ReadonlySet<string> = new Set(['/', '/health', '/ready', '/metrics']);
const largestAnswerBytes = 4 * 1024 * 1024;

export async function lookAround({ services, engines }: OverviewDeps): Promise<Overview> {
  const looks = await Promise.all(Object.entries(services).map(([service, address]) => lookAt(service, address)));
  return {
    checkedAt: new Date().toISOString(),
    services: looks.map(({ state }) => state),
    engines,
    queues: queuesIn(looks.flatMap(({ samples }) => samples)),
    processes: processesIn(looks),
  };
}

interface Look {
  readonly state: ServiceState;
  readonly samples: readonly Sample[];
}

const identity = z.object({ version: z.string() });
const readiness = z.object({ engines: z.record(z.string(), z.enum(['ok', 'unavailable'])) });

async function lookAt(service: string, address: string): Promise<Look> {
  const [about, ready] = await Promise.all([read(`${address}/`, identity), read(`${address}/ready`, readiness)]);
  // Afterwards, so that of our own requests it counts this one alone.
  const measured = ready && (await readText(`${address}/metrics`));
  const samples = parseSamples(measured?.text ?? '');
  const answered = samples.filter(
    ({ name, labels: { route = '' } }) => name === 'http_request_duration_seconds_count' && !forProbes.has(route),
  );
  const failed = answered.filter(({ labels, value }) => value > 0 && labels.status_code?.startsWith('5'));
  return {
    samples,
    state: {
      service,
      address,
      status: ready === undefined ? 'unreachable' : ready.status === 200 ? 'ready' : 'unready',
      version: about?.body.version ?? null,
      engines: ready?.body.engines ?? {},
      traffic: measured === undefined ? null : trafficIn(samples, answered, failed),
      failing: failed
        .map(({ labels, value: count }) => {
          const { route = '', method = '', status_code: status = '' } = labels;
          return { route, method, status, count, lastAt: lastErrorAt(samples, labels) };
        })
        .sort((one, other) => Date.parse(other.lastAt ?? '') - Date.parse(one.lastAt ?? ''))
        .slice(0, 5),
    },
  };
}

function trafficIn(samples: readonly Sample[], answered: readonly Sample[], failed: readonly Sample[]) {
  const inFlight = sum(samples.filter(({ name }) => name === 'http_requests_in_flight')) - 1;
  return { requests: sum(answered), serverErrors: sum(failed), inFlight: Math.max(0, inFlight) };
}

function lastErrorAt(samples: readonly Sample[], { route, method, status_code }: Sample['labels']): string | null {
  const last = samples.find(
    ({ name, labels }) =>
      name === 'http_last_server_error_timestamp_seconds' &&
      labels.route === route &&
      labels.method === method &&
      labels.status_code === status_code,
  );
  return last === undefined ? null : new Date(last.value * 1000).toISOString();
}

const sum = (samples: readonly Sample[]) => samples.reduce((total, { value }) => total + value, 0);

/** Depths are of the database: every process that works on a queue reports the same. */
function queuesIn(samples: readonly Sample[]): Overview['queues'] {
  const depths = new Map<string, Overview['queues'][number]>();
  for (const { name, labels, value } of samples) {
    const { queue, status: state } = labels;
    if (name === 'jobs' && queue !== undefined && state !== undefined)
      depths.set(`${queue} ${state}`, { queue, state, count: Math.round(value) });
  }
  return [...depths.values()].sort((one, other) => (one.queue < other.queue ? -1 : 1));
}

/** Services that share a process tell the same start to the millisecond. */
function processesIn(looks: readonly Look[]): Overview['processes'] {
  const byStart = new Map<number, { services: string[]; memoryBytes: number }>();
  for (const { state, samples } of looks) {
    const of = (name: string) => samples.find((sample) => sample.name === name)?.value;
    const startedS = of('process_start_time_seconds');
    if (startedS === undefined) continue;
    const known = byStart.get(startedS) ?? { services: [], memoryBytes: of('process_resident_memory_bytes') ?? 0 };
    byStart.set(startedS, { ...known, services: [...known.services, state.service] });
  }
  return [...byStart].map(([startedS, process]) => ({
    ...process,
    startedAt: new Date(startedS * 1000).toISOString(),
  }));
}

async function read<T>(url: string, schema: z.ZodType<T>): Promise<{ status: number; body: T } | undefined> {
  const answer = await readText(url);
  if (answer === undefined) return undefined;
  try {
    return { status: answer.status, body: schema.parse(JSON.parse(answer.text)) };
  } catch {
    return undefined;
  }
}

/** One look, without repeats: how it is now is the question. */
async function readText(url: string): Promise<{ status: number; text: string } | undefined> {
  try {
    const { statusCode, body } = await request(url, {
      headers: { 'user-agent': userAgent },
      signal: AbortSignal.timeout(answerWithinMs),
      headersTimeout: answerWithinMs,
    });
    let text = '';
    body.setEncoding('utf8');
    for await (const chunk of body) {
      text += chunk;
      if (text.length > largestAnswerBytes) return undefined;
    }
    return { status: statusCode, text };
  } catch {
    return undefined;
  }
}
