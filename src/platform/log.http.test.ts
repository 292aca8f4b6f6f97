import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendRaw } from '../../test/platform/rawclient.fixture.ts';
import { startTestIssuer, type TestIssuer, testUserId } from '../../test/platform/tokenissuer.fixture.ts';
import { createAccess } from './access/access.ts';
import { createClient, type HttpClient } from './http/client.ts';
import { createServer, type HttpServer } from './http/server.ts';
import { createLog } from './log.ts';
import { problems } from './problem.ts';

const configured = 'configured-internal-key';
let lines: string[] = [];
let issuer: TestIssuer;
let app: HttpServer;
let address: string;
let client: HttpClient;
const upstream = createHttpServer((_request, response) => response.writeHead(503).end());

beforeAll(async () => {
  issuer = await startTestIssuer();
  const log = createLog({
    level: 'trace',
    service: 'media',
    secrets: [configured],
    destination: { write: (line) => void lines.push(line) },
  });
  const access = createAccess({ internalKeys: [configured], jwksUrl: issuer.jwksUrl, log });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  client = createClient({ name: 'image', baseUrl, isInternal: false, internalKey: configured, timeoutMs: 2000 });
  app = createServer({
    service: 'media',
    log,
    readiness: { database: async () => Promise.reject(new Error(`postgres://atelier:s3cr3t-pw@db/x ${configured}`)) },
  });
  const body = z.object({ kind: z.string(), size: z.number().optional() });
  app.post('/v1/assets/:name', { ...access.userOrInternal, schema: { body } }, async () => ({}));
  app.post('/internal', { ...access.internalOnly, schema: { body } }, async () => ({}));
  // The worst error a handler can throw: all input, in the message and on the error.
  app.post('/throws/:name', async (request) => {
    const { url, headers, body: content } = request;
    throw Object.assign(
      new Error(`cannot fetch https://host${url} with ${headers.authorization}`, {
        cause: new Error(String(headers.cookie)),
      }),
      {
        request: { headers },
        content,
        config: { url },
      },
    );
  });
  app.post('/throws-text', async (request) => {
    throw `failed: ${request.url}`;
  });
  app.post('/upstream', async () =>
    client.send({
      method: 'GET',
      path: '/v1?apikey=s3cr3t-query',
      route: '/v1',
      headers: { authorization: 'Bearer s3cr3t-upstream' },
    }),
  );
  app.post('/problem', async (request) => {
    throw problems.engine_unavailable({ cause: new Error(`GET http://s3/bucket/key${request.url}`) });
  });
  address = await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await Promise.all([app.close(), client.close(), issuer.close()]);
  upstream.close();
});
beforeEach(() => {
  lines = [];
});

/** A secret in every part of a request. */
const secrets = {
  query: 's3cr3t-query',
  cookie: 's3cr3t-cookie',
  body: 's3cr3t-body',
  basic: 's3cr3t-basic',
  wrongKey: 's3cr3t-wrong-key',
  path: 's3cr3t-path',
};

describe('no secret reaches the log', () => {
  const paths = [
    '/v1/assets/x',
    '/internal',
    '/throws/x',
    '/throws-text',
    '/upstream',
    '/problem',
    '/nowhere',
    '/%zz',
    `/v1/assets/${secrets.path}`,
    `/${secrets.path}`,
  ];
  const bodies: [string, string][] = [
    ['a body', JSON.stringify({ kind: secrets.body })],
    ['an invalid body', JSON.stringify({ size: secrets.body })],
    ['a body that is not JSON', `{"kind":"${secrets.body}`],
  ];
  const credentials = async (): Promise<[string, Record<string, string>][]> => [
    ['a user', { authorization: `Bearer ${await issuer.token()}` }],
    ['a malformed token', { authorization: `Bearer ${(await issuer.token()).slice(0, -5)}` }],
    ['a password', { authorization: `Basic ${Buffer.from(`u:${secrets.basic}`).toString('base64')}` }],
    ['the internal key', { 'x-internal-key': configured }],
    ['a wrong internal key', { 'x-internal-key': secrets.wrongKey }],
    ['nothing', {}],
  ];

  it.each(paths)('%s', async (path) => {
    for (const [, body] of bodies) {
      for (const [, credential] of await credentials()) {
        await fetch(`${address}${path}?code=${secrets.query}&signature=${secrets.query}`, {
          method: 'POST',
          body,
          headers: {
            'content-type': 'application/json',
            cookie: `ka_session=eyJhbGciOiJkaXIifQ..${secrets.cookie}.x.y; ka_pkce=${secrets.cookie}`,
            ...credential,
          },
        }).then((answer) => answer.text());
      }
    }
    const logged = lines.join('');
    expect(logged).toContain(path === '/%zz' ? '' : '"msg":"request"');
    for (const secret of [
      ...Object.values(secrets),
      configured,
      testUserId,
      's3cr3t-upstream',
      'eyJ',
      Buffer.from(`u:${secrets.basic}`).toString('base64'),
    ])
      expect(
        logged.includes(secret)
          ? logged.slice(Math.max(0, logged.indexOf(secret) - 300), logged.indexOf(secret) + 60)
          : '',
      ).toBe('');
  });

  it('does not log the messages of engines', async () => {
    await fetch(`${address}/ready`);
    expect(lines.join('')).toContain('"engine":"database"');
    expect(lines.join('')).not.toContain('s3cr3t');
    expect(lines.join('')).not.toContain(configured);
  });

  it('does not log malformed HTTP', async () => {
    await sendRaw(address, `GET /?token=${secrets.query} HTTP/9\r\nCookie: ${secrets.cookie}\r\n\r\n`);
    expect(lines.join('')).not.toContain('s3cr3t');
  });
});

describe('a log line', () => {
  it('contains the service, the route, the status, the duration and the ids', async () => {
    await fetch(`${address}/nowhere`, { headers: { 'x-request-id': 'req-1' } });
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      service: 'media',
      requestId: 'req-1',
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      method: 'GET',
      route: 'none',
      status: 404,
      durationMs: expect.any(Number),
      msg: 'request',
    });
  });

  it('is an error for 5xx only, with the useful facts of the cause', async () => {
    await fetch(`${address}/nowhere`);
    await fetch(`${address}/v1/assets/x`, { method: 'POST' });
    expect(lines.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
    await fetch(`${address}/throws/x`, { method: 'POST' });
    const [failure] = lines.map((line) => JSON.parse(line)).filter((line) => line.level === 'error');
    expect(failure).toMatchObject({
      code: 'internal_error',
      err: { type: 'Error', stack: expect.stringContaining('log.http.test.ts') },
    });
    expect(Object.keys(failure.err)).toEqual(['type', 'message', 'stack', 'cause']);
  });
});
