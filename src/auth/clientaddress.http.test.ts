/** TRUSTED_PROXIES: the provider limits by address, so it receives the client's real address and not a claimed one. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { consent, openBrowser } from '../../test/auth/browser.fixture.ts';
import { type AuthRig, anonKey, origin, startAuth } from '../../test/auth/rig.fixture.ts';

let rig: AuthRig;
/** A gateway in front of the provider that records requests. */
let gateway: Server;
let gatewayUrl: string;
const received: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  rig = await startAuth();
  gateway = createServer(async (request, response) => {
    const path = new URL(request.url ?? '', 'http://x').pathname;
    received.push({ path, headers: request.headers });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await fetch(rig.idpUrl + request.url, {
      method: request.method ?? 'GET',
      headers: {
        apikey: request.headers.apikey as string,
        authorization: request.headers.authorization ?? '',
        'content-type': request.headers['content-type'] ?? 'application/json',
      },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(await answer.bytes());
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await rig.close();
  gateway.close();
});
beforeEach(() => {
  received.length = 0;
});

/** Signs in, refreshes and signs out as a client behind a proxy at 127.0.0.1. */
async function visit(trustedProxies: readonly string[]) {
  await rig.restart({ trustedProxies, provider: { url: gatewayUrl, anonKey, socialProvider: 'google' } });
  const browser = openBrowser();
  const headers = { origin, 'x-forwarded-for': '198.51.100.1, 203.0.113.9', 'sb-forwarded-for': '198.51.100.2' };
  const login = await browser.get(`${rig.url}/login`, headers);
  const back = await consent(login.location ?? '');
  await browser.get(back, headers);
  expect((await browser.post(`${rig.url}/refresh`, headers)).status).toBe(200);
  expect((await browser.post(`${rig.url}/logout`, headers)).status).toBe(200);
  const paths = new Set(received.map(({ path }) => path));
  expect([...paths].toSorted()).toEqual(['/auth/v1/authorize', '/auth/v1/logout', '/auth/v1/token']);
  return new Set(received.map(({ headers: sent }) => `${sent['sb-forwarded-for']} ${sent['x-forwarded-for']}`));
}

it('passes the address that a trusted proxy reports with every call', async () => {
  expect(await visit(['127.0.0.0/8', '::1/128'])).toEqual(new Set(['203.0.113.9 203.0.113.9']));
});

it('passes the address of the connection if the proxy is not trusted', async () => {
  const [only, ...others] = await visit(['10.0.0.0/8']);
  expect(only).toMatch(/^(127\.0\.0\.1|::1) \1$/);
  expect(others).toEqual([]);
});

it('passes no address if no proxy is configured', async () => {
  expect(await visit([])).toEqual(new Set(['undefined undefined']));
});
