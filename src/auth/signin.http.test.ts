/** `/login` and `/callback` on a real server, with the local identity provider. */
import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accountOf } from '#accounts/sampleaccounts.ts';
import { findProfile } from '#accounts/store.ts';
import { anyLocalOrigin } from '#platform/http/cors.ts';
import { type Browser, consent, openBrowser, signIn } from '../../test/auth/browser.fixture.ts';
import { type AuthRig, type Fault, origin, otherOrigin, startAuth } from '../../test/auth/rig.fixture.ts';

let rig: AuthRig;
beforeAll(async () => {
  rig = await startAuth();
});
afterAll(() => rig.close());
afterEach(() => rig.wellAgain());

const transient = (name: string, value: string) => `${name}=${value}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`;
const cleared = (name: string) =>
  `${name}=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/; HttpOnly; SameSite=Lax`;
const newEmail = () => `u-${randomUUID()}@example.com`;
const failure = `${origin}/?auth_error=1`;
/** Changes one character before the last eight: the last ones of base64url may have bits that mean nothing. */
const tamper = (value: string) => `${value.slice(0, -9)}${value.at(-9) === 'A' ? 'B' : 'A'}${value.slice(-8)}`;

describe('GET /login', () => {
  it('sends the browser to the provider, with the cookies of a sign-in', async () => {
    const invite = randomUUID();
    const target = `${origin}/a/b?c=d;e,f#g`;
    const answer = await openBrowser().get(`${rig.url}/login?${new URLSearchParams({ next: target, invite })}`);
    expect(answer.status).toBe(302);
    expect(answer.location).toMatch(/^http:\/\/localhost:\d+\/local\/consent\?flow=[0-9a-f-]{36}$/);
    expect(answer.setCookies).toEqual([
      transient('ka_next', `${origin}/a/b?c=d%3Be%2Cf#g`),
      transient('ka_invite', invite),
      expect.stringMatching(/^ka_pkce=eyJ[\w-]+\.\.[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^ka_pkce_[0-9a-f]{8}=eyJ[\w-]+\.\.[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['no next', {}, origin],
    ['an empty one', { next: '' }, origin],
    ['one elsewhere', { next: 'https://evil.example/' }, origin],
    ['one of the default origin', { next: `${origin}/x` }, `${origin}/x`],
    ['one of another allowed origin', { next: `${otherOrigin}/y?z` }, `${otherOrigin}/y?z`],
    ['a bare origin', { next: otherOrigin }, `${otherOrigin}/`],
  ])('stores the target: %s', async (_name, query, expected) => {
    const answer = await openBrowser().get(`${rig.url}/login?${new URLSearchParams(query)}`);
    expect(answer.setCookies[0]).toBe(transient('ka_next', expected));
    expect(answer.setCookies.some((line) => line.startsWith('ka_invite'))).toBe(false);
  });

  it.each([
    ['doubled next', `next=${origin}&next=https://evil.example`],
    ['doubled invite', 'invite=a&invite=b'],
    ['an invite with a line break', 'invite=a%0d%0aset-cookie:x=y'],
    ['an invite with a semicolon', 'invite=a;Domain=example.com'],
    ['an empty invite', 'invite='],
    ['NUL in each parameter', 'next=%00&invite=%00&other=%00'],
    ['a huge invite', `invite=${'a'.repeat(129)}`],
    ['names that reach into prototypes', '__proto__=x&constructor=y'],
  ])('starts even with %s', async (_name, query) => {
    const answer = await openBrowser().get(`${rig.url}/login?${query}`);
    expect(answer.status).toBe(302);
    expect(answer.setCookies.map((line) => line.split('=')[0])).toEqual([
      'ka_next',
      'ka_pkce',
      expect.stringMatching(/^ka_pkce_/),
    ]);
    expect(answer.setCookies[0]).toBe(transient('ka_next', origin));
  });

  it('names a page at 127.0.0.1 in the log, because it does not get the cookies of localhost', async () => {
    const local = await rig.another({ allowedOrigins: [anyLocalOrigin] });
    for (const next of ['http://localhost:5173/', 'http://127.0.0.1:5173/a'])
      await openBrowser().get(`${local.url}/login?${new URLSearchParams({ next })}`);
    const warnings = rig.lines.filter((line) => line.includes('stays signed out'));
    expect(warnings).toEqual([expect.stringContaining('a page at 127.0.0.1 stays signed out: open it at localhost,')]);
  });

  it('also accepts the Location of a 302', async () => {
    const location = 'https://accounts.example.com/o/oauth2?client_id=x';
    await rig.fault({ operation: 'authorize', kind: 'answer', status: 302, headers: { location } });
    expect((await openBrowser().get(`${rig.url}/login`)).location).toBe(location);
    await rig.fault({ operation: 'authorize', kind: 'answer', status: 302, headers: { location: '/o/oauth2?x' } });
    expect((await openBrowser().get(`${rig.url}/login`)).location).toBe(`${rig.idpUrl}/o/oauth2?x`);
  });

  const notStarted: readonly [string, Omit<Fault, 'operation'>][] = [
    ['400', { kind: 'answer', status: 400, body: '{"code":400,"error_code":"validation_failed","msg":"no"}' }],
    ['429', { kind: 'answer', status: 429 }],
    ['500', { kind: 'answer', status: 500 }],
    ['503', { kind: 'answer', status: 503 }],
    ['a reset connection', { kind: 'reset' }],
    ['a truncated response', { kind: 'half', status: 200, body: '{"url":"https://acc' }],
    ['no url', { kind: 'answer', status: 200, body: '{}' }],
    ['an invalid url', { kind: 'answer', status: 200, body: '{"url":"nowhere"}' }],
    ['a url of another kind', { kind: 'answer', status: 200, body: '{"url":"javascript:alert(1)"}' }],
    ['a url that is a number', { kind: 'answer', status: 200, body: '{"url":5}' }],
    ['null', { kind: 'answer', status: 200, body: 'null' }],
    ['nothing', { kind: 'answer', status: 200 }],
    ['a page', { kind: 'answer', status: 200, headers: { 'content-type': 'application/json' }, body: '<html>' }],
    ['a 302 to nowhere', { kind: 'answer', status: 302 }],
    ['a 302 to a script', { kind: 'answer', status: 302, headers: { location: 'javascript:alert(1)' } }],
    ['a 200 with a Location', { kind: 'answer', status: 200, headers: { location: 'https://accounts.example.com/' } }],
    ['an endless response', { kind: 'answer', status: 200, body: `{"url":"https://x/${'a'.repeat(300_000)}"}` }],
  ];
  it.each(notStarted)('is 502 oauth_init_failed if the provider returns %s', async (_name, fault) => {
    await rig.fault({ operation: 'authorize', ...fault });
    const answer = await openBrowser().get(`${rig.url}/login`);
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.text)).toEqual({
      error: 'oauth_init_failed',
      message: 'oauth_init_failed',
      requestId: expect.any(String),
    });
    expect(answer.setCookies).toEqual([]);
  });

  it.each([
    ['text/html', true],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['application/json, TEXT/HTML;q=0.5', true],
    ['*/*', false],
    ['text/*', false],
    ['application/json', false],
    ['text/html;q=0', false],
    ['', false],
  ])('is 502 with Accept %j: a page is %s', async (accept, isPage) => {
    await rig.fault({ operation: 'authorize', kind: 'answer', status: 500 });
    const next = `${origin}/x?a="><script>`;
    const answer = await openBrowser().get(`${rig.url}/login?next=${encodeURIComponent(next)}&"'<b>`, { accept });
    expect([answer.status, answer.setCookies, answer.headers.get('vary')]).toEqual([502, [], 'Accept']);
    expect(answer.headers.get('content-type')).toBe(
      isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    );
    if (!isPage) return expect(JSON.parse(answer.text)).toMatchObject({ message: 'oauth_init_failed' });
    expect(answer.text).toContain('Sign-in is not available');
    expect(answer.text).toContain(`href="${origin}"`);
    expect(answer.text).not.toMatch(/<b>|<script/);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });

  it('has no CORS and no HEAD', async () => {
    for (const path of ['/login', '/callback']) {
      const answer = await fetch(rig.url + path, { headers: { origin }, redirect: 'manual' });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect((await fetch(rig.url + path, { method: 'HEAD', redirect: 'manual' })).status).toBe(404);
      const preflight = await fetch(rig.url + path, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'GET' },
      });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([404, null]);
    }
  });
});

describe('GET /callback', () => {
  it('opens a session and redirects to the target, without a token in any URL', async () => {
    const browser = openBrowser();
    const answer = await signIn(browser, rig.url, { query: { next: `${origin}/studio?tab=1` } });
    expect([answer.status, answer.location]).toEqual([302, `${origin}/studio?tab=1`]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.setCookies).toEqual([
      cleared('ka_next'),
      cleared('ka_invite'),
      cleared('ka_pkce'),
      expect.stringMatching(/^ka_pkce_[0-9a-f]{8}=; Max-Age=0; /),
      expect.stringMatching(/^ka_session=eyJ[\w-]+\.\.[\w.-]+; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect([...browser.cookies.keys()]).toEqual(['ka_session']);
    expect(browser.cookies.get('ka_session')?.length).toBeLessThan(340);
  });

  it.each([
    ['no code', ''],
    ['an empty code', '?code='],
    ['an empty error', '?error='],
  ])('with %s redirects to the default origin', async (_name, query) => {
    const answer = await openBrowser().get(`${rig.url}/callback${query}`);
    expect([answer.status, answer.location, answer.setCookies]).toEqual([302, origin, []]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['the user’s denial', '?error=access_denied&error_code=access_denied&error_description=No'],
    ['a failure of the provider', '?error=server_error&error_description=x'],
    ['an error next to a code', `?error=server_error&code=${randomUUID()}`],
    ['several errors', '?error=a&error=b'],
  ])('reports %s, even in a browser with a session', async (_name, query) => {
    const signedIn = openBrowser();
    await signIn(signedIn, rig.url);
    for (const browser of [openBrowser(), signedIn]) {
      const answer = await browser.get(`${rig.url}/callback${query}`);
      expect([answer.status, answer.location, answer.setCookies]).toEqual([302, failure, []]);
    }
  });

  it('reports the denial on the consent page', async () => {
    const browser = openBrowser();
    const login = new URL((await browser.get(`${rig.url}/login?next=${origin}/x`)).location ?? '');
    const body = new URLSearchParams({ flow: login.searchParams.get('flow') ?? '', deny: '1' });
    const denied = await fetch(login, { method: 'POST', redirect: 'manual', body });
    const back = denied.headers.get('location') ?? '';
    expect(new URL(back).searchParams.get('error')).toBe('access_denied');
    expect((await browser.get(back)).location).toBe(failure);
  });

  it.each([
    ['without the cookie of the sign-in', `?code=${randomUUID()}`],
    ['with a code that is doubled', '?code=a&code=b'],
    ['with a code that contains NUL', '?code=a%00b'],
    ['with a huge code', `?code=${'a'.repeat(2000)}`],
  ])('%s fails without calling the provider', async (_name, query) => {
    const answer = await openBrowser().get(`${rig.url}/callback${query}`);
    expect([answer.status, answer.location, answer.setCookies]).toEqual([302, failure, []]);
    expect((await rig.calls()).pkce).toBe(0);
  });

  it('fails with an unknown code, and the sign-in in progress continues', async () => {
    const browser = openBrowser();
    const login = await browser.get(`${rig.url}/login`);
    expect((await browser.get(`${rig.url}/callback?code=${randomUUID()}`)).location).toBe(failure);
    expect((await browser.get(`${rig.url}/callback?code=nonsense`)).location).toBe(failure);
    const back = await consent(login.location ?? '');
    expect((await browser.get(back)).location).toBe(origin);
  });

  it('does not accept a stolen code in another browser, even in one that is signing in itself', async () => {
    const [victim, thief] = [openBrowser(), openBrowser()];
    const stolen = await consent((await victim.get(`${rig.url}/login`)).location ?? '');
    await thief.get(`${rig.url}/login`);
    const answer = await thief.get(stolen);
    expect([answer.location, answer.setCookies]).toEqual([failure, []]);
    expect((await openBrowser().get(stolen)).location).toBe(failure);
    expect((await victim.get(stolen)).location).toBe(origin);
  });

  it('accepts a code once', async () => {
    const browser = openBrowser();
    const back = await consent((await browser.get(`${rig.url}/login?next=${origin}/x`)).location ?? '');
    const before = [...browser.cookies];
    expect((await browser.get(back)).location).toBe(`${origin}/x`);
    expect((await openBrowser(before).get(back)).location).toBe(failure);
  });

  it.each([
    ['a used code', (back: string) => back],
    ['a code of nobody', () => `${rig.url}/callback?code=${randomUUID()}`],
  ])('redirects a browser with a session and %s to the default origin without an error', async (_name, urlOf) => {
    const browser = openBrowser();
    const back = await consent((await browser.get(`${rig.url}/login?next=${origin}/x`)).location ?? '');
    await browser.get(back);
    const answer = await browser.get(urlOf(back));
    expect([answer.status, answer.location, answer.setCookies]).toEqual([302, origin, []]);
    expect((await browser.post(`${rig.url}/refresh`, { origin })).status).toBe(200);
  });

  it('fails with a used code in a browser whose session has ended', async () => {
    const browser = openBrowser();
    const back = await consent((await browser.get(`${rig.url}/login`)).location ?? '');
    await browser.get(back);
    const before = [...browser.cookies];
    await rig.fault({ operation: 'logout', kind: 'answer', status: 500 });
    await browser.post(`${rig.url}/logout`, { origin });
    expect((await openBrowser(before).get(back)).location).toBe(failure);
  });

  it('fails if the provider does, even in a browser with a session', async () => {
    const browser = openBrowser();
    await signIn(browser, rig.url);
    const back = await consent((await browser.get(`${rig.url}/login?next=${origin}/x`)).location ?? '');
    await rig.fault({ operation: 'pkce', kind: 'answer', status: 500 });
    expect((await browser.get(back)).location).toBe(failure);
  });

  /** `withoutState`: as with a provider that accepts only the exact URL of the callback. */
  const begin = async (browser: Browser, path: string) => {
    const login = await browser.get(`${rig.url}/login?next=${encodeURIComponent(origin + path)}`);
    const cookies = [...browser.cookies].filter(([name]) => name.startsWith('ka_pkce'));
    expect(cookies.length).toBeLessThanOrEqual(10);
    expect(cookies.join('; ').length).toBeLessThan(7000);
    return login.location ?? '';
  };
  const withoutState = (back: string) => {
    const url = new URL(back);
    url.searchParams.delete('state');
    return url.href;
  };

  it.each([
    ['with the state', (back: string) => back],
    ['without the state', withoutState],
  ])('ends ten sign-ins %s at their targets, in any order', async (_name, urlOf) => {
    const browser = openBrowser();
    const begun: string[] = [];
    for (let tab = 0; tab < 10; tab++) begun.push(await begin(browser, `/${tab}`));
    for (const tab of [7, 0, 9, 3, 4, 1, 8, 2, 6, 5])
      expect((await browser.get(urlOf(await consent(begun[tab] ?? '', newEmail())))).location).toBe(`${origin}/${tab}`);
    expect([...browser.cookies.keys()]).toEqual(['ka_session']);
  });

  it('ends sign-ins at their targets that began at the same time', async () => {
    const logins = await Promise.all(
      Array.from({ length: 8 }, (_, tab) => openBrowser().get(`${rig.url}/login?next=${origin}/${tab}`)),
    );
    const browser = openBrowser();
    for (const { setCookies } of logins)
      for (const [, name = '', value = ''] of setCookies.map((line) => /^(\w[\w-]*)=([^;]*)/.exec(line) ?? []))
        browser.cookies.set(name, value);
    const ends = await Promise.all(
      logins.map(async ({ location }) => (await browser.get(withoutState(await consent(location ?? '')))).location),
    );
    expect(ends).toEqual(logins.map((_, tab) => `${origin}/${tab}`));
  });

  it.each([
    ['the oldest first', (tabs: number[]) => tabs],
    ['the newest first', (tabs: number[]) => tabs.reverse()],
  ])('ends fifty sign-ins with at most ten cookies at their targets, %s', { timeout: 60_000 }, async (_name, order) => {
    const browser = openBrowser();
    const begun: string[] = [];
    for (let tab = 0; tab < 50; tab++) begun.push(await begin(browser, `/${tab}`));
    for (const tab of order(begun.map((_, index) => index)))
      expect((await browser.get(await consent(begun[tab] ?? ''))).location).toBe(`${origin}/${tab}`);
  });

  it('drops the oldest sign-in if the provider returns no state', async () => {
    const browser = openBrowser();
    const begun: string[] = [];
    for (let tab = 0; tab < 11; tab++) begun.push(await begin(browser, `/${tab}`));
    const back = (tab: number) => consent(begun[tab] ?? '').then(withoutState);
    expect((await browser.get(await back(0))).location).toBe(failure);
    for (const tab of [1, 10]) expect((await browser.get(await back(tab))).location).toBe(`${origin}/${tab}`);
  });

  it('stores as many sign-ins with long targets as fit, newest first', async () => {
    const browser = openBrowser();
    const begun: string[] = [];
    for (const name of ['0', '1', '2']) begun.push(await begin(browser, `/${name}?${'x'.repeat(1900)}`));
    expect(begun.map((url) => new URL(url).searchParams.has('state'))).toEqual([false, false, false]);
    expect((await browser.get(await consent(begun[2] ?? ''))).location).toContain(`${origin}/2`);
    expect((await browser.get(await consent(begun[1] ?? ''))).location).toContain(`${origin}/1`);
  });

  it.each([
    ['of another browser', (state: string) => state],
    ['that is damaged', tamper],
    ['of a session', (_state: string, session: string) => session],
    ['that is no text', () => 'a&state=b'],
  ])('signs nobody in with a state %s', async (_name, change) => {
    const [victim, thief] = [openBrowser(), openBrowser()];
    await signIn(thief, rig.url);
    const session = thief.cookies.get('ka_session') ?? '';
    thief.cookies.clear();
    const back = new URL(await consent(await begin(victim, '/secret')));
    const { searchParams } = back;
    const url = `${rig.url}/callback?code=${searchParams.get('code')}&state=${change(searchParams.get('state') ?? '', session)}`;
    await begin(thief, '/thief');
    const answer = await thief.get(url);
    expect([answer.location, answer.setCookies]).toEqual([failure, []]);
    expect((await victim.get(back.href)).location).toBe(`${origin}/secret`);
  });

  it.each([
    ['tampered', tamper],
    ['nonsense', () => 'nonsense'],
    ['of the session kind', (_value: string, session: string) => session],
    ['oversized', () => `eyJ${'a'.repeat(5000)}`],
  ])('fails with a cookie that is %s', async (_name, change) => {
    const signedIn = openBrowser();
    await signIn(signedIn, rig.url);
    const browser = openBrowser();
    const back = await consent((await browser.get(`${rig.url}/login`)).location ?? '');
    for (const [name, value] of browser.cookies)
      if (name.startsWith('ka_pkce'))
        browser.cookies.set(name, change(value, signedIn.cookies.get('ka_session') ?? ''));
    expect((await browser.get(back)).location).toBe(failure);
  });

  it('finds its own cookie next to an injected one, and reads no target from ka_next or ka_invite', async () => {
    const browser = openBrowser();
    const back = await consent((await browser.get(`${rig.url}/login?next=${origin}/mine`)).location ?? '');
    const cookie = `ka_pkce=tossed; ka_next=https://evil.example; ${browser.cookieHeader}; ka_next=//evil.example`;
    const answer = await openBrowser().get(back, { cookie });
    expect(answer.location).toBe(`${origin}/mine`);
  });

  const notExchanged: readonly [string, Omit<Fault, 'operation'>][] = [
    [
      '400 in the first format',
      { kind: 'answer', status: 400, body: '{"code":400,"error_code":"bad_code_verifier","msg":"x"}' },
    ],
    ['400 in the second format', { kind: 'answer', status: 400, body: '{"code":"bad_code_verifier","message":"x"}' }],
    [
      '400 in the third format',
      { kind: 'answer', status: 400, body: '{"error":"invalid_grant","error_description":"x"}' },
    ],
    ['500', { kind: 'answer', status: 500 }],
    ['a redirect', { kind: 'answer', status: 302, headers: { location: 'https://evil.example' } }],
    ['a reset', { kind: 'reset' }],
    ['a truncated response', { kind: 'half', status: 200, body: '{"access_token":"a.b.c",' }],
    ['a page', { kind: 'answer', status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }],
    [
      'a response without a refresh token',
      { kind: 'answer', status: 200, body: '{"access_token":"a.b.c","expires_in":5}' },
    ],
  ];
  it.each(notExchanged)('fails if the provider returns %s', async (_name, fault) => {
    const browser = openBrowser();
    const back = await consent((await browser.get(`${rig.url}/login`)).location ?? '');
    await rig.fault({ operation: 'pkce', ...fault });
    const answer = await browser.get(back);
    expect([answer.status, answer.location, answer.setCookies]).toEqual([302, failure, []]);
  });

  it('fails if the provider does not respond, which is logged without the code', async () => {
    const hurried = await rig.another({ providerTimeoutMs: 200 });
    const browser = openBrowser();
    const back = new URL(await consent((await browser.get(`${rig.url}/login`)).location ?? ''));
    await rig.fault({ operation: 'pkce', kind: 'hang' });
    const answer = await browser.get(hurried.url + back.pathname + back.search);
    expect([answer.status, answer.location, answer.setCookies]).toEqual([302, failure, []]);
    expect(rig.lines.filter((line) => line.includes('a code exchange did not finish'))).toHaveLength(1);
    expect(rig.lines.join('')).not.toContain(back.searchParams.get('code'));
  });
});

describe('onboarding', () => {
  it('appends the referral if it was accepted, and only the first time', async () => {
    const inviter = accountOf(newEmail());
    await signIn(openBrowser(), rig.url, { email: inviter.email });
    const invited = newEmail();
    const visit = {
      query: { next: `${origin}/x?a=1&referral=no#h`, invite: inviter.id },
      email: invited,
      language: 'de-AT',
    };
    expect((await signIn(openBrowser(), rig.url, visit)).location).toBe(
      `${origin}/x?a=1&referral=success&inviter=${inviter.id}#h`,
    );
    expect((await signIn(openBrowser(), rig.url, visit)).location).toBe(`${origin}/x?a=1&referral=no#h`);
    const profile = await findProfile(rig.accounts, accountOf(invited).id);
    expect(profile).toMatchObject({ email: invited, language: 'de', plan: 'pro', credits: 1000 });
  });

  it('appends it to the default target', async () => {
    const inviter = accountOf(newEmail());
    await signIn(openBrowser(), rig.url, { email: inviter.email });
    const answer = await signIn(openBrowser(), rig.url, { query: { invite: inviter.id }, email: newEmail() });
    expect(answer.location).toBe(`${origin}/?referral=success&inviter=${inviter.id}`);
  });

  it.each([
    ['nobody', () => randomUUID()],
    ['oneself', (own: string) => own],
    ['an invalid id', () => 'my-friend'],
  ])('appends nothing if the inviter is %s', async (_name, inviteOf) => {
    const email = newEmail();
    const query = { invite: inviteOf(accountOf(email).id) };
    expect((await signIn(openBrowser(), rig.url, { query, email })).location).toBe(origin);
  });

  it.each([
    [undefined, 'en'],
    ['ja;q=0.2, zh-HK', 'zh_TW'],
    ['x'.repeat(5000), 'en'],
  ])('sets the language from %s', async (language, expected) => {
    const email = newEmail();
    await signIn(openBrowser(), rig.url, { email, ...(language === undefined ? {} : { language }) });
    expect((await findProfile(rig.accounts, accountOf(email).id))?.language).toBe(expected);
  });
});

describe('headers', () => {
  it('with any value never appear in a redirect', async () => {
    const evil = 'evil.example';
    const names = ['host', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-for', 'forwarded', 'x-original-url'];
    names.push('x-rewrite-url', 'origin', 'referer', 'x-host', 'x-forwarded-server', 'x-http-host-override', 'via');
    for (const name of names) {
      const headers = { [name]: name.includes('url') || name === 'referer' ? `https://${evil}/` : evil };
      const browser = openBrowser();
      const login = await rawGet(`${rig.url}/login`, { ...headers });
      expect(login.headers.location).toMatch(/^http:\/\/localhost:\d+\/local\/consent/);
      expect(JSON.stringify(login.headers)).not.toContain(evil);
      for (const query of ['', `?code=${randomUUID()}`]) {
        const callback = await rawGet(`${rig.url}/callback${query}`, headers);
        expect(callback.headers.location).toBe(query === '' ? origin : failure);
      }
      const back = await consent((await browser.get(`${rig.url}/login`)).location ?? '');
      const answer = await rawGet(back, { ...headers, cookie: browser.cookieHeader });
      expect(answer.headers.location).toBe(origin);
    }
  });
});

/** `fetch` does not allow a custom host. */
function rawGet(url: string, headers: Record<string, string>): Promise<{ headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve({ headers: answer.headers }));
    })
      .on('error', reject)
      .end();
  });
}

describe('common endpoints', () => {
  it('GET / and GET /health', async () => {
    expect(await (await fetch(rig.url)).json()).toEqual({
      service: 'auth',
      version: expect.any(String),
      commit: expect.any(String),
    });
    expect(await (await fetch(`${rig.url}/health`)).json()).toEqual({ status: 'ok', service: 'auth' });
    expect((await fetch(`${rig.url}/ready`)).status).toBe(200);
  });
});

it('logs no code, cookie or token', async () => {
  const browser = openBrowser();
  const back = await consent((await browser.get(`${rig.url}/login`)).location ?? '');
  await browser.get(back);
  const { access_token } = JSON.parse((await browser.post(`${rig.url}/refresh`)).text);
  const text = rig.lines.join('');
  expect(text).toContain('/callback');
  for (const secret of [new URL(back).searchParams.get('code'), browser.cookies.get('ka_session'), access_token])
    expect(text).not.toContain(secret);
});
