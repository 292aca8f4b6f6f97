/** From a rejection by a real SMTP server to the effect on later mails to the same addresses. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';
import { type NotifyRig, startNotify } from '../../test/notify/notify.fixture.ts';
import type { Channel } from './channels/channel.ts';
import { openChannel } from './channels/open.ts';

let database: Database;
let server: SMTPServer;
let channel: Channel;
let rig: NotifyRig;
const lines: string[] = [];
const taken: string[][] = [];
let refusal: (recipient: string) => Error | undefined = () => undefined;

beforeAll(async () => {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: ({ address }, _session, done) => done(refusal(address)),
    onData: (stream, session, done) => {
      stream.resume();
      stream.on('end', () => {
        taken.push(session.envelope.rcptTo.map(({ address }) => address));
        done();
      });
    },
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.server.address() as AddressInfo;
  channel = await openChannel(
    { resendApiKey: undefined, resendBaseUrl: 'http://127.0.0.1:9', smtpUrl: `smtp://127.0.0.1:${port}` },
    '/nowhere',
  );
  database = await openTestDatabase(migrations);
  const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  rig = await startNotify(database, channel, { log });
});
afterAll(async () => {
  await rig.close();
  await database.close();
  await new Promise<void>((closed) => server.close(closed));
});
beforeEach(() => {
  taken.length = 0;
  lines.length = 0;
});

const refuse = (words: string, responseCode = 550) => Object.assign(new Error(words), { responseCode });
const send = (to: readonly string[]) =>
  rig.post('/emails', { from: 'a@example.com', to, subject: 'Hello', text: 'Hello' });

it.each(['relay not permitted', 'Sender verify failed', '5.7.1 blocked', '5.1.8 Sender address rejected'])(
  'after "550 %s" the same recipient gets the next mail',
  async (words) => {
    refusal = () => refuse(words);
    expect((await send(['carol@example.com'])).status).toBe(500);
    expect(lines.some((line) => line.includes(words))).toBe(true);
    refusal = () => undefined;
    expect((await send(['carol@example.com'])).status).toBe(200);
    expect(taken).toEqual([['carol@example.com']]);
  },
);

it('a refused address is suppressed however its domain is written', async () => {
  refusal = () => refuse('5.1.1 no mailbox');
  expect((await send(['gone@bücher.example'])).status).toBe(500);
  refusal = () => undefined;
  for (const address of [
    'gone@bücher.example',
    'Gone@BÜCHER.example',
    'gone@xn--bcher-kva.example',
    'gone@bücher.ｅxample',
  ])
    expect([address, (await send([address])).status]).toEqual([address, 422]);
  expect(taken).toEqual([]);
});

it.each(['5.1.1 mailbox not here', 'No such user'])('after "550 %s" only the others do', async (words) => {
  const [dead, alive] = [`dead-${words.length}@example.com`, 'alive@example.com'];
  refusal = (recipient) => (recipient === dead ? refuse(words) : undefined);
  const { status, body: failed } = await send([dead, alive]);
  expect(status).toBe(500);
  const email = (await rig.call('GET', `/emails/${failed.id}`)).body;
  expect([email.status, email.accepted, email.suppressed]).toEqual(['failed', [alive], [dead]]);
  refusal = () => undefined;
  expect((await send([dead])).status).toBe(422);
  expect((await send([dead, alive])).body.suppressed).toEqual([dead]);
  expect(taken).toEqual([[alive], [alive]]);
  const { body } = await rig.call('GET', '/suppressions');
  expect(body.suppressions).toContainEqual({
    address: dead,
    reason: `550 ${words}`,
    since: expect.any(String),
  });
});
