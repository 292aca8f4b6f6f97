/** The client on a page whose origin the services do not allow, in a real browser. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../acceptance/running.fixture.ts';
import { type AuthRig, startAuth } from '../auth/rig.fixture.ts';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';

describe.skipIf(withoutChromium)('a page of another origin', () => {
  let rig: AuthRig;
  let front: Server;
  let frontUrl: string;
  let browser: Browser;

  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [`${root}/src/client/session.ts`],
      bundle: true,
      format: 'iife',
      globalName: 'client',
      write: false,
    });
    front = createServer((_request, response) => {
      const page = `<!doctype html><link rel="icon" href="data:,"><script>${outputFiles[0]?.text}</script>`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    frontUrl = `http://localhost:${(front.address() as AddressInfo).port}`;
    rig = await startAuth();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    front?.close();
    await rig?.close();
  });

  const visit = async (authUrl: string) => {
    const page = await browser.newPage();
    const posts: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && posts.push(request.url())));
    await page.goto(frontUrl);
    const call = `client.createSession({ url: '${authUrl}', patience: { firstPauseMs: 1 } }).accessToken().catch(({ code, message }) => ({ code, message }))`;
    const error = (await page.evaluate(call)) as { readonly code: string; readonly message: string };
    await page.close();
    return { error, posts: posts.length };
  };

  it('gets an error that names the origin and the settings, at once, and the log names them too', async () => {
    const { error, posts } = await visit(rig.url);
    expect(error.code).toBe('forbidden_origin');
    expect(error.message).toContain(`does not allow pages of ${frontUrl}: add it to ALLOWED_REDIRECT_ORIGINS`);
    expect(posts).toBe(1);
    const warnings = rig.lines.filter((line) => line.includes(frontUrl));
    expect(warnings).toEqual([expect.stringContaining('add it to ALLOWED_REDIRECT_ORIGINS')]);
  });

  it('repeats calls of a service that does not respond', async () => {
    const { error, posts } = await visit('http://127.0.0.1:9');
    expect([error.code, posts]).toEqual(['unreachable', 4]);
  });
});
