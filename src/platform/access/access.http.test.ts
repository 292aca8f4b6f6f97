import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createServer, type HttpServer } from '../http/server.ts';
import { createLog } from '../log.ts';
import { createAccess } from './access.ts';

const log = createLog({ level: 'silent' });
const userId = '3f8e1f0a-8a4b-4c58-9d25-6a1b2c3d4e5f';
const pair = await generateKeyPair('ES256');
const provider = createHttpServer(async (_request, response) => {
  response.end(
    JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] }),
  );
});
let app: HttpServer;

const sign = (claims: JWTPayload = {}) =>
  new SignJWT({ sub: userId, aud: 'authenticated', exp: Math.floor(Date.now() / 1000) + 3600, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .sign(pair.privateKey);

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const jwksUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/jwks`;
  const access = createAccess({ internalKeys: ['one', 'two'], jwksUrl, log });
  app = createServer({ service: 'test', log, readiness: {} });
  const body = z.object({ name: z.string() });
  app.post('/either', { ...access.userOrInternal, schema: { body } }, async (request) => ({
    caller: request.caller,
    name: request.body.name,
  }));
  app.post('/internal', { ...access.internalOnly, schema: { body } }, async (request) => request.caller);
  app.post('/user', { ...access.userOnly, schema: { body } }, async (request) => request.caller);
  await app.ready();
});
afterAll(async () => {
  await app.close();
  provider.close();
});

describe('guards', () => {
  it('lets a user and a server in', async () => {
    const headers = { authorization: `Bearer ${await sign()}` };
    const answer = await app.inject({ method: 'POST', url: '/either', headers, payload: { name: 'x' } });
    expect(answer.json()).toEqual({ caller: { kind: 'user', userId }, name: 'x' });
    const other = await app.inject({
      method: 'POST',
      url: '/either',
      headers: { 'x-internal-key': 'two' },
      payload: { name: 'x' },
    });
    expect(other.json()).toEqual({ caller: { kind: 'internal' }, name: 'x' });
    const forbidden = await app.inject({ method: 'POST', url: '/internal', headers, payload: { name: 'x' } });
    expect(forbidden.statusCode).toBe(403);
    const form = await app.inject({ method: 'POST', url: '/internal', headers, payload: {} });
    expect(form.statusCode).toBe(400);
    const none = await app.inject({ method: 'POST', url: '/internal', payload: '{' });
    expect(none.statusCode).toBe(401);
  });
});
