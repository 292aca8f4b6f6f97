/** The server side of the Mail page, with a real notification service. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { type ConsoleServer, internalAt, startConsoleServer } from '../../../test/console/server.fixture.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { createTestChannel, internalKey, type NotifyRig, startNotify } from '../../../test/notify/notify.fixture.ts';

interface Listed {
  readonly data: readonly {
    readonly id: string;
    readonly subject: string;
    readonly status: string;
    readonly reason: string | null;
  }[];
  readonly has_more: boolean;
}

const mail = { from: 'a@example.com', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

describe.each(laneEngines)('emails on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let notify: NotifyRig;
    let operator: ConsoleServer;
    const channel = createTestChannel();

    const startOperator = (key: string, notifyUrl = notify.url) =>
      startConsoleServer(database, { internal: internalAt(key, notifyUrl) });
    beforeAll(async () => {
      database = await engine.open(migrations);
      notify = await startNotify(database, channel);
      operator = await startOperator(internalKey);
    });
    afterAll(async () => {
      await operator.close();
      await notify.close();
      await database.close();
    });
    beforeEach(async () => {
      for (const table of ['notify_events', 'notify_sends', 'suppressed_addresses', 'operator_actions'])
        await sql`delete from ${sql.table(table)}`.execute(database.queries());
    });

    const list = (query = '') => operator.read<Listed>(`/api/notify/emails${query}`);
    const actions = async () =>
      (
        await sql<{ action: string; target: string }>`select action, target from operator_actions`.execute(
          database.queries(),
        )
      ).rows;
    const bodyOf = async (response: Response): Promise<Record<string, string>> => JSON.parse(await response.text());
    const codeOf = async (response: Response) => [response.status, (await bodyOf(response)).error];

    it('are listed with their outcome, newest first', async () => {
      await notify.post('/emails', { ...mail, subject: 'delivered' });
      await notify.post('/emails', { ...mail, subject: 'bounced' });
      await notify.post('/emails', { ...mail, subject: 'sent' });
      await notify.post('/emails', { ...mail, subject: 'later', scheduled_at: inAnHour() });
      const [, , bounced, delivered] = channel.sent.length >= 3 ? [0, 0, channel.sent.at(-2), channel.sent.at(-3)] : [];
      const report = (type: string, sent: { id: string } | undefined | number) =>
        notify.post('/emails/events', {
          id: randomUUID(),
          type,
          email_id: `provider-${typeof sent === 'object' ? sent.id : ''}`,
          to: ['ada@example.com'],
        });
      await report('email.delivered', delivered);
      await report('email.delivered', bounced);
      await report('email.bounced', bounced);
      const { data, has_more } = await list();
      expect(data.map(({ subject, status }) => [subject, status])).toEqual([
        ['later', 'scheduled'],
        ['sent', 'sent'],
        ['bounced', 'bounced'],
        ['delivered', 'delivered'],
      ]);
      expect(has_more).toBe(false);
      // The outbox stores a mail under the id of the mail. A provider has ids of its own.
      await sql`update notify_sends set provider_id = id where subject = 'sent'`.execute(database.queries());
      const { data: stored } = await operator.read<{ data: { subject: string; in_outbox: boolean }[] }>(
        '/api/notify/emails',
      );
      expect(stored.filter(({ in_outbox }) => in_outbox).map(({ subject }) => subject)).toEqual(['sent']);
      // As the page of a person lists them.
      const { body: ofPerson } = await notify.call('GET', '/people/mails?address=ada@example.com');
      expect(ofPerson.mails).toMatchObject([
        { subject: 'later', status: 'scheduled', inOutbox: false },
        { subject: 'sent', status: 'sent', inOutbox: true },
        { subject: 'bounced', status: 'bounced', inOutbox: false },
        { subject: 'delivered', status: 'delivered', inOutbox: false },
      ]);
      const id = data.find(({ subject }) => subject === 'bounced')?.id;
      const shown = await operator.read<{ events: { type: string }[] }>(`/api/notify/emails/${id}`);
      expect(shown.events.map(({ type }) => type)).toEqual(expect.arrayContaining(['sent', 'delivered', 'bounced']));
    });

    it('are listed in pages, each mail once', async () => {
      const later = Array.from({ length: 60 }, (_, at) => ({
        ...mail,
        subject: `mail ${at}`,
        scheduled_at: inAnHour(),
      }));
      await notify.post('/emails/batch', later);
      const first = await list();
      const second = await list(`?after=${first.data.at(-1)?.id}`);
      expect([first.data.length, first.has_more, second.data.length, second.has_more]).toEqual([50, true, 10, false]);
      expect(new Set([...first.data, ...second.data].map(({ id }) => id)).size).toBe(60);
      expect(await list(`?after=${randomUUID()}`)).toMatchObject({ data: [], has_more: false });
      expect((await operator.send('GET', '/api/notify/emails?after=one')).status).toBe(400);
    });

    it('that are not sent yet can be canceled, once', async () => {
      await notify.post('/emails', { ...mail, scheduled_at: inAnHour() });
      const [scheduled] = (await list()).data;
      const cancel = () => operator.send('POST', `/api/notify/emails/${scheduled?.id}/cancel`);
      expect((await cancel()).status).toBe(200);
      expect((await list()).data[0]?.status).toBe('canceled');
      expect(await actions()).toEqual([
        { action: 'cancel mail', target: expect.stringMatching(`^mail ${scheduled?.id} sha256 `) },
      ]);
      await notify.post('/emails', mail);
      const [sent] = (await list()).data;
      expect(await codeOf(await operator.send('POST', `/api/notify/emails/${sent?.id}/cancel`))).toEqual([
        409,
        'not_cancelable',
      ]);
      expect((await operator.send('POST', `/api/notify/emails/${randomUUID()}/cancel`)).status).toBe(404);
      expect(await actions()).toHaveLength(1);
    });

    it('that failed can be sent again, which the audit log shows', async () => {
      channel.obstruct(async () => {
        throw new Error('not now');
      });
      await notify.post('/emails', mail);
      channel.obstruct(async () => undefined);
      const { data: failed } = await list('?status=failed');
      expect(failed.map(({ status, reason }) => [status, reason])).toEqual([['failed', 'not now']]);
      const retry = () => operator.send('POST', `/api/notify/emails/${failed[0]?.id}/retry`);
      expect((await retry()).status).toBe(200);
      await expect.poll(async () => (await list()).data[0]?.status, { timeout: 20_000 }).toBe('sent');
      expect(await codeOf(await retry())).toEqual([409, 'not_retryable']);
      expect(await actions()).toEqual([
        { action: 'retry mail', target: expect.stringMatching(`^mail ${failed[0]?.id} sha256 `) },
      ]);
      expect((await operator.send('GET', '/api/notify/emails?status=lost')).status).toBe(400);
    });

    it('are previewed in each language, with values', async () => {
      const { types } = await operator.read<{ types: { type: string; locales: string[] }[] }>('/api/notify/types');
      expect(types.map(({ type }) => type)).toContain('account_deletion.scheduled');
      const preview = (query: Record<string, string>, kind = 'preview') =>
        operator.send('GET', `/api/notify/types/account_deletion.scheduled/${kind}?${new URLSearchParams(query)}`);
      const subjects = new Set<string>();
      for (const locale of types[0]?.locales ?? [])
        subjects.add((await bodyOf(await preview({ locale }))).subject ?? '');
      expect(subjects.size).toBe(12);
      const data = JSON.stringify({ deletion_at: '2027-03-04' });
      expect((await bodyOf(await preview({ locale: 'en', data }))).subject).toContain('March 4, 2027');
      const page = await preview({ locale: 'en', data }, 'html');
      expect(page.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
      expect(await page.text()).toContain('March 4, 2027');
      expect((await preview({ data: JSON.stringify({ deletion_at: 'soon' }) })).status).toBe(400);
      expect((await preview({ data: JSON.stringify({ deletion_at: 'soon' }) }, 'html')).status).toBe(400);
      for (const bad of ['[]', '{', '5', 'null']) {
        const response = await preview({ data: bad });
        expect([response.status, JSON.stringify(await response.json())]).toEqual([
          400,
          expect.stringContaining('querystring.data'),
        ]);
      }
      expect((await preview({ data: `{"a":"${'x'.repeat(8000)}"}` })).status).toBe(400);
      expect((await operator.send('GET', '/api/notify/types/none/preview')).status).toBe(404);
    });

    it('go to a suppressed address again once an operator has lifted the suppression', async () => {
      await notify.post('/emails/events', {
        id: randomUUID(),
        type: 'email.bounced',
        email_id: 'm',
        to: ['ada@example.com'],
        reason: 'no such user',
      });
      const suppressions = async () =>
        (await operator.read<{ suppressions: { address: string }[] }>('/api/notify/suppressions')).suppressions;
      expect(await suppressions()).toMatchObject([{ address: 'ada@example.com' }]);
      const lift = () => operator.send('DELETE', `/api/notify/suppressions/${encodeURIComponent('ada@example.com')}`);
      expect((await lift()).status).toBe(204);
      expect((await lift()).status).toBe(404);
      expect(await suppressions()).toEqual([]);
      // The audit log holds no address.
      expect(await actions()).toEqual([{ action: 'lift suppression', target: expect.stringMatching(/^sha256 /) }]);
      expect((await notify.post('/emails', mail)).status).toBe(200);
    });

    it.each([
      ['GET', '/api/notify/types'],
      ['GET', '/api/notify/types/daily_digest/preview'],
      ['GET', '/api/notify/types/daily_digest/html'],
      ['GET', '/api/notify/emails'],
      ['GET', '/api/notify/emails/one'],
      ['POST', '/api/notify/emails/one/cancel'],
      ['POST', '/api/notify/emails/one/retry'],
      ['GET', '/api/notify/suppressions'],
      ['DELETE', '/api/notify/suppressions/a@example.com'],
    ])('%s %s is for operators', async (method, path) => {
      expect((await operator.send(method, path, undefined, {})).status).toBe(401);
    });

    it('are unavailable without the service, and when it rejects the key', async () => {
      const wrong = await startOperator('another key');
      const away = await startOperator(internalKey, 'http://127.0.0.1:9');
      for (const server of [wrong, away])
        expect(await codeOf(await server.send('GET', '/api/notify/emails'))).toEqual([503, 'engine_unavailable']);
      await wrong.close();
      await away.close();
    });
  });
});
