/** Images of a conversation in the lightbox, at each size: its facts, its notices, an edit at another ratio, and no motion. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors, type Visitor } from './rig.fixture.ts';

const limitMs = 120_000;
const widths = [390, 820, 1440, 1920];

describe.skipIf(withoutChromium)('the lightbox', () => {
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

  /** Opens the image of a new conversation in the lightbox. Returns the URL of the conversation. */
  async function openImage({ page, context }: Visitor): Promise<string> {
    await enterAsUser({ page, context }, rig, '/studio');
    await page.getByLabel('Message', { exact: true }).fill('an image of a lighthouse');
    await page.keyboard.press('Enter');
    await page.locator('.asset-image.there').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    const conversation = page.url();
    await page.getByRole('link', { name: /^Open the image/ }).click();
    await lightbox(page).locator('.asset-image.there').waitFor();
    return conversation;
  }

  const lightbox = (page: Page) => page.getByRole('dialog');
  const fact = (page: Page, name: string) => lightbox(page).locator(`dt:text-is("${name}") + dd`).innerText();

  it('opens from a conversation, shows prompt and model, and closes to the conversation', async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    // The name of the catalog, as everywhere.
    await page.route('**/models?kind=image', async (route) => {
      const response = await route.fetch();
      const [model] = Object(await response.json()).models;
      await route.fulfill({ response, json: { models: [{ ...model, label: 'Nova' }] } });
    });
    const conversation = await openImage(visitor);
    await expect.poll(() => fact(page, 'Model')).toBe('Nova');
    await lightbox(page).getByRole('heading', { name: 'Prompt' }).waitFor();
    const link = lightbox(page).getByRole('link', { name: 'Open in conversation' });
    expect(await link.getAttribute('href')).toBe(new URL(conversation).pathname);
    expect(await lightbox(page).locator('.mediaactions .primary').allInnerTexts()).toEqual(['Edit']);
    const heart = lightbox(page).getByRole('button', { name: 'Favorite' });
    const fill = () => heart.locator('svg').evaluate((icon) => Reflect.get(globalThis, 'getComputedStyle')(icon).fill);
    expect(await fill()).toBe('none');
    await heart.click();
    await expect.poll(fill).toMatch(/^rgb/);
    const zoom = lightbox(page).getByRole('group', { name: 'Zoom' });
    await zoom.getByRole('button', { name: 'Zoom in' }).click();
    // Of the pixels of the image.
    const zoomed = await lightbox(page).locator('.zoomed img').boundingBox();
    const [across] = /^\d+/.exec((await fact(page, 'Dimensions')) ?? '') ?? [];
    const percent = Math.round((100 * Math.min(zoomed?.width ?? 0, zoomed?.height ?? 0)) / Number(across));
    await zoom.getByRole('button', { name: `${percent}%` }).click();
    await zoom.getByText('Fit', { exact: true }).waitFor();
    const boxes = [lightbox(page).locator('.stage'), lightbox(page).locator('.zoomed img')].map((it) =>
      it.boundingBox(),
    );
    const [stage, image] = (await Promise.all(boxes)).map((box) => (box === null ? 0 : box.x + box.width / 2));
    expect(Math.abs(Number(stage) - Number(image))).toBeLessThan(2);
    await page.keyboard.press('Escape');
    await page.waitForURL(conversation);
    await page.locator('.asset-image.there').waitFor();
    expect(complaints).toEqual([]);
  });

  it('steps through the conversation that it was opened from, also after a deletion', async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    await openImage(visitor);
    await page.keyboard.press('Escape');
    await lightbox(page).waitFor({ state: 'detached' });
    for (const [place, words] of ['an image of a forest', 'an image of a boat'].entries()) {
      await page.getByLabel('Message', { exact: true }).fill(words);
      await page.keyboard.press('Enter');
      await page
        .locator('.media .asset-image.there')
        .nth(place + 1)
        .waitFor();
      await page.getByRole('button', { name: 'Send' }).waitFor();
    }
    // Newer than all of the conversation.
    await page.goto(`${rig.url}/create`);
    await page.getByLabel('Prompt').fill('a bridge');
    await page.getByRole('group', { name: 'Number of images' }).getByText('1', { exact: true }).click();
    await page.getByRole('button', { name: 'Create an image' }).click();
    await page.locator('.result .asset-image.there').waitFor();
    await page.goBack();
    // What is made from an image has the names and the order of the lightbox.
    const card = page.locator('.media').nth(2);
    const namesIn = (place: typeof card) =>
      place
        .locator('.mediaactions > button')
        .evaluateAll((buttons) => buttons.map((button) => Reflect.get(button, 'title')));
    const names = ['Edit', 'Vary', 'Animate', 'Use as reference', 'Download', 'More actions'];
    await expect.poll(() => namesIn(card)).toEqual(names);
    await page
      .getByRole('link', { name: /^Open the image/ })
      .nth(2)
      .click();
    await expect.poll(async () => (await namesIn(lightbox(page))).slice(0, 3)).toEqual(names.slice(0, 3));
    const prompt = lightbox(page).locator('.prompt');
    const step = (name: string) => lightbox(page).getByRole('button', { name, exact: true });
    await prompt.filter({ hasText: 'boat' }).waitFor();
    expect(await step('Next').count()).toBe(0);
    await step('Previous').click();
    await prompt.filter({ hasText: 'forest' }).waitFor();
    await step('Previous').waitFor();
    await lightbox(page).getByRole('button', { name: 'Delete' }).click();
    await prompt.filter({ hasText: 'boat' }).waitFor();
    await step('Previous').click();
    await prompt.filter({ hasText: 'lighthouse' }).waitFor();
    expect(await step('Previous').count()).toBe(0);
    // A new conversation offers what was made last.
    await page.goto(`${rig.url}/studio`);
    const latest = page.getByRole('navigation', { name: 'Your latest creations' }).getByRole('link');
    await expect.poll(() => latest.count()).toBe(3);
    const continued = page.getByRole('navigation', { name: 'Continue a conversation' }).getByRole('link');
    await expect.poll(() => continued.count()).toBe(1);
    await continued.locator('.asset-image.there').waitFor();
    // It begins at its heading, not at its end.
    expect(await page.evaluate('document.querySelector(".messages").scrollTop')).toBe(0);
    await judge(page, 'a new conversation of a returning user');
    await latest.first().click();
    await prompt.filter({ hasText: 'a bridge' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('edits an image at another ratio', async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    await openImage(visitor);
    expect(await fact(page, 'Dimensions')).toBe('1024 × 1024');
    await lightbox(page).getByRole('button', { name: 'Edit', exact: true }).click();
    const form = page.getByRole('form', { name: 'Edit the image' });
    await form.getByLabel('Prompt').fill('a red balloon');
    await form.getByRole('group', { name: 'Ratio' }).getByText('16:9', { exact: true }).click();
    // The frame of the new image is over the old one.
    const frame = await lightbox(page).locator('.painting .shape').boundingBox();
    expect((frame?.width ?? 0) / (frame?.height ?? 1)).toBeCloseTo(16 / 9, 1);
    // On a phone, the picture has its width, the tools are one row, and what is seldom changed is folded.
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(async () => (await lightbox(page).locator('.painting').boundingBox())?.width).toBe(390);
    const tools = await form.locator('.does button').all();
    const tops = await Promise.all(tools.map(async (tool) => (await tool.boundingBox())?.y));
    expect([tops.length, new Set(tops).size]).toEqual([9, 1]);
    expect(await form.getByRole('group', { name: 'Ratio' }).isVisible()).toBe(false);
    await form.getByText('16:9 · 1 image').click();
    await form.getByRole('group', { name: 'Ratio' }).waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.route('**/mcp', async (route) => {
      await lightbox(page).locator('.stage progress').waitFor();
      await route.continue();
    });
    await form.getByLabel('Prompt').press('Control+Enter');
    await form.waitFor({ state: 'detached' });
    await expect.poll(() => fact(page, 'Dimensions')).toBe('1024 × 576');
    await lightbox(page).getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('dialog', { name: 'Compare' }).locator('.asset-image.there').nth(1).waitFor();
    expect(complaints).toEqual([]);
  });

  it('keeps an edit that is closed before it is ordered', async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    await openImage(visitor);
    const edit = lightbox(page).getByRole('button', { name: 'Edit', exact: true });
    const form = page.getByRole('form', { name: 'Edit the image' });
    await edit.click();
    await form.getByRole('button', { name: 'Rectangle' }).waitFor();
    await page.locator('.mask').click({ position: { x: 40, y: 40 } });
    await form.getByText('Only the painted part changes.').waitFor();
    const size = form.getByRole('slider', { name: 'Brush size' });
    expect(await size.inputValue()).toBe('8');
    await page.keyboard.press(']');
    await page.keyboard.press('e');
    expect(await size.inputValue()).toBe('9');
    await form.getByRole('button', { name: 'Erase', pressed: true }).waitFor();
    await form.getByLabel('Prompt').fill('a red balloon');
    // Letters are text there.
    await form.getByLabel('Prompt').press('b');
    await form.getByRole('button', { name: 'Erase', pressed: true }).waitFor();
    await page.keyboard.press('Escape');
    await lightbox(page).locator('.toast').getByText('Your unfinished edit is saved.').waitFor();
    await edit.click();
    await form.getByText('Only the painted part changes.').waitFor();
    expect(await form.getByLabel('Prompt').inputValue()).toBe('a red balloonb');
    await size.press('Control+z');
    await form.getByText('Paint over the part to change').waitFor();
    await form.getByLabel('Prompt').fill('');
    await form.getByRole('button', { name: 'Back to the image' }).click();
    await edit.click();
    expect(await form.getByLabel('Prompt').inputValue()).toBe('');
    expect(complaints).toEqual([]);
  });

  it('shows notices above the image, at each width', async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    await openImage(visitor);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      const more = lightbox(page).getByRole('button', { name: 'More actions' });
      await more.click();
      await page.getByRole('menuitem', { name: 'Download with watermark' }).click();
      const notice = lightbox(page).locator('.toast').last();
      await notice.getByText('Preparing the download').waitFor();
      const isUncovered = await page.evaluate(`(() => {
        const it = [...document.querySelectorAll('.lightbox .toast')].at(-1);
        const { x, y, width, height } = it.getBoundingClientRect();
        return it.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      })()`);
      expect([width, isUncovered]).toEqual([width, true]);
      await notice.getByRole('button', { name: 'Dismiss' }).click();
      await notice.waitFor({ state: 'detached' });
    }
    await lightbox(page).getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('form', { name: 'Edit the image' }).waitFor();
    await judge(page, 'an edit');
    expect(complaints).toEqual([]);
  });

  it('names its actions below the image on a phone', async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    await openImage(visitor);
    await page.setViewportSize({ width: 390, height: 844 });
    const buttons = lightbox(page).locator('.mediaactions > button');
    const names = lightbox(page).locator('.mediaactions .name');
    await expect
      .poll(() => names.allInnerTexts())
      .toEqual(['Edit', 'Vary', 'Animate', 'Favorite', 'Share', 'Download']);
    const [image, ...boxes] = await Promise.all(
      [lightbox(page).locator('.stage'), ...(await buttons.all())].map((one) => one.boundingBox()),
    );
    for (const box of boxes) {
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
      expect(box?.y).toBeGreaterThan((image?.y ?? 0) + (image?.height ?? 0) - 1);
    }
    await judge(page, 'the lightbox');
    expect(complaints).toEqual([]);
  });

  it('finds conversations by the palette, at each width', async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    const conversation = await openImage(visitor);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${rig.url}/studio`);
      await page.getByText('What do you want to create?').waitFor();
      await page.keyboard.press('Control+k');
      const options = lightbox(page).getByRole('option');
      await options.filter({ hasText: 'New conversation' }).waitFor();
      await options.filter({ hasText: 'an image of a lighthouse' }).click();
      await page.waitForURL(conversation);
      await page.locator('.asset-image.there').waitFor();
    }
    expect(complaints).toEqual([]);
  });

  it('does not animate if the user prefers reduced motion', async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const motions: string[] = [];
    await page.exposeFunction('note', (motion: string) => motions.push(motion));
    await page.addInitScript(
      "for (const type of ['animationstart', 'transitionrun']) addEventListener(type, (event) => note(type + ' of ' + event.target.className), true)",
    );
    await openImage(visitor);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search commands').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Library' }).click();
    await page.locator('.tile .asset-image.there').first().hover();
    expect(motions).toEqual([]);
    await page.emulateMedia({ reducedMotion: null });
    expect(complaints).toEqual([]);
  });
});
