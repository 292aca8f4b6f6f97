/** The library in a real browser: upload, look, choose, share, search and delete. */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { animation, scene } from '../image/images.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors, type Visitor } from './rig.fixture.ts';
import { shoot } from './shooting.fixture.ts';

const limitMs = 120_000;

describe.skipIf(withoutChromium)('the library', () => {
  let rig: ConsoleRig;
  let browser: Browser;
  beforeAll(async () => {
    [rig, browser] = await Promise.all([startConsole(), launchChromium()]);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });

  const visit = useVisitors(() => browser);
  async function enter(path = '/library'): Promise<Visitor> {
    const visitor = await visit();
    await enterAsUser(visitor, rig, path);
    return visitor;
  }

  async function uploadImages(page: Page, count: number, width = 300): Promise<void> {
    const files = await Promise.all(
      Array.from({ length: count }, async (_, place) => ({
        name: `image ${place}.png`,
        mimeType: 'image/png',
        buffer: await makeImage('png', { width, height: 200, seed: place + 1 }),
      })),
    );
    await page.locator('input[type=file]').setInputFiles(files);
    await page.getByText(`${count} uploaded`).waitFor();
    await page.getByRole('button', { name: 'Close the list of uploads' }).click();
  }

  /** A phone's menu hides the account. */
  async function enterOnPhone({ page, context }: Pick<Visitor, 'page' | 'context'>): Promise<void> {
    await page.setViewportSize({ width: 1000, height: 844 });
    await enterAsUser({ page, context }, rig, '/library');
    await page.setViewportSize({ width: 390, height: 844 });
  }

  const tiles = (page: Page) => page.locator('.tile');

  it('uploads several files at once, and steps through them in the lightbox', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await page.getByText('Nothing here yet.').waitFor();
    await judge(page, 'an empty library');
    await uploadImages(page, 5);
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    expect(await tiles(page).count()).toBe(5);
    await page.locator('.tile .asset-image.there').nth(4).waitFor();
    // A white picture has an edge.
    const edge = 'getComputedStyle(document.querySelector(".tile .asset-image"), "::after").borderTopWidth';
    expect(await page.evaluate(edge)).toBe('1px');
    // What filters, selects and uploads has one row.
    await page.locator('.filterbar').getByRole('button', { name: 'Select', exact: true }).waitFor();
    expect((await page.locator('.filterbar').boundingBox())?.height).toBeLessThan(60);
    await judge(page, 'a library');
    await shoot(page, 'library');
    await tiles(page).nth(1).locator('.open').click();
    const box = page.getByRole('dialog');
    await box.getByText('300 × 200').waitFor();
    expect(page.url()).toMatch(/\/library\/[0-9a-f-]{36}$/);
    await box.locator('.asset-image.there').waitFor();
    await judge(page, 'an asset');
    await shoot(page, 'lightbox');
    const first = page.url();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.url()).not.toBe(first);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.url()).toBe(first);
    await page.goBack();
    await box.waitFor({ state: 'detached' });
    expect(page.url()).toBe(`${rig.url}/library`);
    await page.goto(first);
    await box.getByText('300 × 200').waitFor();
    await page.keyboard.press('Escape');
    await box.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('chooses a range, deletes it, and brings it back', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await uploadImages(page, 4);
    await tiles(page).nth(0).hover();
    await tiles(page).nth(0).getByRole('checkbox').click();
    await tiles(page)
      .nth(2)
      .locator('.open')
      .click({ modifiers: ['Shift'] });
    await page.getByText('3 selected').waitFor();
    // Duration and heart stay in the corner that they had before.
    expect(
      await tiles(page)
        .first()
        .locator('.marks')
        .evaluate((it) => Reflect.get(it, 'offsetTop')),
    ).toBe(4);
    await judge(page, 'a selection');
    await shoot(page, 'selection');
    const bar = page.getByRole('toolbar', { name: 'Selection' });
    await bar.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('4 selected').waitFor();
    expect(await bar.getByRole('button', { name: 'Select all' }).count()).toBe(0);
    // Several images are shared as an album, and compared two at a time.
    await bar.getByRole('button', { name: 'Share' }).click();
    const several = page.getByRole('dialog', { name: 'Share 4 items as an album' });
    await judge(page, 'a share of several images');
    await several.getByRole('button', { name: /^Create “Shared on / }).click();
    await page.getByRole('dialog', { name: 'Share the album' }).getByText('What you add later is not shared').waitFor();
    await page.keyboard.press('Escape');
    await bar.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('dialog', { name: 'Compare' }).getByRole('group', { name: 'Left' }).waitFor();
    await page.keyboard.press('Escape');
    for (const place of [3, 2]) await tiles(page).nth(place).getByRole('checkbox').click();
    await bar.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('dialog', { name: 'Compare' }).getByRole('slider').waitFor();
    await page.keyboard.press('Escape');
    await tiles(page).nth(1).getByRole('checkbox').click();
    await bar.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('dialog', { name: 'Share the image' }).getByLabel('Your name (optional)').waitFor();
    await page.keyboard.press('Escape');
    for (const place of [1, 2]) await tiles(page).nth(place).getByRole('checkbox').click();
    await page.getByText('3 selected').waitFor();
    await bar.getByRole('button', { name: 'Delete' }).click();
    const notices = page.locator('.toasts');
    await notices.getByText('3 items moved to the trash.', { exact: true }).waitFor();
    expect(await tiles(page).count()).toBe(1);
    await notices.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => tiles(page).count()).toBe(4);
    await tiles(page).nth(3).locator('.open').focus();
    await page.keyboard.press('Delete');
    await notices.getByText('Moved to the trash.', { exact: true }).waitFor();
    const countAfterReload = async () => {
      await page.reload();
      await tiles(page).first().waitFor();
      return tiles(page).count();
    };
    await expect.poll(countAfterReload).toBe(3);
    expect(complaints).toEqual([]);
  });

  it('steps by a swipe, zooms with two fingers, and undoes a deletion in the lightbox', {
    timeout: limitMs,
  }, async () => {
    const { page, context, complaints } = await enter();
    await uploadImages(page, 2);
    await tiles(page).first().locator('.open').click();
    const box = page.getByRole('dialog');
    await box.locator('.asset-image.there').waitFor();
    const first = page.url();
    const devtools = await context.newCDPSession(page);
    /** Moves fingers along a line, each given by its first and its last `x`. */
    const drag = async (...fingers: readonly (readonly [from: number, to: number])[]) => {
      const at = (share: number) => fingers.map(([from, to], id) => ({ id, x: from + share * (to - from), y: 450 }));
      await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) });
      for (const share of [0.5, 1])
        await devtools.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(share) });
      await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    };
    await drag([700, 400]);
    await expect.poll(() => page.url()).not.toBe(first);
    await drag([400, 700]);
    await expect.poll(() => page.url()).toBe(first);
    await drag([500, 400], [600, 700]);
    const scale = 'new DOMMatrix(getComputedStyle(document.querySelector(".zoomed")).transform).a';
    await expect.poll(() => page.evaluate(scale)).toBeCloseTo(3, 1);
    await devtools.detach();
    await box.getByRole('button', { name: 'Delete' }).click();
    await box.getByText('Moved to the trash.', { exact: true }).first().waitFor();
    await box.getByRole('button', { name: 'Undo' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(() => tiles(page).count()).toBe(2);
    expect(complaints).toEqual([]);
  });

  it('shows the assets of some days', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await uploadImages(page, 1);
    const dayIn = (days: number) =>
      page.evaluate(`new Date(Date.now() + ${days} * 86_400_000).toLocaleDateString('sv')`) as Promise<string>;
    await page.getByRole('button', { name: 'Dates' }).click();
    await page.getByLabel('From', { exact: true }).fill(await dayIn(-2));
    await page.getByLabel('To', { exact: true }).fill(await dayIn(-1));
    await page.getByText('Nothing matches.').waitFor();
    await page.getByLabel('To', { exact: true }).fill(await dayIn(1));
    await expect.poll(() => tiles(page).count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByLabel('From', { exact: true }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('works with the keyboard alone', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await uploadImages(page, 3);
    await tiles(page).first().locator('.open').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press(' ');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Control+a');
    await page.getByText('3 selected').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Upload' }).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('rejects a file that is not an image with the reason, and uploads the others', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await page.locator('input[type=file]').setInputFiles([
      { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('not an image') },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('some notes') },
    ]);
    await page.getByText('The image is damaged or is not an image.').waitFor();
    await page.getByText('1 of 2 not uploaded').waitFor();
    await judge(page, 'a refused upload');
    await shoot(page, 'refused');
    await page.getByText('Other').click();
    await expect.poll(() => tiles(page).count()).toBe(1);
    await page.getByText('Images', { exact: true }).click();
    await page.getByText('Nothing matches.').waitFor();
    expect(complaints.splice(0).filter((line) => !/status of 4\d\d/.test(line))).toEqual([]);
  });

  it('folds the list of uploads when all are done, and removes it', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    const files = { name: 'boat.png', mimeType: 'image/png', buffer: await makeImage('png', { width: 9, height: 9 }) };
    await page.locator('input[type=file]').setInputFiles(files);
    const panel = page.getByRole('region', { name: 'Uploads' });
    await panel.getByText('1 uploaded').waitFor();
    // It covers nothing of the page.
    const box = await panel.boundingBox();
    const main = await page.getByRole('main').boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(main?.x ?? 0);
    await panel.getByText('boat.png').waitFor();
    await panel.getByRole('button', { name: 'Show the files' }).waitFor({ timeout: 8000 });
    await judge(page, 'folded uploads');
    await panel.waitFor({ state: 'detached', timeout: 8000 });
    await page.locator('input[type=file]').setInputFiles(files);
    await panel.getByRole('button', { name: 'Hide the files' }).waitFor();
    await panel.getByText('1 uploaded').waitFor();
    await panel.getByRole('button', { name: 'Hide the files' }).click();
    await panel.getByRole('button', { name: 'Close the list of uploads' }).click();
    expect(await panel.count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('has targets of 44 pixels on a phone, and nothing that is wider', { timeout: limitMs }, async () => {
    const context = await browser.newContext({ hasTouch: true, isMobile: true, reducedMotion: 'reduce' });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    await enterOnPhone({ page, context });
    await uploadImages(page, 2);
    await page.getByRole('button', { name: 'Select', exact: true }).tap();
    await tiles(page).first().tap();
    const small = () =>
      page.evaluate(`[...document.querySelectorAll('main :is(button, .button, a, select, textarea, input), header.bar button')]
        .map((it) => it.closest('label') ?? it)
        .filter((it) => it.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        .filter((it) => getComputedStyle(it).display !== 'inline')
        .flatMap((it) => {
          const { width, height } = it.getBoundingClientRect();
          return Math.min(width, height) < 43.5 ? [it.outerHTML.slice(0, 120) + Math.round(width) + ' × ' + Math.round(height)] : [];
        })`);
    expect(await small()).toEqual([]);
    await page.getByRole('button', { name: 'Delete' }).tap();
    await page.getByText('Moved to the trash.').first().waitFor();
    for (const path of ['/library', '/albums', '/trash', '/shared', '/explore', '/memory', '/account']) {
      await page.goto(rig.url + path);
      await page.getByRole('button', { name: 'Menu' }).waitFor();
      await page.locator('.spinner, .skeleton').first().waitFor({ state: 'detached' });
      if (path === '/trash') {
        // The tile has one mark and one circle. What it opens restores.
        await tiles(page).getByText('30 days left').waitFor();
        expect(await page.getByRole('button', { name: /^Restore Image/ }).count()).toBe(0);
        await tiles(page).tap();
        await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).waitFor();
        expect(await small()).toEqual([]);
        // The bar has one row, and its question one below it.
        const left = page.getByRole('dialog').getByText('30 days left');
        expect((await left.boundingBox())?.height).toBeLessThan(30);
        await shoot(page, 'trash-open');
        await page.setViewportSize({ width: 390, height: 844 });
        await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).tap();
        await page.getByText('This cannot be undone.').waitFor();
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
        await page.getByRole('button', { name: 'No', exact: true }).tap();
        await page.getByRole('dialog').getByRole('button', { name: 'Close' }).tap();
        await page.getByRole('button', { name: 'Select all' }).tap();
        const tops = ['Restore', 'Delete permanently'].map(async (name) => {
          const button = page.getByRole('toolbar').getByRole('button', { name });
          return (await button.boundingBox())?.y;
        });
        expect(new Set(await Promise.all(tops)).size).toBe(1);
        await shoot(page, 'trash-selection');
        await page.setViewportSize({ width: 390, height: 844 });
      }
      expect([path, await small()]).toEqual([path, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    }
    await context.close();
  });

  it('continues a paused upload where it stopped', { timeout: limitMs }, async () => {
    const { page, complaints, context } = await enter();
    const buffer = await makeImage('jpeg', { width: isNightly ? 5000 : 3000, height: 3000 });
    const [offsets, urls]: [number[], string[]] = [[], []];
    page.on('request', (request) => {
      const offset = request.method() === 'PATCH' ? request.headers()['upload-offset'] : undefined;
      if (offset === undefined) return;
      offsets.push(Number(offset));
      urls.push(request.url());
    });
    const cdp = await context.newCDPSession(page);
    const slowly = { offline: false, latency: 5, downloadThroughput: 10e6, uploadThroughput: 1.5e6 };
    await cdp.send('Network.emulateNetworkConditions', slowly);
    const padded = Buffer.concat([buffer, Buffer.alloc(6_000_000)]);
    await page.locator('input[type=file]').setInputFiles({ name: 'large.jpg', mimeType: 'image/jpeg', buffer: padded });
    await page.getByText(/Uploading · [2-9]\d %/).waitFor();
    await page.getByRole('button', { name: 'Pause large.jpg' }).click();
    await page.getByText(/^Paused/).waitFor();
    await shoot(page, 'paused');
    // While the server still stores what has arrived, it responds with 409, which the browser reports.
    const head = { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } };
    await expect.poll(async () => (await fetch(String(urls.at(-1)), head)).status, { timeout: limitMs }).toBe(200);
    await cdp.send('Network.emulateNetworkConditions', { ...slowly, uploadThroughput: -1 });
    await page.getByRole('button', { name: 'Resume large.jpg' }).click();
    await page.getByText('1 uploaded').waitFor();
    await tiles(page).first().waitFor();
    expect(offsets.at(-1)).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });

  it('shares to the public feed once, and downloads the original and a copy with the watermark', {
    timeout: limitMs,
  }, async () => {
    const { page, complaints } = await enter();
    await uploadImages(page, 1);
    await tiles(page).locator('.open').click();
    const box = page.locator('dialog.lightbox');
    await box.getByRole('button', { name: 'Share', exact: true }).click();
    const sharing = page.getByRole('dialog', { name: 'Share the image' });
    await sharing.getByRole('button', { name: 'Publish' }).click();
    await sharing.getByRole('button', { name: 'Yes, publish' }).click();
    await sharing.getByRole('button', { name: 'Unpublish' }).waitFor();
    await page.keyboard.press('Escape');
    await sharing.waitFor({ state: 'detached' });
    const beginnings: number[][] = [];
    for (const name of ['Download', 'Download with watermark']) {
      const download = page.waitForEvent('download');
      if (name === 'Download') await box.getByRole('button', { name, exact: true }).click();
      else {
        await box.getByRole('button', { name: 'More actions' }).click();
        await page.getByRole('menuitem', { name }).click();
      }
      const file = await readFile(await (await download).path());
      beginnings.push([...file.subarray(0, 3)]);
    }
    expect(beginnings).toEqual([
      [0x89, 0x50, 0x4e],
      [0xff, 0xd8, 0xff],
    ]);
    await page.keyboard.press('Escape');
    // A reload before the lightbox is closed would open it again.
    await box.waitFor({ state: 'detached' });
    await page.reload();
    // Once, although the public copy is an asset too.
    await expect.poll(() => tiles(page).getByText('Published').count()).toBe(1);
    expect(await tiles(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Published' }).click();
    await page.waitForURL(/shared=1/);
    await expect.poll(() => tiles(page).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('selects by whole tiles on a touch screen, and opens one by a tap otherwise', { timeout: limitMs }, async () => {
    const context = await browser.newContext({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    await enterOnPhone({ page, context });
    await uploadImages(page, 3);
    await page.locator('.tile .asset-image.there').nth(2).waitFor();
    // One row of controls: everything else is in a sheet.
    const firstTile = Number(await page.evaluate('document.querySelector(".tile").getBoundingClientRect().top'));
    expect(firstTile).toBeLessThan(200);
    await page.getByRole('button', { name: 'Filters' }).tap();
    const sheet = page.getByRole('dialog', { name: 'Filters' });
    await judge(page, 'the filters of a phone');
    await page.setViewportSize({ width: 390, height: 844 });
    await sheet.getByText('Videos', { exact: true }).tap();
    await page.getByText('Nothing matches.').waitFor();
    await sheet.getByText('All', { exact: true }).tap();
    await sheet.getByRole('button', { name: 'Close' }).tap();
    await expect.poll(() => tiles(page).count()).toBe(3);
    expect(await page.locator('.tile .choose:visible').count()).toBe(0);
    await page.getByRole('button', { name: 'Select', exact: true }).tap();
    await page.getByText('Select items.').waitFor();
    const bar = page.getByRole('toolbar', { name: 'Selection' });
    expect((await bar.boundingBox())?.height).toBeLessThan(80);
    for (const place of [0, 2]) await tiles(page).nth(place).tap();
    await page.getByText('2 selected').waitFor();
    const sizes = await page
      .locator('.tile .choose')
      .evaluateAll((all) =>
        all.map((box) => [Reflect.get(box, 'offsetWidth'), Reflect.get(box, 'offsetHeight')] as readonly number[]),
      );
    expect(Math.min(...sizes.flat())).toBeGreaterThanOrEqual(44);
    // The mark is smaller than its target, also when it is set.
    const marks = await page.evaluate(`[...document.querySelectorAll('.choose')].map((box) => [
      getComputedStyle(box, '::before').width, getComputedStyle(box).backgroundColor])`);
    expect(marks).toEqual(sizes.map(() => ['24px', 'rgba(0, 0, 0, 0)']));
    await page.getByRole('button', { name: 'Clear the selection' }).tap();
    await tiles(page).nth(1).tap();
    await page.locator('dialog.lightbox .asset-image.there').waitFor();
    await context.close();
  });

  it('fills an album by selection, drag and drop, renames it and deletes it', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await uploadImages(page, 4);
    await page.getByRole('link', { name: 'Albums', exact: true }).click();
    await page.getByText('No albums yet.').waitFor();
    await page.getByRole('button', { name: 'New album' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Harbors');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('This album is empty.').waitFor();
    await judge(page, 'an empty album');
    await page.getByRole('link', { name: 'Add from your library' }).click();
    for (const place of [0, 1]) await tiles(page).nth(place).locator('.open').click();
    await judge(page, 'a selection for an album');
    await page.getByRole('button', { name: 'Add 2 items' }).click();
    await page.getByRole('heading', { name: 'Harbors' }).waitFor();
    await expect.poll(() => tiles(page).count()).toBe(2);
    expect(await page.locator('.primary').allInnerTexts()).toEqual(['Add']);

    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const sharing = page.getByRole('dialog', { name: 'Share the album' });
    await sharing.getByText('What you add later is not shared').waitFor();
    expect(await sharing.getByRole('heading', { name: 'Explore' }).count()).toBe(0);
    await judge(page, 'a new link of an album');
    await sharing.getByRole('button', { name: 'Create a public link' }).click();
    const url = await sharing.getByLabel('Public link').inputValue();
    const status = async () => (await fetch(url)).status;
    expect(await status()).toBe(200);
    await judge(page, 'the link of an album');
    await sharing.getByRole('link', { name: 'All links' }).click();
    await page.getByText(/^Album of 2 items\s*shared (just now|\d+ minutes? ago)$/).waitFor();
    await page.getByRole('list', { name: 'Shared links' }).locator('.thumb .there').first().waitFor();
    await judge(page, 'the links with an album');
    await shoot(page, 'links');
    // The list and the page of the album mark it, and lead to its link.
    await page.getByRole('link', { name: 'Albums', exact: true }).click();
    await page.getByRole('link', { name: /Harbors.*2 items · Shared/ }).waitFor();
    await page.getByRole('button', { name: 'Link of “Harbors”' }).click();
    expect(await sharing.getByLabel('Public link').inputValue()).toBe(url);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: /Harbors.*2 items/ }).click();
    // The words of its order are never cut off, also not on a small phone.
    await page.getByRole('button', { name: 'Shared', exact: true }).waitFor();
    await shoot(page, 'album');
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      const missing = `(() => {
        const select = document.querySelector('.album select');
        const { offsetWidth } = select;
        select.style.width = 'max-content';
        const cutOff = select.offsetWidth - offsetWidth;
        select.style.width = '';
        return cutOff;
      })()`;
      expect(await page.evaluate(missing)).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('heading', { name: 'Harbors' }).waitFor();
    // Two images need no filters. What adds to them is one button.
    expect(await page.locator('.filterbar').count()).toBe(0);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['From your library', 'Upload']);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Library', exact: true }).click();
    await expect.poll(() => tiles(page).count()).toBe(4);
    const target = page.getByRole('navigation', { name: 'Albums' }).getByRole('link', { name: /Harbors/ });
    for (const place of [2, 3]) await tiles(page).nth(place).getByRole('checkbox').click({ force: true });
    // The notice of the first two items looks the same.
    const added = page.locator('.toasts').getByText('Added 2 items to “Harbors”.', { exact: true });
    await added.waitFor({ state: 'detached' });
    await tiles(page).nth(3).dragTo(target);
    await added.waitFor();
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    // What was added comes into the link by an update, at the same URL.
    await target.click();
    await page.getByRole('heading', { name: 'Harbors' }).waitFor();
    await page.getByRole('button', { name: 'Shared', exact: true }).click();
    await sharing.getByText('2 new items are not in the link.').waitFor();
    await judge(page, 'a link without the newest items');
    await sharing.getByRole('button', { name: 'Update the link' }).click();
    await sharing.getByText('4 items of the album').waitFor();
    const shown = async () => (await fetch(url, { headers: { accept: 'application/json' } })).text();
    await expect.poll(async () => (await shown()).split('"kind":"image"').length, { timeout: 10_000 }).toBe(5);
    await sharing.getByRole('button', { name: 'End sharing' }).click();
    await sharing.getByRole('button', { name: 'Yes, end sharing' }).click();
    await expect.poll(status, { timeout: 10_000 }).toBe(404);
    // Until then, Escape would answer the question, and leave the dialog open.
    await sharing.getByRole('button', { name: 'Create a public link' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Albums', exact: true }).first().click();
    await page.getByRole('link', { name: /Harbors.*4 items/ }).waitFor();
    // The order is in the URL, and Back restores it. The cover is the newest item, or the chosen one.
    const order = () =>
      page.locator('.tile .open').evaluateAll((all) => all.map((tile) => Reflect.get(tile, 'ariaLabel')));
    const coverUrl = () => page.locator('.albums li', { hasText: 'Harbors' }).locator('.cover img').getAttribute('src');
    const newestCover = await coverUrl();
    await page.getByRole('link', { name: /Harbors.*4 items/ }).click();
    await expect.poll(() => tiles(page).count()).toBe(4);
    const newestFirst = await order();
    // On a phone, what the album offers has one row.
    await page.setViewportSize({ width: 390, height: 844 });
    const spread = () =>
      page.locator('.album .does > *').evaluateAll((all) => {
        const tops = all.map((it) => Number(Reflect.get(it, 'offsetTop')));
        return Math.max(...tops) - Math.min(...tops);
      });
    await expect.poll(spread).toBeLessThan(20);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByLabel('Sort').selectOption('Oldest');
    await expect.poll(order).toEqual(newestFirst.toReversed());
    expect(page.url()).toMatch(/&sort=oldest$/);
    await page.goBack();
    await expect.poll(order).toEqual(newestFirst);
    await tiles(page).first().hover();
    await tiles(page).first().getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Use as cover' }).click();
    await page.locator('.toasts').getByText('It is now the cover of “Harbors”.').waitFor();
    await judge(page, 'an album in an order');
    await page.getByRole('link', { name: 'Albums', exact: true }).first().click();
    await expect.poll(coverUrl).not.toBe(newestCover);
    await judge(page, 'albums');
    await shoot(page, 'albums');
    // It opens again in the order that was chosen last.
    await page.getByRole('link', { name: /Harbors.*4 items/ }).click();
    await expect.poll(order).toEqual(newestFirst.toReversed());
    await page.getByLabel('Sort').selectOption('Newest');
    await expect.poll(order).toEqual(newestFirst);
    // What is done with one item has one row.
    await tiles(page).first().getByRole('checkbox').click({ force: true });
    const bar = page.getByRole('toolbar', { name: 'Selection' });
    await bar.getByRole('button', { name: 'Download' }).waitFor();
    expect((await bar.boundingBox())?.height).toBeLessThan(60);
    await shoot(page, 'album-selection');
    await bar.getByRole('button', { name: 'Clear the selection' }).click();
    await page.getByRole('link', { name: 'Albums', exact: true }).first().click();
    await page.getByRole('link', { name: /^Favorites/ }).click();
    await page.getByRole('heading', { name: 'Favorites' }).waitFor();
    await page.getByText('Mark an image or a video with its heart').waitFor();
    await judge(page, 'favorites');
    await page.getByRole('main').getByRole('link', { name: 'Albums' }).click();
    await page.getByRole('button', { name: 'Edit “Harbors”' }).click();
    // The cover is chosen here, too.
    const covers = dialog.getByRole('group', { name: 'Cover' });
    await expect.poll(() => covers.getByRole('radio').count()).toBe(4);
    const firstCover = await coverUrl();
    await judge(page, 'the dialog of an album');
    await shoot(page, 'album-edit');
    await covers.getByRole('radio', { checked: false }).last().check({ force: true });
    await dialog.getByLabel('Name').fill('Ports');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: /Ports.*4 items/ }).waitFor();
    await expect
      .poll(() => page.locator('.albums li', { hasText: 'Ports' }).locator('.cover img').getAttribute('src'))
      .not.toBe(firstCover);
    // An item is taken out on its tile, and where it is open.
    await page.getByRole('link', { name: /Ports.*4 items/ }).click();
    await expect.poll(order).toEqual(newestFirst);
    const removed = page.locator('.toasts').getByText('Removed from “Ports”.', { exact: true });
    await tiles(page).first().hover();
    await tiles(page).first().getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Remove from album' }).click();
    await removed.waitFor();
    await expect.poll(order).toEqual(newestFirst.slice(1));
    await tiles(page).first().locator('.open').click();
    const opened = page.url();
    await dialog.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Remove from album' }).click();
    // The next one is shown.
    await expect.poll(() => page.url()).not.toBe(opened);
    await page.keyboard.press('Escape');
    await expect.poll(order).toEqual(newestFirst.slice(2));
    await page.getByRole('link', { name: 'Albums', exact: true }).first().click();
    await page.getByRole('link', { name: /Ports.*2 items/ }).waitFor();
    await page.getByRole('button', { name: 'Edit “Ports”' }).click();
    await dialog.getByRole('button', { name: 'Delete the album' }).click();
    await dialog.getByRole('button', { name: 'Yes, delete the album' }).click();
    await page.getByText('No albums yet.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('updates the link of a conversation only if it has changed', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/studio');
    const write = async (text: string) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText(`I understood: “${text}”`).waitFor();
    };
    await write('Tell me about harbors');
    const sharing = page.getByRole('dialog', { name: 'Share the conversation' });
    const update = sharing.getByRole('button', { name: 'Update the link' });
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await sharing.getByRole('button', { name: 'Create a public link' }).click();
    await sharing.getByText('The link is up to date.').waitFor();
    expect(await sharing.getByLabel('Show attached files').count()).toBe(0);
    expect(await update.count()).toBe(0);
    await judge(page, 'the link of a conversation');
    await page.keyboard.press('Escape');
    await write('Tell me about ships');
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await sharing.getByText('The conversation has changed since.').waitFor();
    expect(await sharing.locator('.primary').allInnerTexts()).toEqual(['Update the link']);
    await judge(page, 'the link of a changed conversation');
    await update.click();
    await sharing.getByText('The link is up to date.').waitFor();
    expect(await update.count()).toBe(0);
    // A conversation with files offers to show them, also in a link that exists.
    await page.keyboard.press('Escape');
    const buffer = await makeImage('png', { width: 64, height: 64 });
    await page.locator('input[type=file]').setInputFiles({ name: 'mine.png', mimeType: 'image/png', buffer });
    await page.getByRole('button', { name: 'Remove mine.png' }).waitFor();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Message' }).fill('Tell me about piers');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article', { name: 'Atelier' }).nth(2).waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await update.click();
    await sharing.getByLabel('Show attached files').check();
    const url = await sharing.getByLabel('Public link').inputValue();
    const shown = async () => (await fetch(url, { headers: { accept: 'application/json' } })).text();
    await expect.poll(shown, { timeout: 10_000 }).toContain('"kind":"image"');
    expect(complaints).toEqual([]);
  });

  it('processes an uploaded video, and plays it', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    const buffer = await readFile(new URL('../../src/local/renderer/sample.mp4', import.meta.url));
    await page.locator('input[type=file]').setInputFiles({ name: 'clip.mp4', mimeType: 'video/mp4', buffer });
    await page.getByText('1 uploaded').waitFor();
    await expect.poll(() => tiles(page).count()).toBe(1);
    await tiles(page).locator('.open').click();
    await page.locator('.lightbox video[src]').waitFor();
    await judge(page, 'a video');
    await page.keyboard.press('Escape');
    await page.getByText('Images', { exact: true }).click();
    await page.getByText('Nothing matches.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('marks an animation, which moves in the lightbox', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    const buffer = await animation([scene(), { ...scene(), data: scene().data.toReversed() }])
      .gif()
      .toBuffer();
    await page.locator('input[type=file]').setInputFiles({ name: 'moving.gif', mimeType: 'image/gif', buffer });
    await tiles(page).getByText('Animated', { exact: true }).waitFor();
    await tiles(page).locator('.open').click();
    const box = page.getByRole('dialog');
    await box.getByText('Image (GIF, animated)').waitFor();
    const shownType = async () => {
      const source = await box.locator('.asset-image.there img').getAttribute('src');
      return (await fetch(source ?? '')).headers.get('content-type');
    };
    // The system of the visitor is set to less motion.
    expect(await shownType()).toBe('image/webp');
    await page.emulateMedia({ reducedMotion: null });
    await page.reload();
    expect(await shownType()).toBe('image/gif');
    await judge(page, 'an animation');
    expect(complaints).toEqual([]);
  });

  it('edits the part of an image that is painted over', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await uploadImages(page, 1);
    await tiles(page).hover();
    await tiles(page).getByRole('button', { name: 'Edit' }).click();
    const form = page.getByRole('form', { name: 'Edit the image' });
    // The title is before the button that closes, as in other dialogs.
    const title = await page.getByRole('heading', { name: 'Edit the image' }).boundingBox();
    const close = await page.getByRole('button', { name: 'Close' }).boundingBox();
    expect(title?.x).toBeLessThan(100);
    expect(close?.x).toBeGreaterThan(1300);
    const canvas = page.locator('.painting canvas');
    const box = (await canvas.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    expect(box.width / box.height).toBeCloseTo(1.5, 1);
    const drag = async (from: number, to: number) => {
      await page.mouse.move(box.x + from * box.width, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + to * box.width, box.y + box.height / 2, { steps: 5 });
      await page.mouse.up();
    };
    await drag(0.2, 0.4);
    await drag(0.6, 0.8);
    const undo = form.getByRole('button', { name: 'Undo the last stroke' });
    const redo = form.getByRole('button', { name: 'Redo the stroke' });
    /** Whether the mask covers the places of the two strokes, and one beside them. */
    const covered = () =>
      page.evaluate(`((it) => {
        const copy = new OffscreenCanvas(it.width, it.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(it, 0, 0);
        return [0.3, 0.7, 0.5].map((x) => copy.getImageData(x * it.width, it.height / 2, 1, 1).data[3] > 0);
      })(document.querySelector('.mask'))`);
    await undo.click();
    await expect.poll(covered).toEqual([true, false, false]);
    await redo.click();
    await expect.poll(covered).toEqual([true, true, false]);
    expect(await redo.isDisabled()).toBe(true);
    await undo.click();
    await form.getByRole('button', { name: 'Invert the mask' }).click();
    await expect.poll(covered).toEqual([false, true, true]);
    await undo.click();
    await expect.poll(covered).toEqual([true, false, false]);
    await form.getByRole('button', { name: 'Rectangle' }).click();
    await page.mouse.move(box.x + 0.45 * box.width, box.y + 0.2 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.8 * box.width, box.y + 0.8 * box.height, { steps: 5 });
    await page.mouse.up();
    await expect.poll(covered).toEqual([true, true, true]);
    await undo.click();
    await form.getByRole('button', { name: 'Brush' }).click();
    await form.getByText('24 px', { exact: true }).waitFor();
    await form.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(async () => (await canvas.boundingBox())?.width).toBeCloseTo(1.5 * box.width, 0);
    await form.getByRole('button', { name: 'Zoom out' }).click();
    // The image has room around it, and the fields end above the buttons.
    const stage = await page.locator('.stage').boundingBox();
    expect(box.x - (stage?.x ?? 0)).toBeGreaterThanOrEqual(24);
    const fields = await form.locator('.fields').boundingBox();
    const finish = await form.locator('.finish').boundingBox();
    expect((fields?.y ?? 0) + (fields?.height ?? 0)).toBeLessThanOrEqual((finish?.y ?? 0) + 1);
    expect((finish?.y ?? 0) + (finish?.height ?? 0)).toBeCloseTo(900, 0);
    await form.getByLabel('Prompt').fill('a red balloon');
    await judge(page, 'an edit');
    await shoot(page, 'editor');
    await form.getByText('2', { exact: true }).click();
    await form.getByText(/^4 credits\. You have [\d,]+\.$/).waitFor();
    expect(await form.getByRole('radio', { name: 'Same as source' }).isChecked()).toBe(true);
    await form.getByRole('button', { name: 'Generate 2 images' }).click();
    await page.getByText('a red balloon').waitFor();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('dialog').locator('.asset-image.whole.there').waitFor();
    // Only the painted part is tinted: its right side, where the stroke was taken back, has the colors of the source.
    expect(await differences(page)).toEqual({ left: true, right: false });
    await shoot(page, 'edited');
    await page.keyboard.press('Escape');
    await expect.poll(() => tiles(page).count()).toBe(3);
    expect(complaints).toEqual([]);
  });

  it('finds an image of a conversation by the words of its prompt', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/studio');
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('an image of a lighthouse at dusk');
    await page.keyboard.press('Enter');
    await page.locator('.asset-image.there').first().waitFor();
    await page.getByRole('link', { name: 'Library' }).click();
    await tiles(page).first().waitFor();
    await page.getByLabel('Search names and prompts').fill('zebra');
    await page.getByText('Nothing matches “zebra”.').waitFor();
    await page.getByLabel('Search names and prompts').fill('DUSK lighthouse');
    await tiles(page).first().locator('.open').click();
    const box = page.getByRole('dialog');
    await box.getByRole('heading', { name: 'Prompt' }).waitFor();
    await shoot(page, 'prompt');
    await box.getByRole('link', { name: 'Open in conversation' }).click();
    await page.getByText('an image of a lighthouse at dusk').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows the user’s memories, to correct, forget, export and erase', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/memory');
    await page.getByText('Atelier has not stored anything about you yet.').waitFor();
    await page.getByRole('link', { name: 'Studio' }).click();
    for (const [place, fact] of ['my name is Ada', 'I like cold blue light', 'I love jazz'].entries()) {
      await page.getByRole('textbox', { name: 'Message', exact: true }).fill(`remember that ${fact}`);
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'Remembered' }).nth(place).waitFor();
      await page.getByRole('button', { name: 'Send' }).waitFor();
    }
    await page.getByRole('link', { name: 'Memory' }).click();
    const facts = page.locator('.fact');
    await expect.poll(() => facts.count()).toBe(3);
    await page.getByRole('region', { name: 'Profile' }).getByText('Ada').waitFor();
    await judge(page, 'the memory of a user');
    await shoot(page, 'memory');
    await page.getByRole('button', { name: 'Add a fact' }).click();
    await page.getByRole('textbox', { name: 'Fact', exact: true }).fill('Always answer in short sentences');
    await page.getByLabel('Kind').selectOption('Instructions');
    await judge(page, 'the form of a fact');
    await shoot(page, 'memory-adding');
    await page.getByRole('button', { name: 'Save' }).click();
    const instructions = page.getByRole('region', { name: 'Instructions' });
    await instructions.getByText('Always answer in short sentences').waitFor();
    expect(await page.getByRole('textbox', { name: 'Fact', exact: true }).count()).toBe(0);
    const search = page.getByLabel('Search memories');
    await search.fill('blue');
    await expect.poll(() => facts.first().innerText()).toContain('cold blue light');
    await search.fill('');
    // The list of all facts is another one than that of the search.
    await instructions.waitFor();
    await page.getByRole('button', { name: /^Correct: .*cold blue light/ }).click();
    await page.getByLabel('Correction').fill('I like warm red light');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('I like warm red light').waitFor();
    await page.getByRole('button', { name: /^Forget: .*jazz/ }).click();
    await expect.poll(() => facts.count()).toBe(3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => facts.count()).toBe(4);
    await page.getByRole('button', { name: /^Forget: .*jazz/ }).click();
    await expect.poll(() => facts.count()).toBe(3);
    await page.reload();
    await page.getByText('I like warm red light').waitFor();
    expect(await facts.count()).toBe(3);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const exported: unknown = JSON.parse(await readFile(await (await download).path(), 'utf8'));
    expect(exported).toMatchObject({
      memories: expect.arrayContaining([expect.objectContaining({ content: 'I like warm red light' })]),
    });
    await page.getByRole('button', { name: 'Erase everything' }).click();
    const dialog = page.getByRole('dialog');
    const confirm = dialog.getByRole('button', { name: 'Erase everything' });
    expect(await confirm.isDisabled()).toBe(true);
    await judge(page, 'the question before the memory is erased');
    await dialog.getByRole('textbox').fill('erase');
    await confirm.click();
    await page.getByText('Atelier has not stored anything about you yet.').waitFor();
    expect(complaints).toEqual([]);
  });
});

/** Whether the edited image differs from the gradient of the source, at the places of the two strokes. */
async function differences(page: Page): Promise<{ readonly left: boolean; readonly right: boolean }> {
  const url = await page.getByRole('dialog').locator('.asset-image.whole.there img').getAttribute('src');
  const { data, info } = await sharp(Buffer.from(await (await fetch(url ?? '')).arrayBuffer()))
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const differs = (x: number) => {
    const at = (Math.floor(info.height / 2) * info.width + Math.floor(x * info.width)) * info.channels;
    return Math.abs((data[at] ?? 0) - x * 255) > 12;
  };
  return { left: differs(0.3), right: differs(0.7) };
}
