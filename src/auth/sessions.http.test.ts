/** `/refresh` and `/logout` on a real server, with the local identity provider. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSealer } from '#platform/access/sealing.ts';
import { type Browser, openBrowser, signIn } from '../../test/auth/browser.fixture.ts';
import { type AuthRig, eventually, type Fault, origin, otherOrigin, startAuth } from '../../test/auth/rig.fixture.ts';
import { providerTimeoutMs } from './provider.ts';

let rig: AuthRig;
beforeAll(async () => {
  rig = await startAuth();
});
afterAll(() => rig.close());
afterEach(() => rig.wellAgain());

const clearedSession = 'ka_session=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/; HttpOnly; SameSite=Lax';

async function signedIn(email = `u-${randomUUID()}@example.com`): Promise<Browser> {
  const browser = openBrowser();
  await signIn(browser, rig.url, { email });
  await rig.wellAgain();
  return browser;
}
const tabOf = (browser: Browser) => openBrowser(browser.cookies);
const refresh = (browser: Browser, url = rig.url) => browser.post(`${url}/refresh`, { origin });
const logout = (browser: Browser, url = rig.url) => browser.post(`${url}/logout`, { origin });
const bodyOf = (answer: { readonly text: string }) => JSON.parse(answer.text);
const fetchUser = (token: string) =>
  fetch(`${rig.idpUrl}/auth/v1/user`, { headers: { authorization: `Bearer ${token}` } });

describe('POST /refresh', () => {
  it('returns an access token and the next seal', async () => {
    const browser = await signedIn();
    const before = browser.cookies.get('ka_session');
    const answer = await refresh(browser);
    expect(answer.status).toBe(200);
    expect(bodyOf(answer)).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'bearer',
      expires_in: 3600,
      expires_at: expect.any(Number),
    });
    expect(answer.setCookies).toEqual([
      expect.stringMatching(/^ka_session=eyJ[\w.-]+; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect(browser.cookies.get('ka_session')).not.toBe(before);
    expect((await fetchUser(bodyOf(answer).access_token)).status).toBe(200);
  });

  it('works repeatedly', async () => {
    const browser = await signedIn();
    const tokens = new Set<string>();
    for (let turn = 0; turn < 5; turn++) tokens.add(bodyOf(await refresh(browser)).access_token);
    expect(tokens.size).toBe(5);
    expect((await rig.calls()).refresh).toBe(5);
  });

  it.each([
    ['no cookie', undefined],
    ['another cookie', 'ka_sessions=x; xka_session=y'],
    ['an empty one', 'ka_session='],
    ['nonsense', 'ka_session=nonsense'],
    ['a JWT', 'ka_session=eyJhbGciOiJub25lIn0.e30.'],
    ['a name in another case', 'KA_SESSION=x'],
    ['a thousand of them', Array.from({ length: 1000 }, (_, at) => `ka_session=${at}`).join('; ')],
  ])('is 401 no_session with %s, and does not change the cookie', async (_name, cookie) => {
    const answer = await openBrowser().post(`${rig.url}/refresh`, cookie === undefined ? {} : { cookie });
    expect([answer.status, bodyOf(answer).error, answer.setCookies]).toEqual([401, 'no_session', []]);
    expect((await rig.calls()).refresh).toBe(0);
  });

  it.each([
    ['truncated', (value: string) => value.slice(0, -1)],
    ['flipped', (value: string) => value.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
    ['changed in the middle', (value: string) => value.replace(/\.\.(.)/, (_, one) => `..${one === 'A' ? 'B' : 'A'}`)],
    ['oversized', (value: string) => `${value}${'A'.repeat(4096)}`],
    ['without its header', (value: string) => value.slice(value.indexOf('.'))],
  ])('is 401 no_session with a seal that is %s', async (_name, change) => {
    const browser = await signedIn();
    browser.cookies.set('ka_session', change(browser.cookies.get('ka_session') ?? ''));
    const answer = await refresh(browser);
    expect([answer.status, bodyOf(answer).error, answer.setCookies]).toEqual([401, 'no_session', []]);
  });

  it('rejects a seal of another purpose or of another secret', async () => {
    for (const [secret, purpose] of [
      ['a first secret', 'sign-in'],
      ['another secret', 'session'],
    ] as const) {
      const sealer = createSealer([secret], purpose);
      const answer = await openBrowser([['ka_session', sealer.seal('a token')]]).post(`${rig.url}/refresh`);
      expect(bodyOf(answer).error).toBe('no_session');
    }
  });

  it.each([
    ['before', (own: string) => `ka_session=tossed; ${own}`],
    ['behind', (own: string) => `${own}; ka_session=tossed`],
    ['in quotes', (own: string) => own.replace(/=(.*)/, '="$1"')],
  ])('finds its cookie with an injected one %s', async (_name, change) => {
    const browser = await signedIn();
    const answer = await openBrowser().post(`${rig.url}/refresh`, { cookie: change(browser.cookieHeader) });
    expect(answer.status).toBe(200);
  });

  const dead: readonly [string, number, string][] = [
    ['first format', 400, '{"code":400,"error_code":"refresh_token_already_used","msg":"Already Used"}'],
    ['second format', 400, '{"code":"refresh_token_not_found","message":"Not Found"}'],
    ['third format', 400, '{"error":"invalid_grant","error_description":"Not Found"}'],
    ['a 401 about the token', 401, '{"code":401,"error_code":"bad_jwt","msg":"invalid JWT"}'],
    ['403', 403, '{"code":403,"error_code":"session_not_found","msg":"gone"}'],
    ['404', 404, '{"code":404,"error_code":"flow_state_not_found","msg":"gone"}'],
    ['410', 410, '{"error":"gone"}'],
    ['422', 422, '{"code":"over","message":"x"}'],
    ['a code that is only a number', 400, '{"code":400,"msg":"x"}'],
    ['400 that only says bad json', 400, '{"error":"invalid_grant","error_description":"bad_json"}'],
  ];
  it.each(dead)('is 401 refresh_failed, and clears the cookie: %s', async (_name, status, body) => {
    const browser = await signedIn();
    await rig.fault({ operation: 'refresh', kind: 'answer', status, body });
    const answer = await refresh(browser);
    expect([answer.status, bodyOf(answer).error, answer.setCookies]).toEqual([401, 'refresh_failed', [clearedSession]]);
    expect(browser.cookies.has('ka_session')).toBe(false);
    expect((await rig.calls()).refresh).toBe(1);
  });

  const json = { 'content-type': 'application/json' };
  const unavailable: readonly [string, Omit<Fault, 'operation'>][] = [
    ...[301, 302, 307, 408, 409, 425, 429, 500, 501, 502, 503, 504, 520].map(
      (status): [string, Omit<Fault, 'operation'>] => [
        String(status),
        { kind: 'answer', status, headers: { location: 'https://evil.example/' }, body: '{"code":"x","message":"y"}' },
      ],
    ),
    ['bad_json, first format', { kind: 'answer', status: 400, body: '{"code":400,"error_code":"bad_json","msg":"x"}' }],
    ['bad_json, second format', { kind: 'answer', status: 400, body: '{"code":"bad_json","message":"x"}' }],
    ['bad_json, third format', { kind: 'answer', status: 400, body: '{"error":"bad_json","error_description":"x"}' }],
    ['no API key', { kind: 'answer', status: 401, body: '{"message":"No API key found in request"}' }],
    ['a wrong API key', { kind: 'answer', status: 401, body: '{"code":401,"error_code":"x","msg":"Invalid API key"}' }],
    ['a wrong apikey, as text', { kind: 'answer', status: 401, body: 'Invalid apikey' }],
    ...[400, 401, 403, 404, 410, 422].map((status): [string, Omit<Fault, 'operation'>] => [
      `${status} in HTML`,
      { kind: 'answer', status, body: '<html>not found</html>' },
    ]),
    ...['', 'null', '[]', '"error"', '{}', '{"message":"no code"}', '{"code":null}', '{"error"'].map(
      (body): [string, Omit<Fault, 'operation'>] => [
        `400 with ${JSON.stringify(body)}`,
        { kind: 'answer', status: 400, body },
      ],
    ),
    ['403 about an API key', { kind: 'answer', status: 403, body: '{"message":"Invalid API key"}' }],
    ...[402, 405, 413, 431, 451, 499].map((status): [string, Omit<Fault, 'operation'>] => [
      `${status} of a gateway`,
      { kind: 'answer', status, body: '{"code":"x","error":"y"}' },
    ]),
    ['a reset', { kind: 'reset' }],
    ['a truncated response', { kind: 'half', status: 200, headers: json, body: '{"access_token":' }],
    ['an empty 200', { kind: 'answer', status: 200 }],
    ['204', { kind: 'answer', status: 204 }],
    ['a page', { kind: 'answer', status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html>' }],
    ['a page with a JSON content type', { kind: 'answer', status: 200, headers: json, body: '<!doctype html>' }],
    ['null', { kind: 'answer', status: 200, headers: json, body: 'null' }],
    ['a list', { kind: 'answer', status: 200, headers: json, body: '[]' }],
    ['no refresh token', { kind: 'answer', status: 200, headers: json, body: '{"access_token":"a","expires_in":1}' }],
    [
      'an empty access token',
      { kind: 'answer', status: 200, body: '{"access_token":"","refresh_token":"r","expires_in":1}' },
    ],
    [
      'a token with a line break',
      { kind: 'answer', status: 200, body: '{"access_token":"a\\r\\nb","refresh_token":"r","expires_in":1}' },
    ],
    ['no lifetime', { kind: 'answer', status: 200, body: '{"access_token":"a","refresh_token":"r"}' }],
    ['201', { kind: 'answer', status: 201, body: '{"access_token":"a","refresh_token":"r","expires_in":1}' }],
  ];
  it.each(unavailable)('is 503 upstream_unavailable, and does not change the cookie: %s', async (_name, fault) => {
    const browser = await signedIn();
    await rig.fault({ operation: 'refresh', ...fault });
    const answer = await refresh(browser);
    expect([answer.status, bodyOf(answer).error, answer.setCookies]).toEqual([503, 'upstream_unavailable', []]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await refresh(browser)).status).toBe(200);
  });

  it('passes on the provider’s Retry-After, up to a limit', async () => {
    const browser = await signedIn();
    for (const [given, expected] of [
      ['7', '7'],
      ['9999', '60'],
      ['soon', '2'],
    ] as const) {
      await rig.fault({ operation: 'refresh', kind: 'answer', status: 429, headers: { 'retry-after': given } });
      expect((await refresh(browser)).headers.get('retry-after')).toBe(expected);
    }
  });

  it('waits for a slow provider, up to its time limit', async () => {
    // The limit of docs/specification/auth.md.
    expect(providerTimeoutMs).toBeLessThan(10_000);
    const hurried = await rig.another({ providerTimeoutMs: 1000 });
    const browser = await signedIn();
    await rig.fault({ operation: 'refresh', kind: 'slow', delayMs: 1500 });
    expect((await refresh(browser)).status).toBe(200);
    await rig.fault({ operation: 'refresh', kind: 'hang' });
    const answer = await refresh(browser, hurried.url);
    expect([answer.status, bodyOf(answer).error, answer.setCookies]).toEqual([503, 'upstream_unavailable', []]);
    expect((await refresh(browser)).status).toBe(200);
  });

  it('accepts the previous token after a lost response', async () => {
    const browser = await signedIn();
    await rig.fault({ operation: 'refresh', kind: 'lost' });
    expect((await refresh(browser)).status).toBe(503);
    expect((await refresh(browser)).status).toBe(200);
    expect((await refresh(browser)).status).toBe(200);
  });

  it('reports a wrong API key as a fault of the server', async () => {
    const browser = await signedIn();
    await rig.fault({ operation: 'refresh', kind: 'answer', status: 401, body: '{"message":"Invalid API key"}' });
    await refresh(browser);
    expect(rig.lines.some((line) => line.includes('"level":"error"') && line.includes('ANON_KEY'))).toBe(true);
  });

  it.each([
    ['no body', undefined, undefined],
    ['an empty body with a JSON content type', '', 'application/json'],
    ['an empty form', '', 'application/x-www-form-urlencoded'],
    ['a beacon', '', 'text/plain;charset=UTF-8'],
    ['an unexpected body', '{"a":', 'application/json'],
  ])('accepts %s', async (_name, body, type) => {
    const browser = await signedIn();
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    expect((await browser.post(`${rig.url}/refresh`, headers, body)).status).toBe(200);
    expect((await browser.post(`${rig.url}/logout`, headers, body)).status).toBe(200);
  });
});

describe('origins', () => {
  it.each(['/refresh', '/logout'])('%s: allows credentials from the allowed origins', async (path) => {
    for (const allowed of [origin, otherOrigin, 'http://localhost:3000']) {
      const answer = await (await signedIn()).post(rig.url + path, { origin: allowed });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
      expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('vary')).toBe('Origin');
    }
  });

  it.each(['/refresh', '/logout'])('%s: allows the origins to read errors', async (path) => {
    await rig.fault({ operation: 'refresh', kind: 'answer', status: 500 });
    const answer = await (await signedIn()).post(rig.url + path, { origin });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('vary')).toBe('Origin');
  });

  const foreign = [
    'null',
    'https://evil.example',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.example',
    'https://evilapp.example.com',
    'https://example.com',
    'https://app.example.com/',
    'HTTPS://APP.EXAMPLE.COM',
    `${origin}, ${origin}`,
    'http://localhost:3001',
    '*',
    '',
  ];
  it.each(foreign)('returns 403 for %j before the cookie is read', async (given) => {
    const browser = await signedIn();
    for (const path of ['/refresh', '/logout']) {
      for (const visitor of [browser, openBrowser()]) {
        const answer = await visitor.post(rig.url + path, { origin: given });
        expect([answer.status, bodyOf(answer).error, answer.setCookies]).toEqual([403, 'forbidden_origin', []]);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
        expect(answer.headers.get('vary')).toBe('Origin');
        expect(answer.headers.get('cache-control')).toBe('no-store');
      }
    }
    expect((await rig.calls()).refresh).toBe(0);
    expect((await refresh(browser)).status).toBe(200);
  });

  it.each([
    ['cross-site', 403],
    ['same-origin', 200],
    ['none', 200],
  ])('without an Origin, Sec-Fetch-Site %s is %i', async (site, status) => {
    const browser = await signedIn();
    expect((await browser.post(`${rig.url}/refresh`, { 'sec-fetch-site': site })).status).toBe(status);
  });

  it.each(['/refresh', '/logout'])('%s: a preflight allows the trace headers', async (path) => {
    const call = (from: string) =>
      fetch(rig.url + path, {
        method: 'OPTIONS',
        headers: {
          origin: from,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type,traceparent,tracestate,baggage',
        },
      });
    const answer = await call(origin);
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, DELETE, POST, OPTIONS',
      'access-control-allow-headers': 'Authorization, Content-Type, traceparent, tracestate, baggage',
      vary: 'Origin',
    });
    const refused = await call('https://evil.example');
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('POST /logout', () => {
  it.each([
    ['an unknown scope', '?scope=zzz', {}, undefined],
    ['several scopes', '?scope=local&scope=global', {}, undefined],
    ['NUL in its query', '?scope=%00&x=%00', {}, undefined],
    ['a huge body', '', { 'content-type': 'application/json' }, 'x'.repeat(3_000_000)],
    ['a body of an invalid type', '', { 'content-type': ';;;' }, '{'],
  ])('signs out everywhere with %s', async (_name, query, headers: Record<string, string>, body) => {
    const email = `u-${randomUUID()}@example.com`;
    const [browser, elsewhere] = [await signedIn(email), await signedIn(email)];
    const answer = await browser.post(`${rig.url}/logout${query}`, { origin, ...headers }, body);
    expect([answer.status, answer.text]).toEqual([200, '{"ok":true}']);
    expect(browser.cookies.has('ka_session')).toBe(false);
    expect((await refresh(elsewhere)).status).toBe(401);
  });

  it('ends every session of the user and clears the cookie', async () => {
    const email = `u-${randomUUID()}@example.com`;
    const [one, other] = [openBrowser(), openBrowser()];
    await signIn(one, rig.url, { email });
    await signIn(other, rig.url, { email });
    const { access_token } = bodyOf(await refresh(other));
    const answer = await logout(one);
    expect([answer.status, bodyOf(answer), answer.setCookies]).toEqual([200, { ok: true }, [clearedSession]]);
    expect((await fetchUser(access_token)).status).toBe(403);
    const after = await refresh(other);
    expect([after.status, bodyOf(after).error]).toEqual([401, 'refresh_failed']);
  });

  it.each([
    ['no cookie', ''],
    ['nonsense', 'ka_session=nonsense'],
  ])('is 200 with %s, without calling the provider', async (_name, cookie) => {
    const answer = await openBrowser().post(`${rig.url}/logout`, cookie === '' ? {} : { cookie });
    expect([answer.status, bodyOf(answer), answer.setCookies]).toEqual([200, { ok: true }, [clearedSession]]);
    expect((await rig.calls()).refresh).toBe(0);
  });

  it('can be repeated', async () => {
    const browser = await signedIn();
    const again = tabOf(browser);
    await logout(browser);
    expect(bodyOf(await logout(again))).toEqual({ ok: true });
  });

  it('deletes the result that was stored for a second tab', async () => {
    const browser = await signedIn();
    const [second, third] = [tabOf(browser), tabOf(browser)];
    await refresh(browser);
    expect((await refresh(second)).status).toBe(200);
    expect((await rig.calls()).refresh).toBe(1);
    await logout(browser);
    const answer = await refresh(third);
    expect([answer.status, bodyOf(answer).error]).toEqual([401, 'refresh_failed']);
  });

  it('deletes a result from two refreshes ago', async () => {
    const browser = await signedIn();
    const old = tabOf(browser);
    await refresh(browser);
    await refresh(browser);
    await logout(browser);
    expect((await refresh(old)).status).toBe(401);
  });

  const providerFaults: readonly [string, Fault][] = [
    ['the exchange fails', { operation: 'refresh', kind: 'answer', status: 503, times: 2 }],
    ['the exchange is interrupted', { operation: 'refresh', kind: 'reset', times: 2 }],
    ['the response of the exchange is lost', { operation: 'refresh', kind: 'lost', times: 1 }],
    ['the revocation fails', { operation: 'logout', kind: 'answer', status: 500, times: 2 }],
    ['the revocation is rate-limited', { operation: 'logout', kind: 'answer', status: 429, times: 1 }],
    ['the revocation is interrupted', { operation: 'logout', kind: 'reset', times: 1 }],
  ];
  it.each(providerFaults)('signs out even if %s, and notifies the provider later', async (_name, fault) => {
    const email = `u-${randomUUID()}@example.com`;
    const [browser, elsewhere] = [openBrowser(), openBrowser()];
    await signIn(browser, rig.url, { email });
    await signIn(elsewhere, rig.url, { email });
    const copy = tabOf(browser);
    await rig.fault(fault);
    const answer = await logout(browser);
    expect([answer.status, bodyOf(answer), answer.setCookies]).toEqual([200, { ok: true }, [clearedSession]]);
    // The token is dead here at once, and everywhere after the notification. An earlier refresh there would succeed, for 10 s.
    expect(bodyOf(await refresh(copy)).error).toBe('refresh_failed');
    await eventually(async () => (await rig.db.selectFrom('session_revocations').select('id').execute()).length === 0);
    expect((await refresh(elsewhere)).status).toBe(401);
  });

  it('is completed by the next process if this one ends, which does not wait for a provider that hangs', async () => {
    const email = `u-${randomUUID()}@example.com`;
    const [browser, elsewhere] = [openBrowser(), openBrowser()];
    await signIn(browser, rig.url, { email });
    await signIn(elsewhere, rig.url, { email });
    await rig.wellAgain();
    await rig.fault({ operation: 'refresh', kind: 'reset' });
    await rig.fault({ operation: 'refresh', kind: 'hang' });
    await logout(browser);
    // The next attempt hangs, in whichever process makes it.
    await eventually(async () => (await rig.calls()).refresh === 2);
    await rig.restart();
    expect(await rig.db.selectFrom('session_revocations').select('id').execute()).toHaveLength(1);
    await eventually(async () => (await rig.db.selectFrom('session_revocations').select('id').execute()).length === 0);
    expect((await refresh(elsewhere)).status).toBe(401);
  });

  it('limits the calls to the provider in total', async () => {
    const hurried = await rig.another({ providerTimeoutMs: 4000 });
    const browser = await signedIn();
    await rig.fault({ operation: 'refresh', kind: 'slow', delayMs: 3500 });
    await rig.fault({ operation: 'logout', kind: 'hang' });
    const startedAt = performance.now();
    expect(bodyOf(await logout(browser, hurried.url))).toEqual({ ok: true });
    // Two limits would be 7.5 s.
    expect(performance.now() - startedAt).toBeLessThan(7400);
  });
});

describe('the cookie', () => {
  it('is shared across the parent domain, and secure if the service is', async () => {
    const shared = await startAuth({
      changes: { cookieDomain: 'example.com', publicUrl: 'https://auth.example.com' },
    });
    try {
      const browser = openBrowser();
      const login = await browser.get(`${shared.url}/login`);
      for (const line of login.setCookies)
        expect(line).toMatch(/^ka_\w+=\S+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      const gone = await browser.post(`${shared.url}/logout`);
      expect(gone.setCookies).toEqual([
        'ka_session=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Domain=example.com; Path=/; HttpOnly; Secure; SameSite=Lax',
      ]);
    } finally {
      await shared.close();
    }
  });

  it('stays valid after restarts of the service and the provider, and a change of secrets', async () => {
    const browser = await signedIn();
    await rig.restart();
    expect((await refresh(browser)).status).toBe(200);
    await rig.restartProvider();
    expect((await refresh(browser)).status).toBe(200);
    const before = browser.cookies.get('ka_session') ?? '';
    await rig.restart({ cookieSecrets: ['a second secret', 'a first secret'] });
    expect((await refresh(browser)).status).toBe(200);
    const kid = (seal: string) => JSON.parse(Buffer.from(seal.split('.')[0] ?? '', 'base64url').toString()).kid;
    expect(kid(browser.cookies.get('ka_session') ?? '')).not.toBe(kid(before));
    await rig.restart({ cookieSecrets: ['a second secret'] });
    expect((await refresh(browser)).status).toBe(200);
    expect(bodyOf(await refresh(openBrowser([['ka_session', before]]))).error).toBe('no_session');
    await rig.restart();
  });
});
