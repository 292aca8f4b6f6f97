import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccess } from '../access/access.ts';
import { createLog } from '../log.ts';
import { allowApplications, allowEveryone } from './cors.ts';
import { createServer, type HttpServer } from './server.ts';

const log = createLog({ level: 'silent' });
let app: HttpServer;
let open: HttpServer;
let closed: HttpServer;

function serve(cors?: Parameters<typeof createServer>[0]['cors']): HttpServer {
  const server = createServer({ service: 'media', log, readiness: {}, cors });
  server.post('/v1/sign', createAccess({ internalKeys: ['k'], log }).userOrInternal, async () => ({}));
  return server;
}

beforeAll(() => {
  app = serve(allowApplications(['https://*.example.com']));
  open = serve(allowEveryone);
  closed = serve();
});
afterAll(() => Promise.all([app.close(), open.close(), closed.close()]));

const preflight = (server: HttpServer, origin: string) =>
  server.inject({
    method: 'OPTIONS',
    url: '/v1/sign',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,traceparent',
    },
  });

describe('a service for applications', () => {
  it.each(['https://a.example.com', 'http://localhost:3000'])(
    'answers a preflight from %s without a credential',
    async (origin) => {
      const { statusCode, headers, body } = await preflight(app, origin);
      expect([statusCode, body]).toEqual([204, '']);
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(String(headers['access-control-allow-headers']).toLowerCase().split(', ')).toEqual([
        'authorization',
        'content-type',
        'traceparent',
        'tracestate',
        'baggage',
      ]);
      expect(headers['access-control-allow-methods']).toContain('DELETE');
      expect(headers.vary).toContain('Origin');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(headers['x-request-id']).toBeDefined();
    },
  );

  it.each(['https://evil.com', 'null', 'https://example.com'])('allows no page of %s', async (origin) => {
    const preflighted = await preflight(app, origin);
    const done = await app.inject({ method: 'POST', url: '/v1/sign', headers: { origin, 'x-internal-key': 'k' } });
    for (const { headers } of [preflighted, done]) {
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers.vary).toContain('Origin');
    }
  });

  it.each([
    ['401', {}, '/v1/sign', 401],
    ['404', {}, '/nowhere', 404],
    ['a bad body', { 'x-internal-key': 'k', 'content-type': 'text/plain' }, '/v1/sign', 415],
  ])('lets the page read failures too: %s', async (_name, more, url, status) => {
    const headers = { origin: 'http://localhost:3000', ...more };
    const answer = await app.inject({ method: 'POST', url, headers, payload: 'x' });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['access-control-allow-origin']).toBe('http://localhost:3000');
    expect(String(answer.headers['access-control-expose-headers'])).toContain('X-Request-Id');
  });

  it('allows it to read the error while draining', async () => {
    const draining = serve(allowApplications([]));
    await draining.ready();
    await draining.drain();
    const answer = await draining.inject({
      method: 'POST',
      url: '/v1/sign',
      headers: { origin: 'http://localhost:3000' },
    });
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([503, 'http://localhost:3000']);
    await draining.close();
  });
});

it('a service for everyone names no origin', async () => {
  expect((await preflight(open, 'https://evil.com')).headers['access-control-allow-origin']).toBe('*');
});

it('a service without a rule sends no CORS headers', async () => {
  const answer = await preflight(closed, 'http://localhost:3000');
  expect(answer.statusCode).toBe(404);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});
