/** The server side of the Webhooks page, over real deliveries (docs/console.md). */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, transaction } from '#platform/db/db.ts';
import { createGuard } from '#platform/http/hostguard.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Jobs, JobTables } from '#platform/jobs/jobs.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { createDelivery } from '#webhooks/delivering.ts';
import { webhookEventTypes } from '#webhooks/events.ts';
import { createPublisher, deliveryQueue } from '#webhooks/publishing.ts';
import { noSettings } from '../../test/console/server.fixture.ts';
import { laneEngines } from '../../test/database.fixture.ts';
import { freePortBase } from '../../test/ports.fixture.ts';
import { startReceiver } from '../../test/webhooks/receiver.fixture.ts';
import type { DeliveryList, Overview } from './api.ts';
import type { ChangedJobs } from './jobs/api.ts';
import { createConsole } from './service.ts';

const log = createLog({ level: 'silent' });
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const token = 'a token of the tests';
const account = { userId: '00000000-0000-4000-8000-000000000001', email: 'ada@example.com' };
const dayMs = 86_400_000;

describe.each(laneEngines)('deliveries on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let jobs: Jobs;
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    let app: HttpServer;
    let url: string;
    let nowMs = Date.now();
    let cookie = '';

    beforeAll(async () => {
      database = await engine.open();
      receiver = await startReceiver(secret);
      jobs = createJobs({ database, log, pollEveryMs: 20 });
      const clock = { now: () => nowMs };
      const guard = createGuard({ allowedHosts: ['127.0.0.1'] });
      const deliver = createDelivery({ url: receiver.url, secrets: [secret], guard, clock });
      jobs.work(deliveryQueue, deliver, { concurrency: 1 });
      const port = await freePortBase();
      url = `http://127.0.0.1:${port}`;
      app = createConsole({
        server: { log },
        clock,
        places: { url, aliases: [url] },
        token,
        brand: 'Atelier',
        services: {},
        addresses: {},
        engines: [],
        reachable: { services: [], media: [], pictures: [] },
        hasDemoUsers: false,
        outbox: undefined,
        cms: {},
        memory: undefined,
        settings: noSettings,
        internal: undefined,
        traceUrl: undefined,
        db: database.queries<JobTables>(),
        deliveries: { db: database.queries<JobTables>(), receiver: new URL(receiver.url).origin },
      });
      await app.listen({ port, host: '127.0.0.1' });
      const session = await send('POST', '/api/session', { token });
      cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
    });
    afterAll(async () => {
      await app.close();
      await jobs.stop({ drainMs: 0 });
      await receiver.close();
      await database.close();
    });
    beforeEach(async () => {
      for (const table of ['jobs', 'operator_actions'])
        await sql`delete from ${sql.table(table)}`.execute(database.queries());
      receiver.received.length = 0;
      receiver.answerWith({ status: 204 });
    });

    async function send(method: string, path: string, json?: object, headers: Record<string, string> = { cookie }) {
      const body = json === undefined ? null : JSON.stringify(json);
      const type = json === undefined ? {} : { 'content-type': 'application/json' };
      return fetch(url + path, { method, body, headers: { origin: url, ...type, ...headers } });
    }
    const list = async (query = '') => (await (await send('GET', `/api/webhooks${query}`)).json()) as DeliveryList;
    const publish = () =>
      transaction(database.queries<JobTables>(), (tx) =>
        createPublisher({ jobs, clock: { now: () => nowMs }, types: webhookEventTypes }).publish(
          tx,
          'account.created',
          account,
        ),
      );

    const sendAgain = (delivery: DeliveryList['deliveries'][number] | undefined) =>
      send('POST', `/api/jobs/${delivery?.id}/retry`, { fence: delivery?.fence });
    const actions = async () =>
      (
        await sql<{ action: string; target: string }>`select action, target from operator_actions`.execute(
          database.queries(),
        )
      ).rows;

    it('are listed with how they went', async () => {
      await publish();
      await expect.poll(async () => (await list()).deliveries[0]?.state).toBe('done');
      const { receiver: origin, dead, deliveries } = await list();
      expect([origin, dead, deliveries.length]).toEqual([new URL(receiver.url).origin, 0, 1]);
      expect(deliveries[0]).toEqual({
        id: expect.any(String),
        webhookId: receiver.received[0]?.headers['webhook-id'],
        type: 'account.created',
        fence: 1,
        state: 'done',
        attempts: 1,
        reason: null,
        createdAt: expect.any(String),
        endedAt: expect.any(String),
        lastAttemptAt: expect.any(String),
        nextAttemptAt: null,
        body: receiver.received[0]?.body,
      });
      const found = async (query: string) => (await list(query)).deliveries.length;
      const of = JSON.stringify(account).slice(2, 30).toUpperCase();
      expect(await found(`?type=account.created&q=${encodeURIComponent(of)}`)).toBe(1);
      expect(await found('?type=account.deleted')).toBe(0);
      expect(await found('?q=nothing')).toBe(0);
    });

    it('that are dead are sent again, once, with the same id and body and 24 more hours', async () => {
      receiver.answerWith({ status: 503 });
      await publish();
      await expect.poll(async () => (await list()).deliveries[0]?.reason).toContain('503');
      nowMs += dayMs;
      await sql`update jobs set run_at = now() where status = 'waiting'`.execute(database.queries());
      await expect.poll(async () => (await list('?status=dead')).deliveries.length).toBe(1);
      const [dead] = (await list('?status=dead')).deliveries;
      expect([dead?.state, (await list()).dead]).toEqual(['dead', 1]);
      // A failure does not end it at once: it has its time again.
      expect((await sendAgain(dead)).status).toBe(204);
      await expect.poll(async () => (await list()).deliveries[0]).toMatchObject({ state: 'failing', attempts: 1 });
      expect((await sendAgain(dead)).status).toBe(409);
      receiver.answerWith({ status: 204 });
      await sql`update jobs set run_at = now() where status = 'waiting'`.execute(database.queries());
      await expect.poll(async () => (await list()).deliveries[0]?.state).toBe('done');
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
        new Set([dead?.webhookId]),
      );
      const target = expect.stringMatching(`^delivery ${dead?.id} of account.created sha256 `);
      expect(await actions()).toEqual([{ action: 'send webhook again', target }]);
      expect((await list(`?q=${dead?.id}`)).deliveries).toHaveLength(1);
    });

    it('that the receiver refuses have the beginning of its answer, as one line', async () => {
      receiver.answerWith({ status: 500, body: `relation "orders"\n\u0000\t<b>is missing</b> ${'x'.repeat(400)}` });
      await publish();
      const reason = async () => (await list()).deliveries[0]?.reason;
      await expect.poll(reason).toMatch(/^the receiver returned 500: relation "orders" <b>is missing<\/b> x{100,}$/);
      expect((await reason())?.length).toBe('the receiver returned 500: '.length + 300);
      receiver.answerWith({ status: 500, body: 'y'.repeat(100_000) });
      await sendAgain((await list()).deliveries[0]);
      await expect.poll(reason).toBe('the receiver returned 500');
    });

    it('that fail are counted, listed as failing with their start, and sent again at once', async () => {
      receiver.answerWith({ status: 503 });
      for (let count = 0; count < 3; count += 1) await publish();
      await expect.poll(async () => (await list('?status=failing')).deliveries.length).toBe(3);
      const { deliveries, types: _types, ...endpoint } = await list('?status=failing');
      const oldest = deliveries.map(({ createdAt }) => createdAt).sort()[0];
      const none = { dead: 0, waiting: 0, done: 0, lastDoneAt: null };
      expect(endpoint).toMatchObject({
        ...none,
        failing: 3,
        failingSince: oldest,
        reason: 'the receiver returned 503',
      });
      expect(Date.parse(deliveries[0]?.nextAttemptAt ?? '')).toBeGreaterThan(Date.now());
      expect((await list('?status=waiting')).deliveries).toEqual([]);
      const overview = (await (await send('GET', '/api/overview')).json()) as Overview;
      expect(overview.webhooks).toEqual(endpoint);

      receiver.answerWith({ status: 204 });
      const answers = await Promise.all([sendAgain(deliveries[0]), sendAgain(deliveries[0])]);
      expect(answers.map(({ status }) => status)).toContain(204);
      await expect.poll(async () => (await list('?status=done')).deliveries.length).toBe(1);
      const all = () => send('POST', '/api/queues/retry', { queue: endpoint.queue, failing: true });
      const changed = await Promise.all((await Promise.all([all(), all()])).map((answer) => answer.json()));
      expect((changed as ChangedJobs[]).map(({ count }) => count).sort()).toEqual([0, 2]);
      await expect.poll(async () => (await list()).done).toBe(3);
      expect(await list()).toMatchObject({ failing: 0, failingSince: null, lastDoneAt: expect.any(String) });
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
      expect(await actions()).toContainEqual({ action: 'retry failing jobs', target: 'queue webhooks/deliver' });
    });

    it('that were delivered can be delivered again', async () => {
      await publish();
      await expect.poll(async () => (await list()).deliveries[0]?.state).toBe('done');
      const [done] = (await list()).deliveries;
      expect((await sendAgain(done)).status).toBe(204);
      await expect.poll(() => receiver.received.length).toBe(2);
      await expect.poll(async () => (await list()).deliveries[0]?.state).toBe('done');
      expect((await sendAgain(done)).status).toBe(409);
    });

    it('that are dead stay so if the audit log cannot record the action', async () => {
      receiver.answerWith({ status: 503 });
      await publish();
      await expect.poll(async () => (await list()).deliveries[0]?.reason).toContain('503');
      await sql`update jobs set status = 'dead', finished_at = now()`.execute(database.queries());
      await sql`alter table operator_actions rename to absent_actions`.execute(database.queries());
      const [dead] = (await list('?status=dead')).deliveries;
      expect((await sendAgain(dead)).status).toBe(500);
      await sql`alter table absent_actions rename to operator_actions`.execute(database.queries());
      expect((await list()).deliveries[0]?.state).toBe('dead');
    });

    it('are for operators, on pages of the console', async () => {
      const id = '00000000-0000-4000-8000-000000000009';
      expect((await send('GET', '/api/webhooks', undefined, {})).status).toBe(401);
      const retry = `/api/jobs/${id}/retry`;
      expect((await send('POST', retry, { fence: 1 }, {})).status).toBe(401);
      expect((await send('POST', retry, { fence: 1 }, { cookie, origin: 'https://x.example' })).status).toBe(403);
      expect((await send('POST', retry, { fence: 1 })).status).toBe(404);
      expect((await send('GET', '/api/webhooks?status=lost')).status).toBe(400);
    });
  });
});
