/** The state of all services, collected concurrently from `/`, `/ready` and `/metrics`. */

import { once } from 'node:events';
import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { largestDepth } from '#platform/jobs/jobs.ts';
import { userAgent } from '#platform/version.ts';
import { countDeliveries } from '#webhooks/deliverystore.ts';
import { deliveryQueue } from '#webhooks/publishing.ts';
import type { EndpointState, Overview, ServiceState } from './api.ts';
import type { ConsoleContext } from './context.ts';
import { readQueues } from './jobs/routes.ts';

/** A service checks its engines for up to 2 s. */
const responseTimeoutMs = 3000;
/** Until a service checks its engines again. */
const pauseMs = 1100;
/** Monitors, including this one, poll these paths, so they count neither as traffic nor as errors. */
const forProbes: ReadonlySet<string> = new Set(['/', '/health', '/ready', '/metrics', '/metrics/errors']);
const largestAnswerBytes = 4 * 1024 * 1024;

export async function collectOverview({ services, engines, deliveries, db, log }: ConsoleContext): Promise<Overview> {
  // One slow check is no failure: two in a row are.
  const recheck = async ({ state: { service, address } }: ServiceReport) => {
    await setTimeout(pauseMs);
    return inspectService(service, address);
  };
  const first = await inspectServices(services);
  const reports = await Promise.all(
    first.map((report) => (report.state.status === 'ready' ? report : recheck(report))),
  );
  // Without its database, the overview still shows that.
  const orNull = <T>(read: Promise<T> | undefined) =>
    read?.catch((error: unknown) => {
      log.warn({ err: error }, 'the jobs could not be counted');
      return null;
    }) ?? null;
  return {
    checkedAt: new Date().toISOString(),
    services: reports.map(({ state }) => state),
    engines,
    queues: await orNull(db && readQueues(db)),
    largestCount: largestDepth,
    processes: processesIn(reports),
    webhooks: await orNull(deliveries && readEndpoint(deliveries)),
  };
}

export async function readEndpoint({
  db,
  receiver,
}: NonNullable<ConsoleContext['deliveries']>): Promise<EndpointState> {
  const { failingSince, lastDoneAt, ...counts } = await countDeliveries(db, largestDepth + 1);
  return {
    receiver,
    queue: deliveryQueue.name,
    largestCount: largestDepth,
    ...counts,
    failingSince: failingSince?.toISOString() ?? null,
    lastDoneAt: lastDoneAt?.toISOString() ?? null,
  };
}

/** Never rejects: a service that does not answer is a report, too. */
export function inspectServices(services: ConsoleContext['services']): Promise<readonly ServiceReport[]> {
  return Promise.all(Object.entries(services).map(([service, address]) => inspectService(service, address)));
}

/** Whether a measurement of requests is of requests that clients make, not of probes. */
export const isTraffic = ({ route = '' }: Sample['labels']): boolean => !forProbes.has(route);

export interface ServiceReport {
  readonly state: ServiceState;
  readonly samples: readonly Sample[];
}

const readiness = z.object({ engines: z.record(z.string(), z.enum(['ok', 'unavailable'])) });

async function inspectService(service: string, address: string): Promise<ServiceReport> {
  const ready = await readJson(`${address}/ready`, readiness);
  // Read the metrics last, so that they include only this one of the console's own requests.
  const measured = ready && (await readText(`${address}/metrics`));
  return {
    samples: parseSamples(measured?.text ?? ''),
    state: {
      service,
      address,
      status: ready === undefined ? 'unreachable' : ready.status === 200 ? 'ready' : 'unready',
      engines: ready?.body.engines ?? {},
    },
  };
}

/** Services that share a process report the same start time to the millisecond. */
function processesIn(reports: readonly ServiceReport[]): Overview['processes'] {
  const byStart = new Map<number, { services: string[]; memoryBytes: number }>();
  for (const { state, samples } of reports) {
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

export async function readJson<T>(url: string, schema: z.ZodType<T>): Promise<{ status: number; body: T } | undefined> {
  const response = await readText(url);
  if (response === undefined) return undefined;
  try {
    return { status: response.status, body: schema.parse(JSON.parse(response.text)) };
  } catch {
    return undefined;
  }
}

/**
 * Makes one request without retries, because the current state is wanted. Node's own client needs no WebAssembly, whose
 * compilation would leave 10 MB allocated in an idle process.
 */
async function readText(url: string): Promise<{ status: number; text: string } | undefined> {
  const { get } = url.startsWith('https:') ? await import('node:https') : http;
  try {
    const signal = AbortSignal.timeout(responseTimeoutMs);
    const sent = get(url, { signal, headers: { 'user-agent': userAgent } });
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
    let text = '';
    response.setEncoding('utf8');
    for await (const chunk of response) {
      text += chunk;
      if (text.length > largestAnswerBytes) return undefined;
    }
    return { status: response.statusCode ?? 0, text };
  } catch {
    return undefined;
  }
}

// Parses the part of the Prometheus text format that the overview needs.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Skips lines that are not samples. */
export function parseSamples(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/.exec(line);
    if (match === null || match[1] === undefined) return [];
    const value = Number(match[3]);
    return Number.isFinite(value) ? [{ name: match[1], labels: parseLabels(match[2] ?? ''), value }] : [];
  });
}

function parseLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/\b([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(
    pairs.map(([, name = '', value = '']) => [
      name,
      value.replace(/\\(.)/g, (_all, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
    ]),
  );
}
