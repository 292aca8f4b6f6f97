/** `mail.bounced` and `mail.complained` (docs/specification/webhooks.md#events). */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { webhookEventTypes } from '#webhooks/events.ts';
import { createPublisher } from '#webhooks/publishing.ts';
import { laneEngines } from '../../test/database.fixture.ts';
import { createTestChannel, type NotifyRig, startNotify } from '../../test/notify/notify.fixture.ts';
import { publishedEvents } from '../../test/webhooks/published.fixture.ts';

describe.each(laneEngines)('webhook events of emails on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let rig: NotifyRig;
    beforeAll(async () => {
      database = await engine.open(migrations);
      const jobs = createJobs({ database, log: createLog({ level: 'silent' }) });
      const webhooks = createPublisher({ jobs, clock: { now: () => Date.now() }, types: webhookEventTypes });
      rig = await startNotify(database, createTestChannel(), { webhooks });
    });
    afterAll(async () => {
      await rig.close();
      await database.close();
    });
    beforeEach(async () => {
      await sql`delete from jobs`.execute(database.queries());
    });

    const events = async () => (await publishedEvents(database)).map(({ type, data }) => ({ type, data }));
    const take = (event: object) =>
      rig.post('/emails/events', { id: randomUUID(), to: ['Ada <ada@example.com>'], ...event });

    it('report a bounce once, with the email and the suppressed address', async () => {
      const emailId = randomUUID();
      const bounce = { id: randomUUID(), type: 'email.bounced', email_id: emailId, reason: 'no such user' };
      await take(bounce);
      await take(bounce);
      const to = ['ada@example.com'];
      expect(await events()).toEqual([
        { type: 'mail.bounced', data: { emailId, to, reason: 'no such user', suppressed: to } },
      ]);
    });

    it('suppress the recipient that the reason names, in any spelling of its domain', async () => {
      const to = ['ada@bücher.example', 'ben@bücher.example'];
      await take({ type: 'email.bounced', email_id: 'four', to, reason: '550 <Ben@Bücher.example>: unknown' });
      const [ada, ben] = ['ada@xn--bcher-kva.example', 'ben@xn--bcher-kva.example'];
      expect(await events()).toMatchObject([{ data: { to: [ada, ben], suppressed: [ben] } }]);
    });

    it('report a temporary bounce, which suppresses no address', async () => {
      await take({ type: 'email.bounced', email_id: 'one', bounce_type: 'Transient' });
      const data = { emailId: 'one', to: ['ada@example.com'], reason: null, suppressed: [] };
      expect(await events()).toEqual([{ type: 'mail.bounced', data }]);
    });

    it.each(['email.opened', 'constructor', '__proto__'])('do not report %s', async (type) => {
      expect((await take({ type, email_id: 'three' })).status).toBe(204);
      expect(await events()).toEqual([]);
    });

    it('report a complaint, but no delivery', async () => {
      await take({ type: 'email.delivered', email_id: 'two' });
      await take({ type: 'email.complained', email_id: 'two' });
      expect((await events()).map(({ type }) => type)).toEqual(['mail.complained']);
    });
  });
});
