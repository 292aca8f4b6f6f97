/** Tests of the console's server side over HTTP: access, operator sessions and forwarding. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleRig, startConsole } from '../../test/console/rig.fixture.ts';
import type { Overview } from './api.ts';

const environment = { CONSOLE_TOKEN: 'a token of the tests', MEMORY_ADMIN_TOKEN: 'an admin token of the tests' };
const services = ['memory', 'content', 'notify', 'console'] as const;

let rig: ConsoleRig;
beforeAll(async () => {
  rig = await startConsole(environment, services);
});
afterAll(() => rig.close());

interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

/** `fetch` does not allow a custom `Host` or `Origin`. */
function send(path: string, { method = 'GET', headers = {}, json }: RequestOptions = {}) {
  return new Promise<{ status: number; headers: Record<string, string>; text: string }>((resolve, reject) => {
    const body = json === undefined ? undefined : JSON.stringify(json);
    const call = request(rig.url + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    });
    call.on('error', reject);
    call.on('response', async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      const plain = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(plain), text });
    });
    call.end(body);
  });
}

const begin = (token: string, headers: Record<string, string> = {}) =>
  send('/api/session', { method: 'POST', headers: { origin: rig.url, ...headers }, json: { token } });

async function operator(): Promise<Record<string, string>> {
  const { headers } = await begin(environment.CONSOLE_TOKEN);
  return { origin: rig.url, cookie: (headers['set-cookie'] ?? '').split(';')[0] ?? '' };
}

const errorOf = ({ status, text }: { status: number; text: string }) => [status, JSON.parse(text).error];

describe('hosts and origins', () => {
  const aliases = () => [rig.url, rig.url.replace('localhost', '127.0.0.1'), rig.url.replace('localhost', '[::1]')];

  it('responds to the names of the loopback interface', async () => {
    for (const alias of aliases())
      expect((await send('/api/console', { headers: { host: new URL(alias).host } })).status).toBe(200);
  });

  it('redirects only pages to the host of the cookies', async () => {
    const { status, headers } = await send('/memory?q=1', { headers: { host: new URL(aliases()[1] ?? '').host } });
    expect([status, headers.location]).toEqual([302, `${rig.url}/memory?q=1`]);
    const elsewhere = await send('//evil.example/', { headers: { host: new URL(aliases()[1] ?? '').host } });
    expect(elsewhere.headers.location ?? rig.url).toMatch(rig.url);
  });

  it.each(['evil.example', 'localhost', 'localhost:1', 'localhost.evil.example:80'])(
    'rejects the host “%s”',
    async (host) => {
      for (const path of ['/', '/assets/index.js', '/api/console', '/docs'])
        expect(errorOf(await send(path, { headers: { host } })), path).toEqual([403, 'forbidden_host']);
    },
  );

  it('rejects a page whose hostname was rebound to this address, regardless of its other headers', async () => {
    const { cookie = '' } = await operator();
    const rebound = { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin', cookie };
    expect(errorOf(await send('/api/overview', { headers: rebound }))).toEqual([403, 'forbidden_host']);
    const response = await begin(environment.CONSOLE_TOKEN, rebound);
    expect(errorOf(response)).toEqual([403, 'forbidden_host']);
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  it('ignores proxy headers', async () => {
    const response = await send('/api/console', {
      headers: { host: 'evil.example', 'x-forwarded-host': new URL(rig.url).host },
    });
    expect(response.status).toBe(403);
  });

  it('responds to probes under any name', async () => {
    for (const path of ['/health', '/ready', '/metrics'])
      expect((await send(path, { headers: { host: 'probe.example' } })).status).toBe(200);
  });

  it.each([
    ['another origin', { origin: 'http://evil.example' }, 403],
    ['a sandboxed page', { origin: 'null' }, 403],
    ['another port', { origin: 'http://localhost:1' }, 403],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a neighbour', { 'sec-fetch-site': 'same-site' }, 403],
    ['itself', { 'sec-fetch-site': 'same-origin' }, 200],
    ['no origin', {}, 200],
  ])('treats a read from %s correctly', async (_who, headers, status) => {
    expect((await send('/api/console', { headers: headers as Record<string, string> })).status).toBe(status);
  });

  it('rejects changes without an origin', async () => {
    const response = await send('/api/session', { method: 'POST', json: { token: environment.CONSOLE_TOKEN } });
    expect(errorOf(response)).toEqual([403, 'forbidden_origin']);
    expect(response.headers['set-cookie']).toBeUndefined();
  });
});

describe('the API of the pages, for any spelling of its path', () => {
  const spellings = ['/api/session', '/%61pi/session', '/ap%69/%73ession', '/a%70i/session?x=/'];

  it.each(spellings)('%s rejects another origin and changes nothing', async (path) => {
    const { cookie = '' } = await operator();
    const strangers: Record<string, string>[] = [{ cookie, origin: 'https://evil.example' }, { cookie }];
    for (const headers of strangers) {
      const response = await send(path, { method: 'DELETE', headers });
      expect(errorOf(response)).toEqual([403, 'forbidden_origin']);
      expect(response.headers['set-cookie']).toBeUndefined();
    }
  });

  it.each(['/api/console', '/%61pi/console', '/api/overview', '/%61pi/overview', '/%61pi/nowhere'])(
    '%s is not cached',
    async (path) => {
      expect((await send(path)).headers['cache-control']).toBe('no-store');
    },
  );

  it('pages may be cached', async () => {
    expect((await send('/')).headers['cache-control']).toBe('no-cache');
  });
});

describe('the operator’s session', () => {
  it('starts with the token, in a cookie that scripts and other sites cannot read', async () => {
    const { status, headers } = await begin(environment.CONSOLE_TOKEN);
    expect(status).toBe(204);
    expect(headers['set-cookie']).toMatch(
      /^atelier_console=\d+\.[\w-]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(headers['set-cookie']).not.toContain(environment.CONSOLE_TOKEN);
    expect(headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['a wrong one', 'a token of the test'],
    ['a longer one', `${environment.CONSOLE_TOKEN}x`],
  ])('not with %s', async (_what, token) => {
    const response = await begin(token);
    expect(errorOf(response)).toEqual([401, 'wrong_token']);
    expect(response.headers['set-cookie']).toBeUndefined();
  });

  it.each([{}, { token: '' }, { token: 1 }, { token: 'x'.repeat(1025) }])('requires a token: %j', async (json) => {
    expect((await send('/api/session', { method: 'POST', headers: { origin: rig.url }, json })).status).toBe(400);
  });

  it.each([
    ['/api/overview', 'GET'],
    ['/api/mails', 'GET'],
    ['/api/mails/a.eml', 'GET'],
    ['/api/mails/a.eml/html', 'GET'],
    ['/api/memory/memories', 'GET'],
    ['/api/memory/memories', 'POST'],
    ['/api/memory/memories/1', 'DELETE'],
    ['/api/memory/entities/user/1/export', 'GET'],
  ])('%s (%s) is for operators', async (path, method) => {
    const [, signature = ''] = ((await operator()).cookie ?? '').split('.');
    const strangers = [
      '',
      'atelier_console=',
      'atelier_console=9999999999.x',
      `atelier_console=9999999999.${signature}`,
    ];
    for (const cookie of strangers)
      expect((await send(path, { method, headers: { origin: rig.url, cookie } })).status, cookie).toBe(401);
  });

  it('answers without a price if the agent is not there', async () => {
    const response = await send('/api/price');
    expect([response.status, JSON.parse(response.text)]).toEqual([200, { image: null, video: null }]);
  });

  it.each([
    ['/create?kind=video', '/create?kind=video'],
    [`OWN/library#top`, '/library#top'],
    ['https://example.com/', '/'],
    ['//example.com/', '/'],
    ['/\\\\example.com/', '/'],
    ['OWN//studio/', '/studio/'],
    ['/.//explore/1?q=a', '/explore/1?q=a'],
    ['/operator/people/1', '/operator/people/1'],
    ['nonsense', '/'],
    ['/albums/1', '/'],
    ['OWN//example.com/', '/'],
    ['javascript:alert(1)', '/'],
    ['', '/'],
  ])('leads from /login?next=%s to %s, a page of its own', async (next, path) => {
    const response = await send(`/login?${new URLSearchParams({ next: next.replace('OWN', rig.url) })}`);
    expect([response.status, response.headers.location]).toEqual([302, path]);
  });

  it('reports to the pages whether the browser may have the session of a user', async () => {
    const read = async (cookie: string) =>
      JSON.parse((await send('/api/console', { headers: { cookie } })).text).hasUserSession;
    expect(await Promise.all(['', 'ka_session=', 'not_ka_session=a', 'a=b; ka_session=c'].map(read))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('reports to the pages whether the user is an operator', async () => {
    const anonymous = JSON.parse((await send('/api/console')).text);
    expect(anonymous).toMatchObject({ isOperator: false, hasOutbox: true, hasMemory: true, hasDemoUsers: true });
    expect(JSON.parse((await send('/api/console', { headers: await operator() })).text).isOperator).toBe(true);
    expect(JSON.stringify(anonymous)).not.toContain('of the tests');
  });

  it.each([
    '/',
    '/assets/index.js',
    '/api/console',
    '/api/overview',
    '/api/mails',
    '/api/mails/none.eml',
    '/api/memory/memories',
    '/api/memory/memories/none',
    '/api/memory/profiles',
    '/docs',
    '/openapi.json',
    '/health',
    '/ready',
    '/metrics',
  ])('contains no secret: %s', async (path) => {
    const response = JSON.stringify(await send(path, { headers: await operator() }));
    const made = Object.entries<string>(JSON.parse(await readFile(join(rig.dataDir, 'secrets.json'), 'utf8')));
    const held = [...made, ...Object.entries(environment)].filter(([, value]) => response.includes(value));
    expect(made.length).toBeGreaterThan(3);
    expect(held.map(([name]) => name)).toEqual([]);
  });

  it('ends', async () => {
    const response = await send('/api/session', { method: 'DELETE', headers: await operator() });
    expect(response.headers['set-cookie']).toMatch(/^atelier_console=; Max-Age=0; Path=\//);
  });
});

describe('pages', () => {
  it.each([
    '/',
    '/studio',
    '/studio/',
    '/create/',
    '/operator/',
    '/studio/a-thread',
    '/library',
    '/library/6f1c2a3e-0000-4000-8000-000000000000',
    '/explore/6f1c2a3e-0000-4000-8000-000000000000',
    '/memory',
    '/account',
    '/operator',
    '/operator/people/6f1c2a3e-0000-4000-8000-000000000000',
  ])('%s is the page, under a policy that allows no other scripts', async (path) => {
    const { status, headers, text } = await send(path);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('<div id="root">');
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|style=|\son\w+=/);
    const policy = headers['content-security-policy'] ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      expect(policy).toContain(rule);
    expect(policy).not.toMatch(/unsafe|\*/);
  });

  it('are sent compressed, and not again', async () => {
    const first = await send('/assets/index.js', { headers: { 'accept-encoding': 'gzip' } });
    expect(first.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
    });
    const again = await send('/assets/index.js', { headers: { 'if-none-match': first.headers.etag ?? '' } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it.each(['/nowhere', '/studio/a/b/c', '/api/nowhere'])('%s is the page in a browser, with 404', async (path) => {
    const browser = await send(path, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
    expect([browser.status, browser.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(browser.text).toContain('<div id="root">');
    expect(browser.headers['content-security-policy']).toContain("script-src 'self'");
    expect(browser.headers.vary).toBe('Accept, Accept-Encoding');
    const program = await send(path, { headers: { accept: '*/*' } });
    expect(errorOf(program)).toEqual([404, 'not_found']);
  });

  it.each(['/assets/none.js', '/assets/../service.ts', '/assets/%2e%2e/service.ts', '/service.ts'])(
    'returns 404 for %s',
    async (path) => {
      expect((await send(path)).status).toBe(404);
    },
  );
});

describe('the overview', () => {
  it('reports the state of every service, including unreachable ones', async () => {
    const overview: Overview = JSON.parse((await send('/api/overview', { headers: await operator() })).text);
    const states = Object.fromEntries(overview.services.map((state) => [state.service, state]));
    expect(states.memory).toMatchObject({ status: 'ready', engines: { database: 'ok' } });
    expect(states.media).toMatchObject({ status: 'unreachable', engines: {} });
    expect(overview.engines).toContainEqual({
      concern: 'Database',
      engine: expect.stringContaining(rig.engine),
      isEmbedded: rig.engine === 'PGlite',
    });
    expect(overview.processes).toHaveLength(1);
  });
});

describe('the memory back office', () => {
  it('forwards the calls of the page with the admin token', async () => {
    const headers = await operator();
    const json = { entity_id: 'some one/1', entity_type: 'user', type: 'preference', content: 'Likes tea' };
    const added = await send('/api/memory/memories', { method: 'POST', headers, json });
    expect(added.status).toBe(201);
    const found = await send('/api/memory/memories?q=tea&limit=1', { headers });
    expect(JSON.parse(found.text).memories).toMatchObject([{ content: 'Likes tea' }]);
    const path = `/api/memory/entities/user/${encodeURIComponent('some one/1')}`;
    expect(JSON.parse((await send(`${path}/export`, { headers })).text).memories).toHaveLength(1);
    expect((await send(path, { method: 'DELETE', headers })).status).toBe(204);
    expect((await send(`${path}/export`, { headers })).status).toBe(404);
  });

  it('returns errors unchanged', async () => {
    const headers = await operator();
    const response = await send('/api/memory/memories', { method: 'POST', headers, json: { content: '' } });
    expect(errorOf(response)).toEqual([400, 'invalid_request']);
    expect(errorOf(await send('/api/memory/memories?limit=0', { headers }))).toEqual([400, 'invalid_request']);
  });

  it.each([
    ['GET', '/api/memory/inject'],
    ['POST', '/api/memory/profiles'],
    ['GET', '/api/memory/../metrics'],
    ['GET', '/api/memory/memories/1/2'],
  ])('forwards nothing else: %s %s', async (method, path) => {
    expect((await send(path, { method, headers: await operator() })).status).toBe(404);
  });
});

describe('the outbox', () => {
  beforeAll(async () => {
    const folder = join(rig.dataDir, 'outbox');
    await mkdir(folder, { recursive: true });
    const mail = (subject: string, date: string, body: string) =>
      [
        'From: Studio <studio@example.com>',
        'To: ada@example.com',
        `Subject: ${subject}`,
        `Date: ${date}`,
        'MIME-Version: 1.0',
        ...body.split('\n'),
      ].join('\r\n');
    await writeFile(
      join(folder, 'one.eml'),
      mail(
        '=?utf-8?q?Gr=C3=BC=C3=9Fe?=',
        'Fri, 20 Nov 2026 10:00:00 +0000',
        'Content-Type: text/html; charset=utf-8\n\n<p>Hi</p><script>1</script>',
      ),
    );
    await writeFile(
      join(folder, 'two.eml'),
      mail('Text', 'Fri, 20 Nov 2026 11:00:00 +0000', 'Content-Type: text/plain\n\nHello'),
    );
    await writeFile(join(folder, '.three.eml.0'), 'half a mail');
  });

  it('lists emails and returns each', async () => {
    const headers = await operator();
    const list = JSON.parse((await send('/api/mails', { headers })).text);
    expect(list.total).toBe(2);
    expect(list.mails).toContainEqual({
      name: 'one.eml',
      subject: 'Grüße',
      from: 'Studio <studio@example.com>',
      to: ['ada@example.com'],
      sentAt: '2026-11-20T10:00:00.000Z',
    });
    const one = JSON.parse((await send('/api/mails/two.eml', { headers })).text);
    expect(one).toMatchObject({ text: expect.stringContaining('Hello'), hasHtml: false });
  });

  it('shows a mail in a sandbox without scripts or requests', async () => {
    const { headers, text } = await send('/api/mails/one.eml/html', { headers: await operator() });
    expect(text).toContain('<p>Hi</p>');
    expect(headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'; .*frame-ancestors 'self'$/);
    expect(headers['content-security-policy']).not.toContain('allow-scripts');
  });

  it.each([
    ['none.eml', 404],
    ['two.eml/html', 404],
    ['..%2fsecrets.json', 400],
    ['..%2f..%2fetc%2fpasswd.eml', 400],
    ['.three.eml.0', 400],
    ['secrets.json', 400],
  ])('returns nothing else: %s', async (name, status) => {
    expect((await send(`/api/mails/${name}`, { headers: await operator() })).status).toBe(status);
  });
});
