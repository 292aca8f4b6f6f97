/** Every built-in mail in every language as SpamAssassin sees it, by its rules that need no network. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountTables, ensureProfile, setFirstLanguage } from '#accounts/store.ts';
import { migrations } from '#app/migrations.ts';
import { openChannel } from '#notify/channels/open.ts';
import type { Database } from '#platform/db/db.ts';
import { contentLanguages } from '#platform/language.ts';
import { openTestDatabase } from '../database.fixture.ts';
import { startNotify } from './notify.fixture.ts';

const canFilter = process.env.CI === 'true' || isInstalled();
/** Filters reject from 5 on. */
const maxScore = 1;
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

  it(`scores every mail below ${maxScore}`, async () => {
    const channel = await openChannel(
      { resendApiKey: undefined, resendBaseUrl: 'http://127.0.0.1:9', smtpUrl: 'outbox' },
      folder,
    );
    // Names, addresses and ids of other users may contain more Latin e than MIXED_ES allows in Russian mails (docs/notify.md).
    const brand = { name: 'Atelier', color: '#3730a3', postalAddress: '12 Long Road, London' };
    const rig = await startNotify(database, channel, { brand });
    for (const [at, language] of contentLanguages.entries()) {
      const accounts = database.queries<AccountTables>();
      const id = `00000000-0000-4000-8000-0000000000${10 + at}`;
      const { id: userId } = await ensureProfile(accounts, { id, email: `user${at}@example.com` });
      await setFirstLanguage(accounts, userId, language);
      for (const [type, data] of types) {
        expect(await rig.post('/notify', { type, userId, data })).toMatchObject({
          status: 200,
          body: { delivered: [{ channel: 'email' }] },
        });
      }
    }
    await rig.close();

    const outbox = join(folder, 'outbox');
    const mails = await Promise.all((await readdir(outbox)).map((name) => readFile(join(outbox, name), 'utf8')));
    expect(mails).toHaveLength(types.length * contentLanguages.length);
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
    const bad = scores.filter(([, score]) => Number(score) >= maxScore).map(([line]) => line);
    expect(bad).toEqual([]);
  });
});

function isInstalled(): boolean {
  try {
    execFileSync('spamassassin', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
