import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, type Db, transaction } from '#platform/db/db.ts';
import { createGuard } from '#platform/http/hostguard.ts';
import type { Jobs, JobTables } from '#platform/jobs/jobs.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { databaseEngines } from '../../test/database.fixture.ts';
import { startReceiver } from '../../test/webhooks/receiver.fixture.ts';
import { webhookSettings } from './config.ts';
import { createDelivery, openWebhooks } from './delivering.ts';
import { webhookEventTypes } from './events.ts';
import { createPublisher, deliveryQueue, type Webhooks } from './publishing.ts';

const log = createLog({ level: 'silent' });
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const older = `whsec_${randomBytes(24).toString('base64')}`;
const account = { userId: '00000000-0000-4000-8000-000000000001', email: 'ada@example.com' };

for (const engine of databaseEngines) {
  describe.skipIf(engine.missing)(`webhooks on ${engine.name}`, () => {
    let database: Database;
    let db: Db<JobTables>;
    let jobs: Jobs;
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    let webhooks: Webhooks;
    let nowMs: number;

    beforeAll(async () => {
      database = await engine.open();
      db = database.queries<JobTables>();
    });
    beforeEach(async () => {
      await sql`delete from jobs`.execute(db);
      nowMs = Date.now();
      const clock = { now: () => nowMs };
      jobs = createJobs({ database, log, pollEveryMs: 20 });
      receiver = await startReceiver(secret);
      const guard = createGuard({ allowedHosts: ['127.0.0.1'] });
      const deliver = createDelivery({ url: receiver.url, secrets: [older, secret], guard, clock, timeoutMs: 3000 });
      jobs.work(deliveryQueue, deliver, { concurrency: 4 });
      webhooks = createPublisher({ jobs, clock, types: webhookEventTypes });
    });
    afterEach(async () => {
      await jobs.stop({ drainMs: 0 });
      await receiver.close();
    });
    afterAll(() => database.close());

    const publish = () => transaction(db, (tx) => webhooks.publish(tx, 'account.created', account));
    /** Makes a delivery that waits for its next attempt due now. */
    const retryNow = () => sql`update jobs set run_at = now() where status = 'waiting' and attempt > 0`.execute(db);
    const jobRow = () => db.selectFrom('jobs').select(['status', 'attempt', 'reason', 'run_at']).executeTakeFirst();

    it('deliver an event that the reference library verifies, with every secret', async () => {
      await publish();
      await expect.poll(() => receiver.received.length).toBe(1);
      const [request] = receiver.received;
      expect(request?.event).toEqual({
        type: 'account.created',
        timestamp: new Date(nowMs).toISOString(),
        data: account,
      });
      expect(request?.path).toBe('/hooks?app=1');
      expect(request?.headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^Atelier\//),
        'webhook-id': expect.stringMatching(/^msg_/),
        'webhook-timestamp': String(Math.floor(nowMs / 1000)),
        'webhook-signature': expect.stringMatching(/^v1,\S+ v1,\S+$/),
      });
      await expect.poll(jobRow).toMatchObject({ status: 'done' });
    });

    it('are not sent when the change is rolled back', async () => {
      const change = transaction(db, async (tx) => {
        await webhooks.publish(tx, 'account.created', account);
        throw new Error('rolled back');
      });
      await expect(change).rejects.toThrow('rolled back');
      expect(await jobRow()).toBeUndefined();
    });

    it.each([
      ['an error', { status: 500 }],
      ['a client error', { status: 410 }],
      ['a redirect, which is not followed', { status: 302, headers: { location: '/elsewhere' } }],
      ['no response in time', 'hang'],
    ] as const)('retry after %s, within 30 s, with the same id and body', async (_name, answer) => {
      receiver.answerWith(answer);
      await publish();
      const failed = { status: 'waiting', attempt: 1, reason: expect.any(String) };
      await expect.poll(jobRow, { timeout: 20_000 }).toMatchObject(failed);
      const dueInMs = ((await jobRow())?.run_at.getTime() ?? 0) - Date.now();
      expect(dueInMs).toBeLessThan(30_000);
      receiver.answerWith({ status: 200 });
      nowMs += 60_000;
      await retryNow();
      await expect.poll(() => receiver.received.length).toBe(2);
      const [first, second] = receiver.received;
      expect(second?.body).toBe(first?.body);
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(second?.headers['webhook-timestamp']).toBe(String(Math.floor(nowMs / 1000)));
      expect(receiver.received.map(({ path }) => path)).toEqual(['/hooks?app=1', '/hooks?app=1']);
      await expect.poll(jobRow).toMatchObject({ status: 'done' });
    });

    it('reach a receiver that fails for a while, once', async () => {
      // The same queue with shorter pauses.
      const impatient = { ...deliveryQueue, retryAfterMs: 100, longestRetryMs: 200 };
      const guard = createGuard({ allowedHosts: ['127.0.0.1'] });
      const clock = { now: () => nowMs };
      const other = createJobs({ database, log, pollEveryMs: 20 });
      await jobs.stop({ drainMs: 0 });
      other.work(impatient, createDelivery({ url: receiver.url, secrets: [secret], guard, clock }), { concurrency: 4 });
      receiver.answerWith({ status: 503 });
      await publish();
      await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBeGreaterThan(3);
      receiver.answerWith({ status: 200 });
      await expect.poll(jobRow, { timeout: 20_000 }).toMatchObject({ status: 'done' });
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(receiver.received.every(({ event }) => event !== undefined)).toBe(true);
      await other.stop({ drainMs: 0 });
    });

    it('are dead after 24 hours, with the last reason', async () => {
      receiver.answerWith({ status: 503 });
      await publish();
      await expect.poll(jobRow).toMatchObject({ status: 'waiting' });
      nowMs += 24 * 60 * 60 * 1000;
      await retryNow();
      await expect.poll(jobRow).toMatchObject({ status: 'dead', reason: expect.stringContaining('503') });
    });

    it('are not sent for types that are not listed', async () => {
      const some = createPublisher({ jobs, clock: { now: () => nowMs }, types: ['run.ended'] });
      await transaction(db, (tx) => some.publish(tx, 'account.created', account));
      expect(await jobRow()).toBeUndefined();
    });
  });
}

describe('webhook settings', () => {
  const open = (url: string | undefined, production: boolean) =>
    openWebhooks({
      settings: { url, secrets: [secret], events: webhookEventTypes },
      jobs: () => Promise.reject(new Error('not needed')),
      clock: { now: () => 0 },
      production,
    });

  it.each([
    'http://127.0.0.1:1/',
    'http://[::1]/',
    'https://10.0.0.1/',
    'http://localhost/',
    'http://169.254.169.254/',
  ])('refuse the private address %s in production', async (url) => {
    await expect(open(url, true)).rejects.toThrow(/^WEBHOOK_URL must be public/);
  });

  it('do not publish without a URL', async () => {
    const webhooks = await open(undefined, true);
    await expect(webhooks.publish({} as never, 'account.created', account)).resolves.toBeUndefined();
  });

  it.each([
    [webhookSettings.url, 'ftp://example.com', 'must be an http(s) URL'],
    [webhookSettings.url, 'https://user:password@example.com', 'must not contain credentials'],
    [webhookSettings.secrets, 'whsec_c2hvcnQ=', '24 to 64 bytes'],
    [webhookSettings.secrets, `${secret},nonsense`, '24 to 64 bytes'],
    [webhookSettings.events, 'run.ended,run.begun', 'unknown: run.begun'],
  ])('refuse %o: %s', (declared, raw, message) => {
    expect(() => declared.parse(raw)).toThrow(message);
  });
});
