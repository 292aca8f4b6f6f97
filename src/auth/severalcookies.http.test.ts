/** Several `ka_session` cookies in one request: a sibling domain can add its own, which browsers send first. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSealer } from '#platform/access/sealing.ts';
import { openBrowser, signIn } from '../../test/auth/browser.fixture.ts';
import { type AuthRig, origin, startAuth } from '../../test/auth/rig.fixture.ts';

let rig: AuthRig;
beforeAll(async () => {
  rig = await startAuth({ changes: { cookieDomain: 'example.com' } });
});
afterAll(() => rig.close());
afterEach(() => rig.wellAgain());

const newEmail = () => `u-${randomUUID()}@example.com`;

/** Returns the sealed cookie of a new session. */
async function newSession(email: string): Promise<string> {
  const browser = openBrowser();
  await signIn(browser, rig.url, { email });
  await rig.wellAgain();
  return browser.cookies.get('ka_session') ?? '';
}

async function call(path: string, sealed: readonly string[]) {
  const cookie = sealed.map((value) => `ka_session=${value}`).join('; ');
  const answer = await openBrowser().post(rig.url + path, { origin, cookie });
  const body = JSON.parse(answer.text) as Record<string, string>;
  return { status: answer.status, body, setCookies: answer.setCookies };
}
const refresh = (...sealed: string[]) => call('/refresh', sealed);
const logout = (...sealed: string[]) => call('/logout', sealed);

const emailOf = (accessToken = '') =>
  JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()).email as string;

/** Returns the refresh token of a cookie, sealed as for a provider that does not identify users. */
function withoutSubject(sealed: string): string {
  const text = createSealer(['a first secret'], 'dated session').unseal(sealed) ?? '';
  const [, token] = JSON.parse(text) as [string, string];
  return createSealer(['a first secret'], 'session').seal(token);
}

const places = (lines: readonly string[]) =>
  lines.map((line) => `${/; Domain=([^;]+)/.exec(line)?.[1] ?? '-'} ${/; Path=([^;]+)/.exec(line)?.[1]}`).toSorted();
const everyPlace = ['-', 'example.com'].flatMap((domain) =>
  ['/', '/logout', '/refresh'].map((path) => `${domain} ${path}`),
);

function expectCleared({ setCookies }: { readonly setCookies: readonly string[] }) {
  expect(places(setCookies)).toEqual(everyPlace.toSorted());
  for (const line of setCookies) expect(line).toMatch(/^ka_session=; Max-Age=0; /);
}

describe('cookies of different users', () => {
  it('are not used in either order, and every copy is cleared', async () => {
    const [alice, mallory] = [await newSession(newEmail()), await newSession(newEmail())];
    for (const order of [
      [mallory, alice],
      [alice, mallory],
    ]) {
      const answer = await refresh(...order);
      expect([answer.status, answer.body.error]).toEqual([401, 'no_session']);
      expectCleared(answer);
    }
    expect((await rig.calls()).refresh).toBe(0);
    // Both sessions still work.
    expect((await refresh(alice)).status).toBe(200);
    expect((await refresh(mallory)).status).toBe(200);
  });

  it.each([1, 4, 5, 30])('are found after %i other values', async (count) => {
    const [alice, mallory] = [await newSession(newEmail()), await newSession(newEmail())];
    const junk = Array.from({ length: count }, (_, at) => `junk${at}`);
    const answer = await refresh(mallory, ...junk, alice);
    expect([answer.status, answer.body.error]).toEqual([401, 'no_session']);
    expectCleared(answer);
  });

  it('are found after several sessions of one user', async () => {
    const [alice, email] = [await newSession(newEmail()), newEmail()];
    const planted: string[] = [];
    for (let count = 0; count < 6; count++) planted.push(await newSession(email));
    const answer = await refresh(...planted, alice);
    expect([answer.status, answer.body.error]).toEqual([401, 'no_session']);
    expectCleared(answer);
  });

  it('are all signed out by /logout', async () => {
    const [alice, mallory] = [await newSession(newEmail()), await newSession(newEmail())];
    const answer = await logout(mallory, alice);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expectCleared(answer);
    for (const sealed of [alice, mallory]) expect((await refresh(sealed)).body.error).toBe('refresh_failed');
  });
});

describe('cookies of one user', () => {
  it('are tried in order: the second if the first is dead', async () => {
    const email = newEmail();
    const [dead, alive] = [await newSession(email), await newSession(email)];
    await call('/logout?scope=local', [dead]);
    const answer = await refresh(dead, alive);
    expect([answer.status, emailOf(answer.body.access_token)]).toEqual([200, email]);
  });

  it('are cleared everywhere if all are dead', async () => {
    const email = newEmail();
    const sessions = [await newSession(email), await newSession(email)];
    await logout(sessions[0] ?? '');
    const answer = await refresh(...sessions);
    expect([answer.status, answer.body.error]).toEqual([401, 'refresh_failed']);
    expectCleared(answer);
  });

  it('cost the provider five calls at most', async () => {
    const email = newEmail();
    const sessions: string[] = [];
    for (let count = 0; count < 7; count++) sessions.push(await newSession(email));
    await logout(sessions[0] ?? '');
    await rig.wellAgain();
    expect((await refresh(...sessions)).body.error).toBe('refresh_failed');
    expect((await rig.calls()).refresh).toBe(5);
  });

  it('count once if they contain the same token', async () => {
    const sealed = await newSession(newEmail());
    const again = withoutSubject(sealed);
    expect((await refresh(sealed, again)).status).toBe(200);
  });
});

describe('a cookie without a user', () => {
  it('is used if it is the only one, and the next one contains the user', async () => {
    const [email, other] = [newEmail(), newEmail()];
    const answer = await refresh(withoutSubject(await newSession(email)));
    expect([answer.status, emailOf(answer.body.access_token)]).toEqual([200, email]);
    const next = /^ka_session=([^;]+)/.exec(answer.setCookies[0] ?? '')?.[1] ?? '';
    expect((await refresh(next, await newSession(other))).body.error).toBe('no_session');
    expect((await refresh(next, await newSession(email))).status).toBe(200);
  });

  it.each([
    ['one that contains a user', false],
    ['another of its kind', true],
  ])('is not used beside %s', async (_name, isOld) => {
    const [alice, mallory] = [withoutSubject(await newSession(newEmail())), await newSession(newEmail())];
    for (const order of [
      [alice, isOld ? withoutSubject(mallory) : mallory],
      [isOld ? withoutSubject(mallory) : mallory, alice],
    ]) {
      const answer = await refresh(...order);
      expect([answer.status, answer.body.error]).toEqual([401, 'no_session']);
      expectCleared(answer);
    }
    expect((await rig.calls()).refresh).toBe(0);
  });
});

describe('POST /logout?scope=local', () => {
  it('ends only this session', async () => {
    const email = newEmail();
    const [one, other] = [await newSession(email), await newSession(email)];
    const answer = await call('/logout?scope=local', [one]);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(answer.setCookies).toHaveLength(1);
    expect((await refresh(one)).body.error).toBe('refresh_failed');
    expect((await refresh(other)).status).toBe(200);
  });

  it.each(['', '?scope=global', '?other=1'])('%j ends every session of the user', async (query) => {
    const email = newEmail();
    const [one, other] = [await newSession(email), await newSession(email)];
    expect((await call(`/logout${query}`, [one])).status).toBe(200);
    expect((await refresh(other)).body.error).toBe('refresh_failed');
  });

  it.each(['others', '', 'LOCAL', 'local&scope=global'])(
    'scope=%s ends every session, because a sign-out never fails',
    async (scope) => {
      const email = newEmail();
      const [one, other] = [await newSession(email), await newSession(email)];
      const answer = await call(`/logout?scope=${scope}`, [one]);
      expect([answer.status, answer.setCookies.length > 0]).toEqual([200, true]);
      expect((await refresh(other)).body.error).toBe('refresh_failed');
    },
  );

  it('does not end the other session if the provider is notified later', async () => {
    const email = newEmail();
    const [one, other] = [await newSession(email), await newSession(email)];
    await rig.fault({ operation: 'logout', kind: 'answer', status: 503 });
    expect((await call('/logout?scope=local', [one])).status).toBe(200);
    expect((await refresh(one)).body.error).toBe('refresh_failed');
    await expect
      .poll(async () => (await rig.db.selectFrom('session_revocations').select('scope').execute()).length)
      .toBe(0);
    expect((await rig.calls()).logout).toBeGreaterThan(1);
    expect((await refresh(other)).status).toBe(200);
  });
});
