import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startTestIssuer, type TestIssuer, testUserId } from '../../../test/platform/tokenissuer.fixture.ts';
import { createServer, type HttpServer } from '../http/server.ts';
import { createLog } from '../log.ts';
import { createAccess } from './access.ts';

const log = createLog({ level: 'silent' });
const nowS = Math.floor(Date.now() / 1000);
let issuer: TestIssuer;
let app: HttpServer;

beforeAll(async () => {
  issuer = await startTestIssuer();
  app = serve(createAccess({ internalKeys: ['one', 'two'], jwksUrl: issuer.jwksUrl, log }));
  await app.ready();
});
afterAll(async () => {
  await app.close();
  await issuer.close();
});

function serve(access: ReturnType<typeof createAccess>): HttpServer {
  const server = createServer({ service: 'test', log, readiness: {} });
  const body = z.object({ name: z.string() });
  server.post('/either', { ...access.userOrInternal, schema: { body } }, async (request) => request.caller);
  server.post('/internal', { ...access.internalOnly, schema: { body } }, async (request) => request.caller);
  server.post('/user', { ...access.userOnly, schema: { body } }, async (request) => request.caller);
  server.get('/open', async (request) => request.caller.kind);
  return server;
}

type Headers = Record<string, string | string[]>;
const post = (url: string, headers: Headers, payload: string | object = { name: 'x' }, server = app) =>
  server.inject({ method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, payload });
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

const user = { kind: 'user', userId: testUserId, expiresAtMs: expect.any(Number) };

describe('credentials of a request', () => {
  const internal = { kind: 'internal' };
  const cases: [
    name: string,
    headers: (token: string) => Headers,
    either: unknown,
    internalOnly: unknown,
    userOnly: unknown,
  ][] = [
    ['nothing', () => ({}), 401, 401, 401],
    ['a JWT', (token) => bearer(token), user, 403, user],
    ['the scheme in lower case', (token) => ({ authorization: `bearer ${token}` }), user, 403, user],
    ['another scheme', (token) => ({ authorization: `Basic ${token}` }), 401, 401, 401],
    ['the bare token', (token) => ({ authorization: token }), 401, 401, 401],
    ['the first internal key', () => ({ 'x-internal-key': 'one' }), internal, internal, 401],
    ['the second internal key', () => ({ 'x-internal-key': 'two' }), internal, internal, 401],
    ['a wrong internal key', () => ({ 'x-internal-key': 'three' }), 401, 401, 401],
    ['the list as it is configured', () => ({ 'x-internal-key': 'one,two' }), 401, 401, 401],
    ['a key in another case', () => ({ 'x-internal-key': 'ONE' }), 401, 401, 401],
    ['a wrong key beside a good JWT', (token) => ({ ...bearer(token), 'x-internal-key': 'no' }), 401, 401, user],
    ['an empty key beside a good JWT', (token) => ({ ...bearer(token), 'x-internal-key': '' }), 401, 401, user],
    ['a key sent twice', (token) => ({ ...bearer(token), 'x-internal-key': ['one', 'one'] }), 401, 401, user],
    ['a good key beside a bad JWT', () => ({ ...bearer('a.b.c'), 'x-internal-key': 'one' }), internal, internal, 401],
  ];
  it.each(cases)('%s', async (_name, headers, either, internalOnly, userOnly) => {
    const given = headers(await issuer.token());
    for (const [url, expected] of [
      ['/either', either],
      ['/internal', internalOnly],
      ['/user', userOnly],
    ] as const) {
      const answer = await post(url, given);
      if (typeof expected === 'number') {
        expect([url, answer.statusCode]).toEqual([url, expected]);
        const code = expected === 401 ? 'unauthorized' : 'forbidden';
        expect(answer.json()).toMatchObject({ error: code, requestId: answer.headers['x-request-id'] });
      } else {
        expect([url, answer.statusCode, answer.json()]).toEqual([url, 200, expected]);
      }
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['www-authenticate']).toBe(answer.statusCode === 401 ? 'Bearer' : undefined);
    }
  });

  it('accepts no internal key if none is configured', async () => {
    const server = serve(createAccess({ internalKeys: [], jwksUrl: issuer.jwksUrl, log }));
    for (const key of ['', 'undefined', 'one'])
      expect((await post('/internal', { 'x-internal-key': key }, {}, server)).statusCode).toBe(401);
    await server.close();
  });

  it('accepts no JWT without a key set and returns 401, not 403', async () => {
    const server = serve(createAccess({ internalKeys: ['one'], log }));
    const token = await issuer.token();
    expect((await post('/internal', bearer(token), undefined, server)).statusCode).toBe(401);
    expect((await post('/either', bearer(token), undefined, server)).statusCode).toBe(401);
    expect((await post('/internal', { 'x-internal-key': 'one' }, undefined, server)).statusCode).toBe(200);
    await server.close();
  });

  it('rejects every request on a route without a guard', async () => {
    expect((await app.inject({ url: '/open' })).statusCode).toBe(500);
  });
});

describe('X-On-Behalf-Of', () => {
  const other = '0b8f6f0e-3c52-4d0a-9b1e-6c1a4a8e7d21';
  const key = { 'x-internal-key': 'one' };

  it('reduces the rights of a server to those of the user', async () => {
    const headers = { ...key, 'x-on-behalf-of': other.toUpperCase() };
    const either = await post('/either', headers);
    expect([either.statusCode, either.json()]).toEqual([200, { kind: 'user', userId: other, isOnBehalf: true }]);
    expect((await post('/internal', headers)).statusCode).toBe(403);
    expect((await post('/user', headers)).statusCode).toBe(401);
  });

  it('is ignored without the key, so the caller stays the user of the token', async () => {
    const token = await issuer.token();
    const headers = { ...bearer(token), 'x-on-behalf-of': other };
    for (const url of ['/either', '/user']) expect((await post(url, headers)).json()).toEqual(user);
    expect((await post('/either', { 'x-on-behalf-of': other })).statusCode).toBe(401);
    expect((await post('/either', { ...headers, 'x-internal-key': 'no' })).statusCode).toBe(401);
    expect((await post('/user', { ...headers, ...key })).json()).toEqual(user);
  });

  it.each([
    ['an empty one', ''],
    ['a name', 'alice'],
    ['a UUID with a suffix', `${other}/..`],
    ['two UUIDs', `${other}, ${testUserId}`],
    ['the same header twice', [other, other]],
  ])('returns 400 for %s and never grants the rights of a server', async (_name, value) => {
    for (const url of ['/either', '/internal']) {
      const answer = await post(url, { ...key, 'x-on-behalf-of': value });
      expect([answer.statusCode, answer.json().issues]).toEqual([
        400,
        [{ path: 'headers.x-on-behalf-of', message: 'must be a UUID' }],
      ]);
    }
  });
});

describe('the order of checks', () => {
  it.each([
    ['not JSON', 'application/json', '{'],
    ['a body that fails validation', 'application/json', '{}'],
    ['another content type', 'text/plain', 'x'],
    ['too large', 'application/json', JSON.stringify({ name: 'x'.repeat(1024 * 1024) })],
  ])('returns 401 before validating: %s', async (_name, type, payload) => {
    for (const headers of [{}, bearer('a.b.c'), { 'x-internal-key': 'no' }])
      expect((await post('/either', { ...headers, 'content-type': type }, payload)).statusCode).toBe(401);
  });

  it('validates the body before it returns 403', async () => {
    const headers = bearer(await issuer.token());
    expect((await post('/internal', headers, '{')).statusCode).toBe(400);
    expect((await post('/internal', headers, {})).statusCode).toBe(400);
    expect((await post('/internal', { ...headers, 'content-type': 'text/plain' }, 'x')).statusCode).toBe(415);
    expect((await post('/internal', headers)).statusCode).toBe(403);
  });
});

describe('returns 401 for forged and malformed tokens', () => {
  const claims = { sub: testUserId, aud: 'authenticated', exp: nowS + 3600 };
  const part = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const split = async () => (await issuer.token()).split('.') as [string, string, string];

  const cases: [name: string, token: () => Promise<string> | string][] = [
    ['alg none', () => new UnsecuredJWT(claims).encode()],
    ['alg none with a kid', async () => `${part({ alg: 'none', kid: 'k1' })}.${(await split())[1]}.x`],
    [
      'alg none with the valid signature',
      async () => `${part({ alg: 'none', kid: 'k1' })}.${(await split()).slice(1).join('.')}`,
    ],
    [
      'HS256 with the public key as its secret',
      () => {
        const signed = `${part({ alg: 'HS256', kid: 'k1' })}.${part(claims)}`;
        const secret = JSON.stringify(issuer.publicJwk());
        return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
      },
    ],
    [
      'RS256',
      () => {
        const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(privateKey);
      },
    ],
    [
      'another issuer’s key under a known kid',
      async () => {
        const { privateKey } = await generateKeyPair('ES256');
        return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(privateKey);
      },
    ],
    [
      'its own key in the header',
      async () => {
        const { privateKey } = await generateKeyPair('ES256');
        const header = { alg: 'ES256', jwk: issuer.publicJwk(), jku: 'http://127.0.0.1:1/' };
        return new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
      },
    ],
    ['an unknown kid', () => issuer.token({}, { kid: 'nobody' })],
    ['no kid', () => issuer.token({}, { kid: undefined })],
    [
      'a kid that is not a string',
      async () => `${part({ alg: 'ES256', kid: 7 })}.${(await split()).slice(1).join('.')}`,
    ],
    [
      'an unknown critical extension',
      async () => {
        const [, payload, signature] = await split();
        return `${part({ alg: 'ES256', kid: 'k1', crit: ['b64'], b64: false })}.${payload}.${signature}`;
      },
    ],
    ['a wrong audience', () => issuer.token({ aud: 'anon' })],
    ['no audience', () => issuer.token({ aud: undefined })],
    ['no expiry', () => issuer.token({ exp: undefined })],
    ['an expiry that is not a number', () => issuer.token({ exp: 'never' as unknown as number })],
    ['expired just now', () => issuer.token({ exp: nowS })],
    ['expired long ago', () => issuer.token({ exp: nowS - 3600 })],
    ['not valid yet', () => issuer.token({ nbf: nowS + 600 })],
    ['no subject', () => issuer.token({ sub: undefined })],
    ['an empty subject', () => issuer.token({ sub: '' })],
    ['a subject that is not a UUID', () => issuer.token({ sub: 'admin' })],
    ['a UUID with a suffix as the subject', () => issuer.token({ sub: `${testUserId}/..` })],
    [
      'changed claims',
      async () => {
        const [header, , signature] = await split();
        return `${header}.${part({ ...claims, sub: '00000000-0000-4000-8000-000000000000' })}.${signature}`;
      },
    ],
    ['a truncated signature', async () => (await issuer.token()).slice(0, -4)],
    ['no signature', async () => `${(await split()).slice(0, 2).join('.')}.`],
    ['four parts', async () => `${await issuer.token()}.x`],
    ['the five parts of an encrypted token', async () => `${await issuer.token()}.x.y`],
    ['claims that are not an object', async () => `${(await split())[0]}.${part('[]')}.${(await split())[2]}`],
    ['a header that is not JSON', async () => `${part('{{')}.${(await split()).slice(1).join('.')}`],
    ['garbage', () => randomBytes(200).toString('base64url')],
    ['three parts of garbage', () => [1, 2, 3].map(() => randomBytes(60).toString('base64url')).join('.')],
    ['nothing', () => ''],
    ['a huge token', () => issuer.token({ filler: 'x'.repeat(9000) })],
  ];
  it.each(cases)('%s', async (_name, token) => {
    const answer = await post('/either', bearer(await token()));
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toEqual({
      error: 'unauthorized',
      message: 'A valid credential is required.',
      requestId: answer.headers['x-request-id'],
    });
  });

  it('returns 401 for two Authorization headers, in either order', async () => {
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const { request } = await import('undici');
    const good = `Bearer ${await issuer.token()}`;
    for (const [first, second] of [
      [good, 'Bearer a.b.c'],
      ['Bearer a.b.c', good],
      [good, good],
    ] as const) {
      const headers = ['content-type', 'application/json', 'authorization', first, 'Authorization', second];
      const answer = await request(`${address}/either`, { method: 'POST', headers, body: '{"name":"x"}' });
      expect(answer.statusCode).toBe(401);
      await answer.body.dump();
    }
  });

  it('returns 401 if any byte of a valid token changes', async () => {
    const token = await issuer.token();
    for (let index = 0; index < token.length; index += 7) {
      // The last character of a part may carry bits that the decoder ignores, so a change there might not change the token.
      if (token[index] === '.' || token[index + 1] === '.' || index === token.length - 1) continue;
      const changed = `${token.slice(0, index)}${token[index] === 'A' ? 'B' : 'A'}${token.slice(index + 1)}`;
      expect([index, (await post('/either', bearer(changed))).statusCode]).toEqual([index, 401]);
    }
  });
});

describe('valid tokens', () => {
  it.each([
    ['an upper-case subject, reported in lower case', { sub: testUserId.toUpperCase() }],
    ['a list of audiences', { aud: ['other', 'authenticated'] }],
    ['valid from slightly ahead of the server clock', { nbf: nowS + 2 }],
    ['a UUID of any version', { sub: testUserId }],
  ])('%s', async (_name, claims) => {
    expect((await post('/user', bearer(await issuer.token(claims)))).json()).toEqual(user);
  });
});

describe('with the identity provider down', () => {
  it('returns 503 for a token it cannot verify, never 401; internal keys and malformed tokens need no provider', async () => {
    const down = await startTestIssuer();
    down.become('failing');
    const server = serve(createAccess({ internalKeys: ['one'], jwksUrl: down.jwksUrl, log }));
    const answer = await post('/either', bearer(await down.token()), undefined, server);
    expect([answer.statusCode, answer.json().error]).toEqual([503, 'engine_unavailable']);
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    expect((await post('/either', { 'x-internal-key': 'one' }, undefined, server)).statusCode).toBe(200);
    expect((await post('/either', bearer('a.b.c'), undefined, server)).statusCode).toBe(401);
    expect((await post('/either', {}, undefined, server)).statusCode).toBe(401);
    await server.close();
    await down.close();
  });
});

describe('with a rate limit per user', () => {
  it('returns 429 with Retry-After before reading the body, and does not limit servers', async () => {
    const server = serve(createAccess({ internalKeys: ['one'], jwksUrl: issuer.jwksUrl, log, rateLimitPerMinute: 2 }));
    const [mine, theirs] = [await issuer.token(), await issuer.token({ sub: '11111111-2222-4333-8444-555555555555' })];
    const anotherOfMine = await issuer.token({ jti: 'another session' });
    expect((await post('/either', bearer(mine), undefined, server)).statusCode).toBe(200);
    expect((await post('/either', bearer(anotherOfMine), undefined, server)).statusCode).toBe(200);
    const answer = await post('/either', bearer(mine), '{', server);
    expect([answer.statusCode, answer.json().error]).toEqual([429, 'rate_limited']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect((await post('/either', bearer(theirs), undefined, server)).statusCode).toBe(200);
    for (let count = 0; count < 5; count += 1)
      expect((await post('/either', { 'x-internal-key': 'one' }, undefined, server)).statusCode).toBe(200);
    expect((await post('/either', bearer('a.b.c'), undefined, server)).statusCode).toBe(401);
    await server.close();
  });
});
