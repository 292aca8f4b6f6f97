/** The console's pages in a real browser on a running suite: each page's main path, and what holds for all of them. */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { picture } from '../media/pictures.ts';
import {
  type ConsoleRig,
  enterAsOperator,
  launchChromium,
  signIn,
  startConsole,
  type Visitor,
  visit,
  withoutChromium,
} from './rig.ts';

describe.skipIf(withoutChromium)('the console', { timeout: 120_000 }, () => {
  let rig: ConsoleRig;
  let browser: Browser;
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    [rig, browser] = await Promise.all([startConsole(), launchChromium()]);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });
  beforeEach(async () => {
    visitor = await visit(browser);
    page = visitor.page;
  });
  afterEach(async () => {
    // No error in the console, no request to any other host.
    expect(visitor.complaints).toEqual([]);
    await visitor.context.close();
  });

  describe('the operator', () => {
    it('comes in by the link, and the token is gone from the address', async () => {
      await enterAsOperator(visitor, rig);
      expect(page.url()).toBe(`${rig.url}/`);
      expect(await page.evaluate('document.cookie')).toBe('');
      const [cookie] = await visitor.context.cookies(rig.url);
      expect(cookie).toMatchObject({ name: 'atelier_console', httpOnly: true, sameSite: 'Strict' });
    });

    it('comes in by the form, with nothing but keys, and leaves', async () => {
      await page.goto(`${rig.url}/`);
      await page.getByLabel('Token').focus();
      await page.keyboard.type(await rig.secret('CONSOLE_TOKEN'));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Services' }).waitFor();
      await page.getByRole('button', { name: 'Close operator session' }).press('Enter');
      await page.getByLabel('Token').waitFor();
      expect(await visitor.context.cookies(rig.url)).toEqual([]);
    });

    it('is known under one name: another alias of the loopback leads there', async () => {
      const token = await rig.secret('CONSOLE_TOKEN');
      visitor.complaints.length = 0;
      await page.goto(`${rig.url.replace('localhost', '127.0.0.1')}/#token=${token}`);
      await page.getByRole('heading', { name: 'Services' }).waitFor();
      expect(page.url()).toBe(`${rig.url}/`);
      visitor.complaints.splice(
        0,
        visitor.complaints.length,
        ...visitor.complaints.filter((line) => !line.includes('//127.0.0.1')),
      );
    });
  });

  it('Overview: every service, ready', async () => {
    await enterAsOperator(visitor, rig);
    const services = Object.keys(rig.addresses).filter((name) => !['idp', 'cms', 'console'].includes(name));
    await page.getByText(`All ${services.length} services are ready`).waitFor();
    for (const service of services) await page.getByRole('heading', { name: service, exact: true }).waitFor();
    await page.getByText('PGlite').waitFor();
    await page.getByText('video-upload-service').waitFor();
  });

  it('Library: an upload appears, is shown, copied, downloaded with its watermark, and deleted', async () => {
    await signIn(visitor, `${rig.url}/library`);
    await page.getByText('Nothing here yet.').waitFor();
    const name = 'a picture.png';
    const buffer = await picture('png', { width: 300, height: 200 });
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'image/png', buffer });
    await page.locator('.tile .picture.there').waitFor();
    await page.locator('.tile').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('300 × 200').waitFor();
    await dialog.locator('.picture.there').waitFor();
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByText('Copied to feed/published.').waitFor();
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download with watermark' }).click();
    const file = await readFile(await (await download).path());
    expect([...file.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff]);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.tile').count()).toBe(2);
    for (const left of [1, 0]) {
      await page.locator('.tile').first().click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await dialog.getByRole('button', { name: 'Yes, delete' }).click();
      await expect.poll(() => page.locator('.tile').count()).toBe(left);
    }
    await page.getByText('Nothing here yet.').waitFor();
  });

  it('Library: a photograph of 25 MP is uploaded under a bar that fills', async () => {
    const buffer = await picture('jpeg', { width: 5000, height: 5000 });
    await signIn(visitor, `${rig.url}/library`);
    await page.evaluate(`globalThis.shares = []; new MutationObserver(() => {
      const bar = document.querySelector('progress'); if (bar) shares.push(bar.value);
    }).observe(document.body, { subtree: true, childList: true, attributes: true })`);
    await page.locator('input[type=file]').setInputFiles({ name: 'photo.jpg', mimeType: 'image/jpeg', buffer });
    await page.locator('.tile .picture.there').waitFor({ timeout: 60_000 });
    const shares = (await page.evaluate('shares')) as number[];
    expect(shares[0]).toBe(0);
    expect(Math.max(...shares)).toBe(1);
    expect([...shares].sort((one, other) => one - other)).toEqual(shares);
  });

  it('Memory: created, found, edited, undone, exported, erased', async () => {
    await enterAsOperator(visitor, rig);
    await page.goto(`${rig.url}/memory`);
    await page.getByText('No memories.').waitFor();
    await page.getByRole('button', { name: 'New memory' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Its id').fill('someone');
    await dialog.getByLabel('What to remember').fill('Prefers square pictures of harbours');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByLabel('Search').fill('HARBOURS');
    await page.getByRole('button', { name: /Prefers square pictures/ }).click();
    await dialog.getByLabel('Content').fill('Prefers wide pictures of harbours');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('edit by operator').waitFor();
    await dialog.getByRole('button', { name: 'Undo the newest change' }).click();
    await dialog.getByText('undone').waitFor();
    expect(await dialog.getByLabel('Content').inputValue()).toBe('Prefers square pictures of harbours');
    await page.keyboard.press('Escape');
    await page.getByLabel('Entity id').fill('someone');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    expect(await readFile(await (await download).path(), 'utf8')).toContain('square pictures of harbours');
    await page.getByRole('button', { name: 'Erase everything' }).click();
    await page.getByRole('button', { name: 'Yes, erase everything' }).click();
    await page.getByText('Erased.').waitFor();
    await page.getByText('No memories.').waitFor();
  });

  it('Mail: what was sent is listed, and shown in a sandbox', async () => {
    const key = await rig.secret('INTERNAL_KEY');
    const mail = {
      from: 'studio@example.com',
      to: 'ada@example.com',
      subject: 'Ein Gruß',
      html: '<p style="color:teal">Hello <b>Ada</b></p><script>parent.document.title = "taken"</script><img src="https://example.com/pixel.png">',
    };
    const sent = await fetch(`${rig.addresses.notify}/emails`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-internal-key': key },
      body: JSON.stringify(mail),
    });
    expect(sent.status).toBe(200);
    await enterAsOperator(visitor, rig);
    await page.goto(`${rig.url}/mail`);
    await page.getByRole('button', { name: /Ein Gruß/ }).waitFor();
    const frame = page.frameLocator('iframe');
    await frame.getByText('Hello Ada').waitFor();
    expect(await page.title()).toBe('Mail · Atelier');
    // What the sandbox refused is what was to be refused; nothing was loaded.
    const refused = visitor.complaints.splice(0);
    expect(refused.filter((line) => !/sandboxed|Content Security Policy/.test(line))).toEqual([]);
    expect(refused.length).toBeGreaterThan(0);
  });

  it('Content: in another language', async () => {
    await page.goto(`${rig.url}/content`);
    const cards = page.getByRole('region', { name: 'Home cards' });
    const titleOf = () => cards.getByRole('heading', { level: 3 }).first().innerText();
    const english = await titleOf();
    await page.getByLabel('As asked in').selectOption('ja');
    await expect.poll(titleOf).not.toBe(english);
    expect(await titleOf()).toMatch(/[\u3040-\u30ff\u4e00-\u9fff]/);
  });

  it('API: leads to the reference of every service', async () => {
    await page.goto(`${rig.url}/api-reference`);
    await page.getByRole('link', { name: 'Reference of media' }).waitFor();
    for (const link of await page.getByRole('link', { name: /^(Reference|OpenAPI) of/ }).all())
      expect((await fetch((await link.getAttribute('href')) ?? '')).status).toBe(200);
  });

  it('is used with nothing but keys', async () => {
    await enterAsOperator(visitor, rig);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the page');
    await page.getByRole('link', { name: 'Memory' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Memory', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'New memory' }).press('Enter');
    await page.getByRole('dialog', { name: 'New memory' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('New memory');
  });

  describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
    it.each([
      [390, 844],
      [1280, 800],
    ])('fits a window %d wide: no page is wider than it', async (width, height) => {
      await visitor.context.close();
      visitor = await visit(browser, { colorScheme, viewport: { width, height } });
      page = visitor.page;
      await enterAsOperator(visitor, rig);
      for (const path of ['/', '/library', '/memory', '/mail', '/content', '/api-reference']) {
        await page.goto(rig.url + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width);
      }
      visitor.complaints.splice(
        0,
        visitor.complaints.length,
        ...visitor.complaints.filter((line) => !/sandboxed|Content Security/.test(line)),
      );
    });
  });
});
