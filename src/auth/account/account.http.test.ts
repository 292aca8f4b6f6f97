/** Deletions and exports of accounts over a started suite: who may call, and which emails are sent. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErasureReport } from '#accounts/people/api.ts';
import { accountDeleted, accountExportReady } from '#notify/types/account.ts';
import { fill } from '#notify/types/builtin.ts';
import type { Database } from '#platform/db/db.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { contentLanguages } from '#platform/language.ts';
import { createLog } from '#platform/log.ts';
import { openBrowser, signIn } from '../../../test/auth/browser.fixture.ts';
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
    ['GET', '/account/sessions'],
    ['DELETE', '/account/sessions'],
    ['DELETE', '/account/sessions/0197f000-0000-7000-8000-000000000000'],
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

  describe('sessions', () => {
    interface Listed {
      readonly sessions: readonly { readonly id: string; readonly browser: string; readonly isCurrent: boolean }[];
    }
    const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const safari =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

    async function enter(email: string, userAgent: string) {
      const url = rig.addresses.auth ?? '';
      const browser = openBrowser();
      await signIn(browser, url, { email });
      const refresh = () => browser.post(`${url}/refresh`, { origin: rig.url, 'user-agent': userAgent });
      const tokenOf = async () => JSON.parse((await refresh()).text).access_token as string;
      const token = await tokenOf();
      const call = async (method: string, path = '') => {
        const headers = { authorization: `Bearer ${token}` };
        const response = await fetch(`${url}/account/sessions${path}`, { method, headers });
        return { status: response.status, body: (await response.json().catch(() => ({}))) as Listed };
      };
      const list = async () => (await call('GET')).body.sessions;
      return { browser, refresh, call, list, token };
    }
    const newEmail = () => `s-${randomUUID()}@example.com`;

    it('are listed in words, and one that is ended gets no further token', async () => {
      const email = newEmail();
      const [one, two] = [await enter(email, firefox), await enter(email, safari)];
      const listed = await one.list();
      expect(listed.map(({ browser, isCurrent }) => [browser, isCurrent])).toEqual([
        ['Safari on iPhone', false],
        ['Firefox on Windows', true],
      ]);
      const other = listed.find(({ isCurrent }) => !isCurrent)?.id ?? '';
      expect((await one.call('DELETE', `/${other}`)).status).toBe(204);
      expect((await one.call('DELETE', `/${other}`)).status).toBe(204);
      const kept = new Map(two.browser.cookies);
      const refused = await two.refresh();
      expect([refused.status, JSON.parse(refused.text).error]).toEqual([401, 'refresh_failed']);
      expect(two.browser.cookies.has('ka_session')).toBe(false);
      // A copy of the cookie is of no use, now and when the provider has learned of the end.
      const copy = openBrowser(kept);
      expect((await copy.post(`${rig.addresses.auth}/refresh`, { origin: rig.url })).status).toBe(401);
      const isRevoked = async () =>
        (await sql`select from session_revocations`.execute(database.queries())).rows.length;
      await expect.poll(isRevoked, patience).toBe(0);
      expect((await one.refresh()).status).toBe(200);
      expect(await one.list()).toHaveLength(1);
    });

    it('of another user are 404, and go on', async () => {
      const [one, two] = [await enter(newEmail(), firefox), await enter(newEmail(), safari)];
      const [own] = await two.list();
      for (const id of [own?.id, randomUUID()]) expect((await one.call('DELETE', `/${id}`)).status).toBe(404);
      expect((await one.call('DELETE', '/nonsense')).status).toBe(400);
      expect((await one.call('DELETE')).status).toBe(204);
      expect((await two.refresh()).status).toBe(200);
    });

    it('all end but one', async () => {
      const email = newEmail();
      const [one, two, unlisted] = [await enter(email, firefox), await enter(email, safari), await enter(email, '')];
      // As of a version that did not list sessions.
      await sql`delete from browser_sessions where browser = 'Unknown browser'`.execute(database.queries());
      expect((await one.call('DELETE')).status).toBe(204);
      expect((await one.list()).map(({ isCurrent }) => isCurrent)).toEqual([true]);
      expect([(await two.refresh()).status, (await unlisted.refresh()).status]).toEqual([401, 401]);
      expect((await one.refresh()).status).toBe(200);
    });

    it('are listed after the next refresh if an earlier version began them, and end with a sign-out', async () => {
      const one = await enter(newEmail(), firefox);
      await sql`delete from browser_sessions`.execute(database.queries());
      expect(await one.list()).toEqual([]);
      expect((await one.refresh()).status).toBe(200);
      expect(await one.list()).toMatchObject([{ browser: 'Firefox on Windows', isCurrent: true }]);
      await one.browser.post(`${rig.addresses.auth}/logout?scope=local`, { origin: rig.url });
      expect(await one.list()).toEqual([]);
    });

    it('are removed with the person, and appear in no row later', async () => {
      const one = await enter(newEmail(), firefox);
      const { sub } = JSON.parse(Buffer.from(one.token.split('.')[1] ?? '', 'base64url').toString());
      const rows = async () =>
        (await sql`select from browser_sessions where user_id = ${sub}`.execute(database.queries())).rows.length;
      expect(await rows()).toBe(1);
      const { body } = await desk.internal<ErasureReport>('auth', 'POST', `/people/${sub}/erasure`, { mail: false });
      expect(body.steps.find(({ service }) => service === 'auth')?.removed).toMatchObject({ browser_sessions: 0 });
      expect(body.isComplete).toBe(true);
      expect((await one.refresh()).status).toBe(401);
      expect(await rows()).toBe(0);
    });
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
