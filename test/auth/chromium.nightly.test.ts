/** A real browser: signed in with one click, and signed in still after everything that a week brings. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { type AuthRig, startAuth } from './rig.fixture.ts';

let rig: AuthRig;
let front: Server;
let frontUrl: string;
let browser: Browser;

/** A page of the operator's front end, on an origin of its own. */
const page = (authUrl: string) => `<!doctype html><title>Front end</title>
<a href="${authUrl}/login?next=${encodeURIComponent('FRONT/home?tab=1')}">Sign in</a>
<script>
  const call = async (path) => {
    const answer = await fetch('${authUrl}' + path, { method: 'POST', credentials: 'include', headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' } });
    return { status: answer.status, body: await answer.json() };
  };
</script>`;

beforeAll(async () => {
  if (withoutChromium) return;
  front = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(page(rig.url).replace('FRONT', encodeURIComponent(frontUrl)));
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  frontUrl = `http://localhost:${(front.address() as AddressInfo).port}`;
  rig = await startAuth({ changes: { allowedOrigins: ['https://app.example.com', frontUrl] } });
  browser = await launchChromium();
});
afterAll(async () => {
  if (withoutChromium) return;
  await browser.close();
  front.close();
  await rig.close();
});

type Called = { readonly status: number; readonly body: Record<string, string> };
/** Each tab takes a second of processor time. */
const tabsAtOnce = isNightly ? 50 : 12;

const call = (tab: Page, path: string) => tab.evaluate(`call('${path}')`) as Promise<Called>;

it.skipIf(withoutChromium)('signs in, stays signed in, and signs out', { timeout: 120_000 }, async () => {
  const context = await browser.newContext({ locale: 'de-AT' });
  const tab = await context.newPage();
  await tab.goto(frontUrl);
  expect((await call(tab, '/refresh')).body.error).toBe('no_session');

  await tab.click('text=Sign in');
  await tab.click('button[value="bob@example.com"]');
  await tab.waitForURL(`${frontUrl}/home?tab=1`);
  expect(tab.url()).toBe(`${frontUrl}/home?tab=1`);

  // Scripts never see the refresh credential.
  expect(await tab.evaluate('document.cookie')).toBe('');
  const session = (await context.cookies(rig.url)).find(({ name }) => name === 'ka_session');
  expect(session).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });
  expect((await context.cookies(rig.url)).map(({ name }) => name)).toEqual(['ka_session']);

  const second = await context.newPage();
  await second.goto(frontUrl);
  await rig.wellAgain();
  // Long enough for both to be under way with the same cookie.
  await rig.fault({ operation: 'refresh', kind: 'slow', delayMs: 1000 });
  const both = await Promise.all([call(tab, '/refresh'), call(second, '/refresh')]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect((await rig.calls()).refresh).toBe(1);
  await rig.wellAgain();
  expect((await call(second, '/refresh')).status).toBe(200);

  await rig.restart();
  await tab.reload();
  expect((await call(tab, '/refresh')).status).toBe(200);

  await rig.restart({ cookieSecrets: ['a second secret', 'a first secret'] });
  await tab.reload();
  expect((await call(tab, '/refresh')).status).toBe(200);

  await rig.fault({ operation: 'refresh', kind: 'answer', status: 503, times: 3 });
  for (let tries = 0; tries < 3; tries++)
    expect(await call(tab, '/refresh')).toMatchObject({ status: 503, body: { error: 'upstream_unavailable' } });
  expect((await call(second, '/refresh')).status).toBe(200);

  expect(await call(second, '/logout')).toEqual({ status: 200, body: { ok: true } });
  expect(await context.cookies(rig.url)).toEqual([]);
  for (const open of [tab, second]) expect((await call(open, '/refresh')).body.error).toBe('no_session');
});

it.skipIf(withoutChromium)(
  'a page of another origin can neither read nor change anything',
  { timeout: 60_000 },
  async () => {
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(frontUrl);
    await tab.click('text=Sign in');
    await tab.click('button:has-text("Continue") >> nth=0');
    await tab.waitForURL(`${frontUrl}/home?tab=1`);
    const strange = await context.newPage();
    await strange.goto(frontUrl.replace('localhost', '127.0.0.1'));
    for (const path of ['/refresh', '/logout'])
      expect(await strange.evaluate(`call('${path}').then(() => 'read', () => 'refused')`)).toBe('refused');
    expect((await call(tab, '/refresh')).status).toBe(200);
  },
);

it.skipIf(withoutChromium)(
  `${tabsAtOnce} tabs sign in at once, and each ends at its target`,
  { timeout: 240_000 },
  async () => {
    const context = await browser.newContext();
    const tabs = await Promise.all(Array.from({ length: tabsAtOnce }, () => context.newPage()));
    const targetOf = (tab: number) => `${frontUrl}/home?tab=${tab}`;
    await Promise.all(
      tabs.map((tab, index) => tab.goto(`${rig.url}/login?next=${encodeURIComponent(targetOf(index))}`)),
    );
    await Promise.all(
      tabs.map(async (tab, index) => {
        await tab.click('button:has-text("Continue") >> nth=0');
        await tab.waitForURL(targetOf(index));
      }),
    );
    expect(tabs.map((tab) => tab.url())).toEqual(tabs.map((_, index) => targetOf(index)));
    const names = (await context.cookies(rig.url)).map(({ name }) => name).filter((name) => name.startsWith('ka_pkce'));
    expect(names.length).toBeLessThanOrEqual(10);
    await context.close();
  },
);
