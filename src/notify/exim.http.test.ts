/** Mails through a real mail server, and what its answers do to later mails (docs/specification/notify.md#suppression). */
import { randomUUID } from 'node:crypto';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';
import { type Exim, skipWithoutExim, startExim } from '../../test/notify/exim.fixture.ts';
import { type NotifyRig, startNotify } from '../../test/notify/notify.fixture.ts';
import type { Channel } from './channels/channel.ts';
import { openChannel } from './channels/open.ts';

describe.skipIf(skipWithoutExim)('Exim', () => {
  let exim: Exim;
  let database: Database;
  let channel: Channel;
  let rig: NotifyRig;
  const connect = (smtpUrl: string) =>
    openChannel({ resendApiKey: undefined, resendBaseUrl: 'http://127.0.0.1:9', smtpUrl }, '/nowhere');

  beforeAll(async () => {
    exim = await startExim();
    channel = await connect(exim.url);
    database = await openTestDatabase(migrations);
    rig = await startNotify(database, channel);
  });
  afterAll(async () => {
    await rig?.close();
    await database?.close();
    await exim?.close();
  });

  const send = (to: readonly string[], more: object = {}) =>
    rig.post('/emails', { from: 'Atelier <noreply@example.com>', to, subject: 'Grüße 🎈', text: 'Hello', ...more });
  const mailsOf = async (mailbox: string) =>
    Promise.all((await exim.mailsOf(mailbox)).map((raw) => PostalMime.parse(raw)));
  const arrived = (mailbox: string, subject: string) =>
    expect
      .poll(async () => (await mailsOf(mailbox)).filter((mail) => mail.subject === subject), { timeout: 20_000 })
      .toHaveLength(1);
  const suppressions = async (at = rig) => {
    const { body } = await at.call('GET', '/suppressions');
    return (body.suppressions as { address: string }[]).map(({ address }) => address);
  };

  it('delivers a complete email', async () => {
    const { status } = await send(['Ann <ann@example.com>'], {
      cc: ['bert@example.com'],
      html: '<p>Grüße</p>',
      headers: { 'X-Campaign': 'spring' },
      attachments: [{ filename: 'Rechnung ü.pdf', content: Buffer.from('%PDF-1').toString('base64') }],
    });
    expect(status).toBe(200);
    for (const mailbox of ['ann', 'bert']) await arrived(mailbox, 'Grüße 🎈');
    const [mail] = await mailsOf('ann');
    expect([mail?.from?.address, mail?.text?.trim(), mail?.html?.trim()]).toEqual([
      'noreply@example.com',
      'Hello',
      '<p>Grüße</p>',
    ]);
    expect(mail?.headers.find(({ key }) => key === 'x-campaign')?.value).toBe('spring');
    expect(mail?.attachments.map(({ filename }) => filename)).toEqual(['Rechnung ü.pdf']);
  });

  it('suppresses a mailbox that does not exist, and delivers to the others', async () => {
    const mail = { subject: 'To a missing mailbox' };
    expect((await send(['nobody@example.com', 'ann@example.com'], mail)).status).toBe(500);
    await arrived('ann', mail.subject);
    expect(await suppressions()).toContain('nobody@example.com');
    expect(await send(['nobody@example.com'])).toMatchObject({
      status: 422,
      body: { error: 'recipient_suppressed', suppressed: ['nobody@example.com'] },
    });
  });

  it('sends the retry of a partly refused email to the missing recipients alone', async () => {
    const subject = 'To one that is gone';
    const key = { 'idempotency-key': randomUUID() };
    const body = { from: 'a@example.com', to: ['lost@example.com', 'bert@example.com'], subject, text: 'Hello' };
    expect((await rig.post('/emails', body, key)).status).toBe(500);
    const again = await rig.post('/emails', body, key);
    expect([again.status, again.body.suppressed]).toEqual([200, ['lost@example.com']]);
    // Exim delivers in order, so a second copy would be there before this email.
    await send(['bert@example.com'], { subject: 'After the retry' });
    await arrived('bert', 'After the retry');
    await arrived('bert', subject);
  });

  it('retries an email of a batch for the greylisted recipient alone', async () => {
    const subject = 'To one that is greylisted';
    const mail = { from: 'a@example.com', to: ['busy@example.com', 'ann@example.com'], subject, text: 'Hello' };
    const accepted = await rig.post('/emails/batch', [mail]);
    const [{ id } = { id: '' }] = accepted.body.data as { id: string }[];
    const attempts = async () => {
      const { events } = (await rig.call('GET', `/emails/${id}`)).body as { events?: { type: string }[] };
      return (events ?? []).filter(({ type }) => type === 'delivery_delayed').length;
    };
    await expect.poll(attempts, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
    await arrived('ann', subject);
  });

  it.each([
    ['to another domain, which it does not relay for', 'ann@elsewhere.example'],
    ['to a mailbox that it greylists', 'busy@example.com'],
    ['that it refuses by policy', 'blocked@example.com'],
  ])('suppresses no address for a mail %s', async (_title, address) => {
    expect((await send([address])).status).toBe(500);
    expect(await suppressions()).not.toContain(address);
  });

  it('suppresses no recipient for an email that is too large', async () => {
    const content = Buffer.alloc(1_500_000).toString('base64');
    expect((await send(['bert@example.com'], { attachments: [{ filename: 'large.bin', content }] })).status).toBe(500);
    expect(await suppressions()).not.toContain('bert@example.com');
  });

  it.each([
    ['a wrong password', (url: string) => url.replace('p%40ss', 'wrong')],
    ['no password', (url: string) => url.replace(/\/\/.*@/, '//')],
  ])('refuses %s, and no address is suppressed', async (_title, change) => {
    const other = await connect(change(exim.url));
    // A database of its own, because workers on one database send each other's email.
    const itsDatabase = await openTestDatabase(migrations);
    const stranger = await startNotify(itsDatabase, other);
    const mail = { from: 'a@example.com', to: ['ann@example.com'], subject: 'Hello', text: 'Hello' };
    expect((await stranger.post('/emails', mail)).status).toBe(500);
    expect(await suppressions(stranger)).toEqual([]);
    await stranger.close();
    await itsDatabase.close();
  });
});
