import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountOf } from '#accounts/sampleaccounts.ts';
import { addressesOf, bindingOf, readConfig } from '#app/config.ts';
import { migrations } from '#app/migrations.ts';
import { createAccess } from '#platform/access/access.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { createServer, type HttpServer } from '#platform/http/server.ts';
import { createLog } from '#platform/log.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import { createIdentityProvider } from './service.ts';

const log = createLog({ level: 'silent' });
const secret = 'a secret for the tests';
let dataDir: string;
let opened: HttpServer[];
let database: Database;

beforeAll(async () => {
  database = await openTestDatabase(migrations);
});
afterAll(() => database.close());
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'atelier-idp-'));
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((app) => app.close()));
  await rm(dataDir, { recursive: true });
});

async function open(settings = { secret }): Promise<HttpServer> {
  const publicUrl = 'http://localhost:4011';
  const app = await createIdentityProvider({
    server: { log },
    clock: systemClock,
    settings,
    dataDir,
    database,
    publicUrl,
    redirectUrls: ['http://localhost:4003/callback'],
    anonKey: 'anon',
  });
  opened.push(app);
  return app;
}

const requestToken = (app: HttpServer, payload: object | string = { email: 'ada@example.com' }, given = secret) =>
  app.inject({
    method: 'POST',
    url: '/local/token',
    headers: { 'content-type': 'application/json', 'x-local-secret': given },
    payload,
  });
const keySet = async (app: HttpServer) => (await app.inject('/auth/v1/.well-known/jwks.json')).json();

describe('its keys', () => {
  it('are published without their private half, and cacheable for ten minutes', async () => {
    const response = await (await open()).inject('/auth/v1/.well-known/jwks.json');
    expect(response.headers['cache-control']).toBe('public, max-age=600');
    expect(response.json().keys).toEqual([
      {
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        kid: expect.any(String),
        alg: 'ES256',
        use: 'sig',
      },
    ]);
  });

  it('stay the same after a restart, readable only by their owner', async () => {
    const before = await keySet(await open());
    expect(await keySet(await open())).toEqual(before);
    const { mode } = await stat(join(dataDir, 'idp/keys.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('are one set if several processes start at the same time', async () => {
    const sets = await Promise.all(Array.from({ length: 8 }, async () => keySet(await open())));
    expect(new Set(sets.map((set) => set.keys[0].kid)).size).toBe(1);
  });

  it('after the first are published too: their tokens stay valid', async () => {
    const first = await open();
    const token = (await requestToken(first)).json().access_token;
    const file = join(dataDir, 'idp/keys.json');
    const { keys } = JSON.parse(await readFile(file, 'utf8'));
    await rm(file);
    await open();
    const renewed = JSON.parse(await readFile(file, 'utf8')).keys;
    await writeFile(file, JSON.stringify({ keys: [...renewed, ...keys] }));
    const rotated = await open();
    const published = await keySet(rotated);
    expect(published.keys).toHaveLength(2);
    expect((await jwtVerify(token, createLocalJWKSet(published))).payload.email).toBe('ada@example.com');
    expect(decodeProtectedHeader((await requestToken(rotated)).json().access_token).kid).toBe(renewed[0].kid);
  });

  it.each([
    '',
    '{',
    '{"keys":[]}',
    '{"keys":[{"kty":"EC","kid":"x"}]}',
    '{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA","d":"hunter2","kid":"x"}]}',
  ])('if damaged, prevent the start without being quoted: %s', async (text) => {
    await open();
    await writeFile(join(dataDir, 'idp/keys.json'), text);
    const refusal = await open().then(() => '', String);
    expect(refusal).toMatch(/keys\.json contains no ES256 keys/);
    expect(refusal).not.toContain('hunter2');
  });
});

describe('a token', () => {
  it('has the claims of the real provider', async () => {
    const app = await open();
    const response = await requestToken(app);
    const { access_token: token, ...rest } = response.json();
    expect(response.headers['cache-control']).toBe('no-store');
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(await keySet(app)));
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: 'http://localhost:4011/auth/v1',
      sub: accountOf('ada@example.com').id,
      aud: 'authenticated',
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 3600,
      email: 'ada@example.com',
      role: 'authenticated',
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      app_metadata: { provider: 'google', providers: ['google'] },
      user_metadata: { email: 'ada@example.com', email_verified: true },
    });
    expect(rest).toEqual({ token_type: 'bearer', expires_in: 3600, expires_at: payload.exp });
  });

  it('is valid for a service that reads the key set', async () => {
    const idp = await open();
    const address = await idp.listen({ port: 0, host: '127.0.0.1' });
    const service = createServer({ service: 'media', log, readiness: {} });
    opened.push(service);
    const access = createAccess({ internalKeys: [], jwksUrl: `${address}/auth/v1/.well-known/jwks.json`, log });
    service.get('/me', access.userOnly, async (request) => request.caller);
    const authorization = `Bearer ${(await requestToken(idp)).json().access_token}`;
    const response = await service.inject({ url: '/me', headers: { authorization } });
    expect(response.json()).toMatchObject({ kind: 'user', userId: accountOf('ada@example.com').id });
  });

  it.each([
    ['no secret', undefined, ''],
    ['a wrong secret', undefined, `${secret}x`],
    ['a wrong secret before a body that is not JSON', '{', 'x'],
  ])('is not returned for %s', async (_name, payload, given) => {
    expect((await requestToken(await open(), payload, given)).statusCode).toBe(401);
  });

  it.each([{}, { email: '' }, { email: 'ada' }, { email: 1 }, { email: `${'a'.repeat(320)}@example.com` }])(
    'requires an email address: %j',
    async (payload) => {
      const response = await requestToken(await open(), payload);
      expect([response.statusCode, response.json().issues[0].path]).toEqual([400, 'body.email']);
    },
  );

  it('is not returned if no secret is configured', async () => {
    expect((await requestToken(await open({ secret: '' }), undefined, '')).statusCode).toBe(404);
  });
});

describe('an account', () => {
  it('is one per email address, permanently', () => {
    expect(accountOf('ada@example.com').id).toBe('11bf60d1-f0d3-5efd-8e04-717f6ccfc590');
    expect(accountOf(' Ada@Example.com ')).toEqual(accountOf('ada@example.com'));
    expect(accountOf('bob@example.com').id).not.toBe(accountOf('ada@example.com').id);
  });

  it('has a UUID of version 5', () => {
    for (let count = 0; count < 200; count += 1)
      expect(accountOf(`user${count}@example.com`).id).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
  });
});

describe('listening address', () => {
  const at = (environment: Record<string, string>) => {
    const config = readConfig({ ATELIER_DATA_DIR: dataDir, ...environment }, ['idp'], { keepSecrets: false });
    return [bindingOf(config, 'idp').host, bindingOf(config, 'media').host, addressesOf(config).idp];
  };
  it.each([
    ['the loopback by default', {}, ['127.0.0.1', '127.0.0.1', 'http://localhost:4011']],
    ['another loopback address', { HOST: '127.0.0.2' }, ['127.0.0.2', '127.0.0.2', 'http://127.0.0.2:4011']],
    [
      'the loopback still, if others are reachable',
      { HOST: '0.0.0.0' },
      ['127.0.0.1', '0.0.0.0', 'http://localhost:4011'],
    ],
    [
      'the loopback still, beside a network address',
      { HOST: '192.0.2.1' },
      ['127.0.0.1', '192.0.2.1', 'http://localhost:4011'],
    ],
    [
      'the configured address',
      { HOST: '192.0.2.1', IDP_ALLOW_NON_LOOPBACK: 'true' },
      ['192.0.2.1', '192.0.2.1', 'http://192.0.2.1:4011'],
    ],
  ])('%s', (_name, environment, expected) => expect(at(environment)).toEqual(expected));

  it('accepts no other value', () => {
    expect(() => at({ IDP_ALLOW_NON_LOOPBACK: 'yes' })).toThrow(/IDP_ALLOW_NON_LOOPBACK must be true or false/);
  });
});
