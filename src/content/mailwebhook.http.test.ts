/** `POST /webhooks/resend`, signed with the library of the standard, as far as the suppression in notify. */
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { type ContentRig, startContent } from '../../test/content/cms.fixture.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';
import { createTestChannel, internalKey, type NotifyRig, startNotify } from '../../test/notify/notify.fixture.ts';

const webhookSecret = `whsec_${Buffer.from('a secret of 24 bytes or so').toString('base64')}`;

let database: Database;
let notify: NotifyRig;
let content: ContentRig;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
  notify = await startNotify(database, createTestChannel());
  content = await startContent(database, { notify: { url: notify.url, internalKey }, webhookSecret });
});
afterAll(async () => {
  await content.close();
  await notify.close();
  await database.close();
});

interface Change {
  readonly at?: Date;
  readonly secret?: string;
  readonly sent?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly id?: string;
}

function deliver(
  body: string,
  { at = new Date(), secret = webhookSecret, sent = body, headers, id = `msg_${randomUUID()}` }: Change = {},
) {
  return fetch(`${content.url}/webhooks/resend`, {
    method: 'POST',
    headers: headers ?? {
      'content-type': 'application/json',
      'svix-id': id,
      'svix-timestamp': String(Math.floor(at.getTime() / 1000)),
      'svix-signature': new Webhook(secret).sign(id, at, body),
    },
    body: sent,
  });
}

const event = (type: string, data: object) => JSON.stringify({ type, created_at: new Date().toISOString(), data });
const bounce = (to: string, emailId: string = randomUUID()) =>
  event('email.bounced', {
    email_id: emailId,
    to: [to],
    bounce: { type: 'Permanent', subType: 'General', message: 'The mailbox does not exist.' },
  });
const suppressed = async () => {
  const { body } = await notify.call('GET', '/suppressions');
  return (body.suppressions as { address: string }[]).map(({ address }) => address);
};

it('a bounce suppresses its address, and is shown on the email', async () => {
  const mail = { from: 'a@example.com', to: 'gone@example.com', subject: 'Hello', text: 'Hello' };
  const { body } = await notify.post('/emails', mail);
  const [id, message] = ['msg_1', bounce('gone@example.com', String(body.id))];
  expect((await deliver(message, { id })).status).toBe(204);
  expect((await deliver(message, { id })).status).toBe(204);
  expect(await suppressed()).toContain('gone@example.com');
  const shown = await notify.call('GET', `/emails/${body.id}`);
  expect(shown.body).toMatchObject({
    status: 'bounced',
    events: [{ type: 'sent' }, { type: 'bounced', reason: 'The mailbox does not exist.' }],
  });
  expect((await notify.post('/emails', mail)).status).toBe(422);
});

it('a bounce whose reason is cut within a character is noted', async () => {
  const message = `${'x'.repeat(1999)}\u{1f4ee} ${'x'.repeat(1000)}`;
  const data = { email_id: randomUUID(), to: ['long@example.com'], bounce: { type: 'Permanent', message } };
  expect((await deliver(event('email.bounced', data))).status).toBe(204);
  expect(await suppressed()).toContain('long@example.com');
});

describe('a message', () => {
  const body = bounce('safe@example.com');

  it.each<[string, Change]>([
    ['with another secret', { secret: `whsec_${Buffer.from('another secret of 24 bytes').toString('base64')}` }],
    ['whose body was changed', { sent: body.replace('safe@', 'other@') }],
    ['of six minutes ago', { at: new Date(Date.now() - 360_000) }],
    ['of the future', { at: new Date(Date.now() + 360_000) }],
    ['without a signature', { headers: { 'content-type': 'application/json' } }],
    ['with an empty signature', { headers: { 'svix-id': 'a', 'svix-timestamp': '1', 'svix-signature': '' } }],
    [
      'with an unknown version',
      {
        headers: {
          'svix-id': 'a',
          'svix-timestamp': String(Math.floor(Date.now() / 1000)),
          'svix-signature': 'v2,aaaa',
        },
      },
    ],
  ])('%s is 401', async (_name, change) => {
    const response = await deliver(body, change);
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([401, 'invalid_signature']);
    expect(await suppressed()).not.toContain('safe@example.com');
  });

  it.each(['', 'x', '[]', '{"type":7}', '{"type":"email.bounced","data":{"to":7}}'])(
    '%j is 400, though signed',
    async (text) => {
      expect((await deliver(text)).status).toBe(400);
    },
  );

  it.each([
    event('contact.created', { id: 'x' }),
    event('email.opened', { email_id: 'x', to: ['a@example.com'] }),
    event('domain.updated', {}),
  ])('of another type is acknowledged: %s', async (text) => {
    expect((await deliver(text)).status).toBe(204);
  });

  it('is 413 when it is too large', async () => {
    expect((await deliver(JSON.stringify({ type: 'x'.repeat(300_000) }))).status).toBe(413);
  });
});

it('rejects every signature without a secret', async () => {
  const closed = await startContent(database, { notify: { url: notify.url, internalKey } });
  const response = await fetch(`${closed.url}/webhooks/resend`, { method: 'POST', body: bounce('x@example.com') });
  expect(response.status).toBe(401);
  await closed.close();
});

it('returns 503 while notify is down, so that the provider retries', async () => {
  const alone = await startContent(database, { webhookSecret });
  const [id, body] = ['msg_away', bounce('x@example.com')];
  const at = new Date();
  const response = await fetch(`${alone.url}/webhooks/resend`, {
    method: 'POST',
    headers: {
      'svix-id': id,
      'svix-timestamp': String(Math.floor(at.getTime() / 1000)),
      'svix-signature': new Webhook(webhookSecret).sign(id, at, body),
    },
    body,
  });
  expect(response.status).toBe(503);
  await alone.close();
}, 20_000);
