import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Mail, recipientsOf } from '../mail.ts';
import type { Channel, ChannelFailure } from './channel.ts';
import { openChannel } from './open.ts';

const mail: Mail = {
  from: 'Ann <a@example.com>',
  to: ['b@example.com', 'Bert <c@example.com>'],
  cc: ['d@example.com'],
  bcc: ['e@example.com'],
  replyTo: ['f@example.com'],
  subject: 'Grüße 🎈 an alle',
  html: '<p>Grüße</p>',
  text: 'Grüße',
  headers: { 'List-Unsubscribe': '<https://example.com/u>' },
  attachments: [
    { filename: 'Rechnung ü.pdf', content: Buffer.from('%PDF-1').toString('base64') },
    { filename: 'logo.png', content: 'iVBORw0=', contentType: 'image/png', contentId: 'logo' },
  ],
  tags: [{ name: 'campaign', value: 'spring' }],
};
const settings = { resendApiKey: undefined, resendBaseUrl: 'http://127.0.0.1:9', smtpUrl: 'outbox' };
const send = (channel: Channel, id: string = randomUUID(), timeoutMs = 5000) =>
  channel.send(mail, { id, signal: AbortSignal.timeout(timeoutMs) });
const failure = (sending: Promise<string>) => sending.then(String, (error: ChannelFailure) => error);

async function expectMail(raw: Buffer | string) {
  const read = await PostalMime.parse(raw);
  expect(read.from).toMatchObject({ name: 'Ann', address: 'a@example.com' });
  expect(read.to?.map(({ address }) => address)).toEqual(['b@example.com', 'c@example.com']);
  expect(read.cc?.map(({ address }) => address)).toEqual(['d@example.com']);
  expect(read.replyTo?.map(({ address }) => address)).toEqual(['f@example.com']);
  expect([read.subject, read.html?.trim(), read.text?.trim()]).toEqual([mail.subject, mail.html, mail.text]);
  expect(read.headers.find(({ key }) => key === 'list-unsubscribe')?.value).toBe('<https://example.com/u>');
  expect(
    read.attachments.map(({ filename, mimeType, contentId, content }) => [
      filename,
      mimeType,
      contentId,
      Buffer.from(content as ArrayBuffer).toString('base64'),
    ]),
  ).toEqual([
    ['logo.png', 'image/png', '<logo>', 'iVBORw0='],
    ['Rechnung ü.pdf', 'application/pdf', undefined, 'JVBERi0x'],
  ]);
  expect(read.headers.find(({ key }) => key === 'x-tags')?.value).toBe('campaign=spring');
  return read;
}

describe('the outbox', () => {
  let dataDir: string;
  let channel: Channel;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'outbox-'));
    channel = await openChannel(settings, dataDir);
  });
  afterAll(() => rm(dataDir, { recursive: true }));

  it('writes one complete file per email, and the same file for the same send', async () => {
    const id = randomUUID();
    expect([await send(channel, id), await send(channel, id)]).toEqual([id, id]);
    expect(await readdir(join(dataDir, 'outbox'))).toEqual([`${id}.eml`]);
    const read = await expectMail(await readFile(join(dataDir, 'outbox', `${id}.eml`)));
    expect(read.messageId).toBe(`<${id}@example.com>`);
    expect(read.bcc?.map(({ address }) => address)).toEqual(['e@example.com']);
  });

  it('removes the drafts of a killed process when it is opened, and no other file', async () => {
    const folder = join(dataDir, 'outbox');
    const draft = (name: string) => join(folder, `.${name}.eml.${randomUUID()}`);
    const [old, young, note] = [draft('a'), draft('b'), join(folder, 'note.txt')];
    for (const path of [old, young, note]) await writeFile(path, 'Subject: a\r\n\r\n');
    for (const path of [old, note]) await utimes(path, 0, 0);
    const again = await openChannel(settings, dataDir);
    await again.close();
    const left = (await readdir(folder)).map((name) => join(folder, name));
    expect([old, young, note].map((path) => left.includes(path))).toEqual([false, true, true]);
    await rm(young);
    await rm(note);
  });

  it('forgets the emails to an address, and none to an address that ends in it', async () => {
    const [own, other] = [randomUUID(), randomUUID()];
    const options = (id: string) => ({ id, signal: AbortSignal.timeout(5000) });
    await channel.send({ ...mail, to: ['Ann <ann@example.net>'] }, options(own));
    await channel.send({ ...mail, to: ['Joann <joann@example.net>'] }, options(other));
    expect(await channel.forget?.('ann@example.net')).toBe(1);
    const left = await readdir(join(dataDir, 'outbox'));
    expect(left).not.toContain(`${own}.eml`);
    expect(left).toContain(`${other}.eml`);
  });

  it.each([
    ['"Ann @ Acme" <a@example.com>', 'Ann @ Acme'],
    ['"Ann \\"The Pen\\" Lee" <a@example.com>', 'Ann "The Pen" Lee'],
    ['"<b@example.com>" <a@example.com>', '<b@example.com>'],
    ['Lee, Ann <a@example.com>', 'Lee, Ann'],
    ['Sales: Ann <a@example.com>', 'Sales: Ann'],
    ['"Ann <a@example.com>', '"Ann'],
    ['<a@example.com>', ''],
    [' A@Example.com ', ''],
  ])('sends to the one address of %s, with its name', async (to, name) => {
    const id = randomUUID();
    await channel.send({ ...mail, to: [to] }, { id, signal: AbortSignal.timeout(5000) });
    const read = await PostalMime.parse(await readFile(join(dataDir, 'outbox', `${id}.eml`)));
    expect(read.to?.map((one) => [one.name, one.address?.toLowerCase()])).toEqual([[name, 'a@example.com']]);
    expect(recipientsOf({ ...mail, to: [to], cc: [], bcc: [] })).toEqual(['a@example.com']);
  });

  it('forgets the emails to an address, and not those to a longer one', async () => {
    const deliver = (to: string) =>
      channel.send({ ...mail, to: [to] }, { id: randomUUID(), signal: AbortSignal.timeout(5000) });
    await deliver('ann@bücher.example');
    await deliver('Ann <ANN@xn--bcher-kva.example>');
    const kept = [await deliver('joann@bücher.example'), await deliver('ann@bücher.example.org')];
    const before = (await readdir(join(dataDir, 'outbox'))).length;
    expect(await channel.forget?.('ann@xn--bcher-kva.example')).toBe(2);
    const left = await readdir(join(dataDir, 'outbox'));
    expect(left).toEqual(expect.arrayContaining(kept.map((id) => `${id}.eml`)));
    expect(left).toHaveLength(before - 2);
  });
});

describe('the provider’s HTTP API', () => {
  let server: Server;
  let channel: Channel;
  let answers: ((response: ServerResponse) => void)[];
  const requests: { headers: IncomingMessage['headers']; url?: string | undefined; body: unknown }[] = [];
  const say = (status: number, body: unknown, headers: Record<string, string> = {}) => {
    return (response: ServerResponse) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      requests.push({
        headers: request.headers,
        url: request.url,
        body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      });
      (answers.length > 1 ? answers.shift() : answers[0])?.(response);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const resendBaseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
    channel = await openChannel({ ...settings, resendBaseUrl, resendApiKey: 'key' }, '/nowhere');
  });
  afterEach(() => requests.splice(0));
  afterAll(async () => {
    await channel.close();
    server.closeAllConnections();
    server.close();
  });

  it('receives the email in its format, with the send as its idempotency key', async () => {
    answers = [say(200, { id: 'from-the-provider' })];
    const id = randomUUID();
    expect(await send(channel, id)).toBe('from-the-provider');
    const [call] = requests;
    expect(call?.url).toBe('/base/emails');
    expect([call?.headers.authorization, call?.headers['idempotency-key']]).toEqual(['Bearer key', id]);
    const { replyTo, attachments = [], ...rest } = mail;
    const [pdf, logo] = attachments;
    expect(call?.body).toEqual({
      ...rest,
      reply_to: replyTo,
      attachments: [
        pdf,
        { filename: 'logo.png', content: logo?.content, content_type: 'image/png', content_id: 'logo' },
      ],
    });
  });

  it.each([
    ['429 with seconds', say(429, {}, { 'retry-after': '1' })],
    ['429 with a date', say(429, {}, { 'retry-after': new Date(Date.now() + 1000).toUTCString() })],
    ['429 with nothing', say(429, {})],
    ['503', say(503, {})],
    ['a reset connection', (response: ServerResponse) => response.destroy()],
  ])('is asked again after %s, with the same key', async (_name, first) => {
    answers = [first, say(200, { id: 'x' })];
    expect(await send(channel)).toBe('x');
    expect(requests).toHaveLength(2);
    expect(requests[0]?.headers['idempotency-key']).toBe(requests[1]?.headers['idempotency-key']);
  });

  it('is asked once if the date of Retry-After is years ahead', async () => {
    answers = [say(429, {}, { 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' })];
    expect(await failure(send(channel, randomUUID(), 300))).toBeInstanceOf(Error);
    expect(requests).toHaveLength(1);
  });

  it('waits for the time of Retry-After', async () => {
    const startedAt = performance.now();
    answers = [say(429, {}, { 'retry-after': '2' }), say(200, { id: 'x' })];
    expect(await send(channel)).toBe('x');
    expect(performance.now() - startedAt).toBeGreaterThan(1900);
  });

  it.each([
    [['c@example.com'], [], { to: ['c@example.com'], cc: undefined }],
    [[], ['c@example.com'], { to: ['c@example.com'], cc: undefined }],
    // Blind copies stay hidden from the other recipients.
    [[], [], { to: ['Ann <a@example.com>'], cc: undefined }],
  ])('is given somebody in `to`, with %j and copies to %j', async (to, cc, expected) => {
    answers = [say(200, { id: 'x' })];
    await channel.send({ ...mail, to, cc }, { id: randomUUID(), signal: AbortSignal.timeout(5000) });
    expect(requests[0]?.body).toMatchObject({ ...JSON.parse(JSON.stringify(expected)), bcc: ['e@example.com'] });
    expect(requests[0]?.body).not.toHaveProperty('cc');
  });

  it('is quoted when it refuses', async () => {
    answers = [say(403, { statusCode: 403, name: 'validation_error', message: 'The domain is not verified.' })];
    expect(await failure(send(channel))).toMatchObject({
      message: 'the email provider returned 403 validation_error: The domain is not verified.',
    });
  });

  it.each([
    ['200 without an id', say(200, {})],
    ['200 with an empty id', say(200, { id: '' })],
    ['200 with an id that is no text', say(200, { id: 7 })],
    ['200 that is no JSON', (response: ServerResponse) => response.end('<html>')],
    ['202', say(202, { id: 'x' })],
    ['a redirect', say(307, { id: 'x' }, { location: '/elsewhere' })],
    ['401', say(401, {})],
    ['409', say(409, {})],
    ['422', say(422, { message: 'no' })],
    ['500', say(500, { id: 'x' })],
    ['429 for longer than there is time', say(429, {}, { 'retry-after': '3600' })],
    ['nothing', () => undefined],
  ])('has failed with %s', async (_name, answer) => {
    answers = [answer];
    expect(await failure(send(channel, randomUUID(), 1500))).toBeInstanceOf(Error);
  });
});

describe('SMTP', () => {
  let server: SMTPServer;
  let channel: Channel;
  const taken: { raw: Buffer; to: string[]; user: unknown }[] = [];
  const refuse = (text: string, code: number) => Object.assign(new Error(text), { responseCode: code });
  const options: SMTPServerOptions = {
    authMethods: ['PLAIN', 'LOGIN'],
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss/word' ? done(null, { user: username }) : done(refuse('no', 535)),
    onRcptTo: ({ address }, _session, done) => {
      if (refusals.has(address)) return done(refusals.get(address));
      return done();
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        taken.push({
          raw: Buffer.concat(chunks),
          to: session.envelope.rcptTo.map(({ address }) => address),
          user: session.user,
        });
        done(dataFailure);
      });
    },
  };
  const refusals = new Map<string, Error>();
  let dataFailure: Error | null = null;
  let address: string;
  beforeAll(async () => {
    server = new SMTPServer(options);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    address = `127.0.0.1:${(server.server.address() as AddressInfo).port}`;
    channel = await openChannel({ ...settings, smtpUrl: `smtp://user:p%40ss%2Fword@${address}` }, '/nowhere');
  });
  afterEach(() => {
    taken.length = 0;
    refusals.clear();
    dataFailure = null;
  });
  afterAll(async () => {
    await channel.close();
    await new Promise<void>((closed) => server.close(closed));
  });

  it('delivers the email to all recipients, without the names of hidden ones', async () => {
    const id = randomUUID();
    expect(await send(channel, id)).toBe(`<${id}@example.com>`);
    const [{ raw, to, user } = { raw: '', to: [], user: '' }] = taken;
    const read = await expectMail(raw);
    expect(read.bcc ?? []).toEqual([]);
    expect(to.sort()).toEqual(['b@example.com', 'c@example.com', 'd@example.com', 'e@example.com']);
    expect(user).toBe('user');
  });

  it.each<[string, number, string, boolean]>([
    ['its mailbox is unknown', 550, '5.1.1 no such user', true],
    ['it has moved', 551, '5.1.6 moved', true],
    ['it is unknown, in the old words', 550, 'no such user', true],
    ['its mailbox is full', 452, '4.2.2 full', false],
    ['our server is on a list', 550, '5.7.1 blocked', false],
    ['the relay does not know us', 550, 'relay not permitted', false],
    ['our address is not known', 550, 'Sender verify failed', false],
    ['it is greylisted', 450, '4.7.1 later', false],
  ])('has failed when one recipient is refused because %s', async (_name, code, text, isForGood) => {
    refusals.set('c@example.com', refuse(text, code));
    const error = (await failure(send(channel))) as ChannelFailure;
    const reason = expect.stringContaining(text);
    expect(error.refused).toEqual(isForGood ? [{ address: 'c@example.com', reason }] : []);
    // The other recipients got it.
    expect(taken[0]?.to.toSorted()).toEqual(['b@example.com', 'd@example.com', 'e@example.com']);
  });

  it('has failed when all recipients are refused', async () => {
    for (const name of ['b', 'c', 'd', 'e']) refusals.set(`${name}@example.com`, refuse('5.1.1 no', 550));
    const error = (await failure(send(channel))) as ChannelFailure;
    expect(error.refused.map((one) => one.address).toSorted()).toEqual([
      'b@example.com',
      'c@example.com',
      'd@example.com',
      'e@example.com',
    ]);
  });

  it('fails if the email itself is rejected', async () => {
    dataFailure = refuse('5.7.0 no', 554);
    expect(((await failure(send(channel))) as ChannelFailure).refused).toEqual([]);
  });

  it.each([
    ['a wrong password', () => `smtp://user:wrong@${address}`],
    ['nobody there', () => 'smtp://127.0.0.1:9'],
  ])('has failed with %s', async (_name, smtpUrl) => {
    const other = await openChannel({ ...settings, smtpUrl: smtpUrl() }, '/nowhere');
    expect(await failure(send(other))).toBeInstanceOf(Error);
    await other.close();
  });

  it('fails at the deadline if the server hangs', async () => {
    const still = new NetServer(() => undefined);
    await new Promise<void>((listening) => still.listen(0, '127.0.0.1', listening));
    const smtpUrl = `smtp://127.0.0.1:${(still.address() as AddressInfo).port}`;
    const other = await openChannel({ ...settings, smtpUrl }, '/nowhere');
    expect(await failure(send(other, randomUUID(), 300))).toBeInstanceOf(Error);
    await other.close();
    still.close();
  });
});
