/** Sign-in, refresh and sign-out with the real GoTrue (docs/identity-providers.md). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokenVerifier } from '#platform/access/access.ts';
import { createKeySet } from '#platform/access/keyset.ts';
import { createLog } from '#platform/log.ts';
import { type Browser, openBrowser } from './browser.fixture.ts';
import { type GoTrue, skipWithoutGoTrue, startGoTrue } from './gotrue.fixture.ts';
import { type AuthRig, eventually, origin, startAuth } from './rig.fixture.ts';

describe.skipIf(skipWithoutGoTrue)('GoTrue', () => {
  let gotrue: GoTrue;
  let rig: AuthRig;
  beforeAll(async () => {
    gotrue = await startGoTrue(['http://localhost:*/callback']);
    const provider = { url: gotrue.url, anonKey: gotrue.anonKey, socialProvider: 'keycloak' };
    rig = await startAuth({ changes: { provider } });
  });
  afterAll(async () => {
    await rig?.close();
    await gotrue?.close();
  });

  /** Follows all redirects from `/login` to the application. */
  async function signIn(browser: Browser, email = `u-${randomUUID()}@example.com`): Promise<string> {
    gotrue.email = email;
    let at = `${rig.url}/login`;
    for (let steps = 0; steps < 10 && !at.startsWith(origin); steps++) at = (await browser.get(at)).location ?? '';
    return at;
  }
  const signedIn = async (email?: string) => {
    const browser = openBrowser();
    expect(await signIn(browser, email)).toBe(origin);
    return browser;
  };
  const refresh = (browser: Browser) => browser.post(`${rig.url}/refresh`, { origin });
  const tokenOf = async (browser: Browser) => String(JSON.parse((await refresh(browser)).text).access_token);
  const subjectOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub;

  const pairOf = (line: string): [string, string] => {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    return [name, value];
  };

  it('signs in, and gives tokens that the services accept', async () => {
    const browser = await signedIn('first@example.com');
    const token = await tokenOf(browser);
    const jwksUrl = `${gotrue.url}/auth/v1/.well-known/jwks.json`;
    const tokens = createTokenVerifier(createKeySet({ jwksUrl, log: createLog({ level: 'silent' }) }));
    expect(await tokens.verify(token)).toMatchObject({ userId: subjectOf(token) });
  });

  it('refreshes again and again, and for several tabs at once', async () => {
    const browser = await signedIn();
    const tokens = new Set<string>();
    for (let turn = 0; turn < 3; turn++) tokens.add(await tokenOf(browser));
    expect(tokens.size).toBe(3);
    const tabs = Array.from({ length: 8 }, () => openBrowser(browser.cookies));
    expect((await Promise.all(tabs.map(refresh))).map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect((await refresh(browser)).status).toBe(200);
  });

  it('signs in several tabs at once, each with its target', async () => {
    const logins = await Promise.all(
      Array.from({ length: 8 }, (_, tab) => openBrowser().get(`${rig.url}/login?next=${origin}/${tab}`)),
    );
    const browser = openBrowser(logins.flatMap(({ setCookies }) => setCookies.map(pairOf)));
    for (const [tab, { location = '' }] of logins.entries()) {
      let at = location;
      for (let steps = 0; steps < 10 && !at.startsWith(origin); steps++) at = (await browser.get(at)).location ?? '';
      expect(at).toBe(`${origin}/${tab}`);
    }
  });

  it('is the same user after the next sign-in', async () => {
    const [first, second] = [await signedIn('same@example.com'), await signedIn('same@example.com')];
    expect(subjectOf(await tokenOf(first))).toBe(subjectOf(await tokenOf(second)));
  });

  it('ends all sessions of the user, or this one alone', async () => {
    const email = 'three@example.com';
    const [one, two, three] = [await signedIn(email), await signedIn(email), await signedIn(email)];
    const other = await signedIn();
    expect((await one.post(`${rig.url}/logout?scope=local`, { origin })).status).toBe(200);
    expect((await refresh(two)).status).toBe(200);
    expect((await two.post(`${rig.url}/logout`, { origin })).status).toBe(200);
    await eventually(async () => (await refresh(three)).status === 401);
    expect((await refresh(other)).status).toBe(200);
  });

  it.each([
    ['deleted', (path: string) => gotrue.admin('DELETE', path)],
    ['banned', (path: string) => gotrue.admin('PUT', path, { ban_duration: '24h' })],
  ])('ends the session of a user who was %s', async (_title, act) => {
    const browser = await signedIn();
    const done = await act(`/users/${subjectOf(await tokenOf(browser))}`);
    expect([done.status, await done.text()]).toEqual([200, expect.any(String)]);
    const answer = await refresh(browser);
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([401, 'refresh_failed']);
    expect(browser.cookies.has('ka_session')).toBe(false);
  });
});
