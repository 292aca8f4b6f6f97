/**
 * The telemetry of a running suite (docs/monitoring.md): conventional metric names, the dashboard and the alerts that use
 * them, one trace over all hops, and log lines with known fields.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { newLanePlace, type Place, type Program, root, run } from '../acceptance/running.fixture.ts';
import { type CollectedSpan, type Collector, startCollector } from './collector.fixture.ts';
import { type Family, faultsOf, readFamilies } from './exposition.fixture.ts';

const services = ['console', 'media', 'image', 'auth', 'agent', 'memory', 'content', 'notify', 'edge'] as const;
const offsets = { edge: 10, idp: 11, cms: 12 };
let place: Place;
let collector: Collector;
let program: Program;
const families = new Map<string, ReadonlyMap<string, Family>>();
const urlOf = (service: string) =>
  `http://127.0.0.1:${place.portBase + (offsets[service as 'edge'] ?? services.indexOf(service as 'edge'))}`;

interface Journey {
  readonly traceId: string;
  readonly headers: Readonly<Record<string, string>>;
}
const journeys: Record<'chat' | 'login' | 'content' | 'notification', Journey> = {
  chat: newJourney(),
  login: newJourney(),
  content: newJourney(),
  notification: newJourney(),
};

function newJourney(): Journey {
  const traceId = randomBytes(16).toString('hex');
  return { traceId, headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'content-type': 'application/json' } };
}

beforeAll(async () => {
  place = await newLanePlace();
  collector = await startCollector();
  program = run('start', [], { ...place.env, LOG_LEVEL: 'debug', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await program.waitFor('Atelier is ready', 280_000);
  const token = run('token', [], place.env);
  await token.ended(60_000);
  const authorization = `Bearer ${token.output().trim()}`;
  const secrets = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));

  const text = 'Remember that I like lighthouses. Make an image and a video of a lighthouse.';
  const started = await fetch(`${urlOf('agent')}/task`, {
    method: 'POST',
    headers: { ...journeys.chat.headers, authorization },
    body: JSON.stringify({ threadId: randomUUID(), text }),
  });
  const { taskId } = (await started.json()) as { readonly taskId: string };
  expect(await (await fetch(`${urlOf('agent')}/stream/${taskId}`, { headers: { authorization } })).text()).toContain(
    '[DONE]',
  );
  await fetch(`${urlOf('auth')}/login`, { headers: journeys.login.headers, redirect: 'manual' });
  await fetch(`${urlOf('content')}/op/trending`, { headers: journeys.content.headers });
  await fetch(`${urlOf('notify')}/emails`, {
    method: 'POST',
    headers: { ...journeys.notification.headers, 'x-internal-key': secrets.INTERNAL_KEY },
    body: JSON.stringify({ from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' }),
  });
  for (const path of ['/no/such/path', '/v1/assets/abc', '/ready', '/%zz'])
    for (const service of services) await fetch(urlOf(service) + path);
  for (const service of services)
    families.set(service, readFamilies(await (await fetch(`${urlOf(service)}/metrics`)).text()));
  program.child.kill('SIGTERM');
  expect(await program.ended(60_000)).toBe(0);
}, 300_000);
afterAll(async () => {
  program.child.kill('SIGKILL');
  await Promise.all([place.remove(), collector.close()]);
});

describe('measurements', () => {
  it.each(services)('of %s follow the naming conventions', (service) => {
    // Names from Prometheus' client, which Node programs commonly have.
    const inherited = /^nodejs_(active_(handles|requests|resources)_total|heap_space_size_\w+|version_info)$/;
    const faults = [...(families.get(service)?.values() ?? [])]
      .filter(({ name }) => !inherited.test(name))
      .map((family) => [family.name, faultsOf(family)] as const)
      .filter(([, found]) => found.length > 0);
    expect(faults).toEqual([]);
    expect(families.get(service)?.size).toBeGreaterThan(20);
  });

  it.each(services)('of %s have labels that name routes by pattern, and no users', (service) => {
    const labels = [...(families.get(service)?.values() ?? [])].flatMap(({ samples }) =>
      samples.map((sample) => sample.labels),
    );
    expect(labels.filter((some) => /[0-9a-f]{8}-[0-9a-f]{4}-|@|no.such|abc/.test(JSON.stringify(some)))).toEqual([]);
    expect(new Set(labels.map(({ service: told }) => told).filter(Boolean))).toEqual(new Set([service]));
    expect(labels.flatMap(({ route = [] }) => route).length).toBeGreaterThan(0);
  });

  it.each(['deploy/grafana-dashboard.json', 'deploy/alerts.yml'])(
    'every metric that %s uses is exported',
    async (file) => {
      const text = await readFile(join(root, file), 'utf8');
      const expressions = expressionsIn(file.endsWith('.json') ? JSON.parse(text) : parse(text));
      expect(expressions.length).toBeGreaterThan(5);
      const exported = new Set([...families.values()].flatMap((some) => [...some.values()]).flatMap(namesOf));
      const queried = expressions.flatMap((expression) =>
        [...expression.matchAll(/\b([a-z_]+)\s*(?=\{|\[)/g)].map((match) => String(match[1])),
      );
      expect(queried.length).toBeGreaterThan(5);
      // Prometheus adds this metric for each target.
      expect([...new Set(queried)].filter((name) => name !== 'up' && !exported.has(name))).toEqual([]);
    },
  );
});

describe('traces', () => {
  const of = ({ traceId }: Journey) => collector.spans.filter((span) => span.traceId === traceId);
  /** The services on the path of a span, starting with its own. */
  const trail = (span: CollectedSpan | undefined): readonly string[] => {
    if (span === undefined) return [];
    const parent = collector.spans.find(({ spanId }) => spanId === span.parentSpanId);
    return [`${span.service} ${span.name}`, ...trail(parent)];
  };
  const find = (journey: Journey, service: string, name: string) =>
    of(journey).find((span) => span.service === service && span.name === name);

  it.each<[keyof typeof journeys, readonly string[]]>([
    ['chat', ['agent', 'media', 'memory', 'edge']],
    ['login', ['auth', 'idp']],
    ['content', ['content', 'cms']],
    ['notification', ['notify']],
  ])('%s: every hop is in the trace of its caller, as its child', (name, hops) => {
    const spans = of(journeys[name]);
    expect([...new Set(spans.map(({ service }) => service))].sort()).toEqual([...hops].sort());
    const known = new Set(['00f067aa0ba902b7', ...spans.map(({ spanId }) => spanId)]);
    expect(spans.filter(({ parentSpanId }) => !known.has(parentSpanId))).toEqual([]);
  });

  it('lead from a call to the calls made for it', () => {
    expect(trail(find(journeys.chat, 'memory', 'POST /memory/add'))).toEqual([
      'memory POST /memory/add',
      'agent POST /memory/add',
      'agent execute_tool saveMemory',
      'agent POST /task',
    ]);
    expect(trail(find(journeys.chat, 'edge', 'PUT /o/*')).at(-1)).toBe('agent POST /task');
  });

  it('continue through jobs: the video is registered in the trace of the request', () => {
    const registrations = of(journeys.chat).filter(
      ({ service, name }) => service === 'media' && /^POST \/v1\/(assets|deposits)$/.test(name),
    );
    // An image, the video's poster and the video.
    expect(registrations).toHaveLength(3);
  });
});

describe('log lines', () => {
  it('have the fields of docs/monitoring.md, and no others', async () => {
    const page = await readFile(join(root, 'docs/monitoring.md'), 'utf8');
    const section = page.split('\n## ').find((part) => part.startsWith('Logs')) ?? '';
    const documented = new Set(
      [...section.matchAll(/^\| (`.+?) \|/gm)].flatMap((row) =>
        [...String(row[1]).matchAll(/`(\w+)`/g)].map((name) => name[1]),
      ),
    );
    const lines = program
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.flatMap((line) => Object.keys(line)).filter((field) => !documented.has(field))).toEqual([]);
    for (const line of lines) expect(Object.keys(line)).toEqual(expect.arrayContaining(['level', 'time', 'msg']));
    // Fields that no run produces are found in the code.
    const inCode = await fieldsInCode();
    expect(inCode.size).toBeGreaterThan(15);
    expect([...inCode].filter((field) => !documented.has(field))).toEqual([]);
    expect(
      [...documented].filter((field) => !inCode.has(String(field)) && !lines.some((line) => String(field) in line)),
    ).toEqual([]);
  });
});

/** Returns the field names of log calls: `log.warn({ err: error, jobId }, '…')`. */
async function fieldsInCode(): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const file of globSync('src/**/*.ts', { cwd: root }).filter((path) => !/\.test\.ts$|console\/web/.test(path))) {
    const text = await readFile(join(root, file), 'utf8');
    for (const [, fields = ''] of text.matchAll(/\blog(?:\.\w+|\[[^\]]+\])\(\s*\{([^{}]*)\}/g))
      for (const part of fields.split(/,(?![^(]*\))/)) {
        const [, name] = /^\s*(\w+)/.exec(part) ?? [];
        if (name !== undefined) found.add(name);
      }
  }
  return found;
}

/** Returns every `expr` of a dashboard or of rules, at any depth. */
function expressionsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'expr' && typeof inner === 'string' ? [inner] : expressionsIn(inner),
  );
}

/** Returns the metric names as queries use them. */
function namesOf({ name, type }: Family): readonly string[] {
  return type === 'histogram' || type === 'summary' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}
