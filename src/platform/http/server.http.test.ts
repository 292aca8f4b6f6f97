import { setTimeout as sleep } from 'node:timers/promises';
import type { InjectOptions } from 'fastify';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendRaw } from '../../../test/platform/rawclient.fixture.ts';
import { createLog } from '../log.ts';
import { problems } from '../problem.ts';
import { createServer, type HttpServer } from './server.ts';

const log = createLog({ level: 'silent' });
let app: HttpServer;
let address: string;
let begun = 0;
let abandoned = 0;

beforeAll(async () => {
  app = createServer({ service: 'media', log, readiness: {} });
  const schema = { body: z.object({ name: z.string(), meta: z.record(z.string(), z.unknown()).optional() }) };
  app.post('/echo', { schema }, async (incoming) => incoming.body);
  app.get('/search', { schema: { querystring: z.looseObject({}) } }, async (incoming) => incoming.query);
  app.delete('/bodiless/:id', async (incoming) => ({
    id: (incoming.params as { id: string }).id,
    body: incoming.body ?? null,
  }));
  app.get('/boom', async () => {
    throw Object.assign(new Error('password=hunter2 in /srv/secret.ts'), { statusCode: 418, code: 'E_INTERNAL' });
  });
  app.get('/text-thrown', async () => {
    throw 'a text with hunter2';
  });
  app.get('/nothing-thrown', () => Promise.reject(undefined));
  app.get('/unserialisable', async () => ({ hunter2: 1n }));
  app.get('/later', async () => {
    throw problems.engine_unavailable({ cause: new Error('hunter2'), retryAfterS: 7, fields: { reason: 'later' } });
  });
  app.get('/slow', async (_incoming, reply) => {
    begun += 1;
    const { signal } = { signal: reply.abandoned };
    await sleep(5000, undefined, { signal }).catch(() => {
      abandoned += 1;
    });
    return {};
  });
  app.post('/after-body', { schema }, async (_incoming, reply) => {
    const signal = reply.abandoned;
    await sleep(20);
    return { aborted: signal.aborted };
  });
  address = await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => app.close());

describe('every service', () => {
  it('reports its name and that it is running', async () => {
    expect((await app.inject('/')).json()).toEqual({
      service: 'media',
      version: expect.stringMatching(/^\d+\./),
      commit: expect.stringMatching(/^([0-9a-f]{40}(-dirty)?|unknown)$/),
    });
    expect((await app.inject('/health')).json()).toEqual({ status: 'ok', service: 'media' });
    const image = createServer({ service: 'image', log, readiness: {}, plainHealth: true });
    const health = await image.inject('/health');
    expect([health.body, health.headers['content-type']]).toEqual(['ok', 'text/plain; charset=utf-8']);
    await image.close();
  });

  it('responds to HEAD as to GET, without a body', async () => {
    const answer = await app.inject({ method: 'HEAD', url: '/health' });
    expect([answer.statusCode, answer.body]).toEqual([200, '']);
    const unknown = await app.inject({ method: 'HEAD', url: '/nowhere' });
    expect(unknown.statusCode).toBe(404);
  });

  it('sends headers that stop browsers from guessing types, leaking referrers and running scripts', async () => {
    for (const url of ['/health', '/nowhere', '/boom', '/%zz']) {
      const { headers } = await app.inject(url);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      });
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('server');
    }
  });
});

describe('request ids', () => {
  it.each(['a', 'A-z_0.9', 'x'.repeat(128)])('accepts %s', async (id) => {
    const answer = await app.inject({ url: '/nowhere', headers: { 'x-request-id': id } });
    expect(answer.headers['x-request-id']).toBe(id);
    expect(answer.json().requestId).toBe(id);
  });

  it.each([
    ['too long', 'x'.repeat(129)],
    ['empty', ''],
    ['a space', 'a b'],
    ['markup', '<b>'],
    ['a slash', 'a/b'],
    ['two of them', ['a', 'b']],
  ])('replaces an invalid one: %s', async (_name, id) => {
    const answer = await app.inject({ url: '/nowhere', headers: { 'x-request-id': id } });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
  });

  it('differ for each request', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await app.inject('/')).headers['x-request-id']),
    );
    expect(new Set(ids).size).toBe(20);
  });
});

const json = { 'content-type': 'application/json' };

describe('invalid requests', () => {
  const cases: [name: string, options: InjectOptions, status: number, error: string, issue?: string][] = [
    ['an unknown route', { url: '/nowhere' }, 404, 'not_found'],
    ['another method on a known route', { url: '/echo' }, 404, 'not_found'],
    ['an unusual method', { method: 'PROPFIND', url: '/health' }, 404, 'not_found'],
    ['a body to an unknown route', { method: 'POST', url: '/nowhere', headers: json, payload: '{' }, 404, 'not_found'],
    ['a path that cannot be decoded', { url: '/%zz' }, 400, 'invalid_request', 'url'],
    ['a truncated escape', { url: '/bodiless/%E0%A4%A' }, 400, 'invalid_request', 'url'],
    ['not JSON', { headers: json, payload: '{"name":' }, 400, 'invalid_request', 'body'],
    ['two JSON values', { headers: json, payload: '{"name":"x"}{}' }, 400, 'invalid_request', 'body'],
    ['no body where one is required', { headers: json, payload: '' }, 400, 'invalid_request', 'body'],
    ['no body at all', {}, 400, 'invalid_request', 'body'],
    ['not an object', { headers: json, payload: '[]' }, 400, 'invalid_request', 'body'],
    ['null', { headers: json, payload: 'null' }, 400, 'invalid_request', 'body'],
    ['a missing field', { headers: json, payload: '{}' }, 400, 'invalid_request', 'body.name'],
    ['a field of another type', { headers: json, payload: '{"name":1}' }, 400, 'invalid_request', 'body.name'],
    [
      'bytes that are not UTF-8',
      { headers: json, payload: Buffer.from('{"name":"\xff"}', 'latin1') },
      400,
      'invalid_request',
      'body',
    ],
    ['101 levels', { headers: json, payload: nested(101) }, 400, 'invalid_request', 'body'],
    ['a million brackets', { headers: json, payload: '['.repeat(1_000_000) }, 400, 'invalid_request', 'body'],
    [
      'plain text',
      { headers: { 'content-type': 'text/plain' }, payload: '{"name":"x"}' },
      415,
      'unsupported_media_type',
    ],
    [
      'a form',
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload: 'name=x' },
      415,
      'unsupported_media_type',
    ],
    [
      'multipart',
      { headers: { 'content-type': 'multipart/form-data; boundary=x' }, payload: '--x--' },
      415,
      'unsupported_media_type',
    ],
    ['no type', { headers: { 'content-type': '' }, payload: '{"name":"x"}' }, 415, 'unsupported_media_type'],
    [
      'a malformed type',
      { headers: { 'content-type': 'json' }, payload: '{"name":"x"}' },
      415,
      'unsupported_media_type',
    ],
    [
      'a compressed body',
      { headers: { ...json, 'content-encoding': 'gzip' }, payload: 'x' },
      415,
      'unsupported_media_type',
    ],
    ['one byte too many', { headers: json, payload: bodyOf(1024 * 1024 + 1) }, 413, 'payload_too_large'],
  ];
  it.each(cases)('%s', async (_name, options, status, error, issue) => {
    const answer = await app.inject({ method: 'url' in options ? 'GET' : 'POST', url: '/echo', ...options });
    expect([answer.statusCode, answer.json().error]).toEqual([status, error]);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json().requestId).toBe(answer.headers['x-request-id']);
    expect(answer.json().message).toMatch(/^.+\.$/);
    expect(answer.json().issues?.[0].path).toBe(issue);
    if (issue !== undefined) expect(answer.json().message).toContain(issue);
  });

  it.each(['text=a%00b', 'text=a&text=%00'])('names a parameter of the query that contains NUL: %s', async (query) => {
    const answer = await app.inject(`/search?${query}`);
    expect([answer.statusCode, answer.json().issues]).toEqual([
      400,
      [{ path: 'querystring.text', message: 'must not contain NUL' }],
    ]);
    expect((await app.inject(`/search?${query.replace('%00', '%2500')}`)).statusCode).toBe(200);
  });

  it('reports every fault of a body, up to a limit', async () => {
    const server = createServer({ service: 'x', log, readiness: {} });
    server.post('/', { schema: { body: z.object({ ids: z.array(z.uuid()) }) } }, async () => ({}));
    const answer = await server.inject({ method: 'POST', url: '/', payload: { ids: Array(1000).fill('x') } });
    expect(answer.json().issues).toHaveLength(50);
    expect(answer.json().issues[1]).toEqual({ path: 'body.ids.1', message: expect.any(String) });
    expect(answer.json().message).toContain('and 997 more');
    await server.close();
  });
});

describe('accepted requests', () => {
  const post = (payload: string, headers: Record<string, string> = json) =>
    app.inject({ method: 'POST', url: '/echo', headers, payload });

  it('exactly 1 MiB', async () => {
    expect((await post(bodyOf(1024 * 1024))).statusCode).toBe(200);
  });

  it('unknown fields, which are ignored', async () => {
    expect((await post('{"name":"x","more":1}')).json()).toEqual({ name: 'x' });
  });

  it.each(['{"name":"x","__proto__":{"admin":true}}', '{"name":"x","constructor":{"prototype":{"admin":true}}}'])(
    'ignores names that would reach into prototypes: %s',
    async (payload) => {
      const answer = await post(payload);
      expect([answer.statusCode, answer.json()]).toEqual([200, { name: 'x' }]);
      const inside = await post(`{"name":"x","meta":${payload}}`);
      expect(inside.json()).toEqual({ name: 'x', meta: { name: 'x' } });
      expect(({} as { admin?: boolean }).admin).toBeUndefined();
    },
  );

  it('100 levels, and any number of brackets in a string', async () => {
    expect((await post(nested(100))).statusCode).toBe(200);
    const name = '[{"\\'.repeat(1000);
    expect((await post(JSON.stringify({ name }))).json()).toEqual({ name });
  });

  it.each(['application/json;charset=utf-8', 'Application/JSON', 'application/json; charset="UTF-8"'])(
    '%s',
    async (type) => {
      expect((await post('{"name":"ü"}', { 'content-type': type })).json()).toEqual({ name: 'ü' });
    },
  );

  it('a content type without a body, if none is required', async () => {
    const answer = await app.inject({ method: 'DELETE', url: '/bodiless/1', headers: json });
    expect([answer.statusCode, answer.json()]).toEqual([200, { id: '1', body: null }]);
  });

  it('parameters of any length that fits the head', async () => {
    const id = 'x'.repeat(8000);
    expect((await app.inject({ method: 'DELETE', url: `/bodiless/${id}` })).json().id).toBe(id);
  });
});

describe('internal errors', () => {
  it.each(['/boom', '/text-thrown', '/nothing-thrown', '/unserialisable'])('does not reveal %s', async (url) => {
    const answer = await app.inject(url);
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('hunter2');
    expect(answer.json()).toEqual({
      error: 'internal_error',
      message: 'An internal error occurred.',
      requestId: answer.headers['x-request-id'],
    });
  });

  it('states when to retry, and adds the fields that the specification requires', async () => {
    const answer = await app.inject('/later');
    expect([answer.statusCode, answer.headers['retry-after'], answer.json().reason]).toEqual([503, '7', 'later']);
    expect(answer.body).not.toContain('hunter2');
  });
});

describe('over a socket', () => {
  const head = 'Host: x\r\n';
  it.each([
    ['not HTTP', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['an unknown method', `FROB / HTTP/1.1\r\n${head}\r\n`, 400, 'invalid_request'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'invalid_request'],
    ['two hosts', `GET / HTTP/1.1\r\n${head}Host: y\r\n\r\n`, 400, 'invalid_request'],
    ['one host twice', `GET / HTTP/1.1\r\n${head}hOST: x\r\n\r\n`, 400, 'invalid_request'],
    ['two hosts in HTTP/1.0', `GET / HTTP/1.0\r\n${head}Host: y\r\n\r\n`, 400, 'invalid_request'],
    ['two hosts on an unknown path', `GET /nowhere HTTP/1.1\r\n${head}Host: y\r\n\r\n`, 400, 'invalid_request'],
    [
      'two lengths',
      `POST /echo HTTP/1.1\r\n${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
      400,
      'invalid_request',
    ],
    [
      'length and chunks',
      `POST /echo HTTP/1.1\r\n${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'invalid_request',
    ],
    [
      'a malformed chunk',
      `POST /echo HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
      'invalid_request',
    ],
    ['a head that is too large', `GET / HTTP/1.1\r\n${head}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['a URL that is too long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${head}\r\n`, 431, 'headers_too_large'],
    ['an unknown expectation', `GET /nowhere HTTP/1.1\r\n${head}Expect: miracles\r\n\r\n`, 404, 'not_found'],
    [
      'an upgrade to an unknown protocol',
      `GET /nowhere HTTP/1.1\r\n${head}Connection: upgrade\r\nUpgrade: h2c\r\n\r\n`,
      404,
      'not_found',
    ],
    ['TRACE', `TRACE / HTTP/1.1\r\n${head}Cookie: secret\r\n\r\n`, 404, 'not_found'],
    ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${head}\r\n`, 404, 'not_found'],
  ])('%s', async (_name, bytes, status, error) => {
    const [answer] = await sendRaw(address, bytes);
    expect(answer).toBeDefined();
    expect([answer?.status, JSON.parse(answer?.body ?? '')]).toEqual([
      status,
      expect.objectContaining({ error, message: expect.any(String), requestId: answer?.headers['x-request-id'] }),
    ]);
    expect(answer?.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer?.body).not.toContain('secret');
  });

  it('serves HTTP/1.0 without a Host, and the absolute form', async () => {
    expect((await sendRaw(address, 'GET /health HTTP/1.0\r\n\r\n'))[0]?.status).toBe(200);
    expect((await sendRaw(address, `GET ${address}/health HTTP/1.1\r\n${head}\r\n`))[0]?.status).toBe(200);
  });

  it('cuts off a chunked body at the limit, and the sender can read the error', async () => {
    const chunk = 'x'.repeat(64 * 1024);
    const chunks = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(40);
    const bytes = `POST /echo HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
    const [answer] = await sendRaw(address, bytes);
    expect([answer?.status, JSON.parse(answer?.body ?? '{}').error]).toEqual([413, 'payload_too_large']);
  });

  it.each([1.5, 8, 32])('rejects a body of %d MiB with a response that clients can read', async (mebibytes) => {
    for (let round = 0; round < 3; round += 1) {
      const answer = await fetch(`${address}/echo`, {
        method: 'POST',
        headers: json,
        body: bodyOf(mebibytes * 1024 * 1024),
      });
      expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([413, 'payload_too_large']);
    }
  });
});

describe('a client that disconnects', () => {
  it('aborts the work for it', async () => {
    const before = { begun, abandoned };
    const controller = new AbortController();
    const sent = request(`${address}/slow`, { signal: controller.signal });
    await expect.poll(() => begun).toBe(before.begun + 1);
    controller.abort();
    await expect(sent).rejects.toThrow();
    await expect.poll(() => abandoned).toBe(before.abandoned + 1);
    const metrics = await (await fetch(`${address}/metrics`)).text();
    expect(metrics).toMatch(/http_request_duration_seconds_count\{[^}]*route="\/slow"[^}]*status_code="499"[^}]*\} 1/);
  });

  it('is not confused with one that has sent its body', async () => {
    const answer = await request(`${address}/after-body`, { method: 'POST', headers: json, body: '{"name":"x"}' });
    expect(await answer.body.json()).toEqual({ aborted: false });
  });
});

function bodyOf(bytes: number): string {
  return JSON.stringify({ name: 'x'.repeat(bytes - '{"name":""}'.length) });
}

function nested(levels: number): string {
  return `{"name":"x","meta":${'{"a":'.repeat(levels - 1)}1${'}'.repeat(levels - 1)}}`;
}
