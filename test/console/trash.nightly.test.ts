/** A library that users can trust, in a real browser: the trash, rows, months, archives, and several images at once. */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors, type Visitor } from './rig.fixture.ts';
import { shoot } from './shooting.fixture.ts';

const limitMs = 240_000;

describe.skipIf(withoutChromium)('the library and its trash', () => {
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
  const tiles = (page: Page) => page.locator('.tile');
  const notices = (page: Page) => page.locator('.toasts');

  const shapes = [
    [300, 100],
    [100, 300],
    [200, 200],
    [240, 160],
    [160, 240],
    [320, 180],
  ] as const;
  async function uploadShapes(page: Page): Promise<void> {
    const files = await Promise.all(
      shapes.map(async ([width, height], place) => ({
        name: 'photo.png',
        mimeType: 'image/png',
        buffer: await makeImage('png', { width, height, seed: place + 1 }),
      })),
    );
    await page.locator('input[type=file]').setInputFiles(files);
    await page.getByText(`${shapes.length} uploaded`).waitFor();
    await page.getByRole('button', { name: 'Close the list of uploads' }).click();
    await page
      .locator('.tile .asset-image.there')
      .nth(shapes.length - 1)
      .waitFor();
  }

  it('keeps deleted images for 30 days, restores them, and deletes them permanently', {
    timeout: limitMs,
  }, async () => {
    const { page, complaints } = await enter();
    await uploadShapes(page);
    await page.getByRole('link', { name: 'Trash' }).click();
    await page.getByText('The trash is empty.').waitFor();
    await judge(page, 'an empty trash');
    await page.getByRole('link', { name: 'Library', exact: true }).click();
    for (const place of [0, 1, 2]) await tiles(page).nth(place).getByRole('checkbox').click({ force: true });
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click();
    await notices(page).getByText('3 items moved to the trash.', { exact: true }).waitFor();
    expect(await tiles(page).count()).toBe(3);

    await page.getByRole('link', { name: 'Trash' }).click();
    await page.locator('.tile .asset-image.there').nth(2).waitFor();
    await page.getByText('30 days left').first().waitFor();
    await notices(page).getByRole('button', { name: 'Dismiss' }).click();
    await judge(page, 'a trash');
    await shoot(page, 'trash');
    expect(await tiles(page).getByText('30 days left').count()).toBe(3);
    await page.getByText('Select what you want to keep or delete.').waitFor();
    await page.getByRole('button', { name: 'Select all' }).click();
    await page.getByText('3 selected').waitFor();
    expect(await page.getByRole('button', { name: 'Select all' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    expect(await page.getByRole('heading', { name: 'Images and videos' }).count()).toBe(0);
    await tiles(page).nth(0).hover();
    await tiles(page).nth(0).getByRole('button', { name: 'Restore Image: photo.png' }).click();
    await expect.poll(() => tiles(page).count()).toBe(2);
    await page.getByRole('link', { name: 'Library', exact: true }).click();
    await expect.poll(() => tiles(page).count()).toBe(4);
    await tiles(page).nth(0).locator('.open').focus();
    await page.keyboard.press('Delete');
    await expect.poll(() => tiles(page).count()).toBe(3);
    await page.getByRole('link', { name: 'Trash' }).click();
    await expect.poll(() => tiles(page).count()).toBe(3);
    await tiles(page).nth(0).getByRole('checkbox').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Restore' }).click();
    await expect.poll(() => tiles(page).count()).toBe(2);
    // A click shows the image in full, with what can be done about it.
    await tiles(page).nth(0).locator('.open').click();
    const look = page.getByRole('dialog', { name: 'Image: photo.png' });
    await look.locator('.stage .asset-image.there').waitFor();
    await look.getByText('30 days left').waitFor();
    expect(await look.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await look.getByRole('button', { name: 'Delete permanently' }).click();
    await judge(page, 'a question about a deletion');
    await page.getByRole('button', { name: 'Yes, delete permanently' }).click();
    await expect.poll(() => tiles(page).count()).toBe(1);
    await page.reload();
    await expect.poll(() => tiles(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Empty the trash' }).click();
    await page.getByRole('button', { name: 'Yes, empty the trash' }).click();
    await page.getByText('The trash is empty.').waitFor();
    await page.getByRole('link', { name: 'Library', exact: true }).click();
    await expect.poll(() => tiles(page).count()).toBe(4);
    expect(complaints).toEqual([]);
  });

  it('shows each image in its shape, in rows of the size that the user sets', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await uploadShapes(page);
    const boxes = () =>
      page.evaluate(`[...document.querySelectorAll('.tile')].map((tile) => {
        const { left, right, top, width, height } = tile.getBoundingClientRect();
        return { left, right, top, width, height };
      })`) as Promise<{ left: number; right: number; top: number; width: number; height: number }[]>;
    // The uploads end in any order.
    const ratios = (await boxes()).map(({ width, height }) => width / height);
    const wanted = shapes.map(([width, height]) => Math.max(0.5, width / height));
    for (const [place, ratio] of ratios.toSorted((one, other) => one - other).entries())
      expect(ratio).toBeCloseTo(wanted.toSorted((one, other) => one - other)[place] ?? 0, 1);
    const slider = page.getByRole('slider', { name: 'Size of the images' });
    expect((await boxes())[0]?.height).toBeLessThan(201);
    await slider.fill('2');
    await expect.poll(async () => (await boxes())[0]?.height).toBeGreaterThan(250);
    await judge(page, 'a library of large images');
    for (const width of [390, 430, 820, 1440, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const inside = async () => {
        const right = Number(await page.evaluate('document.querySelector(".timeline").getBoundingClientRect().right'));
        const rows = Map.groupBy(await boxes(), ({ top }) => Math.round(top));
        const ends = [...rows.values()].map((row) => Math.max(...row.map((tile) => tile.right)));
        // Every row but the last ends at the edge.
        return ends.slice(0, -1).every((end) => Math.abs(end - right) < 2) && ends.every((end) => end < right + 2);
      };
      await expect.poll(inside, { message: `at ${width}` }).toBe(true);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.reload();
    await expect.poll(async () => (await boxes())[0]?.height).toBeGreaterThan(250);
    await slider.fill('1');
    await tiles(page).first().locator('.open').focus();
    await page.keyboard.press('ArrowDown');
    const focused = 'document.activeElement.closest(".tile")?.dataset.place';
    await expect.poll(async () => Number(await page.evaluate(focused))).toBeGreaterThan(1);
    await page.keyboard.press('ArrowUp');
    await expect.poll(async () => Number(await page.evaluate(focused))).toBeLessThan(2);
    expect(complaints).toEqual([]);
  });

  it('jumps to a month, and Back leads to where one was', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await uploadShapes(page);
    const months = {
      months: [
        { month: '2026-11', count: 6 },
        { month: '2024-02', count: 3 },
      ],
    };
    const headers = { 'access-control-allow-origin': rig.url, 'access-control-allow-credentials': 'true' };
    await page.route('**/v1/assets/months*', (route) =>
      route.request().method() === 'OPTIONS' ? route.continue() : route.fulfill({ json: months, headers }),
    );
    await page.reload();
    await page.getByRole('button', { name: 'Jump to' }).click();
    await page.getByRole('menuitem', { name: /February 2024/ }).waitFor();
    await judge(page, 'the months of a library');
    // In the narrow window of the judge, the filters are in a dialog, so the menu has closed.
    await page.getByRole('button', { name: 'Jump to' }).click();
    await page.getByRole('menuitem', { name: /February 2024/ }).click();
    await page.getByText('Nothing matches.').waitFor();
    expect(page.url()).toBe(`${rig.url}/library?to=2024-02-29`);
    await page.goBack();
    await expect.poll(() => tiles(page).count()).toBe(shapes.length);
    expect(complaints).toEqual([]);
  });

  it('downloads a selection as one archive, each file under its own name', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await uploadShapes(page);
    await tiles(page).first().locator('.open').focus();
    await page.keyboard.press('Control+a');
    const downloading = page.waitForEvent('download');
    await page.getByRole('toolbar').getByRole('button', { name: 'Download' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^atelier-\d{4}-\d\d-\d\d\.zip$/);
    const bytes = await readFile(await download.path(), 'latin1');
    const names = ['photo.png', ...[2, 3, 4, 5, 6].map((number) => `photo (${number}).png`)];
    // Once before its bytes, and once in the directory.
    expect(names.map((name) => bytes.split(name).length - 1)).toEqual(names.map(() => 2));
    await notices(page)
      .getByText(/^Downloaded 6 files/)
      .waitFor();
    expect(
      await notices(page)
        .getByText(/^Preparing/)
        .count(),
    ).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('makes four images of a message, priced before it is sent, and compares them', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/studio');
    await page.getByRole('button', { name: /^Models and ratio/ }).click();
    await page.getByRole('group', { name: 'Images at a time' }).getByRole('menuitemradio', { name: '4' }).click();
    await page.keyboard.press('Escape');
    await page.getByText('1 credit + 8 for 4 images').first().waitFor();
    await judge(page, 'a composer of four images');
    await page.getByLabel('Message').fill('Make an image of a lighthouse');
    await page.getByRole('button', { name: 'Send' }).click();
    const images = page.locator('.images .media .asset-image.there');
    await images.nth(3).waitFor();
    await page.getByText('991 credits left').waitFor();
    await judge(page, 'four images');
    await shoot(page, 'four-images');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('dialog', { name: 'Compare' }).getByRole('slider').waitFor();
    await page.keyboard.press('Escape');

    // An image in the trash is not shown as if it were in the library.
    await page.locator('.images .media').first().hover();
    await page.locator('.images .media').first().getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByText('This image is in the trash.').waitFor();
    await page.reload();
    await page.getByText('This image is in the trash.').waitFor();
    expect(await images.count()).toBe(3);
    await judge(page, 'an image in the trash');
    await page.getByRole('button', { name: 'Restore' }).click();
    await notices(page).getByText('Restored.', { exact: true }).waitFor();
    await images.nth(3).waitFor();
    await page.reload();
    await images.nth(3).waitFor();
    expect(complaints).toEqual([]);
  });

  it('keeps deleted conversations in the trash', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/studio');
    await page.getByLabel('Message').fill('Tell me about harbors');
    await page.getByRole('button', { name: 'Send' }).click();
    const link = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: /harbors/ });
    await link.waitFor();
    await page.getByRole('button', { name: /^Options of Tell/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await notices(page).getByText('Conversation moved to the trash.', { exact: true }).waitFor();
    await link.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Trash' }).click();
    await page.getByText('30 days left').waitFor();
    await judge(page, 'a trash of conversations');
    await page.getByRole('button', { name: /^Restore “/ }).click();
    await page.getByText('The trash is empty.').waitFor();
    await page.getByRole('link', { name: 'Studio' }).click();
    await link.waitFor();
    expect(complaints).toEqual([]);
  });

  it('can be installed, and shows a page of its own without a connection', { timeout: limitMs }, async () => {
    const { page, context } = await enter();
    const manifest = await (await context.request.get(`${rig.url}/manifest.webmanifest`)).json();
    expect(manifest).toMatchObject({ name: 'Atelier', display: 'standalone', start_url: '/' });
    for (const { src, type } of manifest.icons) {
      const answer = await context.request.get(rig.url + src);
      expect([answer.status(), answer.headers()['content-type']]).toEqual([200, type]);
    }
    const devtools = await context.newCDPSession(page);
    const { errors } = await devtools.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    await page.evaluate('navigator.serviceWorker.ready.then(() => null)');
    await context.setOffline(true);
    await page.goto(`${rig.url}/library`);
    await page.getByRole('heading', { name: 'You are offline' }).waitFor();
    await judge(page, 'the page without a connection');
    await shoot(page, 'offline');
    await context.setOffline(false);
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.getByRole('button', { name: /^Account/ }).waitFor();
  });
});
