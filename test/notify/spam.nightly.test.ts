/** Every built-in mail in every language as SpamAssassin sees it, by its rules that need no network. */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountTables, ensureProfile, setFirstLanguage } from '#accounts/store.ts';
import { migrations } from '#app/migrations.ts';
import { openChannel } from '#notify/channels/open.ts';
import type { Database } from '#platform/db/db.ts';
import { type ContentLanguage, contentLanguages } from '#platform/language.ts';
import { openTestDatabase } from '../database.fixture.ts';
import { startNotify } from './notify.fixture.ts';

const canFilter = process.env.CI === 'true' || isInstalled();
/** Filters reject from 5 on. Russian mails get 1 for Latin letters beside Cyrillic ones (MIXED_ES), such as URLs. */
const maxScore = 1;
/** Titles of items, and with them a realistic share of letters of each script. */
const titles: Readonly<Record<ContentLanguage, string>> = {
  en: 'A lighthouse in a winter storm',
  zh_CN: '冬日风暴中的灯塔',
  zh_TW: '冬日風暴中的燈塔',
  ja: '冬の嵐の中の灯台',
  ko: '겨울 폭풍 속의 등대',
  de: 'Ein Leuchtturm im Wintersturm',
  es: 'Un faro en una tormenta de invierno',
  fr: 'Un phare dans une tempête d’hiver',
  it: 'Un faro in una tempesta invernale',
  ms: 'Rumah api dalam ribut musim sejuk',
  pt: 'Um farol numa tempestade de inverno',
  ru: 'Маяк во время зимнего шторма',
};
const types: readonly (readonly [type: string, data: object])[] = [
  ['account_deletion.scheduled', { deletionAt: '2026-12-24T00:00:00.000Z' }],
  ['account_deletion.deleted', {}],
  ['daily_digest', {}],
];

describe.skipIf(!canFilter)('SpamAssassin', () => {
  let folder: string;
  let database: Database;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-spam-'));
    database = await openTestDatabase(migrations);
  });
  afterAll(async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  it(`scores every email at most ${maxScore}`, async () => {
    const channel = await openChannel(
      { resendApiKey: undefined, resendBaseUrl: 'http://127.0.0.1:9', smtpUrl: 'outbox' },
      folder,
    );
    // Names, addresses and ids of other users may contain more Latin e than MIXED_ES allows in Russian mails (docs/notify.md).
    const brand = { name: 'Atelier', color: '#3730a3', postalAddress: '12 Long Road, London' };
    const content = await serveItems();
    const rig = await startNotify(database, channel, { brand });
    const rigWithItems = await startNotify(database, channel, { brand, contentUrl: content.url });
    const delivered = { status: 200, body: { delivered: [{ channel: 'email' }] } };
    for (const [at, language] of contentLanguages.entries()) {
      const accounts = database.queries<AccountTables>();
      const id = `00000000-0000-4000-8000-0000000000${10 + at}`;
      const { id: userId } = await ensureProfile(accounts, { id, email: `user${at}@example.com` });
      await setFirstLanguage(accounts, userId, language);
      for (const [type, data] of types)
        expect(await rig.post('/notify', { type, userId, data })).toMatchObject(delivered);
      expect(await rigWithItems.post('/notify', { type: 'daily_digest', userId })).toMatchObject(delivered);
    }
    await Promise.all([rig.close(), rigWithItems.close(), content.close()]);

    const outbox = join(folder, 'outbox');
    const mails = await Promise.all((await readdir(outbox)).map((name) => readFile(join(outbox, name), 'utf8')));
    expect(mails).toHaveLength((types.length + 1) * contentLanguages.length);
    const box = join(folder, 'mails.mbox');
    await writeFile(
      box,
      mails.map((mail) => `From a@example.com Sun Nov 22 12:00:00 2026\n${mail.trim()}\n\n`).join(''),
    );
    const options = { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, HOME: folder } };
    const { stdout } = await promisify(execFile)(
      'spamassassin',
      ['--local', '--prefspath', '/dev/null', '--mbox', box],
      options,
    );
    const scores = [...stdout.matchAll(/^X-Spam-Status: \w+, score=(-?[\d.]+) required=[\d.]+ tests=([\w,\s]*?) /gm)];
    expect(scores).toHaveLength(mails.length);
    const bad = scores.filter(([, score]) => Number(score) > maxScore).map(([line]) => line);
    expect(bad).toEqual([]);
  });
});

/** The content service, with five items. */
async function serveItems(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(({ headers }, response) => {
    const language = contentLanguages.find((known) => known.replace('_', '-') === headers['accept-language']) ?? 'en';
    const items = Array.from({ length: 5 }, (_, at) => ({
      title: titles[language],
      coverType: 'image',
      cover: `https://cdn.example.com/cover-${at}.webp`,
      url: `/trending/lighthouse-${at}`,
    }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function isInstalled(): boolean {
  try {
    execFileSync('spamassassin', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
