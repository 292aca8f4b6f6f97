import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAccess } from '../access/access.ts';
import { createLog } from '../log.ts';
import { createServer, type HttpServer, type Readiness } from './server.ts';

const log = createLog({ level: 'silent' });
let app: HttpServer;
afterEach(() => app.close());

function serve(readiness: Readiness = {}): HttpServer {
  app = createServer({ service: 'media', log, readiness, reference: { description: 'Keeps <files> & "more".' } });
  return app;
}

describe('/ready', () => {
  const fine = async () => undefined;
  const broken = async () => Promise.reject(new Error('postgres://user:hunter2@db/atelier'));
  const hanging = () => new Promise<void>(() => undefined);

  it.each([
    ['no engines', {}, 200, {}],
    ['all respond', { database: fine, objects: fine }, 200, { database: 'ok', objects: 'ok' }],
    ['one is down', { database: broken, objects: fine }, 503, { database: 'unavailable', objects: 'ok' }],
    ['one hangs', { database: fine, objects: hanging }, 503, { database: 'ok', objects: 'unavailable' }],
  ])('%s', async (_name, readiness, status, engines) => {
    const answer = await serve(readiness).inject('/ready');
    expect([answer.statusCode, answer.json()]).toEqual([
      status,
      { status: status === 200 ? 'ok' : 'unavailable', engines },
    ]);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('checks the engines at most once per second', async () => {
    let checks = 0;
    serve({
      database: async () => {
        checks += 1;
      },
    });
    await Promise.all(Array.from({ length: 200 }, () => app.inject('/ready')));
    // The checks run once a second, and a slow machine may reach the next second.
    expect(checks).toBeLessThan(5);
  });

  it('does not affect /health', async () => {
    expect((await serve({ database: broken }).inject('/health')).statusCode).toBe(200);
  });
});

describe('/metrics', () => {
  it('measures by method, pattern and status, and identifies no user', async () => {
    serve().get('/v1/tasks/:taskId', async () => ({}));
    for (const path of ['/v1/tasks/alice', '/v1/tasks/bob?token=hunter2', '/nowhere/carol']) await app.inject(path);
    const answer = await app.inject('/metrics');
    expect(answer.headers['content-type']).toContain('text/plain');
    const count = (route: string, status: number) =>
      `http_request_duration_seconds_count{service="media",method="GET",route="${route}",status_code="${status}"}`;
    expect(answer.body).toContain(`${count('/v1/tasks/:taskId', 200)} 2`);
    expect(answer.body).toContain(`${count('none', 404)} 1`);
    expect(answer.body).toMatch(/^http_requests_in_flight\{service="media"\} 1$/m);
    expect(answer.body).toMatch(/^process_resident_memory_bytes \d/m);
    expect(answer.body).toMatch(/^nodejs_eventloop_lag_seconds /m);
    for (const secret of ['alice', 'bob', 'carol', 'hunter2']) expect(answer.body).not.toContain(secret);
  });

  it('separates the services of a process', async () => {
    const other = createServer({ service: 'image', log, readiness: {} });
    await serve().inject('/health');
    expect((await other.inject('/metrics')).body).not.toContain('service="media"');
    await other.close();
  });
});

describe('the reference', () => {
  function withRoutes(): HttpServer {
    const access = createAccess({ internalKeys: ['k'], log });
    serve().post(
      '/v1/assets',
      {
        ...access.userOrInternal,
        schema: {
          summary: 'Register <b>an</b> asset',
          body: z.object({
            kind: z.string().max(64).describe('What it "is" <script>'),
            width: z.int().min(1).max(16383).optional(),
            mode: z.enum(['fit', 'fill']).default('fit'),
            refs: z.array(z.string()).max(200),
            nested: z.object({ deep: z.nullable(z.uuid()) }),
          }),
          response: { 200: z.object({ assetId: z.uuid() }) },
        },
      },
      async () => ({ assetId: '3f8e1f0a-8a4b-4c58-9d25-6a1b2c3d4e5f' }),
    );
    app.get(
      '/v1/tasks/:taskId',
      { ...access.internalOnly, schema: { params: z.object({ taskId: z.uuid() }) } },
      async () => ({}),
    );
    return app;
  }

  it('describes every route in OpenAPI 3.1', async () => {
    const document = (await withRoutes().inject('/openapi.json')).json();
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.title).toBe('Atelier: media');
    const asset = document.paths['/v1/assets'].post;
    expect(asset.security).toEqual([{ accessToken: [] }, { internalKey: [] }]);
    expect(asset.requestBody.content['application/json'].schema).toMatchObject({
      required: ['kind', 'refs', 'nested'],
      properties: { kind: { maxLength: 64 }, mode: { enum: ['fit', 'fill'], default: 'fit' }, refs: { maxItems: 200 } },
    });
    expect(asset.responses['200'].content['application/json'].schema.properties.assetId.format).toBe('uuid');
    expect(Object.keys(asset.responses)).toEqual(['200', '400', '401', '408', '413', '415', '429', '500', '503']);
    expect(asset.responses['401']).toEqual({ $ref: '#/components/responses/Unauthorized' });
    const unauthorized = document.components.responses.Unauthorized.content['application/json'];
    expect(unauthorized.examples.unauthorized.value.error).toBe('unauthorized');
    expect(document.paths['/v1/tasks/{taskId}'].get.security).toEqual([{ internalKey: [] }]);
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/', '/health', '/ready', '/metrics', '/openapi.json', '/docs']),
    );
    expect(document.components.schemas.Problem.required).toContain('requestId');
  });

  it('is a page that runs only its own script', async () => {
    const answer = await withRoutes().inject('/docs');
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none';/,
    );
    for (const words of [
      '/v1/assets',
      'at most 64 characters',
      'curl -X POST',
      '<code>unauthorized</code>',
      '1–16383',
      'Register &lt;b&gt;an&lt;/b&gt; asset',
      'X-Internal-Key',
    ])
      expect(answer.body).toContain(words);
    expect(answer.body.match(/<script[^>]*>[^<]*/g)).toEqual(['<script src="docs/reference.js" defer>']);
    expect(answer.body).not.toMatch(/<b>an|\son\w+=|https?:|<link|<img|style=/);
  });

  it('does not change responses: TypeScript checks fields beyond the schema', async () => {
    const answer = await withRoutes().inject({
      method: 'POST',
      url: '/v1/assets',
      headers: { 'x-internal-key': 'k' },
      payload: { kind: 'image', refs: [], nested: { deep: null } },
    });
    expect(answer.json()).toEqual({ assetId: '3f8e1f0a-8a4b-4c58-9d25-6a1b2c3d4e5f' });
  });
});
