/** Types in the operator's folder, previews, and the digest's items (docs/specification/notify.md#types). */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AccountTables, ensureProfile, setFirstLanguage, setOpenNotification } from '#accounts/store.ts';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';
import { createTestChannel, type NotifyRig, startNotify, type TestChannel } from '../../test/notify/notify.fixture.ts';
import { openTypes } from './types/registry.ts';

type Files = Readonly<Record<string, string>>;

async function folderOf(files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-types-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

const receipt: Files = {
  'receipt/type.json': '{"audience":"account"}',
  'receipt/en.subject': 'Receipt {{data.number}} & thanks\n',
  'receipt/en.html':
    '<p>{{data.name}} {{{data.raw}}} {{data.missing}}|{{user.email}}</p>{{#data.lines}}<i>{{.}}</i>{{/data.lines}}',
  'receipt/en.txt': '{{data.name}} {{data.missing}}| {{brand.name}} {{appUrl}}',
  'receipt/zh_CN.subject': '收据 {{data.number}}',
  'receipt/zh_CN.html': '<p>收据</p>',
  'receipt/zh_CN.txt': '收据',
};
const offer: Files = {
  'offer/type.json': '{"audience":"product","plans":["pro","max"]}',
  'offer/en.subject': 'An offer',
  'offer/en.html': '<a href="{{unsubscribeUrl}}">Unsubscribe</a>',
  'offer/en.txt': 'Unsubscribe: {{unsubscribeUrl}}',
};

describe('a folder of types', () => {
  let folder: string;
  let database: Database;
  let channel: TestChannel;
  let rig: NotifyRig;
  let content: Server;
  let items: unknown;
  const languages: unknown[] = [];
  beforeAll(async () => {
    folder = await folderOf({ ...receipt, ...offer });
    content = createServer((request, response) => {
      languages.push(request.headers['accept-language']);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items }));
    });
    await new Promise<void>((listening) => content.listen(0, '127.0.0.1', listening));
    database = await openTestDatabase(migrations);
    channel = createTestChannel();
    rig = await startNotify(database, channel, {
      templatesDir: folder,
      contentUrl: `http://127.0.0.1:${(content.address() as AddressInfo).port}`,
    });
  });
  afterAll(async () => {
    await rig.close();
    await database.close();
    content.closeAllConnections();
    content.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    channel.sent.length = 0;
  });

  const newUser = async (facts: Partial<Parameters<typeof ensureProfile>[1]> = {}) =>
    (
      await ensureProfile(database.queries<AccountTables>(), {
        id: randomUUID(),
        email: `${randomUUID()}@example.com`,
        ...facts,
      })
    ).id;
  const notify = (type: string, userId: string, data?: object) => rig.post('/notify', { type, userId, data });

  it('is listed with ours', async () => {
    const { body } = await rig.call('GET', '/types');
    const types = body.types as { type: string; audience: string; locales: string[] }[];
    expect(types.map(({ type, audience, locales }) => [type, audience, locales.length])).toEqual([
      ['account_deletion.deleted', 'account', 12],
      ['account_deletion.scheduled', 'account', 12],
      ['account_export.ready', 'account', 12],
      ['budget.reached', 'account', 12],
      ['content.decision', 'account', 12],
      ['daily_digest', 'product', 12],
      ['offer', 'product', 1],
      ['receipt', 'account', 2],
      ['report.decision', 'account', 12],
    ]);
  });

  it('is filled in: escaped in HTML, plain in subject and text, empty for missing values', async () => {
    const userId = await newUser({ email: 'r@example.com' });
    const data = { number: 7, name: '<Ann> & "Bo"', raw: '<b>!</b>', lines: ['a', 'b&c'] };
    expect((await notify('receipt', userId, data)).status).toBe(200);
    expect(channel.sent[0]?.mail).toMatchObject({
      to: ['r@example.com'],
      subject: 'Receipt 7 & thanks',
      html: '<p>&lt;Ann&gt; &amp; &quot;Bo&quot; <b>!</b> |r@example.com</p><i>a</i><i>b&amp;c</i>',
      text: '<Ann> & "Bo" | Atelier https://app.example.com',
      headers: {},
    });
  });

  it('writes to each in their language, or in English', async () => {
    const accounts = database.queries<AccountTables>();
    for (const [language, subject] of [
      ['zh_CN', '收据 7'],
      ['de', 'Receipt 7 & thanks'],
    ] as const) {
      const userId = await newUser();
      await setFirstLanguage(accounts, userId, language);
      await notify('receipt', userId, { number: 7 });
      expect(channel.sent.at(-1)?.mail.subject).toBe(subject);
    }
  });

  it('limits a subject to one line', async () => {
    await notify('receipt', await newUser(), { number: '7\r\nBcc: x@example.com' });
    expect(channel.sent[0]?.mail.subject).toBe('Receipt 7 Bcc: x@example.com & thanks');
  });

  it('obeys plans and the setting of the user, and can be unsubscribed', async () => {
    const [free, pro, closed] = [await newUser(), await newUser({ plan: 'pro' }), await newUser({ plan: 'max' })];
    await setOpenNotification(database.queries<AccountTables>(), closed, false);
    expect((await notify('offer', free)).body).toEqual({ skipped: true, reason: 'plan_gate' });
    expect((await notify('offer', closed)).body).toEqual({ skipped: true, reason: 'disabled_by_user' });
    expect((await notify('offer', pro)).status).toBe(200);
    const mail = channel.sent[0]?.mail;
    expect(mail?.headers['List-Unsubscribe']).toBe(`<${mail?.text?.split(': ')[1]}>`);
  });

  describe('a preview', () => {
    const preview = (type: string, body: object) => rig.post(`/types/${type}/preview`, body);

    it('is the email, and sends nothing', async () => {
      expect((await preview('receipt', { locale: 'zh-CN', data: { number: 3 } })).body).toEqual({
        subject: '收据 3',
        html: '<p>收据</p>',
        text: '收据',
      });
      const ours = await preview('account_deletion.scheduled', { locale: 'ja', data: { deletion_at: '2026-12-06' } });
      expect(ours.body.subject).toContain('2026年12月6日');
      expect((await preview('account_deletion.deleted', {})).body.text).toContain('reader@example.com');
      expect(channel.sent).toEqual([]);
    });

    it.each<[string, object, number]>([
      ['unknown', {}, 404],
      ['receipt', { data: 'x' }, 400],
      ['receipt', { locale: 7 }, 400],
      ['account_deletion.scheduled', { data: { deletion_at: 'soon' } }, 400],
    ])('of %s with %j is %i', async (type, body, status) => {
      expect((await preview(type, body)).status).toBe(status);
    });
  });

  it('the digest shows five items in the language of its reader', async () => {
    items = Array.from({ length: 7 }, (_, at) => ({
      title: at === 1 ? '' : `Title ${at}`,
      coverType: at === 2 ? 'video' : 'image',
      cover: `https://cdn.example.com/${at}`,
      url: at === 3 ? 'javascript:alert(1)' : `/t/${at}`,
    }));
    const userId = await newUser();
    await setFirstLanguage(database.queries<AccountTables>(), userId, 'zh_TW');
    await notify('daily_digest', userId);
    const { html = '', text = '' } = channel.sent[0]?.mail ?? {};
    expect(languages).toEqual(['zh-TW']);
    expect(text.match(/Title \d/g)).toEqual(['Title 0', 'Title 2', 'Title 4', 'Title 5', 'Title 6']);
    expect(text).toContain('https://app.example.com/t/0');
    expect(html.match(/cdn\.example\.com\/\d/g)).toEqual([0, 4, 5, 6].map((at) => `cdn.example.com/${at}`));
    await notify('daily_digest', userId);
    expect(languages).toHaveLength(1);
  });
});

describe('a folder that is not complete', () => {
  const cases: readonly [string, Files, RegExp][] = [
    ['no type.json', { 'a/en.subject': '' }, /a\/type\.json/],
    ['a type.json that is not JSON', { ...receipt, 'receipt/type.json': '{' }, /receipt\/type\.json/],
    ['an unknown audience', { ...receipt, 'receipt/type.json': '{"audience":"all"}' }, /receipt\/type\.json: audience/],
    ['an unknown plan', { ...offer, 'offer/type.json': '{"audience":"product","plans":["gold"]}' }, /plans\.0/],
    [
      'a misspelled field',
      { ...offer, 'offer/type.json': '{"audience":"product","plan":["pro"]}' },
      /offer\/type\.json/,
    ],
    [
      'no English',
      { 'a/type.json': '{"audience":"account"}', 'a/de.subject': '', 'a/de.html': '', 'a/de.txt': '' },
      /en\.subject/,
    ],
    [
      'a language without its text',
      { ...receipt, 'receipt/ja.subject': 'x', 'receipt/ja.html': 'x' },
      /receipt\/ja\.txt/,
    ],
    ['an unknown language', { ...receipt, 'receipt/xx.html': '' }, /receipt\/xx\.html/],
    ['a section that does not end', { ...receipt, 'receipt/en.html': '{{#data}}' }, /receipt\/en\.html/],
    ['a name that is no type', { 'a b/type.json': '{}' }, /a b/],
  ];
  it.each(cases)('with %s stops the start, naming the file', async (_name, files, message) => {
    const folder = await folderOf(files);
    await expect(openTypes(folder)).rejects.toThrow(message);
    await rm(folder, { recursive: true, force: true });
  });

  it('or not there at all', async () => {
    await expect(openTypes('/nowhere')).rejects.toThrow(/NOTIFY_TEMPLATES_DIR: \/nowhere/);
  });
});
