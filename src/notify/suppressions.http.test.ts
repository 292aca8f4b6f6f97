/** Recipients without a mailbox: the others still get their mail, and an operator lists and removes them. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AccountTables, ensureProfile } from '#accounts/store.ts';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { laneEngines } from '../../test/database.fixture.ts';
import {
  createTestChannel,
  internalKey,
  leaveSend,
  type NotifyRig,
  newKey,
  startNotify,
  type TestChannel,
} from '../../test/notify/notify.fixture.ts';
import { ChannelFailure } from './channels/channel.ts';
import { addressOf } from './mail.ts';
import { suppress } from './suppressionstore.ts';
import type { NotifyTables } from './tables.ts';

describe.each(laneEngines)('suppressed addresses on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let channel: TestChannel;
    let rig: NotifyRig;
    const lines: string[] = [];
    beforeAll(async () => {
      database = await engine.open(migrations);
      channel = createTestChannel();
      const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });
      rig = await startNotify(database, channel, { log });
    });
    afterAll(async () => {
      await rig.close();
      await database.close();
    });
    beforeEach(async () => {
      channel.sent.length = 0;
      channel.obstruct(async () => undefined);
      lines.length = 0;
      await db().deleteFrom('suppressed_addresses').execute();
    });

    const db = () => database.queries<NotifyTables>();
    const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' };
    const reason = '550 5.1.1 no such user';
    const gone = (...addresses: string[]) =>
      suppress(
        db(),
        addresses.map((address) => ({ address, reason, blocks: 'all' })),
      );
    const refuse = (...addresses: string[]) =>
      channel.obstruct(async () => {
        throw new ChannelFailure('the SMTP server refused it', {
          refused: addresses.map((address) => ({ address, reason })),
        });
      });

    it.each(['gone@bücher.example', "o'neil&sons@example.com", 'gone@example.xn--p1ai', 'somebody'])(
      'are erased with the person: %s',
      async (address) => {
        await gone(addressOf(address) ?? address, 'other@example.com');
        const listed = await rig.call('GET', `/people/mails?address=${encodeURIComponent(address)}`);
        expect(listed.body.suppression).toMatchObject({ reason });
        const { status, body } = await rig.post('/people/erasure', { userId: randomUUID(), address });
        expect([status, body.removed]).toEqual([200, { mails: 0, events: 0, suppressions: 1, files: 0 }]);
      },
    );

    it('are erased with the bounces that name them, and with no others', async () => {
      const events = () => db().selectFrom('notify_events').select('reason').orderBy('event_id').execute();
      const left = [...(await events()), { reason: '<joann@a.example> is full' }, { reason: null }];
      const bounced = { type: 'email.bounced', bounce_type: 'Transient', to: ['other@example.com'] };
      for (const bounce of ['<ann@a.example> is full', 'ANN@A.example: 4.2.2', '<joann@a.example> is full', undefined])
        await rig.post('/emails/events', { ...bounced, id: randomUUID(), email_id: randomUUID(), reason: bounce });
      const { body } = await rig.post('/people/erasure', { userId: randomUUID(), address: 'ann@a.example' });
      expect(body.removed).toEqual({ mails: 0, events: 2, suppressions: 0, files: 0 });
      expect(await events()).toEqual(left);
    });

    it('that an earlier version stored with a Unicode domain match after a start', async () => {
      const rows = [
        { address: 'a@bücher.example', reason: 'one', created_at: new Date(1000) },
        { address: 'b@bücher.example', reason: 'earlier', created_at: new Date(1000) },
        { address: 'b@xn--bcher-kva.example', reason: 'later', created_at: new Date(2000) },
        { address: 'c@bücher.example', reason: 'later', created_at: new Date(2000) },
        { address: 'c@xn--bcher-kva.example', reason: 'earlier', created_at: new Date(1000) },
        { address: 'dä@example.com', reason: 'local part', created_at: new Date(1000) },
      ];
      await db().insertInto('suppressed_addresses').values(rows).execute();
      const started = await Promise.all([startNotify(database, channel), startNotify(database, channel)]);
      for (const other of started) await other.close();
      const { body } = await rig.call('GET', '/suppressions');
      const listed = (body.suppressions as { address: string; reason: string; since: string }[]).map(
        ({ address, reason: why, since }) => [address, why, Date.parse(since)],
      );
      expect(listed).toEqual([
        ['a@xn--bcher-kva.example', 'one', 1000],
        ['b@xn--bcher-kva.example', 'earlier', 1000],
        ['c@xn--bcher-kva.example', 'earlier', 1000],
        ['dä@example.com', 'local part', 1000],
      ]);
      expect((await rig.post('/emails', { ...mail, to: 'a@Bücher.example' })).status).toBe(422);
    });

    describe('an email', () => {
      it('without another recipient is 422, naming them, and is not tried', async () => {
        await gone('b@example.com', 'c@example.com');
        const { status, body } = await rig.post('/emails', {
          ...mail,
          to: ['B. <B@Example.com>', 'c@example.com'],
          bcc: 'b@example.com',
        });
        expect([status, body.error, body.suppressed]).toEqual([
          422,
          'recipient_suppressed',
          ['b@example.com', 'c@example.com'],
        ]);
        expect(body.message).toContain('b@example.com');
        expect(body).toMatchObject({ name: 'recipient_suppressed', statusCode: 422 });
        expect(channel.sent).toEqual([]);
      });

      it('is sent to the others, and the response names the suppressed ones', async () => {
        await gone('b@example.com', 'd@example.com', 'f@example.com');
        const { status, body } = await rig.post('/emails', {
          ...mail,
          to: ['b@example.com', 'Carl <c@example.com>'],
          cc: ['d@example.com', 'e@example.com'],
          bcc: ['F@example.com', 'g@example.com'],
        });
        const [sent] = channel.sent;
        expect([status, body]).toEqual([
          200,
          { id: `provider-${sent?.id}`, suppressed: ['b@example.com', 'd@example.com', 'f@example.com'] },
        ]);
        expect(sent?.mail).toMatchObject({
          to: ['Carl <c@example.com>'],
          cc: ['e@example.com'],
          bcc: ['g@example.com'],
        });
      });

      it('is sent to copies if all of `to` are suppressed', async () => {
        await gone('b@example.com');
        const { status, body } = await rig.post('/emails', { ...mail, bcc: 'c@example.com' });
        expect([status, body.suppressed]).toEqual([200, ['b@example.com']]);
        expect(channel.sent[0]?.mail).toMatchObject({ to: [], bcc: ['c@example.com'] });
      });

      it('to other addresses only lists none as suppressed', async () => {
        await gone('z@example.com');
        expect((await rig.post('/emails', mail)).body).toEqual({ id: `provider-${channel.sent[0]?.id}` });
      });

      it('returns the same response if repeated, regardless of changes of the list', async () => {
        await gone('b@example.com');
        const key = newKey();
        const request = { ...mail, to: ['b@example.com', 'c@example.com'] };
        const first = await rig.post('/emails', request, key);
        expect(first.body.suppressed).toEqual(['b@example.com']);
        await rig.call('DELETE', '/suppressions/b@example.com');
        expect(await rig.post('/emails', request, key)).toEqual(first);
        expect(channel.sent).toHaveLength(1);
      });

      it('that returned 422 does not occupy its key', async () => {
        await gone('b@example.com');
        const key = newKey();
        expect((await rig.post('/emails', mail, key)).status).toBe(422);
        expect((await rig.post('/emails', mail, key)).status).toBe(422);
        expect((await rig.post('/emails', { ...mail, to: 'c@example.com' }, key)).status).toBe(200);
        expect(channel.sent.map((send) => send.mail.to)).toEqual([['c@example.com']]);
      });

      it('returns 422 for all concurrent requests with one key', async () => {
        await gone('b@example.com');
        const key = newKey();
        const answers = await Promise.all(Array.from({ length: 5 }, () => rig.post('/emails', mail, key)));
        expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422]);
        expect(
          await db()
            .selectFrom('notify_sends')
            .select('id')
            .where('idempotency_key', '=', key['idempotency-key'])
            .execute(),
        ).toEqual([]);
      });
    });

    describe('a notification', () => {
      it('is skipped when its reader is suppressed, by account or by contact', async () => {
        const email = `${randomUUID()}@example.com`;
        const accounts = database.queries<AccountTables>();
        const { id: userId } = await ensureProfile(accounts, { id: randomUUID(), email });
        await gone(email, 'left@example.com');
        for (const contact of [undefined, { email: 'Left@example.com' }]) {
          const key = newKey();
          for (const _turn of [1, 2]) {
            const answer = await rig.post('/notify', { type: 'account_deletion.deleted', userId, contact }, key);
            expect(answer).toEqual({ status: 200, body: { skipped: true, reason: 'suppressed' } });
          }
        }
        expect(channel.sent).toEqual([]);
        await rig.call('DELETE', `/suppressions/${email}`);
        expect((await rig.post('/notify', { type: 'account_deletion.deleted', userId })).body.delivered).toHaveLength(
          1,
        );
      });

      it('about the account reaches a person who complained, and a product mail does not', async () => {
        const email = `${randomUUID()}@example.com`;
        const { id: userId } = await ensureProfile(database.queries<AccountTables>(), { id: randomUUID(), email });
        const events = (type: string, more: object = {}) =>
          rig.post('/emails/events', { id: randomUUID(), email_id: randomUUID(), type, to: [email], ...more });
        await events('email.complained');
        const send = async (type: string) => (await rig.post('/notify', { type, userId })).body;
        expect(await send('daily_digest')).toEqual({ skipped: true, reason: 'suppressed' });
        expect((await rig.post('/emails', { ...mail, to: email })).status).toBe(422);
        for (const type of ['account_deletion.scheduled', 'account_deletion.deleted'])
          expect((await send(type)).delivered).toHaveLength(1);
        const reasons = async () =>
          ((await rig.call('GET', '/suppressions')).body.suppressions as { reason: string }[]).map((one) => one.reason);
        expect(await reasons()).toEqual(['complained']);
        // A missing mailbox blocks every mail, whatever came first.
        await events('email.bounced', { bounce_type: 'Permanent' });
        await events('email.complained');
        expect(await reasons()).toEqual(['bounced']);
        expect(await send('account_deletion.deleted')).toEqual({ skipped: true, reason: 'suppressed' });
      });
    });

    describe('an address', () => {
      it('is suppressed if its mailbox is rejected, unlike the others of the email', async () => {
        refuse('b@example.com');
        expect((await rig.post('/emails', { ...mail, cc: 'c@example.com' })).status).toBe(500);
        channel.obstruct(async () => undefined);
        expect((await rig.post('/emails', mail)).status).toBe(422);
        expect((await rig.post('/emails', { ...mail, to: 'c@example.com' })).status).toBe(200);
        const { body } = await rig.call('GET', '/suppressions');
        expect(body).toEqual({
          suppressions: [{ address: 'b@example.com', reason, since: expect.stringMatching(/^\d{4}-.*Z$/) }],
          next_cursor: null,
        });
      });

      it('receives email again after its removal from the list', async () => {
        await gone('b@example.com');
        const answer = await rig.call('DELETE', `/suppressions/${encodeURIComponent('B@Example.com')}`);
        expect([answer.status, answer.body]).toEqual([204, {}]);
        expect((await rig.post('/emails', mail)).status).toBe(200);
        const again = await rig.call('DELETE', '/suppressions/b@example.com');
        expect([again.status, again.body.error]).toEqual([404, 'not_found']);
      });
    });

    it('a refusal that is not about the mailbox suppresses none, and its words are in the log', async () => {
      channel.obstruct(async () => {
        throw new ChannelFailure('the SMTP server did not accept the email', {
          cause: new Error('all recipients were rejected: 550 relay not permitted'),
        });
      });
      expect((await rig.post('/emails', mail)).status).toBe(500);
      expect(lines.some((line) => line.includes('550 relay not permitted'))).toBe(true);
      channel.obstruct(async () => undefined);
      expect((await rig.post('/emails', mail)).status).toBe(200);
    });

    it('a send that a crash left is given up when its reader is suppressed', { timeout: 30_000 }, async () => {
      await gone('b@example.com');
      const left = { ...mail, to: [mail.to], cc: [], bcc: [], replyTo: [], headers: {} };
      const id = await leaveSend(database, { body: mail, mail: left });
      await expect
        .poll(
          async () =>
            (await db().selectFrom('notify_sends').select('status').where('id', '=', id).execute())[0]?.status,
          { timeout: 20_000, interval: 200 },
        )
        .toBe('failed');
      expect(channel.sent).toEqual([]);
    });

    describe('GET /suppressions', () => {
      it('lists all, page by page', async () => {
        const addresses = Array.from({ length: 7 }, (_, at) => `u${at}@example.com`);
        await gone(...addresses.toReversed());
        const found: unknown[] = [];
        let cursor: unknown = '';
        for (let pages = 0; cursor !== null; pages++) {
          expect(pages).toBeLessThan(4);
          const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(String(cursor))}`;
          const { body } = await rig.call('GET', `/suppressions?limit=3${after}`);
          found.push(...(body.suppressions as { address: string }[]).map(({ address }) => address));
          cursor = body.next_cursor;
        }
        expect(found).toEqual(addresses);
      });

      it('is empty without suppressions', async () => {
        expect((await rig.call('GET', '/suppressions')).body).toEqual({ suppressions: [], next_cursor: null });
      });

      it.each(['limit=0', 'limit=201', 'limit=x', 'cursor=', 'cursor=x', 'cursor=%00', `cursor=${'x'.repeat(600)}`])(
        'with %s is 400',
        async (query) => {
          const { status, body } = await rig.call('GET', `/suppressions?${query}`);
          expect([status, body.error]).toEqual([400, 'invalid_request']);
          expect((body.issues as { path: string }[])[0]?.path).toBe(`querystring.${query.split('=')[0]}`);
        },
      );
    });

    it.each(['nobody', 'a@b', 'Bert <b@example.com>', 'b@example.com%00', 'b@example.com%0d%0a'])(
      'DELETE /suppressions/%s is 400',
      async (address) => {
        const { status, body } = await rig.call('DELETE', `/suppressions/${address}`);
        expect([status, (body.issues as { path: string }[])[0]?.path]).toEqual([400, 'params.address']);
      },
    );

    it.each<[string, string, Record<string, string>]>([
      ['GET', '/suppressions', {}],
      ['GET', '/suppressions', { 'x-internal-key': 'wrong' }],
      ['DELETE', '/suppressions/b@example.com', {}],
      ['DELETE', '/suppressions/b@example.com', { authorization: `Bearer ${internalKey}x` }],
    ])('%s %s with %j is 401', async (method, path, headers) => {
      await gone('b@example.com');
      expect((await fetch(rig.url + path, { method, headers })).status).toBe(401);
      expect((await rig.post('/emails', mail)).status).toBe(422);
    });
  });
});
