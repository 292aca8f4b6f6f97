import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { plans } from '#accounts/api.ts';
import {
  type AccountTables,
  ensureProfile,
  readUnsubscribeSecret,
  setFirstLanguage,
  setOpenNotification,
  unsubscribe,
} from '#accounts/store.ts';
import { readUnsubscribe } from '#accounts/unsubscribing.ts';
import { migrations } from '#app/migrations.ts';
import type { Database, Db } from '#platform/db/db.ts';
import { contentLanguages } from '#platform/language.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';
import {
  createTestChannel,
  internalKey,
  type NotifyRig,
  startNotify,
  type TestChannel,
} from '../../test/notify/notify.fixture.ts';

let database: Database;
let accounts: Db<AccountTables>;
let channel: TestChannel;
let rig: NotifyRig;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
  accounts = database.queries<AccountTables>();
  channel = createTestChannel();
  rig = await startNotify(database, channel);
});
afterAll(async () => {
  await rig.close();
  await database.close();
});
beforeEach(() => {
  channel.sent.length = 0;
  channel.obstruct(async () => undefined);
});

const newUser = async (facts: Partial<Parameters<typeof ensureProfile>[1]> = {}) =>
  (await ensureProfile(accounts, { id: randomUUID(), email: `${randomUUID()}@example.com`, ...facts })).id;
const issuesOf = (body: Readonly<Record<string, unknown>>) =>
  (body.issues as { path: string }[]).map(({ path }) => path);

describe.each(['/notify', '/emails'])('credentials of %s', (path) => {
  it.each([
    ['no key', {}, 401],
    ['a wrong key', { 'x-internal-key': 'wrong' }, 401],
    ['an empty key', { 'x-internal-key': '' }, 401],
    ['a token', { authorization: 'Bearer a.b.c' }, 401],
  ])('with %s: %j', async (_name, headers: Record<string, string>, status) => {
    const answer = await rig.app.inject({ method: 'POST', url: path, headers, payload: {} });
    expect([answer.statusCode, answer.json().error]).toEqual([status, 'unauthorized']);
  });

  it.each([{}, { 'x-internal-key': internalKey }, { 'x-internal-key': '' }])(
    'is 500 with %j where INTERNAL_KEY is not configured',
    async (headers) => {
      const other = await startNotify(database, createTestChannel(), { internalKeys: [] });
      const answer = await other.app.inject({ method: 'POST', url: path, headers, payload: {} });
      expect([answer.statusCode, answer.json().error]).toEqual([500, 'internal_key_not_configured']);
      expect((await other.app.inject('/health')).json()).toEqual({ status: 'ok', service: 'notify' });
      await other.close();
    },
  );
});

describe('POST /notify', () => {
  it('delivers to the address of the user', async () => {
    const userId = await newUser({ email: 'reader@example.com' });
    const { status, body } = await rig.post('/notify', { type: 'daily_digest', userId });
    const [{ id, mail } = { id: '', mail: undefined }] = channel.sent;
    expect([status, body]).toEqual([200, { delivered: [{ channel: 'email', providerId: `provider-${id}` }] }]);
    expect(mail).toMatchObject({ from: 'Atelier <noreply@example.com>', to: ['reader@example.com'], cc: [], bcc: [] });
  });

  it.each<[string, unknown, string[]]>([
    ['nothing', {}, ['body.type', 'body.userId']],
    ['no type', { userId: randomUUID() }, ['body.type']],
    ['an empty type', { type: '', userId: randomUUID() }, ['body.type']],
    ['null', { type: null, userId: null }, ['body.type', 'body.userId']],
    ['no userId', { type: 'daily_digest' }, ['body.userId']],
    ['an empty userId', { type: 'daily_digest', userId: '' }, ['body.userId']],
    ['no userId of an unknown type', { type: 'x' }, ['body.userId']],
  ])('refuses %s', async (_name, request, paths) => {
    const { status, body } = await rig.post('/notify', request);
    expect([status, body.error, body.message]).toEqual([400, 'invalid_request', 'type and userId are required']);
    expect(issuesOf(body)).toEqual(paths);
  });

  it.each<[string, object, string]>([
    ['a userId that is no UUID', { userId: 'me' }, 'body.userId'],
    ['a type that is no text', { type: 5 }, 'body.type'],
    ['data that are no object', { data: [] }, 'body.data'],
    ['a contact that is no object', { contact: 'reader@example.com' }, 'body.contact'],
    ...[
      'no address',
      'a@b',
      'a@example.com\r\nBcc: b@example.com',
      'Reader <reader@example.com>',
      'a@example.com, b@example.com',
      '@example.com',
      'a@@example.com',
      'a@-example.com',
    ].map((email): [string, object, string] => [JSON.stringify(email), { contact: { email } }, 'body.contact.email']),
  ])('refuses %s', async (_name, change, path) => {
    const request = { type: 'daily_digest', userId: randomUUID(), ...change };
    const { status, body } = await rig.post('/notify', request);
    expect([status, body.error, issuesOf(body)]).toEqual([400, 'invalid_request', [path]]);
    expect(channel.sent).toEqual([]);
  });

  it.each<[string, string, string?]>([
    ['nope', 'nope'],
    ['nope of a user without a UUID', 'nope', 'me'],
    ['DAILY_DIGEST', 'DAILY_DIGEST'],
    ['constructor', 'constructor'],
    ['<b>', '<b>'],
    ['account_deletion', 'account_deletion'],
    ['of 4,000 characters', 'long'.repeat(1000)],
  ])('rejects the unknown type %s', async (_name, type, userId = randomUUID()) => {
    const { status, body } = await rig.post('/notify', { type, userId });
    expect([status, body.error, body.message]).toEqual([
      400,
      'unknown_notification_type',
      `Unknown notification type: ${type}`,
    ]);
  });

  const accountMails = ['account_deletion.scheduled', 'account_deletion.deleted'];
  it.each<[string, () => Promise<string>, string | undefined, string | undefined]>([
    ['an unknown user', async () => randomUUID(), 'user_not_found', 'user_not_found'],
    [
      'a user without an address',
      async () => (await ensureProfile(accounts, { id: randomUUID() })).id,
      'user_not_found',
      'user_not_found',
    ],
    ['a user of the free plan', () => newUser(), undefined, undefined],
    ...plans
      .slice(1)
      .map((plan): [string, () => Promise<string>, string, undefined] => [
        `a user of the plan ${plan}`,
        () => newUser({ plan }),
        'plan_gate',
        undefined,
      ]),
    ['a user who switched notifications off', () => silent(), 'disabled_by_user', undefined],
    ['a paying user who switched them off', () => silent({ plan: 'pro' }), 'disabled_by_user', undefined],
  ])('%s', async (_name, makeUser, digest, account) => {
    const userId = await makeUser();
    for (const [type, reason] of [['daily_digest', digest], ...accountMails.map((name) => [name, account])]) {
      channel.sent.length = 0;
      const { status, body } = await rig.post('/notify', { type, userId });
      expect(status).toBe(200);
      if (reason === undefined) expect(body.delivered).toHaveLength(1);
      else expect(body).toEqual({ skipped: true, reason });
      expect(channel.sent).toHaveLength(reason === undefined ? 1 : 0);
    }
  });
  async function silent(facts: Partial<Parameters<typeof ensureProfile>[1]> = {}) {
    const userId = await newUser(facts);
    await setOpenNotification(accounts, userId, false);
    return userId;
  }

  it.each(['daily_digest', ...accountMails])('%s goes to the contact, without a look at the user', async (type) => {
    for (const userId of [randomUUID(), await silent({ plan: 'pro' })]) {
      channel.sent.length = 0;
      const contact = { email: 'left@example.com', locale: 'pt-BR' };
      expect((await rig.post('/notify', { type, userId, contact })).body.delivered).toHaveLength(1);
      expect(channel.sent[0]?.mail.to).toEqual(['left@example.com']);
      expect(channel.sent[0]?.mail.html).toContain('<html lang="pt">');
    }
  });

  it('of a product type does not go to a reader who unsubscribed, whoever is named', async () => {
    const email = `${randomUUID()}@example.com`;
    const [userId, other] = [await newUser(), randomUUID()];
    const send = async (type: string, to: { userId: string; contact?: object }) =>
      (await rig.post('/notify', { type, ...to })).body;
    expect((await send('daily_digest', { userId, contact: { email } })).delivered).toHaveLength(1);
    const link = channel.sent.at(-1)?.mail.headers['List-Unsubscribe'] ?? '';
    const unsubscription = readUnsubscribe(
      await readUnsubscribeSecret(accounts),
      new URL(link.slice(1, -1)).searchParams.get('token') ?? '',
    );
    if (unsubscription !== undefined) await unsubscribe(accounts, unsubscription);
    const skipped = { skipped: true, reason: 'disabled_by_user' };
    expect(await send('daily_digest', { userId })).toEqual(skipped);
    expect(await send('daily_digest', { userId, contact: { email } })).toEqual(skipped);
    expect(await send('daily_digest', { userId, contact: { email: 'another@example.com' } })).toEqual(skipped);
    expect(await send('daily_digest', { userId: other, contact: { email: email.toUpperCase() } })).toEqual(skipped);
    expect((await send('daily_digest', { userId: other, contact: { email: 'x@example.com' } })).delivered).toHaveLength(
      1,
    );
    expect((await send('account_deletion.deleted', { userId, contact: { email } })).delivered).toHaveLength(1);
    // The person turns the mails on again.
    await setOpenNotification(accounts, userId, true);
    expect((await send('daily_digest', { userId, contact: { email } })).delivered).toHaveLength(1);
    expect((await send('daily_digest', { userId: other, contact: { email } })).delivered).toHaveLength(1);
  });

  it('treats a contact without an address as absent', async () => {
    for (const contact of [{}, { email: '' }, { email: null }, { locale: 'de' }, null]) {
      const { body } = await rig.post('/notify', { type: 'daily_digest', userId: randomUUID(), contact });
      expect(body).toEqual({ skipped: true, reason: 'user_not_found' });
    }
  });

  it.each(contentLanguages)('writes to a user in %s', async (language) => {
    const userId = await newUser();
    await setFirstLanguage(accounts, userId, language);
    await rig.post('/notify', { type: 'daily_digest', userId, contact: { locale: 'fr' } });
    expect(channel.sent[0]?.mail.html).toContain(`<html lang="${language.replace('_', '-')}">`);
  });

  it.each([
    [undefined, 'en'],
    ['fr-CA', 'fr'],
    ['zh-HK', 'zh-TW'],
    ['xx', 'en'],
  ])('writes to a user without a language in the locale %s of the contact', async (locale, lang) => {
    await rig.post('/notify', { type: 'daily_digest', userId: await newUser(), contact: { locale } });
    expect(channel.sent[0]?.mail.html).toContain(`<html lang="${lang}">`);
  });

  it('is a 500 when the channel fails', async () => {
    channel.obstruct(async () => {
      throw new Error('the provider said: secret detail');
    });
    const { status, body } = await rig.post('/notify', { type: 'daily_digest', userId: await newUser() });
    expect([status, body.error]).toEqual([500, 'email_failed']);
    expect(JSON.stringify(body)).not.toContain('secret');
    // Only servers can look the reason up.
    const events = expect.arrayContaining([
      expect.objectContaining({ type: 'failed', reason: 'the provider said: secret detail' }),
    ]);
    expect((await rig.call('GET', `/emails/${body.id}`)).body).toMatchObject({ id: body.id, events });
  });
});

describe('POST /emails', () => {
  const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' };

  it('sends the given email, and returns the provider’s id', async () => {
    const full = {
      from: 'Ann <a@example.com>',
      to: ['b@example.com', 'Bert <c@example.com>'],
      subject: 'Grüße 🎈',
      html: '<b>Hi</b>',
      text: 'Hi',
      cc: 'd@example.com',
      bcc: ['e@example.com'],
      reply_to: 'f@example.com',
      topic_id: 'ignored',
    };
    const { status, body } = await rig.post('/emails', full);
    expect([status, body]).toEqual([200, { id: `provider-${channel.sent[0]?.id}` }]);
    expect(channel.sent[0]?.mail).toEqual({
      from: full.from,
      to: full.to,
      subject: full.subject,
      html: full.html,
      text: full.text,
      cc: ['d@example.com'],
      bcc: full.bcc,
      replyTo: ['f@example.com'],
      headers: {},
    });
  });

  it.each([
    ['text alone', { text: 'x' }, 200],
    ['html alone', { text: undefined, html: '<p>x</p>' }, 200],
    ['null for what is optional', { html: null, cc: null, bcc: null, reply_to: null }, 200],
    ['empty copies', { cc: [], bcc: [], reply_to: [] }, 200],
    ['50 recipients', { to: Array(50).fill('b@example.com') }, 200],
    ['a name in quotes', { to: '"B. Reader" <b@example.com>' }, 200],
    ['an address with a plus', { to: 'b+tag@sub.example.com' }, 200],
    ['an address in other letters', { to: 'b@bücher.example' }, 200],
  ])('takes %s', async (_name, change, status) => {
    expect((await rig.post('/emails', { ...mail, ...change })).status).toBe(status);
  });

  it.each<[string, object, string]>([
    ['no from', { from: undefined }, 'body.from'],
    ['no to', { to: undefined }, 'body.to'],
    ['no subject', { subject: undefined }, 'body.subject'],
    ['null for a subject', { subject: null }, 'body.subject'],
    ['an empty from', { from: '' }, 'body.from'],
    ['an empty to', { to: '' }, 'body.to'],
    ['nobody', { to: [] }, 'body.to'],
    ['an empty subject', { subject: '' }, 'body.subject'],
    ['a subject of two lines', { subject: 'a\r\nBcc: x@example.com' }, 'body.subject'],
    ['a subject with a line feed', { subject: 'a\nb' }, 'body.subject'],
    ['a subject with a NUL', { subject: 'a\u0000b' }, 'body.subject'],
    ['a subject with a separator of lines', { subject: 'a\u2028b' }, 'body.subject'],
    ['a subject that is too long', { subject: 'x'.repeat(999) }, 'body.subject'],
    ['a from of two lines', { from: 'a@example.com\r\nBcc: x@example.com' }, 'body.from'],
    ['a name of two lines', { from: 'A\r\nBcc: x <a@example.com>' }, 'body.from'],
    ['a to of two lines', { to: 'b@example.com\nCc: x@example.com' }, 'body.to'],
    ['two addresses in one text', { to: 'b@example.com, c@example.com' }, 'body.to'],
    ['a to that is no address', { to: 'nobody' }, 'body.to'],
    ['a cc that is no address', { cc: ['c@example.com', 'x'] }, 'body.cc'],
    ['a bcc with a line break', { bcc: 'c@example.com\r' }, 'body.bcc'],
    ['a reply_to that is no address', { reply_to: '<>' }, 'body.reply_to'],
    ['51 recipients', { to: Array(51).fill('b@example.com') }, 'body.to'],
    ['51 with copies', { to: Array(25).fill('b@example.com'), cc: Array(26).fill('b@example.com') }, 'body.to'],
    ['10,000 recipients', { bcc: Array(10_000).fill('b@example.com') }, 'body.bcc'],
    ['a number', { subject: 5 }, 'body.subject'],
    ['a html that is no text', { html: {} }, 'body.html'],
  ])('refuses %s', async (_name, change, path) => {
    const { status, body } = await rig.post('/emails', { ...mail, ...change });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
    expect(issuesOf(body)[0]).toMatch(new RegExp(`^${path}(\\.\\d+)?$`));
    expect(channel.sent).toEqual([]);
  });

  it.each([{ text: undefined }, { text: '' }, { text: '', html: '' }, { text: null, html: null }])(
    'fails in the channel with neither html nor text: %j',
    async (change) => {
      const { status, body } = await rig.post('/emails', { ...mail, ...change });
      expect([status, body.message]).toEqual([500, 'Either html or text must be provided']);
      expect(channel.sent).toEqual([]);
    },
  );

  it('returns 500 within 10 s if the channel hangs', async () => {
    channel.obstruct(() => new Promise(() => undefined));
    const startedAt = performance.now();
    expect((await rig.post('/emails', mail)).status).toBe(500);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe('text that cannot be stored', () => {
  const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' };
  const halves: readonly [string, string][] = [
    ['NUL', '\u0000'],
    ['the first half of a pair', '\ud83c'],
    ['the second half of a pair', '\udf88'],
  ];
  const emails: readonly [string, (bad: string) => object, string][] = [
    ['html', (bad) => ({ html: `<p>${bad}` }), 'body.html'],
    ['text', (bad) => ({ text: bad }), 'body.text'],
    ['the subject', (bad) => ({ subject: `a${bad}` }), 'body.subject'],
    ['the name of the sender', (bad) => ({ from: `A${bad} <a@example.com>` }), 'body.from'],
    ['the address of the sender', (bad) => ({ from: `a${bad}@example.com` }), 'body.from'],
    ['the name of a recipient', (bad) => ({ to: ['b@example.com', `B${bad} <b@example.com>`] }), 'body.to.1'],
    ['a quoted name', (bad) => ({ to: `"B${bad}" <b@example.com>` }), 'body.to'],
    ['a copy', (bad) => ({ cc: [`c@example.com${bad}`] }), 'body.cc.0'],
    ['a blind copy', (bad) => ({ bcc: `${bad}<c@example.com>` }), 'body.bcc'],
    ['the address for replies', (bad) => ({ reply_to: `c${bad} <c@example.com>` }), 'body.reply_to'],
    ['a field that is not known', (bad) => ({ tags: [{ name: bad }] }), 'body.tags.0.name'],
    ['the name of a field', (bad) => ({ headers: { [`x${bad}`]: 'y' } }), 'body.headers'],
  ];
  const notifications: readonly [string, (bad: string) => object, string][] = [
    ['type', (bad) => ({ type: `daily_digest${bad}` }), 'body.type'],
    ['userId', (bad) => ({ userId: bad }), 'body.userId'],
    ['data', (bad) => ({ data: { list: [{ deep: bad }] } }), 'body.data.list.0.deep'],
    ['the name of a field of data', (bad) => ({ data: { inner: { [bad]: 1 } } }), 'body.data.inner'],
    ['contact.email', (bad) => ({ contact: { email: `r${bad}@example.com` } }), 'body.contact.email'],
    ['contact.locale', (bad) => ({ contact: { locale: `de${bad}` } }), 'body.contact.locale'],
  ];

  describe.each(halves)('%s', (_half, bad) => {
    it.each(emails)('in %s of /emails is 400', async (_where, change, path) => {
      const { status, body } = await rig.post('/emails', { ...mail, ...change(bad) });
      expect([status, body.error, issuesOf(body)]).toEqual([400, 'invalid_request', [path]]);
      expect(channel.sent).toEqual([]);
    });

    it.each(notifications)('in %s of /notify is 400', async (_where, change, path) => {
      const request = { type: 'daily_digest', userId: randomUUID(), ...change(bad) };
      const { status, body } = await rig.post('/notify', request);
      expect([status, body.error, issuesOf(body)]).toEqual([400, 'invalid_request', [path]]);
    });
  });

  it('whole pairs are sent', async () => {
    const request = { ...mail, from: 'A 🎈 <a@example.com>', subject: '🎈', text: '🎈', html: '🎈' };
    expect((await rig.post('/emails', request)).status).toBe(200);
  });

  it('a long name of a field does not make a long answer', async () => {
    const { status, body } = await rig.post('/emails', { ...mail, ['x'.repeat(100_000)]: '\u0000' });
    expect([status, JSON.stringify(body).length < 2000]).toEqual([400, true]);
  });
});

describe('the internal key as a bearer token', () => {
  const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' };
  const ask = (path: string, headers: Record<string, string | string[]>) =>
    rig.app.inject({ method: 'POST', url: path, headers, payload: mail });
  const bearer = { authorization: `Bearer ${internalKey}` };

  it.each<[string, string, Record<string, string>, number]>([
    ['the key', '/emails', bearer, 200],
    ['the key in other letters of the scheme', '/emails', { authorization: `bearer  ${internalKey} ` }, 200],
    ['another key', '/emails', { authorization: 'Bearer wrong' }, 401],
    ['a part of the key', '/emails', { authorization: 'Bearer the internal' }, 401],
    ['nothing behind Bearer', '/emails', { authorization: 'Bearer ' }, 401],
    ['another scheme', '/emails', { authorization: `Basic ${internalKey}` }, 401],
    ['a wrong X-Internal-Key beside it', '/emails', { ...bearer, 'x-internal-key': 'wrong' }, 401],
    ['an empty X-Internal-Key beside it', '/emails', { ...bearer, 'x-internal-key': '' }, 401],
    [
      'the right X-Internal-Key beside a wrong one',
      '/emails',
      { authorization: 'Bearer x', 'x-internal-key': internalKey },
      200,
    ],
    ['the key at /notify', '/notify', bearer, 401],
  ])('%s at %s: %j is %i', async (_name, path, headers, status) => {
    expect((await ask(path, headers)).statusCode).toBe(status);
  });

  it('errors of /emails also carry name and statusCode, those of /notify do not', async () => {
    for (const [headers, code, status] of [
      [{}, 'unauthorized', 401],
      [bearer, 'invalid_request', 400],
    ] as const) {
      const answer = await rig.app.inject({ method: 'POST', url: '/emails', headers, payload: {} });
      expect(answer.json()).toMatchObject({
        error: code,
        name: code,
        statusCode: status,
        requestId: expect.any(String),
      });
    }
    expect((await ask('/notify', { 'x-internal-key': 'wrong' })).json()).not.toHaveProperty('statusCode');
  });
});

it('counts tries', async () => {
  expect((await rig.app.inject('/metrics')).body).toMatch(/notify_mails_total\{[^}]*outcome="sent"[^}]*\} \d+/);
});
