/** The graphs of the Overview: sampling of running services, and of services that are away. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, json } from '#platform/db/db.ts';
import { createServer, type HttpServer, type Readiness } from '#platform/http/server.ts';
import { createLog } from '#platform/log.ts';
import { problems } from '#platform/problem.ts';
import { freePortBase } from '../../../test/acceptance/running.fixture.ts';
import { type ConsoleServer, startConsoleServer } from '../../../test/console/server.fixture.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import type { StoredContext } from '../context.ts';
import type { ErrorList, History } from './api.ts';
import type { HistoryTables } from './samplestore.ts';
import { takeSample } from './sampling.ts';

const log = createLog({ level: 'silent' });
const minuteMs = 60_000;

async function serve(readiness: Readiness, port = 0): Promise<HttpServer> {
  const app = createServer({ service: 'media', log, readiness });
  app.get('/fine/:id', async () => ({}));
  app.get('/broken/:id', async () => Promise.reject(problems.engine_unavailable()));
  await app.listen({ host: '127.0.0.1', port });
  return app;
}

describe.each(laneEngines)('the history on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let operator: ConsoleServer;
    let media: HttpServer;
    let services: Readonly<Record<string, string>>;
    let nowMs = Date.now();
    let isDatabaseFine = true;

    beforeAll(async () => {
      database = await engine.open(migrations);
      const port = await freePortBase();
      const away = await freePortBase();
      media = await serve(
        { database: async () => (isDatabaseFine ? undefined : Promise.reject(new Error('no'))) },
        port,
      );
      services = { media: `http://127.0.0.1:${port}`, image: `http://127.0.0.1:${away}` };
      operator = await startConsoleServer(database, {
        services,
        clock: { now: () => nowMs },
        traceUrl: 'https://traces.example/{traceId}',
      });
    });
    afterAll(async () => {
      await operator.close();
      await media.close();
      await database.close();
    });
    beforeEach(async () => {
      nowMs = Math.floor(Date.now() / 600_000) * 600_000;
      await sql`delete from console_samples`.execute(db());
      await sql`delete from console_readings`.execute(db());
    });

    const db = () => database.queries<HistoryTables>();
    const sampleNow = () => takeSample({ db: db(), clock: { now: () => nowMs }, services, log } as StoredContext, 7000);
    const later = async (ms: number) => {
      nowMs += ms;
      expect(await sampleNow()).toBe(true);
    };
    const ask = async (path: string, times = 1) => {
      for (let time = 0; time < times; time += 1) await (await fetch(`${services.media}${path}`)).arrayBuffer();
    };
    const read = (range = 'hour') => operator.read<History>(`/api/history?range=${range}`);
    const mediaIn = ({ services: all }: History) => all.find(({ service }) => service === 'media');

    it('is empty at first', async () => {
      const history = await read();
      expect(history.startsAt).toHaveLength(60);
      expect(history).toMatchObject({ stepS: 60, services: [], queues: [], engines: [] });
      expect((await read('day')).startsAt).toHaveLength(144);
    });

    it('has the rate, the errors and the times of each minute', async () => {
      await sampleNow();
      await ask('/fine/1', 6);
      await ask('/broken/1', 2);
      await later(15_000);
      await later(15_000);
      const history = await read();
      const last = <T>(values: readonly T[] = []) => values.at(-1);
      const state = mediaIn(history);
      // Eight requests in half a minute.
      expect(last(state?.perMinute)).toBe(16);
      expect(last(state?.errorsPerMinute)).toBe(4);
      expect(last(state?.p50Ms)).toBeGreaterThan(0);
      expect(last(state?.p95Ms)).toBeGreaterThanOrEqual(last(state?.p50Ms) ?? 0);
      expect(last(state?.ready)).toBe(1);
      expect(state?.perMinute.slice(0, -1).every((value) => value === null)).toBe(true);
      expect(last(mediaIn(await read('day'))?.perMinute)).toBe(16);
    });

    it('shows stopped services and engines that do not respond', async () => {
      await sampleNow();
      isDatabaseFine = false;
      // The readiness of a service is cached for a second.
      await expect.poll(async () => (await fetch(`${services.media}/ready`)).status).toBe(503);
      await later(minuteMs);
      isDatabaseFine = true;
      const history = await read();
      const image = history.services.find(({ service }) => service === 'image');
      expect(image?.ready.slice(-2)).toEqual([0, 0]);
      expect(image?.perMinute.at(-1)).toBeNull();
      expect(mediaIn(history)?.ready.slice(-2)).toEqual([1, 0]);
      expect(history.engines).toEqual([{ service: 'media', engine: 'database', ok: [...Array(58).fill(null), 1, 0] }]);
    });

    it('counts everything once when several processes sample', async () => {
      await sampleNow();
      await ask('/fine/1', 5);
      nowMs += 15_000;
      const taken = await Promise.all([sampleNow(), sampleNow(), sampleNow()]);
      expect(taken.filter(Boolean)).toHaveLength(1);
      nowMs += 5000;
      expect(await sampleNow()).toBe(false);
      expect(mediaIn(await read())?.perMinute.at(-1)).toBe(20);
    });

    it('continues after a short pause, and omits the counts of a long one', async () => {
      await sampleNow();
      await ask('/fine/1', 4);
      await later(2 * minuteMs);
      expect(mediaIn(await read())?.perMinute.at(-1)).toBe(2);
      await ask('/fine/1', 100);
      await later(2 * minuteMs + 1000);
      expect(mediaIn(await read())?.perMinute.at(-1)).toBeNull();
      await ask('/fine/1', 3);
      await later(minuteMs);
      expect(mediaIn(await read())?.perMinute.at(-1)).toBe(3);
    });

    it('is bounded: minutes for two hours, ten minutes for two days', async () => {
      await sql`insert into console_samples (width_s, starts_at, counts)
        select 60, ${new Date(nowMs)}::timestamptz - make_interval(mins => n), ${json({})} from generate_series(1, 5000) n
        union all
        select 600, ${new Date(nowMs)}::timestamptz - make_interval(mins => 10 * n), ${json({})} from generate_series(1, 5000) n`.execute(
        db(),
      );
      await sampleNow();
      const { rows } = await sql<{ width: number; count: number }>`
        select width_s as width, count(*) as count from console_samples group by width_s order by width_s`.execute(
        db(),
      );
      expect(rows).toEqual([
        { width: 60, count: 121 },
        { width: 600, count: 289 },
      ]);
    });

    it('lists the last server errors with their request ids, and the services that cannot be reached', async () => {
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
    });

    it('is for operators, and of two ranges', async () => {
      for (const path of ['/api/history?range=hour', '/api/errors'])
        expect((await operator.send('GET', path, undefined, {})).status).toBe(401);
      for (const query of ['', '?range=week'])
        expect((await operator.send('GET', `/api/history${query}`)).status).toBe(400);
    });
  });
});

it('without a database there are errors, but no history and no jobs', async () => {
  const operator = await startConsoleServer(undefined);
  expect(await operator.info()).toMatchObject({ hasDatabase: false, hasPeople: false });
  expect(await operator.read('/api/errors')).toEqual({ errors: [], unread: [] });
  for (const path of ['/api/history?range=hour', '/api/queues', '/api/notify/types', '/api/models'])
    expect((await operator.send('GET', path)).status).toBe(404);
  await operator.close();
});
