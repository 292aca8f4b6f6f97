/** Scheduled mails, batches, and the status of a mail (docs/specification/notify.md#emails). */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#platform/db/db.ts';
import { laneEngines } from '../../test/database.fixture.ts';
import {
  type Answer,
  internalKey,
  type NotifyPair,
  newKey,
  startNotifyPair,
  type TestChannel,
} from '../../test/notify/notify.fixture.ts';
import { suppress } from './suppressionstore.ts';
import type { NotifyTables } from './tables.ts';

const pathOf = ({ body }: Answer) => (body.issues as { path: string }[])[0]?.path;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const dayMs = 24 * 3600 * 1000;

describe.each(laneEngines)('emails on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let pair: NotifyPair;
    let database: Database;
    let channel: TestChannel;
    let rigs: NotifyPair['rigs'];
    beforeAll(async () => {
      pair = await startNotifyPair(engine);
      ({ database, channel, rigs } = pair);
    });
    afterAll(() => pair.close());
    beforeEach(() => pair.reset());

    const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' };
    const post = (body: unknown, headers?: Record<string, string>) => rigs[0].post('/emails', body, headers);
    const show = async (id: unknown) => (await rigs[1].call('GET', `/emails/${encodeURIComponent(String(id))}`)).body;
    const typesOf = (body: Answer['body']) => (body.events as { type: string }[]).map(({ type }) => type);
    /** Waits until the first attempt has failed and the next one is planned: a job also waits before its first attempt. */
    const failedOnce = (id: string) =>
      expect
        .poll(async () => {
          const seen = await show(id);
          return typesOf(seen).includes('delivery_delayed') && seen.next_attempt_at !== null;
        })
        .toBe(true);

    describe('attachments, headers and tags', () => {
      it('reach the channel', async () => {
        const answer = await post({
          ...mail,
          attachments: [
            { filename: 'a.txt', content: 'aGVs\nbG8=' },
            {
              filename: 'b.png',
              content: { type: 'Buffer', data: [104, 105] },
              content_type: 'image/png',
              content_id: 'b',
            },
          ],
          headers: { 'X-Entity-Ref': '7', 'List-Unsubscribe': '<https://example.com/u>' },
          tags: [{ name: 'kind', value: 'invoice' }],
        });
        expect(answer.status).toBe(200);
        expect(channel.sent[0]?.mail).toMatchObject({
          attachments: [
            { filename: 'a.txt', content: 'aGVsbG8=' },
            { filename: 'b.png', content: 'aGk=', contentType: 'image/png', contentId: 'b' },
          ],
          headers: { 'X-Entity-Ref': '7', 'List-Unsubscribe': '<https://example.com/u>' },
          tags: [{ name: 'kind', value: 'invoice' }],
        });
        expect((await show(answer.body.id)).tags).toEqual([{ name: 'kind', value: 'invoice' }]);
      });

      it('are accepted up to 40 MiB', async () => {
        const content = Buffer.alloc(28 * 1024 * 1024, 7).toString('base64');
        const attachments = [{ filename: 'large.bin', content }];
        // Scheduled, so that the speed of the machine does not matter.
        const { status, body } = await post({ ...mail, attachments, scheduled_at: inMs(dayMs) });
        expect(status).toBe(200);
        await rigs[0].post(`/emails/${body.id}/cancel`, {});
        const over = { filename: 'over.bin', content: 'A'.repeat(13 * 1024 * 1024) };
        expect((await post({ ...mail, attachments: [over, over, over, over] })).status).toBe(413);
      }, 60_000);

      it.each<[string, object, string]>([
        [
          'a path',
          { attachments: [{ filename: 'a', content: 'aGk=', path: 'https://example.com/a' }] },
          'body.attachments.0.path',
        ],
        ['no content', { attachments: [{ filename: 'a' }] }, 'body.attachments.0.content'],
        [
          'content that is not base64',
          { attachments: [{ filename: 'a', content: '%%' }] },
          'body.attachments.0.content',
        ],
        ['no filename', { attachments: [{ content: 'aGk=' }] }, 'body.attachments.0.filename'],
        [
          'a filename of two lines',
          { attachments: [{ filename: 'a\r\nb', content: 'aGk=' }] },
          'body.attachments.0.filename',
        ],
        [
          'a bad type',
          { attachments: [{ filename: 'a', content: 'aGk=', content_type: 'x' }] },
          'body.attachments.0.content_type',
        ],
        ['51 attachments', { attachments: Array(51).fill({ filename: 'a', content: 'aGk=' }) }, 'body.attachments'],
        ['a header of two lines', { headers: { 'X-A': 'a\r\nBcc: x@example.com' } }, 'body.headers.X-A'],
        ['a header that is not one', { headers: { 'X A': 'a' } }, 'body.headers.X A'],
        ['a header with a parameter of its own', { headers: { bcc: 'x@example.com' } }, 'body.headers.bcc'],
        ['a header of the content', { headers: { 'Content-Type': 'text/x' } }, 'body.headers.Content-Type'],
        ['a tag with a space', { tags: [{ name: 'a b', value: 'c' }] }, 'body.tags.0.name'],
        ['a time without an offset', { scheduled_at: '2026-12-01T10:00:00' }, 'body.scheduled_at'],
        ['a time in words', { scheduled_at: 'in 1 hour' }, 'body.scheduled_at'],
        ['a time in more than 30 days', { scheduled_at: inMs(30 * dayMs + 50_000) }, 'body.scheduled_at'],
      ])('with %s are 400', async (_name, change, path) => {
        const answer = await post({ ...mail, ...change });
        expect([answer.status, pathOf(answer)]).toEqual([400, path]);
        expect(channel.sent).toEqual([]);
      });
    });

    describe('a scheduled email', () => {
      it('waits for its time, is sent once, and shows it', async () => {
        const { status, body } = await post({ ...mail, scheduled_at: inMs(4000) });
        expect([status, Object.keys(body)]).toEqual([200, ['id']]);
        expect(await show(body.id)).toMatchObject({
          id: body.id,
          to: ['b@example.com'],
          subject: 'Hello',
          text: mail.text,
          status: 'scheduled',
          events: [],
        });
        expect(channel.sent).toEqual([]);
        await expect.poll(async () => (await show(body.id)).status, { timeout: 20_000 }).toBe('sent');
        expect(channel.sent.map(({ id }) => id)).toEqual([body.id]);
        expect(typesOf(await show(body.id))).toEqual(['sent']);
        // The content is deleted as soon as it is sent.
        expect(await show(body.id)).toMatchObject({ from: null, html: null, text: null });
      });

      it('in the past is sent immediately', async () => {
        const { body } = await post({ ...mail, scheduled_at: '2020-01-01T00:00:00+02:00' });
        expect(body.id).toBe(`provider-${channel.sent[0]?.id}`);
      });

      it('is accepted once per key, and conflicts with another time', async () => {
        const key = newKey();
        const scheduled_at = inMs(dayMs);
        const first = await post({ ...mail, scheduled_at }, key);
        expect(await rigs[1].post('/emails', { ...mail, scheduled_at }, key)).toEqual(first);
        expect((await post({ ...mail, scheduled_at: inMs(2 * dayMs) }, key)).status).toBe(409);
      });

      it('can be canceled until it is sent, also repeatedly', async () => {
        const { body } = await post({ ...mail, scheduled_at: inMs(30 * dayMs) });
        for (const rig of rigs)
          expect(await rig.post(`/emails/${body.id}/cancel`, {})).toEqual({
            status: 200,
            body: { object: 'email', id: body.id },
          });
        expect(await show(body.id)).toMatchObject({ status: 'canceled', events: [{ type: 'canceled' }] });
        const sent = await post(mail);
        const late = await rigs[0].post(`/emails/${sent.body.id}/cancel`, {});
        expect([late.status, late.body.error, late.body.name]).toEqual([409, 'not_cancelable', 'not_cancelable']);
      });

      it('is not sent when it is canceled while it is due', { timeout: 60_000 }, async () => {
        // A mail that is accepted later is sent at once, or canceled in time.
        const dueAt = Date.now() + 2000;
        const scheduled_at = new Date(dueAt).toISOString();
        const ids = await Promise.all(
          Array.from({ length: 20 }, async () => String((await post({ ...mail, scheduled_at })).body.id)),
        );
        const canceled: string[] = [];
        await Promise.all(
          ids.map(async (id, at) => {
            await sleep(Math.max(0, dueAt - Date.now()) + (at - 10) * 20);
            if ((await rigs[at % 2 === 0 ? 0 : 1].post(`/emails/${id}/cancel`, {})).status === 200) canceled.push(id);
          }),
        );
        const sent = () => channel.sent.map(({ id }) => id);
        await expect.poll(() => [...sent(), ...canceled].toSorted(), { timeout: 20_000 }).toEqual(ids.toSorted());
      });

      it('is tried again when a try fails, and shows why', { timeout: 60_000 }, async () => {
        let tries = 0;
        channel.obstruct(async () => {
          tries += 1;
          if (tries === 1) throw new Error('550 not now');
        });
        const { body } = await post({ ...mail, scheduled_at: inMs(3000) });
        await expect.poll(async () => (await show(body.id)).status, { timeout: 30_000 }).toBe('sent');
        const { events } = await show(body.id);
        expect(events).toEqual([
          { type: 'delivery_delayed', reason: '550 not now', created_at: expect.any(String) },
          { type: 'sent', reason: null, created_at: expect.any(String) },
        ]);
      });

      it('to suppressed addresses only fails', async () => {
        await suppress(database.queries<NotifyTables>(), [
          { address: 'gone@example.com', reason: 'bounced', blocks: 'all' },
        ]);
        const { body } = await post({ ...mail, to: 'gone@example.com', scheduled_at: inMs(3000) });
        await expect.poll(async () => (await show(body.id)).status, { timeout: 20_000 }).toBe('failed');
      });
    });

    describe('a batch', () => {
      it('is sent in the background, each email once, and repeats under its key', async () => {
        const key = newKey();
        const mails = Array.from({ length: 100 }, (_, at) => ({ ...mail, to: `u${at}@example.com` }));
        const first = await rigs[0].post('/emails/batch', mails, key);
        expect(first.status).toBe(200);
        const ids = (first.body.data as { id: string }[]).map(({ id }) => id);
        expect(new Set(ids).size).toBe(100);
        expect(await rigs[1].post('/emails/batch', mails, key)).toEqual(first);
        expect((await rigs[1].post('/emails/batch', mails.slice(1), key)).status).toBe(409);
        await expect.poll(() => channel.sent.length, { timeout: 30_000 }).toBe(100);
        expect(channel.sent.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
        expect(channel.sent.find(({ id }) => id === ids[7])?.mail.to).toEqual(['u7@example.com']);
      });

      it('that two callers send concurrently is accepted once', async () => {
        const key = newKey();
        const answers = await Promise.all(
          Array.from({ length: 6 }, (_, at) => rigs[at % 2 === 0 ? 0 : 1].post('/emails/batch', [mail, mail], key)),
        );
        expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
        await expect.poll(() => channel.sent.length, { timeout: 20_000 }).toBe(2);
      });

      it.each<[string, unknown, string]>([
        ['no mail', [], 'body'],
        ['101 mails', Array(101).fill(mail), 'body'],
        ['a mail without a recipient', [mail, { ...mail, to: 'x' }], 'body.1.to'],
        ['a mail without content', [{ ...mail, text: '' }], 'body.0.html'],
        ['an object', mail, 'body'],
      ])('of %s is 400, and nothing is sent', async (_name, body, path) => {
        const answer = await rigs[0].post('/emails/batch', body);
        expect([answer.status, pathOf(answer), answer.body.name]).toEqual([400, path, 'invalid_request']);
        expect(channel.sent).toEqual([]);
      });
    });

    describe('POST /emails/:id/retry', () => {
      const retry = async (id: string, rig = rigs[0]) => {
        const { status, body } = await rig.post(`/emails/${id}/retry`, {});
        return [status, body.error];
      };

      it('sends a failed email, once, and its caller gets the result', { timeout: 30_000 }, async () => {
        channel.obstruct(async () => {
          throw new Error('not now');
        });
        const key = newKey();
        const id = String((await post(mail, key)).body.id);
        channel.obstruct(async () => undefined);
        const answers = await Promise.all([retry(id), retry(id, rigs[1]), retry(id)]);
        expect(new Set(answers.map(([status]) => status))).not.toContain(500);
        expect(answers).toContainEqual([200, undefined]);
        await expect.poll(async () => (await show(id)).status, { timeout: 20_000 }).toBe('sent');
        expect(await post(mail, key)).toMatchObject({ status: 200 });
        expect(channel.sent).toHaveLength(1);
        expect(await retry(id)).toEqual([409, 'not_retryable']);
      });

      it('makes the next attempt of a delayed email due now', { timeout: 30_000 }, async () => {
        channel.obstruct(async () => {
          throw new Error('not now');
        });
        const { body } = await rigs[0].post('/emails/batch', [mail]);
        const [{ id } = { id: '' }] = body.data as { id: string }[];
        await failedOnce(id);
        await sql`update jobs set run_at = now() + interval '1 hour' where unique_key = ${id}`.execute(
          database.queries(),
        );
        channel.obstruct(async () => undefined);
        expect(await retry(id)).toEqual([200, undefined]);
        await expect.poll(async () => (await show(id)).status, { timeout: 20_000 }).toBe('sent');
        expect(channel.sent).toHaveLength(1);
      });

      it('refuses an email that was due more than a day ago, or was canceled', async () => {
        channel.obstruct(async () => {
          throw new Error('not now');
        });
        const id = String((await post(mail)).body.id);
        await sql`update notify_sends set created_at = now() - interval '25 hours' where id = ${id}`.execute(
          database.queries(),
        );
        expect(await retry(id)).toEqual([409, 'not_retryable']);
        const later = String((await post({ ...mail, scheduled_at: inMs(dayMs) })).body.id);
        await rigs[0].post(`/emails/${later}/cancel`, {});
        expect(await retry(later)).toEqual([409, 'not_retryable']);
      });
    });

    describe('GET /emails/:id', () => {
      it('shows why an email failed, by the provider’s id or ours', async () => {
        channel.obstruct(async () => {
          throw new Error('the domain is not verified');
        });
        const key = newKey();
        expect((await post(mail, key)).status).toBe(500);
        const rows = await database
          .queries<NotifyTables>()
          .selectFrom('notify_sends')
          .select('id')
          .where('idempotency_key', '=', key['idempotency-key'])
          .execute();
        expect(await show(rows[0]?.id)).toMatchObject({
          status: 'failed',
          events: [{}, { type: 'failed', reason: 'the domain is not verified' }],
        });
      });

      it('shows when the job of a failed email, or that of its caller, tries it again', async () => {
        channel.obstruct(async () => {
          throw new Error('not now');
        });
        const key = newKey();
        const failed = String((await post(mail, key)).body.id);
        expect([(await show(failed)).status, (await show(failed)).next_attempt_at]).toEqual(['failed', null]);
        // As the jobs of other services: their key is that of the email, or its last word.
        const due = inMs(60_000);
        const put = (name: string) =>
          sql`insert into jobs (queue, unique_key, payload, run_at)
          values ('tests/callers', ${name}, '{}', ${due})`.execute(database.queries());
        await put(key['idempotency-key']);
        expect((await show(failed)).next_attempt_at).toBe(due);
        const list = async (status: string) =>
          (await rigs[0].call('GET', `/emails?status=${status}`)).body.data as { id: string }[];
        expect((await list('delayed'))[0]).toMatchObject({ id: failed, status: 'failed', next_attempt_at: due });
        expect((await list('failed')).map(({ id }) => id)).not.toContain(failed);
        const second = { 'idempotency-key': `account_export.ready ${randomUUID()}` };
        const export_ = String((await post(mail, second)).body.id);
        await put(second['idempotency-key'].split(' ')[1] ?? '');
        expect((await show(export_)).next_attempt_at).toBe(due);

        const { body: batch } = await rigs[0].post('/emails/batch', [mail]);
        const [{ id: delayed } = { id: '' }] = batch.data as { id: string }[];
        await failedOnce(delayed);
        expect((await list('delayed'))[0]).toMatchObject({ id: delayed, status: 'scheduled' });
        await sql`delete from jobs where queue = 'tests/callers'`.execute(database.queries());
        expect((await list('failed')).map(({ id }) => id)).toEqual(expect.arrayContaining([failed, export_]));
        expect((await list('delayed')).map(({ id }) => id)).not.toContain(failed);
      });

      it.each(['nothing', randomUUID(), '%00', 'x'.repeat(600)])('of %s is an error', async (id) => {
        const isBad = id === '%00' || id.length > 512;
        const answer = await rigs[0].call('GET', `/emails/${id}`);
        expect([answer.status, answer.body.error]).toEqual(isBad ? [400, 'invalid_request'] : [404, 'not_found']);
        for (const action of isBad ? [] : ['cancel', 'retry'])
          expect((await rigs[0].post(`/emails/${id}/${action}`, {})).status).toBe(404);
      });

      it.each([
        ['GET', '/emails/x'],
        ['POST', '/emails/x/cancel'],
        ['POST', '/emails/x/retry'],
        ['POST', '/emails/batch'],
        ['POST', '/emails/events'],
        ['GET', '/types'],
        ['POST', '/types/daily_digest/preview'],
      ])('%s %s needs the key', async (method, path) => {
        expect((await fetch(rigs[0].url + path, { method })).status).toBe(401);
        const bearer = await fetch(rigs[0].url + path, { method, headers: { authorization: `Bearer ${internalKey}` } });
        expect(bearer.status === 401).toBe(!path.startsWith('/emails') || path.endsWith('events'));
      });
    });

    describe('a message of the provider', () => {
      const take = (event: object) =>
        rigs[0]
          .post('/emails/events', { id: randomUUID(), to: ['b@example.com'], ...event })
          .then(({ status }) => status);
      const suppressed = async () =>
        (
          (await rigs[0].call('GET', '/suppressions?limit=200')).body.suppressions as {
            address: string;
            reason: string;
          }[]
        ).map(({ address, reason }) => `${address} ${reason}`);
      beforeEach(() => database.queries<NotifyTables>().deleteFrom('suppressed_addresses').execute());

      it('of a delivery is noted, once, and a later bounce or complaint counts more', async () => {
        const { body } = await post(mail);
        const event = { id: randomUUID(), type: 'email.delivered', email_id: body.id };
        expect([await take(event), await take(event)]).toEqual([204, 204]);
        expect(await show(body.id)).toMatchObject({
          status: 'delivered',
          events: [{ type: 'sent' }, { type: 'delivered' }],
        });
        await take({ type: 'email.complained', email_id: body.id });
        expect((await show(body.id)).status).toBe('complained');
        expect(await suppressed()).toEqual(['b@example.com complained']);
        expect((await post(mail)).status).toBe(422);
      });

      it('of a bounce suppresses the recipient that it is about', async () => {
        const bounced = {
          type: 'email.bounced',
          email_id: randomUUID(),
          bounce_type: 'Permanent',
          reason: 'no such user',
        };
        await take({ ...bounced, to: ['Bert <B@Example.com>'] });
        await take({ ...bounced, to: ['c@example.com', 'cc@example.com'], reason: '<cc@example.com>: unknown' });
        await take({ ...bounced, to: ['d@example.com', 'e@example.com'] });
        await take({ ...bounced, to: ['f@example.com'], bounce_type: 'Transient' });
        expect(await suppressed()).toEqual([
          'b@example.com bounced: no such user',
          'cc@example.com bounced: <cc@example.com>: unknown',
        ]);
      });

      it('of another kind is ignored', async () => {
        expect(await take({ type: 'email.opened', email_id: randomUUID() })).toBe(204);
      });
    });
  });
});
