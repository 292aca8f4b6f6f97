/** A file that a user uploaded, opened by its signed address in a real browser: it never becomes a page of our host. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { drivers, type Rig, startEdge } from '../edge/edge.fixture.ts';

const script = `document.cookie = 'planted=1; path=/'; document.title = 'ran'`;
const xhtml = `<html xmlns="http://www.w3.org/1999/xhtml"><body><script>${script}</script></body></html>`;
const pages: readonly [contentType: string, text: string][] = [
  ['text/html', `<!doctype html><script>${script}</script>`],
  ['application/xhtml+xml', xhtml],
  ['text/xml', xhtml],
  ['application/xml', xhtml],
  ['application/atom+xml', xhtml],
  ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg"><script>${script}</script></svg>`],
];

describe.each(drivers)('uploads on $name', (driver) => {
  describe.skipIf(withoutChromium || driver.missing)('', () => {
    let rig: Rig;
    let browser: Browser;
    beforeAll(async () => {
      rig = await startEdge({ driver: driver.name });
      browser = await launchChromium();
    });
    afterAll(async () => {
      await browser.close();
      await rig.close();
    });

    async function addressOf(contentType: string, bytes: Buffer): Promise<string> {
      const key = `u/${contentType.replace(/\W/g, '-')}`;
      await rig.originals.put(key, bytes, { contentType });
      return rig.originals.readAddress(key, { expiresInS: 60, contentType });
    }

    it.each(pages)('%s is saved: no script runs, no cookie is set', async (contentType, text) => {
      const address = await addressOf(contentType, Buffer.from(text));
      const context = await browser.newContext();
      const tab = await context.newPage();
      const saved = tab.waitForEvent('download');
      // The navigation ends in the download.
      await tab.goto(address).catch(() => undefined);
      expect((await saved).url()).toBe(address);
      expect([tab.url(), await tab.title()]).toEqual(['about:blank', '']);
      expect(await context.cookies()).toEqual([]);
      await context.close();
    });

    it('the same page runs on a host that shows it', async () => {
      const [contentType, text] = pages[0] ?? ['', ''];
      const server = createServer((_request, response) =>
        response.writeHead(200, { 'content-type': contentType }).end(text),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const context = await browser.newContext();
      const tab = await context.newPage();
      await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      expect(await tab.title()).toBe('ran');
      expect(await context.cookies()).toMatchObject([{ name: 'planted' }]);
      await context.close();
      server.close();
    });

    it('an image is shown', async () => {
      const image = { width: 7, height: 5, channels: 3, background: 'red' } as const;
      const address = await addressOf('image/png', await sharp({ create: image }).png().toBuffer());
      const tab = await browser.newPage();
      await tab.goto(address);
      expect(await tab.evaluate('document.images[0].naturalWidth')).toBe(7);
      await tab.close();
    });
  });
});
