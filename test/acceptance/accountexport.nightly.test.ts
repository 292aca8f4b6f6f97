/** A user exports their account. The archive is read by a program that is not ours. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leaveTraces } from '../console/traces.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { type AccountRig, limitMs, skipWithoutEngines, startAccountRig } from './account.fixture.ts';

interface State {
  readonly status: string;
  readonly url: string;
  readonly expiresAt: string;
}

describe.skipIf(skipWithoutEngines || skipWithout('unzip'))('the export of an account', () => {
  let place: AccountRig;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-export-'));
    place = await startAccountRig();
  });
  afterAll(async () => {
    await place.close();
    await rm(folder, { recursive: true, force: true });
  });

  const order = async () => (await place.person.call<State>('auth', 'GET', '/account/export')).body;
  const download = (url: string, token = place.person.token) =>
    fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const json = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));

  it('is prepared once although the program is killed, and is a ZIP archive of everything', async () => {
    const { person, desk } = place;
    const traces = await leaveTraces(place, person);
    // The traces include an address that gets no mail.
    await sql`delete from suppressed_addresses`.execute(place.database.queries());
    const none = await download(`${place.addresses.auth}/account/export/zip`);
    expect(none.status).toBe(404);
    const read = () => person.call('auth', 'GET', '/account/export');
    await place.killAt({ table: 'account_export_parts' }, read);
    await place.start();
    await place.ready();
    const isReady = async () => {
      await place.comeDue();
      return (await order()).status;
    };
    await expect.poll(isReady, { timeout: limitMs }).toBe('ready');
    const { url, expiresAt } = await order();
    expect((Date.parse(expiresAt) - Date.now()) / 86_400_000).toBeCloseTo(7, 1);
    await expect.poll(place.subjects).toEqual(expect.arrayContaining([expect.stringContaining('export is ready')]));
    expect((await place.subjects()).filter((subject) => subject.includes('export'))).toHaveLength(1);

    const answer = await download(url);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
    await writeFile(join(folder, 'export.zip'), Buffer.from(await answer.arrayBuffer()));
    const unzipped = spawnSync('unzip', ['-q', 'export.zip'], { cwd: folder, encoding: 'utf8' });
    expect([unzipped.status, unzipped.stderr]).toEqual([0, '']);
    expect((await json('account.json')).account.person).toMatchObject({ id: person.id, email: person.email });
    expect(await json('agent.json')).toMatchObject({
      threads: [
        {
          threadId: traces.threadId,
          messages: [{ role: 'user' }, { role: 'assistant' }],
          replaced: [
            { role: 'user', parts: [{ type: 'text', text: expect.stringContaining('A first version') }] },
            { role: 'assistant' },
          ],
        },
      ],
      generations: expect.arrayContaining([expect.objectContaining({ kind: 'image' })]),
      usage: expect.arrayContaining([expect.objectContaining({ runs: 2 })]),
    });
    const { assets, shares, incidents, reports } = await json('media.json');
    expect([shares.length, incidents]).toEqual([1, []]);
    expect(reports).toMatchObject([{ assetId: traces.reportedId, reason: 'spam' }]);
    const { memory } = await json('memory.json');
    expect(memory.memories.length).toBeGreaterThan(0);
    expect((await json('notify.json')).emails.mails.map(({ subject }: { subject: string }) => subject)).toContain(
      'Hello',
    );
    // Each original is that of the library.
    expect((await readdir(join(folder, 'originals'))).length).toBe(assets.length);
    for (const { file, byteSize } of assets) expect((await readFile(join(folder, file))).length).toBe(byteSize);

    const other = await desk.person();
    expect((await download(url, other.token)).status).toBe(404);
    expect((await fetch(url)).status).toBe(401);
  }, 300_000);

  it('is the same one for 24 hours, and is removed when it has expired', async () => {
    const { database } = place;
    const db = database.queries();
    const rows = async () =>
      (await sql<{ id: string }>`select export_id as id from account_exports`.execute(db)).rows.map(({ id }) => id);
    const before = await rows();
    await order();
    expect(await rows()).toEqual(before);
    await sql`update account_exports set expires_at = now()`.execute(db);
    expect((await download(`${place.addresses.auth}/account/export/zip`)).status).toBe(404);
    await place.comeDue();
    await expect.poll(rows, { timeout: limitMs }).toEqual([]);
    expect((await sql`select from account_export_parts`.execute(db)).rows).toEqual([]);
  });
});
