/** A page on a sibling domain plants a session cookie in a real browser: its user never becomes another user. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { openBrowser, signIn } from './browser.fixture.ts';
import { type AuthRig, startAuth } from './rig.fixture.ts';

let rig: AuthRig;
let pages: Server;
let pagesPort: number;
let browser: Browser;

const onHost = (name: string, url = `http://localhost:${pagesPort}`) =>
  url.replace('localhost', `${name}.atelier.test`);

beforeAll(async () => {
  if (withoutChromium) return;
  // The front end and the sibling. The test sets their pages.
  pages = createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  pagesPort = (pages.address() as AddressInfo).port;
  rig = await startAuth({ changes: { allowedOrigins: [onHost('app')], cookieDomain: 'atelier.test' } });
  browser = await launchChromium('--host-resolver-rules=MAP *.atelier.test localhost');
});
afterAll(async () => {
  if (withoutChromium) return;
  await browser.close();
  pages.close();
  await rig.close();
});

async function sessionOf(email: string): Promise<string> {
  const visitor = openBrowser();
  await signIn(visitor, rig.url, { email });
  return visitor.cookies.get('ka_session') ?? '';
}

async function signedIn(email: string): Promise<BrowserContext> {
  const context = await browser.newContext();
  const value = await sessionOf(email);
  await context.addCookies([{ name: 'ka_session', value, domain: '.atelier.test', path: '/', httpOnly: true }]);
  return context;
}

async function refresh(context: BrowserContext): Promise<{ readonly status: number; readonly body: object }> {
  const tab = await context.newPage();
  await tab.goto(onHost('app'));
  return tab.evaluate(`fetch('${onHost('auth', rig.url)}/refresh', { method: 'POST', credentials: 'include' })
    .then(async (answer) => ({ status: answer.status, body: await answer.json() }))`);
}

it.skipIf(withoutChromium).each(['/', '/refresh'])(
  'planted for the path %s: 401, and every copy goes',
  { timeout: 60_000 },
  async (path) => {
    const context = await signedIn('alice@example.com');
    const planted = await sessionOf('mallory@example.com');
    const sibling = await context.newPage();
    await sibling.goto(onHost('s3'));
    // For `/` the cookie of alice would be in the way: scripts cannot replace it, so this one is for the host alone.
    const domain = path === '/' ? '' : 'Domain=atelier.test; ';
    if (path === '/') await sibling.goto(onHost('auth'));
    await sibling.evaluate(`document.cookie = 'ka_session=${planted}; ${domain}Path=${path}'`);
    const names = (await context.cookies([`${onHost('auth')}/refresh`])).map(({ name }) => name);
    expect(names).toEqual(['ka_session', 'ka_session']);

    expect(await refresh(context)).toMatchObject({ status: 401, body: { error: 'no_session' } });
    expect(await context.cookies()).toEqual([]);
    expect(await refresh(context)).toMatchObject({ status: 401, body: { error: 'no_session' } });
    await context.close();
  },
);

it.skipIf(withoutChromium)('without a planted cookie the session continues', { timeout: 60_000 }, async () => {
  const context = await signedIn('alice@example.com');
  expect((await refresh(context)).status).toBe(200);
  expect((await refresh(context)).status).toBe(200);
  await context.close();
});
