/** Deletions and exports of accounts over a started suite: who may call, and which emails are sent. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErasureReport } from '#accounts/people/api.ts';
import { accountDeleted } from '#notify/types/accountdeleted.ts';
import { accountExportReady } from '#notify/types/accountexportready.ts';
import { fill } from '#notify/types/builtin.ts';
import type { Database } from '#platform/db/db.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { contentLanguages } from '#platform/language.ts';
import { createLog } from '#platform/log.ts';
import { type Desk, openDesk, type Person } from '../../../test/console/desk.fixture.ts';
import { type ConsoleRig, startConsole } from '../../../test/console/rig.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../../../test/database.fixture.ts';

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const patience = { timeout: 30_000 };

describe.skipIf(withoutPostgres)('the account', () => {
  let rig: ConsoleRig;
  let desk: Desk;
  let database: Database;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const created = await createPostgresDatabase();
    ({ drop } = created);
    rig = await startConsole({ DATABASE_URL: created.url, ACCOUNT_DELETION_DAYS: '0' });
    const log = createLog({ level: 'silent' });
    database = await openPostgres({ url: created.url, poolSize: 2, migrations: [], log });
    desk = await openDesk(rig);
  });
  afterAll(async () => {
    await rig.close();
    await database.close();
    await drop();
  });

  async function subjectsTo({ email }: Person): Promise<readonly string[]> {
    const folder = join(rig.dataDir, 'outbox');
    const names = (await readdir(folder)).filter((name) => /^[^.].*\.eml$/.test(name));
    const mails = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    return mails.filter((text) => text.includes(email)).map(subjectOf);
  }

  const routes = [
    ['GET', '/account'],
    ['GET', '/account/export'],
    ['GET', '/account/export/zip'],
    ['DELETE', '/account'],
    ['POST', '/account/restore'],
  ] as const;

  it.each(routes)('%s %s is for the user with a token, and for nobody else', async (method, path) => {
    const { auth = '' } = rig.addresses;
    const statusWith = async (headers: Record<string, string>) =>
      (await fetch(auth + path, { method, headers })).status;
    const key = await rig.secret('INTERNAL_KEY');
    const { id } = await desk.person();
    expect(await statusWith({})).toBe(401);
    expect(await statusWith({ authorization: 'Bearer not.a.token' })).toBe(401);
    expect([401, 403]).toContain(await statusWith({ 'x-internal-key': key }));
    expect([401, 403]).toContain(await statusWith({ 'x-internal-key': key, 'x-on-behalf-of': id }));
    const ours = { cookie: 'ka_session=x', origin: rig.url };
    expect(await statusWith(ours)).toBe(401);
  });

  it('is erased by servers only, and an unknown field is 400', async () => {
    const [person, other] = [await desk.person(), await desk.person()];
    const path = `/people/${person.id}/erasure`;
    expect((await person.call('auth', 'POST', path, {})).status).toBe(403);
    expect((await other.call('auth', 'POST', path, {})).status).toBe(403);
    expect(await desk.internal('auth', 'POST', path, { email: false })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('email') },
    });
    expect((await desk.internal('auth', 'POST', '/people/somebody/erasure', {})).status).toBe(400);
    expect(await person.call('auth', 'DELETE', '/account', { userId: other.id })).toMatchObject({ status: 400 });
    expect((await desk.internal('auth', 'GET', `/v1/people/${person.id}`)).status).toBe(200);
  });

  it('of nobody cannot be exported or deleted', async () => {
    const person = await desk.person();
    const { body } = await desk.internal<ErasureReport>('auth', 'POST', `/people/${person.id}/erasure`, {
      mail: false,
    });
    expect(body).toMatchObject({ isComplete: true, provider: 'removed' });
    expect((await person.call('auth', 'GET', '/account/export')).status).toBe(404);
    const deletion = async () => (await person.call('auth', 'DELETE', '/account')).status;
    await expect.poll(deletion, patience).toBe(404);
    expect(await subjectsTo(person)).toEqual([]);
  });

  it('is deleted at once without a first email if the setting is 0', async () => {
    const person = await desk.person();
    const { status, body } = await person.call<{ deletesAt: string }>('auth', 'DELETE', '/account');
    expect(status).toBe(202);
    expect(Date.parse(body.deletesAt)).toBeLessThanOrEqual(Date.now() + 1000);
    await expect
      .poll(() => subjectsTo(person), patience)
      .toEqual([accountDeleted.texts.en.subject.replace('{brand}', 'Atelier')]);
    expect((await person.call('auth', 'POST', '/account/restore')).status).toBeGreaterThanOrEqual(204);
    expect((await desk.internal('auth', 'GET', `/v1/people/${person.id}`)).status).toBe(404);
    // The address is free again. The local identity provider gives it the same id.
    const next = await desk.person(person.email);
    expect((await next.call('agent', 'GET', '/models')).status).toBe(200);
    expect((await next.call('auth', 'GET', '/account')).body).toEqual({ deletesAt: null, export: null });
    expect((await next.call('auth', 'DELETE', '/account')).status).toBe(202);
    const isGone = async () => (await desk.internal('auth', 'GET', `/v1/people/${person.id}`)).status;
    await expect.poll(isGone, patience).toBe(404);
  });

  it('of a user in each language gets its emails in that language', async () => {
    const speak = async (language: string) => {
      const person = await desk.person();
      expect((await person.call('agent', 'GET', '/models')).status).toBe(200);
      await sql`update user_profiles set language = ${language} where id = ${person.id}`.execute(database.queries());
      expect((await person.call('auth', 'GET', '/account/export')).status).toBe(202);
      return person;
    };
    for (const language of contentLanguages) {
      const person = await speak(language);
      const subjectOf = ({ texts }: typeof accountDeleted) => fill(texts[language].subject, { brand: 'Atelier' });
      await expect.poll(() => subjectsTo(person), patience).toEqual([subjectOf(accountExportReady)]);
      expect((await desk.internal('auth', 'POST', `/people/${person.id}/erasure`, {})).status).toBe(200);
      // The first one is erased with the person.
      await expect.poll(() => subjectsTo(person), patience).toEqual([subjectOf(accountDeleted)]);
    }
  });
});

/** Encoded words are those of RFC 2047. */
function subjectOf(mail: string): string {
  const [, folded = ''] = /^Subject: ((?:.*)(?:\r?\n[ \t].*)*)/m.exec(mail) ?? [];
  return folded
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(text, 'base64').toString('latin1')
        : text
            .replaceAll('_', ' ')
            .replaceAll(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    )
    .replaceAll(/[\u0080-\u00ff]+/g, (bytes) => Buffer.from(bytes, 'latin1').toString('utf8'))
    .replaceAll(/\r?\n[ \t]/g, ' ')
    .trim();
}
