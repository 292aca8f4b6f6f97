/** `POST /emails` is compatible with the provider's send request (docs/specification/notify.md#emails): its own client library drives it. */
import { Resend } from 'resend';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';
import {
  createTestChannel,
  internalKey,
  type NotifyRig,
  newKey,
  startNotify,
  type TestChannel,
} from '../../test/notify/notify.fixture.ts';

let database: Database;
let channel: TestChannel;
let rig: NotifyRig;
let resend: Resend;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
  channel = createTestChannel();
  rig = await startNotify(database, channel);
  resend = new Resend(internalKey, { baseUrl: rig.url });
});
afterAll(async () => {
  await rig.close();
  await database.close();
});

const mail = { from: 'Ann <a@example.com>', to: ['b@example.com'], subject: 'Hello', html: '<p>Hello</p>' };

it('sends with the internal key as its API key, and repeats under an idempotency key', async () => {
  const key = newKey();
  const full = { ...mail, cc: 'c@example.com', bcc: ['d@example.com'], replyTo: 'e@example.com', text: 'Hello' };
  const first = await resend.emails.send(full, { headers: key });
  const again = await resend.emails.send(full, { headers: key });
  expect(first.error).toBeNull();
  expect(again.data).toEqual(first.data);
  expect(first.data?.id).toBe(`provider-${channel.sent[0]?.id}`);
  expect(channel.sent.map((send) => send.mail)).toEqual([
    {
      from: full.from,
      to: full.to,
      cc: ['c@example.com'],
      bcc: full.bcc,
      replyTo: ['e@example.com'],
      subject: full.subject,
      html: full.html,
      text: full.text,
      headers: {},
    },
  ]);
});

it.each<[string, object, Record<string, string>, string, number]>([
  ['a wrong X-Internal-Key, which decides alone', {}, { 'X-Internal-Key': 'wrong' }, 'unauthorized', 401],
  ['no recipient', { to: [] }, {}, 'invalid_request', 400],
])('reads the error of %s', async (_name, change, headers, name, statusCode) => {
  const { data, error } = await resend.emails.send({ ...mail, ...change }, { headers });
  expect(data).toBeNull();
  expect(error).toMatchObject({ name, statusCode, message: expect.any(String), error: name });
});

it('reads the error of a wrong key', async () => {
  const stranger = new Resend('another key', { baseUrl: rig.url });
  expect((await stranger.emails.send(mail)).error).toMatchObject({ name: 'unauthorized', statusCode: 401 });
});
