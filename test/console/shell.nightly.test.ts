/** What surrounds every page: the navigation, the menu, the commands, the theme, and failures of a page. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors } from './rig.fixture.ts';

const phone = { width: 390, height: 844 };
const limitMs = 300_000;

describe.skipIf(withoutChromium)('the shell', () => {
  let rig: ConsoleRig;
  let browser: Browser;
  beforeAll(async () => {
    [rig, browser] = await Promise.all([
      startConsole({}, ['idp', 'auth', 'media', 'edge', 'agent', 'content', 'cms', 'console']),
      launchChromium(),
    ]);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });

  const visit = useVisitors(() => browser);
  async function enter(path: string) {
    const visitor = await visit();
    await enterAsUser(visitor, rig, path);
    return visitor;
  }

  const background = (page: Page) => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');

  it.each(['/no/such/page', '/operator/no-such-page'])('shows at %s that there is no page', async (path) => {
    const { page } = await visit();
    await page.goto(rig.url + path);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await judge(page, 'the missing page');
    await page.getByRole('link', { name: 'Go to the start page' }).click();
    await page.getByRole('heading', { name: 'Page not found' }).waitFor({ state: 'detached' });
  });

  it('opens every page by the commands, with the keyboard only', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/studio');
    await page.getByLabel('Message', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    const search = page.getByRole('combobox', { name: 'Search commands' });
    await search.waitFor();
    await judge(page, 'the commands');
    await search.fill('no such command');
    await page.getByText('No command matches').waitFor();
    await search.fill('librar');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Library' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.keyboard.press('?');
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await shortcuts.waitFor();
    await shortcuts.getByText('Next image in the lightbox').waitFor();
    await judge(page, 'the shortcuts');
    await shortcuts.getByLabel(/without/).uncheck();
    await page.keyboard.press('Escape');
    await shortcuts.waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.keyboard.press('Control+k');
    await search.waitFor();
    expect(await shortcuts.count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('shows the chosen theme after a reload and in other tabs', { timeout: limitMs }, async () => {
    const { page, context, complaints } = await enter('/library');
    const light = await background(page);
    await page.getByRole('button', { name: /^Account/ }).click();
    await judge(page, 'the menu');
    await page.emulateMedia({ colorScheme: 'light' });
    // The menu closes when the navigation becomes a drawer.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    const dark = await background(page);
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: /^Account/ }).waitFor();
    expect(await background(page)).toBe(dark);
    const second = await context.newPage();
    await second.goto(`${rig.url}/library`);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'System' }).click();
    await expect.poll(() => background(second)).toBe(light);
    expect(complaints).toEqual([]);
  });

  it('has its navigation in a drawer on a phone', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/studio');
    await page.setViewportSize(phone);
    const menu = page.getByRole('button', { name: 'Menu', exact: true });
    await menu.click();
    const drawer = page.getByRole('dialog', { name: 'Menu' });
    await drawer.getByRole('link', { name: 'Library' }).waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await menu.and(page.locator(':focus')).waitFor();
    await menu.press('Enter');
    await drawer.getByRole('link', { name: 'Library' }).click();
    await page.getByRole('heading', { name: 'Library' }).waitFor();
    await drawer.waitFor({ state: 'detached' });

    await menu.press('Enter');
    await page.goBack();
    await drawer.waitFor({ state: 'detached' });
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBe(phone.width);
    expect(complaints).toEqual([]);
  });

  it('has targets of at least 44 px on a touch screen', { timeout: limitMs }, async () => {
    const context = await browser.newContext({ viewport: phone, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await page.setViewportSize({ width: 1000, height: 844 });
    await enterAsUser({ page, context }, rig, '/library');
    await page.setViewportSize(phone);
    const small = `[...document.querySelectorAll('a, button, select, label:has(input), input:not(label input)')]
      .filter((one) => one.checkVisibility() && !one.matches('.skip, .unseen, :disabled'))
      .map((one) => [one.getBoundingClientRect(), one.ariaLabel || one.textContent])
      .filter(([{ width, height }]) => width > 1 && (width < 44 || height < 44))
      .map(([{ width, height }, name]) => name + ': ' + width + ' × ' + height)`;
    for (const path of ['/explore', '/library', '/albums', '/shared', '/trash']) {
      await page.goto(rig.url + path);
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
      await expect.poll(() => page.locator('main .spinner').count()).toBe(0);
      expect([path, await page.evaluate(small)]).toEqual([path, []]);
    }
    await page.getByRole('button', { name: 'Menu', exact: true }).tap();
    await page.getByRole('dialog', { name: 'Menu' }).waitFor();
    // The drawer slides in.
    await expect.poll(() => page.evaluate(small)).toEqual([]);
    await context.close();
  });

  it('keeps the drawer open while the page below it replaces its URL', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/library');
    await page.setViewportSize(phone);
    const isOpened = Promise.withResolvers<void>();
    await page.route('**/assets/studio*.js', async (route) => {
      await isOpened.promise;
      await route.continue();
    });
    const menu = page.getByRole('button', { name: 'Menu', exact: true });
    const drawer = page.getByRole('dialog', { name: 'Menu' });
    await menu.click();
    await drawer.getByRole('link', { name: 'Studio' }).click();
    await drawer.waitFor({ state: 'detached' });
    await menu.click();
    await drawer.waitFor();
    expect(new URL(page.url()).pathname).toBe('/studio');
    isOpened.resolve();
    await drawer.getByRole('navigation', { name: 'Conversations' }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/studio\/studio-/);
    await drawer.getByRole('button', { name: 'New conversation' }).click();
    await drawer.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('offers a reload if the code of a page cannot be loaded', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/studio');
    await page.getByLabel('Message', { exact: true }).waitFor();
    await page.route('**/assets/library*.js', (route) => route.abort());
    const loads: string[] = [];
    page.on('framenavigated', (frame) => loads.push(frame.url()));
    await page.getByRole('link', { name: 'Library' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('This page could not be loaded').waitFor();
    // One by the click, one by the reload that the page makes once.
    expect(loads.filter((url) => url === `${rig.url}/library`)).toHaveLength(2);
    await judge(page, 'a page that could not be loaded');
    await page.getByRole('link', { name: 'Studio' }).click();
    await page.getByLabel('Message', { exact: true }).waitFor();
    await page.unrouteAll();
    await page.getByRole('link', { name: 'Library' }).click();
    await alert.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Library' }).waitFor();
    expect(complaints.filter((line) => !/ERR_FAILED|PageNotLoaded/.test(line))).toEqual([]);
  });

  it('says in the same words on every page that the session has ended', { timeout: limitMs }, async () => {
    const { page } = await enter('/library');
    const calls = /\/v1\/(assets|shares|usage|collections)|\/generations|\/account\b|\/usage\b/;
    const headers = { 'access-control-allow-origin': rig.url };
    await page.route(
      (url) => url.origin !== rig.url && calls.test(url.pathname),
      (route) => route.fulfill({ status: 401, json: { message: 'Words of the service.' }, headers }),
    );
    for (const path of ['/library', '/create', '/account', '/shared', '/albums', '/trash']) {
      await page.goto(rig.url + path);
      const alert = page.getByRole('alert').filter({ hasText: 'Your session has ended. Sign in again to continue.' });
      const link = alert.first().getByRole('link', { name: 'Sign in' });
      await link.waitFor();
      expect(new URL(String(await link.getAttribute('href'))).searchParams.get('next')).toBe(rig.url + path);
      expect(await page.getByText('Words of the service.').count()).toBe(0);
    }
  });

  it('reports a lost network until it is back', { timeout: limitMs }, async () => {
    const { page, context } = await enter('/library');
    const banner = page.getByText('You are offline.');
    await context.setOffline(true);
    await banner.waitFor();
    await context.setOffline(false);
    await banner.waitFor({ state: 'detached' });
  });
});
