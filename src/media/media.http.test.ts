import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MediaRig, onEveryPair, startMedia } from '../../test/media/rig.fixture.ts';

interface Operation {
  readonly summary: string;
  readonly requestBody: {
    content: { 'application/json': { schema: { required: string[]; properties: object } } };
  };
  readonly responses: object;
}

interface OpenApi {
  readonly paths: Record<string, { readonly post?: Operation; readonly delete?: Operation }>;
}

onEveryPair('the media service', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  it('returns its name and health without a credential', async () => {
    const asked = async (path: string) => {
      const response = await fetch(rig.url + path);
      return [response.status, await response.json()];
    };
    expect(await asked('/')).toEqual([
      200,
      { service: 'media', version: expect.stringMatching(/^\d+\.\d+\.\d+/), commit: expect.any(String) },
    ]);
    expect(await asked('/health')).toEqual([200, { status: 'ok', service: 'media' }]);
    expect((await asked('/ready'))[0]).toBe(200);
  });

  it('describes its routes', async () => {
    const document = (await (await fetch(`${rig.url}/openapi.json`)).json()) as OpenApi;
    for (const [path, method, statuses] of [
      ['/v1/uploads', 'post', ['200']],
      ['/v1/uploads/sign-pending', 'post', ['200']],
      ['/v1/assets', 'post', ['200', '201']],
      ['/v1/assets', 'delete', ['200']],
      ['/v1/scope', 'delete', ['200']],
      ['/v1/sign/image', 'post', ['200']],
      ['/v1/sign/video', 'post', ['200']],
      ['/v1/fit', 'post', ['200']],
    ] as const) {
      const route = document.paths[path]?.[method];
      expect(route?.summary).toMatch(/\w/);
      expect(Object.keys(route?.responses ?? {})).toEqual(expect.arrayContaining([...statuses]));
    }
    const schema = document.paths['/v1/assets']?.post?.requestBody.content['application/json'].schema;
    expect(schema?.required).toEqual(['assetId', 'scopeKind', 'scopeId', 'kind', 'mime']);
    expect(Object.keys(schema?.properties ?? {})).toHaveLength(17);
  });

  it.each([
    ['http://localhost:3000', true],
    ['https://app.example', true],
    ['https://evil.example', false],
  ])('lets pages of %s call: %s', async (origin, isAllowed) => {
    const response = await fetch(`${rig.url}/v1/sign/image`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,traceparent',
      },
    });
    expect(response.headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null);
  });

  it.each([
    ['a body that is no JSON', '{', 'application/json', 400],
    ['another content type', 'refs=', 'application/x-www-form-urlencoded', 415],
    ['more than 1 MiB', JSON.stringify({ refs: ['x'.repeat(1024 * 1024)] }), 'application/json', 413],
  ])('refuses %s', async (_name, payload, contentType, status) => {
    const { user } = rig;
    expect((await user.post('/v1/sign/image', payload, { 'content-type': contentType })).status).toBe(status);
  });
});
