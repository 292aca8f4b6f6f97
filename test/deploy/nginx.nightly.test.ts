/** deploy/nginx with a real nginx, in front of two processes of all services on PostgreSQL and Redis. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPlace, type Program, run } from '../acceptance/running.fixture.ts';
import { consent, openBrowser, signIn } from '../auth/browser.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { skipWithoutRedis, startRedisServer } from '../redis.fixture.ts';
import { type NginxProxy, startProxy } from './proxy.fixture.ts';

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const domain = 'atelier.test';
const filesDomain = 'atelier-files.test';
const maxImageBytes = 3 * 1024 * 1024;
const mebibyte = 1024 * 1024;

describe.skipIf(withoutPostgres || skipWithoutRedis || skipWithout('nginx', 'openssl'))('nginx in front', () => {
  let proxy: NginxProxy;
  let programs: Program[];
  let startOther: () => Promise<Program>;
  let portBase: number;
  let internalKey: string;
  let token: string;
  let userId: string;
  const closers: (() => Promise<unknown>)[] = [];
  let at: (service: string, path?: string) => string;
  /** Sends a request as the signed-in user. */
  let send: (service: string, path: string, init?: RequestInit & { readonly json?: unknown }) => Promise<Response>;

  beforeAll(async () => {
    const [place, other, database, redis] = [
      await newPlace(),
      await freePortBase(),
      await createPostgresDatabase(),
      await startRedisServer(),
    ];
    closers.push(place.remove, database.drop, redis.close);
    portBase = place.portBase;
    // Offsets that no service uses.
    const [httpPort, httpsPort] = [portBase + 8, portBase + 9];
    at = (service, path = '') => `https://${service}.${service === 'files' ? filesDomain : domain}:${httpsPort}${path}`;
    const env = {
      ...place.env,
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      PUBLIC_BASE_URL: at('auth'),
      EDGE_URL: at('files'),
      CONSOLE_URL: at('console'),
      COOKIE_DOMAIN: domain,
      ALLOWED_REDIRECT_ORIGINS: at('app'),
      AGENT_ALLOWED_ORIGINS: at('app'),
      IDP_URL: `http://localhost:${portBase + 11}`,
      MEDIA_MAX_IMAGE_BYTES: String(maxImageBytes),
      AGENT_DRAIN_SECS: '3',
      AGENT_MAX_RUNS_PER_USER: '1000',
    };
    const start = async (base: number) => {
      const program = run('start', [], { ...env, ATELIER_PORT_BASE: String(base) });
      closers.push(async () => program.child.kill('SIGKILL'));
      await program.waitFor('Atelier is ready', 280_000);
      return program;
    };
    startOther = () => start(other);
    programs = [await start(portBase), await startOther()];
    proxy = await startProxy({ domain, filesDomain, httpPort, httpsPort, portBases: [portBase, other] });
    closers.push(proxy.close);
    internalKey = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8')).INTERNAL_KEY;
    const browser = openBrowser([], proxy.fetch);
    const signedIn = await signIn(browser, at('auth'), { query: { next: at('app', '/start') } });
    expect(signedIn.location).toBe(at('app', '/start'));
    const session = signedIn.setCookies.find((line) => line.startsWith('ka_session='));
    for (const attribute of ['Secure', 'HttpOnly', 'SameSite=Lax', `Domain=${domain}`])
      expect(session?.split('; ')).toContain(attribute);
    const refreshed = await browser.post(at('auth', '/refresh'), { origin: at('app') });
    token = JSON.parse(refreshed.text).access_token;
    userId = String(decodeJwt(token).sub);
    send = (service, path, { json, ...init } = {}) =>
      proxy.fetch(at(service, path), {
        ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
        ...init,
        headers: {
          authorization: `Bearer ${token}`,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...init.headers,
        },
      });
  }, 300_000);
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  it.each([
    ['media', 'media'],
    ['auth', 'auth'],
    ['agent', 'agent'],
    ['memory', 'memory'],
    ['content', 'content'],
    ['files', 'edge'],
    ['console', 'console'],
  ])('routes https://%s to %s, over TLS only', async (name, service) => {
    const answer = await proxy.fetch(at(name, '/health'));
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok', service }]);
    expect(answer.headers.get('strict-transport-security')).toContain('max-age=');
    const plain = await fetch(`http://127.0.0.1:${portBase + 8}/x`, { redirect: 'manual' });
    expect([plain.status, plain.headers.get('location')]).toEqual([301, 'https://127.0.0.1/x']);
  });

  it.each([
    ['image', '/v1/ensure'],
    ['notify', '/emails'],
    ['stranger', '/'],
  ])('serves no https://%s', async (name, path) => {
    expect((await proxy.fetch(at(name, path), { method: 'POST' })).status).toBe(421);
  });

  it('drops server credentials: they are valid inside, but not through the proxy', async () => {
    const request = {
      method: 'POST',
      headers: { 'x-internal-key': internalKey, 'content-type': 'application/json' },
      body: JSON.stringify({ refs: [] }),
    };
    expect((await fetch(`http://127.0.0.1:${portBase + 1}/v1/sign/image`, request)).status).not.toBe(401);
    expect((await proxy.fetch(at('media', '/v1/sign/image'), request)).status).toBe(401);
    expect((await proxy.fetch(at('memory', '/admin/memories'))).status).toBe(404);
  });

  it('does not pass on forged X-Forwarded-* or Origin headers', async () => {
    const forged = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      'x-forwarded-for': '203.0.113.9',
    };
    const login = await proxy.fetch(at('auth', '/login'), { headers: forged, redirect: 'manual' });
    expect(await consent(login.headers.get('location') ?? '')).toContain(at('auth', '/callback?'));
    expect(login.headers.getSetCookie().every((line) => line.includes('; Secure'))).toBe(true);
    const foreign = await proxy.fetch(at('auth', '/refresh'), {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
    });
    expect(foreign.status).toBe(403);
    expect(await proxy.logged()).not.toContain('203.0.113.9');
    const page = await proxy.fetch(at('console', '/'), { headers: forged });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  });

  it('accepts uploads up to the limit of their URL, whole conversations, and other JSON up to 1 MiB', async () => {
    const upload = async (bytes: number) => {
      const scope = { scopeKind: 'thread', scopeId: 't', kind: 'image', mime: 'image/png' };
      const reserved = (await (await send('media', '/v1/uploads', { json: scope })).json()) as {
        readonly uploadUrl: string;
        readonly headers: Record<string, string>;
      };
      expect(reserved.uploadUrl).toContain(at('files'));
      const put = await proxy.fetch(reserved.uploadUrl, {
        method: 'PUT',
        headers: reserved.headers,
        body: Buffer.alloc(bytes, 1),
      });
      return [put.status, (await put.text()).includes('payload_too_large')];
    };
    expect(await upload(maxImageBytes)).toEqual([200, false]);
    expect(await upload(maxImageBytes + 1)).toEqual([413, true]);
    const json = async (bytes: number) => {
      const answer = await send('media', '/v1/sign/image', { json: { refs: ['x'.repeat(bytes)] } });
      return [answer.status, (await answer.text()).includes('payload_too_large')];
    };
    expect(await json(mebibyte + 1)).toEqual([413, true]);
    expect(await json(3 * mebibyte)).toEqual([413, false]);
    // The AI SDK's default transport sends the whole conversation.
    const messages = ['x'.repeat(3 * mebibyte), 'Hello'].map((text) => ({
      id: randomUUID(),
      role: 'user',
      parts: [{ type: 'text', text }],
    }));
    const chat = await send('agent', '/chat', { json: { id: randomUUID(), messages } });
    expect([chat.status, (await chat.text()).includes('data: [DONE]')]).toEqual([200, true]);
    // Signed URLs are secrets.
    expect(await proxy.logged()).toContain('PUT /o/');
    expect(await proxy.logged()).not.toContain('signature=');
  });

  it('loses no request while a process drains, ends and starts again', async () => {
    // Runs that outlast the drain, on either process, so that it takes a while.
    const runs = Array.from({ length: 4 }, () =>
      send('agent', '/task', { json: { threadId: randomUUID(), text: '/slow 600' } }),
    );
    const slow = (await Promise.all((await Promise.all(runs)).map((answer) => answer.json()))) as { taskId: string }[];
    const restarted = programs[1];
    restarted?.child.kill('SIGTERM');
    const statuses: number[] = [];
    let hasEnded = false;
    const ended = restarted?.ended(60_000).then(() => {
      hasEnded = true;
    });
    while (!hasEnded || statuses.length < 50) {
      const memory = { entity_id: userId, entity_type: 'user', type: 'preference', content: `Fact ${statuses.length}` };
      const answers = await Promise.all([
        send('memory', '/memory/add', { json: memory }),
        send('media', '/v1/assets'),
        send('agent', '/task', { json: { threadId: randomUUID(), text: '/fail' } }),
      ]);
      for (const answer of answers) {
        statuses.push(answer.status);
        await answer.text();
      }
    }
    await ended;
    expect([...new Set(statuses.filter((status) => status >= 300))]).toEqual([]);
    for (const { taskId } of slow) await send('agent', `/task/${taskId}`, { method: 'DELETE' });
    programs[1] = await startOther();
  });

  it('passes on events while the run continues, from either process, and survives the loss of one', async () => {
    const started = await send('agent', '/task', { json: { threadId: randomUUID(), text: '/slow 600' } });
    expect(started.status).toBe(201);
    const { taskId } = (await started.json()) as { readonly taskId: string };
    const readers = await Promise.all([1, 2, 3].map(() => send('agent', `/stream/${taskId}`)));
    for (const reader of readers) {
      // It arrives long before the end of the run, so no buffer must fill first.
      const { value } = (await reader.body?.getReader().read()) ?? {};
      expect(Buffer.from(value ?? []).toString()).toContain('data: {"type":"start"');
    }
    const task = await (await send('agent', `/task/${taskId}`)).json();
    expect(task).toMatchObject({ status: 'running', userId });
    expect((await send('agent', `/task/${taskId}`, { method: 'DELETE' })).status).toBe(204);

    programs[1]?.child.kill('SIGKILL');
    await programs[1]?.ended();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send('agent', `/task/${taskId}`)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});
