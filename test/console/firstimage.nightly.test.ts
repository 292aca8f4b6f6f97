/** From the landing page to the first image, and the choice of models and ratio, in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors } from './rig.fixture.ts';
import { shoot } from './shooting.fixture.ts';

const limitMs = 120_000;

describe.skipIf(withoutChromium)('the first image', () => {
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

  it('sends the chosen ratio, also after a reload', { timeout: limitMs }, async () => {
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/studio');
    const { page, complaints } = visitor;
    const menu = page.getByRole('button', { name: 'Models and ratio' });
    await menu.click();
    await shoot(page, 'mediachoice');
    await judge(page, 'the menu of models and ratios');
    // A group for each kind, and a price beside each name.
    for (const [kind, name, price] of [
      ['Chat', 'Offline model', '1 credit / answer'],
      ['Images', 'Offline renderer', '2 credits / image'],
      ['Videos', 'Offline renderer', '40 credits / video'],
    ] as const) {
      const model = page.getByRole('group', { name: kind, exact: true }).getByRole('menuitemradio', { checked: true });
      expect(await model.innerText()).toContain(name);
      expect(await model.innerText()).toContain(price);
    }
    // A choice of a model closes the menu. It stays open for ratio and number, which belong together.
    await page.getByRole('group', { name: 'Images', exact: true }).getByRole('menuitemradio').click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await menu.click();
    await page.getByRole('menuitemradio', { name: '16:9' }).click();
    await page.getByRole('group', { name: 'Images at a time' }).getByRole('menuitemradio', { name: '2' }).click();
    await page.getByRole('group', { name: 'Images at a time' }).getByRole('menuitemradio', { name: '1' }).click();
    await page.keyboard.press('Escape');
    await page.reload();
    expect(await menu.textContent()).toContain('16:9');
    await page.getByRole('textbox', { name: 'Message' }).fill('An image of a lighthouse');
    await page.getByRole('button', { name: 'Send' }).click();
    const picture = page.getByRole('region', { name: 'Conversation' }).locator('img').first();
    const ratio = () =>
      picture.evaluate((image) => Reflect.get(image, 'naturalWidth') / Reflect.get(image, 'naturalHeight'));
    await expect.poll(ratio, { timeout: 30_000 }).toBeCloseTo(16 / 9, 1);
    expect(complaints).toEqual([]);
  });

  it('creates what a visitor chose at the price that the landing page names: two clicks to the first image', {
    timeout: limitMs,
  }, async () => {
    const { page, complaints } = await visit();
    await page.goto(rig.url);
    // The home of the studio names the same prices, and that of a message.
    await page.getByRole('button', { name: 'An image of a lighthouse at dusk 2 credits' }).waitFor();
    await page.getByRole('button', { name: 'A video of waves 40 credits' }).waitFor();
    await shoot(page, 'landing');
    await judge(page, 'the landing page');
    await page.getByRole('button', { name: 'An image of a lighthouse at dusk' }).click();
    const ada = page.getByRole('button', { name: 'Continue as Ada ada@example.com' });
    await ada.waitFor();
    await shoot(page, 'consent');
    await judge(page, 'the sign-in page');
    await ada.click();
    const orders = page.getByRole('article', { name: 'An image of a lighthouse at dusk' });
    await orders.locator('.asset-image.there').waitFor();
    expect(await orders.count()).toBe(1);
    // A reload does not order again.
    await page.reload();
    await page.getByText('2 credits. You have 998.').waitFor();
    await orders.locator('.asset-image.there').waitFor();
    expect(await orders.count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('orders nothing that costs more than the landing page named', { timeout: limitMs }, async () => {
    const { page, complaints } = await visit();
    await page.route('**/api/price', (route) => route.fulfill({ json: { image: 1, video: null } }));
    await page.goto(rig.url);
    await page.getByRole('button', { name: 'An image of a forest in fog 1 credit' }).click();
    await page.getByLabel('Use another account').fill('forests@example.com');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByText(/^2 credits\. You have [\d,]+\.$/).waitFor();
    await page.getByRole('button', { name: 'Create an image' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Prompt' }).inputValue()).toBe('An image of a forest in fog');
    expect(await page.getByRole('article', { name: 'An image of a forest in fog' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('makes a picture of any prompt on the landing page, and returns from a canceled sign-in', {
    timeout: limitMs,
  }, async () => {
    const { page, complaints } = await visit();
    await page.goto(rig.url);
    await page.getByRole('heading', { name: 'Images and videos from your words' }).waitFor();
    await page.getByText('You then choose ratio and model, and see the price before you create anything.').waitFor();
    const create = page.getByRole('button', { name: 'Continue', exact: true });
    await create.waitFor();
    expect(await create.isDisabled()).toBe(true);
    // The words name no image, so that a conversation would only answer them.
    await page.getByRole('textbox', { name: 'Prompt' }).fill('a bridge in snow');
    await create.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The sign-in failed. Try again.').waitFor();
    expect(complaints.splice(0).filter((line) => !line.includes('401'))).toEqual([]);
    // The words are still there.
    expect(await page.getByRole('textbox', { name: 'Prompt' }).inputValue()).toBe('a bridge in snow');
    await create.click();
    await page.getByLabel('Use another account').fill('bridges@example.com');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByRole('button', { name: 'Create 4 images' }).click();
    await page.getByRole('article', { name: 'a bridge in snow' }).locator('.asset-image.there').first().waitFor();
    expect(complaints).toEqual([]);
  });
});
