/** The graphs of the Overview: sampling of running services, and of services that are away. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createServer, type HttpServer } from '#platform/http/server.ts';
import { createLog } from '#platform/log.ts';
import { problems } from '#platform/problem.ts';
import { startConsoleServer } from '../../../test/console/server.fixture.ts';
import { freePortBase } from '../../../test/ports.fixture.ts';
import type { ErrorList, History } from '../api.ts';
import type { ServiceHistory } from '../context.ts';
import { createHistory } from './history.ts';

const log = createLog({ level: 'silent' });
const minuteMs = 60_000;

let media: HttpServer;
let services: Readonly<Record<'media' | 'image', string>>;

async function serve(port: number): Promise<HttpServer> {
  const app = createServer({ service: 'media', log, readiness: {} });
  app.get('/fine/:id', async () => ({}));
  app.get('/broken/:id', async () => Promise.reject(problems.engine_unavailable()));
  await app.listen({ host: '127.0.0.1', port });
  return app;
}

beforeEach(async () => {
  const port = await freePortBase();
  services = { media: `http://127.0.0.1:${port}`, image: `http://127.0.0.1:${await freePortBase()}` };
  media = await serve(port);
});
afterEach(() => media.close());

const ask = async (path: string, times: number) => {
  for (let time = 0; time < times; time += 1) await (await fetch(`${services.media}${path}`)).arrayBuffer();
};

describe('the history', () => {
  let history: ServiceHistory;
  let nowMs: number;

  beforeEach(() => {
    nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;
    history = createHistory({ services, clock: { now: () => nowMs } });
  });

  const later = async (ms: number) => {
    nowMs += ms;
    await history.sample();
  };
  const valuesOf = (name: string) => history.read().services.find(({ service }) => service === name);
  const perMinute = (name = 'media') => valuesOf(name)?.perMinute ?? [];
  const nulls = (count: number): readonly null[] => Array(count).fill(null);

  it('is empty at first', () => {
    const read = history.read();
    expect(read.startsAt).toHaveLength(60);
    expect(read.startsAt.at(-1)).toBe(new Date(nowMs).toISOString());
    expect(Date.parse(read.startsAt[1] ?? '') - Date.parse(read.startsAt[0] ?? '')).toBe(60_000);
    for (const name of ['media', 'image']) expect(perMinute(name)).toEqual(nulls(60));
    expect(read.runs.endedPerMinute).toEqual(nulls(60));
  });

  it('has the rate, the errors and the times of each minute', async () => {
    await history.sample();
    await ask('/fine/1', 6);
    await ask('/broken/1', 2);
    await later(15_000);
    await later(15_000);
    const last = <T>(values: readonly T[] = []) => values.at(-1);
    const state = valuesOf('media');
    // Eight requests in half a minute.
    expect(last(state?.perMinute)).toBe(16);
    expect(last(state?.errorsPerMinute)).toBe(4);
    expect(last(state?.p50Ms)).toBeGreaterThan(0);
    expect(last(state?.p95Ms)).toBeGreaterThanOrEqual(last(state?.p50Ms) ?? 0);
    expect(state?.perMinute.slice(0, -1)).toEqual(nulls(59));
  });

  it('has a gap while a service does not respond', async () => {
    await history.sample();
    await ask('/fine/1', 3);
    await later(minuteMs);
    await media.close();
    await later(minuteMs);
    media = await serve(Number(new URL(services.media).port));
    await later(minuteMs);
    await ask('/fine/1', 2);
    await later(minuteMs);
    expect(perMinute().slice(-4)).toEqual([3, null, null, 2]);
    expect(perMinute('image')).toEqual(nulls(60));
  });

  it('continues after a short pause, and omits the counts of a long one', async () => {
    await history.sample();
    await ask('/fine/1', 4);
    await later(2 * minuteMs);
    expect(perMinute().at(-1)).toBe(2);
    await ask('/fine/1', 100);
    await later(2 * minuteMs + 1000);
    expect(perMinute().at(-1)).toBeNull();
    await ask('/fine/1', 3);
    await later(minuteMs);
    expect(perMinute().at(-1)).toBe(3);
  });

  it('omits what was counted while the clock went back', async () => {
    await history.sample();
    await ask('/fine/1', 4);
    await later(-minuteMs);
    expect(perMinute().at(-1)).toBeNull();
    await ask('/fine/1', 3);
    await later(minuteMs);
    expect(perMinute().at(-1)).toBe(3);
  });

  it('has runs and tokens', async () => {
    let metrics = '';
    const agent = createHttpServer(({ url }, response) =>
      response.end(url === '/metrics' ? metrics : '{"engines":{}}'),
    );
    await once(agent.listen(0, '127.0.0.1'), 'listening');
    const { port } = agent.address() as AddressInfo;
    history = createHistory({ services: { agent: `http://127.0.0.1:${port}` }, clock: { now: () => nowMs } });
    try {
      const measured = (counted: number) =>
        `process_start_time_seconds 5
        agent_runs_total{status="completed"} ${3 * counted}
        agent_runs_total{status="failed"} ${counted}
        agent_tokens_total{direction="input"} ${100 * counted}
        agent_tokens_total{direction="output"} ${10 * counted}
        agent_first_token_seconds_bucket{le="1"} 0
        agent_first_token_seconds_bucket{le="2"} ${counted}
        agent_first_token_seconds_bucket{le="+Inf"} ${counted}
        http_request_duration_seconds_bucket{route="/chat",le="+Inf"} ${counted}`.replaceAll(/^ +/gm, '');
      metrics = measured(1);
      await history.sample();
      metrics = measured(2);
      await later(30_000);
      metrics = measured(3);
      await later(29_000);
      const { runs, services: all } = history.read();
      const newest = Object.entries(runs).map(([name, values]) => [name, Math.round(values.at(-1) ?? 0)]);
      const perMinuteOf = (count: number) => Math.round((count * 60) / 59);
      expect(Object.fromEntries(newest)).toEqual({
        endedPerMinute: perMinuteOf(8),
        failedPerMinute: perMinuteOf(2),
        inputTokensPerMinute: perMinuteOf(200),
        outputTokensPerMinute: perMinuteOf(20),
        firstTokenP50Ms: 1500,
        firstTokenP95Ms: 1950,
      });
      // Streams are no measure of the response time.
      expect(all[0]?.p50Ms.at(-1)).toBeNull();
    } finally {
      agent.close();
      await once(agent, 'close');
    }
  });

  it('is bounded: older minutes than the last 60 are gone', async () => {
    await history.sample();
    for (let minute = 0; minute < 70; minute += 1) await later(minuteMs);
    expect(perMinute()).toEqual(Array(60).fill(0));
    nowMs -= 20 * minuteMs;
    expect(perMinute()).toEqual([...nulls(20), ...Array(40).fill(0)]);
  });
});

describe('the console without a database', () => {
  it('shows graphs to operators, and no jobs', async () => {
    const operator = await startConsoleServer(undefined, { services, sampleEveryMs: 20 });
    try {
      expect(await operator.info()).toMatchObject({ hasDatabase: false, hasPeople: false });
      const shown = async () => {
        await ask('/fine/1', 1);
        const { services: all } = await operator.read<History>('/api/history');
        return all.find(({ service }) => service === 'media')?.perMinute.at(-1);
      };
      await expect.poll(shown).toBeGreaterThan(0);
      for (const path of ['/api/history', '/api/errors'])
        expect((await operator.send('GET', path, undefined, {})).status).toBe(401);
      for (const path of ['/api/queues', '/api/notify/types', '/api/models'])
        expect((await operator.send('GET', path)).status).toBe(404);
    } finally {
      await operator.close();
    }
  });

  it('lists the last server errors with their request ids, and the services that cannot be reached', async () => {
    const operator = await startConsoleServer(undefined, { services, traceUrl: 'https://traces.example/{traceId}' });
    try {
      const before = await operator.read<ErrorList>('/api/errors');
      const response = await fetch(`${services.media}/broken/7?secret=1`, { headers: { 'x-request-id': 'find-me' } });
      expect(response.status).toBe(503);
      const { errors, unread } = await operator.read<ErrorList>('/api/errors');
      expect(errors.length).toBe(before.errors.length + 1);
      expect(errors[0]).toEqual({
        service: 'media',
        at: expect.any(String),
        requestId: 'find-me',
        traceUrl: expect.stringMatching(/^https:\/\/traces\.example\/[0-9a-f]{32}$/),
        method: 'GET',
        route: '/broken/:id',
        status: 503,
        code: 'engine_unavailable',
      });
      expect(unread).toEqual(['image']);
    } finally {
      await operator.close();
    }
  });
});
