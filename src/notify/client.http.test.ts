/** `POST /emails` is compatible with the provider's send request (document 002): its own client library drives it. */
import { Resend } from 'resend';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrations } from '#migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { openTestDatabase } from '../../test/database.ts';
import {
  createTestChannel,
  internalKey,
  type NotifyRig,
  newKey,
  startNotify,
  type TestChannel,
} from './notify.testing.ts';

let database: Database;
let channel: TestChannel;
let rig: NotifyRig;
let resend: Resend;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
  channel = createTestChannel();
  rig = await startNotify(database, channel);
  resend = new Resend('not looked at', { baseUrl: rig.url });
});
afterAll(async () => {
  await rig.close();
  await database.close();
});

const headers = { 'X-Internal-Key': internalKey };
const mail = { from: 'Ann <a@example.com>', to: ['b@example.com'], subject: 'Hello', html: '<p>Hello</p>' };

it('sends, and repeats under a key', async () => {
  const key = newKey();
  const full = { ...mail, cc: 'c@example.com', bcc: ['d@example.com'], replyTo: 'e@example.com', text: 'Hello' };
  const first = await resend.emails.send(full, { headers: { ...headers, ...key } });
  const again = await resend.emails.send(full, { headers: { ...headers, ...key } });
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

it.each([
  ['a wrong key', mail, { 'X-Internal-Key': 'wrong' }, 'unauthorized'],
  ['nobody to send to', { ...mail, to: [] }, headers, 'invalid_request'],
])('is told of %s', async (_name, request, sent, code) => {
  const { data, error } = await resend.emails.send(request, { headers: sent });
  expect(data).toBeNull();
  expect(error).toMatchObject({ error: code, message: expect.any(String) });
});
