/** What creators do with their images: make, group, share, publish, remix, on more than one device. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { isNightly } from '../lane.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { judge } from './judging.fixture.ts';
import { enterAsUser } from './rig.fixture.ts';
import type { Given, Scene } from './stage.fixture.ts';

const notices = (page: Page) => page.locator('.toasts');
const tiles = (page: Page) => page.locator('.tile');
const made = (page: Page) => page.locator('.result.completed .asset-image.there');

async function uploadTo(page: Page, ...names: readonly string[]): Promise<void> {
  const files = names.map(async (name, seed) => ({
    name,
    mimeType: 'image/png',
    buffer: await makeImage('png', { width: 300, height: 200, seed }),
  }));
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles(await Promise.all(files));
  await page
    .locator('.tile .asset-image.there')
    .nth(names.length - 1)
    .waitFor();
}

/** Another device of the same user. */
async function secondDevice({ browser, rig }: Given, path: string, email: string): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB' });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  await enterAsUser({ page, context }, rig, path, email);
  return page;
}

export function playCreating(scene: Scene): void {
  scene('files keep their names, and favorites and albums show on a second device at once', async (given) => {
    const { page, rig, expect } = given;
    const email = `${randomUUID()}@example.com`;
    await enterAsUser(given, rig, '/library', email);
    await uploadTo(page, 'IMG_4001.png', 'IMG_4002.png', 'IMG_4003.png');
    // The panel of uploads stays on every page.
    await page.getByRole('link', { name: 'Albums' }).click();
    await page.getByRole('region', { name: 'Uploads' }).getByText('3 uploaded').waitFor();
    await page.getByRole('link', { name: 'Library' }).click();
    await page.getByLabel('Search names and prompts').fill('4002');
    await expect.poll(() => tiles(page).count()).toBe(1);
    await expect.poll(() => page.url()).toContain('q=4002');
    await page.reload();
    await page.getByRole('button', { name: 'Image: IMG_4002.png', exact: true }).waitFor();
    expect(await tiles(page).count()).toBe(1);
    await page.getByLabel('Search names and prompts').fill('');
    await expect.poll(() => tiles(page).count()).toBe(3);

    const other = await secondDevice(given, '/library?favorites=1', email);
    await other.getByText('No favorites yet.').waitFor();
    await tiles(page).first().hover();
    await tiles(page).first().getByRole('button', { name: 'Favorite' }).click();
    await expect.poll(() => tiles(other).count()).toBe(1);

    await other.getByRole('link', { name: 'Albums' }).click();
    await other.getByText('No albums yet.').waitFor();
    await tiles(page).first().getByRole('checkbox').click();
    await tiles(page).nth(1).getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Add to album' }).last().click();
    await page.getByRole('button', { name: 'Create a new album' }).waitFor();
    await page.getByRole('dialog').getByRole('textbox').fill('Lighthouses');
    await judge(page, 'the choice of an album');
    await page.getByRole('button', { name: 'Create “Lighthouses”' }).click();
    await notices(page).getByText('Added 2 items to “Lighthouses”.').waitFor();
    await other.getByRole('link', { name: /Lighthouses/ }).waitFor();
    await judge(other, 'the albums');
    await other.getByRole('link', { name: /Lighthouses/ }).click();
    await expect.poll(() => tiles(other).count()).toBe(2);
    const chosen = other.getByRole('navigation', { name: 'Pages' }).locator('[aria-current=page]');
    expect(await chosen.allInnerTexts()).toEqual(['Albums']);
    await other.getByRole('button', { name: 'Edit', exact: true }).filter({ hasText: 'Edit' }).click();
    await other.getByLabel('Name', { exact: true }).fill('Towers');
    await other.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Albums' }).click();
    await page.getByRole('link', { name: /Towers.*2 items/ }).waitFor();
    await page.getByRole('link', { name: /Favorites.*1 item$/ }).waitFor();
    await expect.poll(() => page.locator('.albums .cover .there').count()).toBe(2);
    await judge(other, 'an album');
    await other.context().close();
  });

  scene('a link is made, read without JavaScript, and ended', async (given) => {
    const { page, browser, rig, complaints, expect } = given;
    await enterAsUser(given, rig, '/library');
    await uploadTo(page, 'boat.png');
    await tiles(page).first().locator('.open').click();
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Share the image' });
    await dialog.getByRole('button', { name: 'Create a public link' }).waitFor();
    await judge(page, 'a share before it is public');
    const author = dialog.getByLabel('Your name (optional)');
    // A name that nothing was shared with is forgotten.
    await author.fill('Nobody');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    expect(await author.inputValue()).toBe('');
    await author.fill('Ada');
    await dialog.getByRole('button', { name: 'Create a public link' }).click();
    const url = await dialog.getByLabel('Public link').inputValue();
    await page.locator('.toasts').getByText('The link is created').waitFor();
    await judge(page, 'a share');
    // Each change is saved at once, the name when the dialog closes, and the URL stays.
    await dialog.getByLabel('Let search engines find it').check();
    await dialog.getByLabel('The link works').selectOption('For a week');
    await dialog.getByText('Saved.').waitFor();
    await judge(page, 'a changed share');
    await author.fill('Ada L.');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await expect.poll(() => author.inputValue()).toBe('Ada L.');
    expect(await dialog.getByLabel('Public link').inputValue()).toBe(url);
    // Where the account page reads it.
    expect(await page.evaluate("localStorage.getItem('atelier.author')")).toBe('Ada L.');
    const until = dialog.getByLabel('The link works').locator('option:checked');
    expect(await until.innerText()).toMatch(/^Until \d/);
    const readShare = async () => (await fetch(url, { headers: { accept: 'application/json' } })).json();
    await expect.poll(readShare, { timeout: 10_000 }).toMatchObject({ author: 'Ada L.', index: true });
    // Another change keeps the time.
    const time = await until.innerText();
    await dialog.getByLabel('Let search engines find it').uncheck();
    await dialog.getByText('Saved.').waitFor();
    expect(await until.innerText()).toBe(time);

    const reader = await browser.newContext({ javaScriptEnabled: false, locale: 'en-GB' });
    const shared = await reader.newPage();
    await shared.goto(url);
    const isShown = '(it => it.complete && it.naturalWidth > 0)(document.querySelector("main img"))';
    await expect.poll(() => shared.evaluate(isShown)).toBe(true);
    // Chromium's parser reads what other sites read.
    const card = await shared.evaluate(
      `Object.fromEntries([...document.querySelectorAll('meta[property^="og:"], meta[name^="twitter:"]')]
        .map((meta) => [meta.getAttribute('property') ?? meta.name, meta.content]))`,
    );
    expect(card).toMatchObject({
      'og:title': expect.stringMatching(/\S/),
      'og:type': expect.stringMatching(/^(website|article|video\.other)$/),
      'og:url': url,
      'og:image': `${url}/0/card.jpg`,
      'og:image:width': '1200',
      'og:image:height': '630',
      'twitter:card': 'summary_large_image',
    });
    await judgeStatic(given, url, 'a shared page');

    await dialog.getByRole('button', { name: 'End sharing' }).click();
    await dialog.getByRole('button', { name: 'Yes, end sharing' }).click();
    await dialog.getByRole('button', { name: 'Create a public link' }).waitFor();
    await expect.poll(async () => (await fetch(url)).status, { timeout: 10_000 }).toBe(404);
    await dialog.getByRole('button', { name: 'Create a public link' }).click();
    await dialog.getByRole('link', { name: 'All links' }).click();
    const links = page.getByRole('list', { name: 'Shared links' });
    await links.getByText(/^Image\s*shared (just now|\d+ minutes? ago)$/).waitFor();
    // On a phone, it covers parts of the page.
    await page.getByRole('button', { name: 'Close the list of uploads' }).click();
    await judge(page, 'the shared links');
    await links.getByRole('button', { name: /^More for/ }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog.getByLabel('Let search engines find it').check();
    await dialog.getByText('Saved.').waitFor();
    await page.keyboard.press('Escape');
    await links.getByText('search engines allowed').waitFor();
    await links.getByRole('button', { name: /^More for/ }).click();
    await page.getByRole('menuitem', { name: 'Open' }).waitFor();
    await page.getByRole('menuitem', { name: 'End sharing' }).click();
    await page.setViewportSize({ width: 390, height: 844 });
    const answers = ['Yes, end sharing', 'No'].map((name) => links.getByRole('button', { name, exact: true }));
    const tops = await Promise.all(answers.map(async (button) => (await button.boundingBox())?.y));
    expect(tops[0]).toBe(tops[1]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await links.getByRole('button', { name: 'Yes, end sharing' }).click();
    await page.getByText('You share nothing by a link.').waitFor();
    await reader.close();
    expect(complaints).toEqual([]);
  });

  scene('four images are created, compared, varied and animated, and an order is canceled', async (given) => {
    const { page, rig, expect } = given;
    await enterAsUser(given, rig, '/create');
    await page.getByText('Nothing created here yet').waitFor();
    const created = page.getByRole('region', { name: 'Created' });
    const lines =
      '(it => it.clientHeight / parseFloat(getComputedStyle(it).lineHeight))(document.querySelector("textarea"))';
    expect(await page.evaluate(lines)).toBeGreaterThanOrEqual(3);
    await page.getByLabel('Prompt').fill('a red lighthouse');
    await page.getByRole('group', { name: 'Ratio' }).getByText('16:9').click();
    await page.getByText(/8 credits\. You have [\d,]+\./).waitFor();
    const prompt = page.getByLabel('Prompt');
    const isWide = () => page.getByRole('radio', { name: '16:9' }).isChecked();
    // An order that is not sent survives a reload.
    await page.reload();
    await expect.poll(() => prompt.inputValue()).toBe('a red lighthouse');
    expect(await isWide()).toBe(true);
    await judge(page, 'an order');
    await page.getByRole('button', { name: 'Create 4 images' }).click();
    await made(page).nth(3).waitFor();
    await created.getByText(/Offline renderer.*8 credits/).waitFor();
    await judge(page, 'four images');
    // The next order begins with the same words.
    expect(await prompt.inputValue()).toBe('a red lighthouse');
    // The next visit begins without words, and with the same ratio.
    await page.reload();
    await made(page).nth(3).waitFor();
    expect(await prompt.inputValue()).toBe('');
    expect(await isWide()).toBe(true);
    // In one row, and in the ratio of the order.
    const none = { x: 0, y: 0, width: 0, height: 1 };
    const boxes = await Promise.all((await page.locator('.result').all()).map((it) => it.boundingBox()));
    const box = boxes[0] ?? none;
    expect(new Set(boxes.map((it) => it?.y))).toEqual(new Set([box.y]));
    expect(box.width).toBeGreaterThan(250);
    expect(box.width / box.height).toBeCloseTo(16 / 9, 1);
    // The lightbox steps through the order, and not through the library.
    await page.locator('.result a').nth(2).click();
    const step = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });
    await step('Previous').waitFor();
    await step('Next').click();
    await step('Next').waitFor({ state: 'detached' });
    for (let place = 3; place > 0; place -= 1) await step('Previous').click();
    await step('Previous').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Compare' }).click();
    const comparison = page.getByRole('dialog', { name: 'Compare' });
    await judge(page, 'a comparison');
    // The line on the picture is where the slider is.
    await comparison.getByLabel('Line between the images').fill('25');
    const picture = (await comparison.locator('.compare').boundingBox()) ?? none;
    const parting = (await comparison.locator('.parting').boundingBox()) ?? none;
    expect((parting.x + 1 - picture.x) / picture.width).toBeCloseTo(0.25, 2);
    expect(parting.height).toBeCloseTo(picture.height, 0);
    await comparison
      .getByRole('group', { name: 'Right' })
      .getByRole('radio', { name: 'Image 4' })
      .check({ force: true });
    await comparison.locator('.compare').getByRole('img', { name: 'Image 4' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.result').first().hover();
    await page.locator('.result').first().getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('form', { name: 'Edit the image' }).waitFor();
    await page.goBack();
    await page.locator('.result').first().hover();
    await page.locator('.result').first().getByRole('button', { name: 'Vary' }).click();
    const vary = page.getByRole('dialog', { name: 'Vary the image' });
    // The whole source is seen, and one begins with what to change.
    await vary.locator('.reference .asset-image.whole.there').waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Prompt');
    expect(await vary.getByLabel('Prompt').inputValue()).toBe('a red lighthouse');
    expect(await vary.getByRole('radio', { name: 'Same as source' }).isChecked()).toBe(true);
    await vary.getByLabel('Model').getByText('Offline renderer (2 credits each)').waitFor({ state: 'attached' });
    await vary.getByText(/^8 credits\. You have [\d,]+\.$/).waitFor();
    await judge(page, 'a variation');
    // Another image of the library is a reference too, until it is removed.
    await vary.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('menuitem', { name: 'From the library' }).click();
    const picker = page.getByRole('dialog', { name: 'From your library' });
    await picker.getByRole('img').nth(3).waitFor();
    const source = await vary.locator('.reference img').first().getAttribute('src');
    await picker.locator(`button:has(img:not([src="${source}"]))`).first().click();
    await picker.waitFor({ state: 'detached' });
    await vary.locator('.reference .asset-image.there').nth(1).waitFor();
    await vary.getByRole('button', { name: 'Remove the reference' }).click();
    await vary.getByRole('group', { name: 'Strength' }).getByText('Strong').click();
    await vary.getByRole('group', { name: 'Number of images' }).getByText('1', { exact: true }).click();
    const orderOfVariation = page.waitForRequest((request) => request.url().endsWith('/images'));
    await vary.getByRole('button', { name: 'Create an image' }).click();
    const sent = (await orderOfVariation).postDataJSON();
    expect(sent).toMatchObject({ n: 1, references: [expect.stringMatching(/^asset:/)] });
    expect(sent).not.toHaveProperty('ratio');
    expect(sent.prompt).toMatch(/^a red lighthouse\n.*Change the composition/);
    await expect.poll(() => made(page).count()).toBe(5);
    // The words that express the strength are a setting, not a part of the prompt.
    await created.getByRole('button', { name: 'Use again' }).first().click();
    await page.locator('.createform .reference .asset-image.there').waitFor();
    expect(await page.getByLabel('Prompt').inputValue()).toBe('a red lighthouse');
    expect(await page.getByRole('radio', { name: 'Strong' }).isChecked()).toBe(true);
    expect(await page.getByRole('radio', { name: 'Same as source' }).isChecked()).toBe(true);
    await created.getByRole('button', { name: 'Use again' }).nth(1).click();
    await expect.poll(() => page.getByRole('radio', { name: '16:9' }).isChecked()).toBe(true);
    expect(await page.locator('.createform .reference').count()).toBe(0);

    await page.locator('.result').first().hover();
    await page.locator('.result').first().getByRole('button', { name: 'Animate' }).click();
    const animate = page.getByRole('dialog', { name: 'Animate the image' });
    await animate.locator('.reference .asset-image.there').waitFor();
    expect(await animate.getByRole('radio', { name: 'Gentle' }).isChecked()).toBe(true);
    await animate.getByText('Set by the model').waitFor();
    await judge(page, 'an animation');
    const orderOfVideo = page.waitForRequest((request) => request.url().endsWith('/videos'));
    await animate.getByRole('button', { name: 'Create a video' }).click();
    expect((await orderOfVideo).postDataJSON()).toMatchObject({ prompt: 'Gentle camera motion.', ratio: '16:9' });
    await page.locator('.result video').waitFor();
    expect(((await page.locator('.result video').boundingBox()) ?? none).height).toBeLessThanOrEqual(320);
    // A video has a mark, and the next visit begins with the models of the last orders.
    const mark = "getComputedStyle(document.querySelector('.results.video a'), '::after').content";
    expect(await page.evaluate(mark)).toContain('▶');
    const models = "['image', 'video'].map((kind) => localStorage.getItem('atelier.model.' + kind))";
    await expect.poll(() => page.evaluate(models)).toEqual(['offline', 'offline-video']);
    await page.locator('.result').nth(1).hover();
    await page.locator('.result').nth(1).getByRole('button', { name: 'Continue in conversation' }).click();
    await page.waitForURL(/\/studio\//);
    await page.getByRole('list', { name: 'Attachments' }).getByRole('listitem').waitFor();
    await page.goBack();

    await page.getByText('Video', { exact: true }).click();
    await page.getByLabel('Prompt').fill('/slow waves');
    const isSeen = Promise.withResolvers<void>();
    await page.route('**/videos', async (route) => {
      await isSeen.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Create a video' }).click();
    const queue = page.getByRole('region', { name: 'Queue' });
    // Before the service has it.
    await queue.getByRole('article', { name: '/slow waves' }).getByText('Sending …').waitFor();
    expect(await page.getByLabel('Prompt').inputValue()).toBe('/slow waves');
    isSeen.resolve();
    await queue.getByText('Sending …').waitFor({ state: 'detached' });
    await queue.getByRole('button', { name: 'Cancel' }).or(page.locator('.result video').nth(1)).first().waitFor();

    // Each order in progress has a place for each of its results.
    const failedId = randomUUID();
    await page.route('**/generations?*', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const [first] = body.generations;
      const items = [0, 1].map((index) => ({ ...first.items[0], index, status: 'running', assetId: null }));
      for (const prompt of ['one order', 'other order'])
        body.generations.unshift({ ...first, id: randomUUID(), prompt, items, status: 'running' });
      const failure = { code: 'provider_failed', message: 'The image provider returned 503.', retryable: true };
      const failed = [{ ...items[0], status: 'failed', failure }];
      const ofFormer = { ...first, model: 'former-model_2', credits: 0 };
      const isRefused = { ...failed[0], failure: { ...failure, code: 'rejected' } };
      const made = body.generations.flatMap(({ items }: typeof first) => items.map((one: typeof first) => one.assetId));
      const references = [made.find(Boolean)];
      const refused = { ...ofFormer, prompt: 'a refused order', items: [isRefused], status: 'failed', references };
      body.generations.push({ ...refused, id: randomUUID() });
      body.generations.push({ ...ofFormer, id: failedId, prompt: 'a failed order', items: failed, status: 'failed' });
      await route.fulfill({ response, json: body });
    });
    await page.reload();
    for (const name of ['one order', 'other order'])
      await expect.poll(() => queue.getByRole('article', { name }).locator('.result.running').count()).toBe(2);
    // The status of a provider is for operators.
    await created.getByText('Not made: The image service reported an error.').last().waitFor();
    const refusal = created.getByRole('article', { name: 'a refused order' });
    await refusal.getByText('Edit the prompt').waitFor();
    // On a phone, the image that the order began with does not take the room of its prompt.
    await refusal.getByRole('button', { name: 'Made from this' }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const widths = [refusal.locator('.prompt'), refusal].map(async (one) => (await one.boundingBox())?.width);
    const [ofPrompt, ofOrder] = await Promise.all(widths);
    expect(ofPrompt).toBe(ofOrder);
    await created
      .getByText(/^Former model 2 \(no longer offered\).*No credits were taken$/)
      .last()
      .waitFor();
    await judge(page, 'a failed order');
    const failedOrder = created.getByRole('article', { name: 'a failed order' });
    await failedOrder.getByRole('button', { name: 'Remove' }).click();
    await failedOrder.waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });

    // The lightbox steps through all orders, as the page shows them, and an order leads to the image that it began with.
    await page.reload();
    const results = page.locator('.result.completed > a');
    await made(page).nth(2).waitFor();
    const next = String(await results.nth(1).getAttribute('href'));
    await results.first().click();
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    await page.waitForURL((url) => url.pathname === next);
    await page.keyboard.press('Escape');
    await created.getByRole('button', { name: 'Made from this' }).first().click();
    await page.waitForURL(/\/library\//);

    // The words that express the strength are nowhere a part of the prompt, and another variation does not repeat them.
    await page.goto(`${rig.url}/create`);
    const ofVariation = page.getByRole('link', { name: 'Open image 1: a red lighthouse' }).first();
    await ofVariation.click();
    const shown = page.locator('dialog.lightbox');
    await shown.getByRole('heading', { name: 'Prompt' }).waitFor();
    expect(await shown.locator('.prompt').innerText()).toBe('a red lighthouse');
    await page.getByRole('dialog', { name: 'Image: a red lighthouse', exact: true }).waitFor();
    await shown.getByRole('button', { name: 'Vary' }).click();
    await page.getByRole('dialog', { name: 'Vary the image' }).waitFor();
    expect(await vary.getByLabel('Prompt').inputValue()).toBe('a red lighthouse');

    await page.goto(`${rig.url}/create?share=!`);
    await page.getByText('This link does not work. Add another image, or describe one.').waitFor();
    await page.goto(`${rig.url}/create`);

    // A canceled order is a line, until one removes it. What a conversation has ordered is not here.
    await page.route('**/generations?*', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const [first] = body.generations;
      for (const item of first.items) Object.assign(item, { status: 'canceled', assetId: null });
      first.status = 'canceled';
      body.generations.push({ ...first, id: randomUUID(), prompt: 'of a conversation', origin: 'run' });
      await route.fulfill({ response, json: body });
    });
    await page.reload();
    const canceled = created.getByRole('article', { name: '/slow waves' });
    await canceled.getByText('Canceled', { exact: true }).waitFor();
    expect(await page.getByText('of a conversation').count()).toBe(0);
    expect(await canceled.locator('.result').count()).toBe(0);
    await judge(page, 'a canceled order');
    await canceled.getByRole('button', { name: 'Remove' }).click();
    await canceled.waitFor({ state: 'detached' });
    await page.reload();
    await made(page).first().waitFor();
    expect(await canceled.count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('link', { name: 'Library' }).click();
    await expect.poll(() => tiles(page).count()).toBeGreaterThanOrEqual(5);
  });

  scene('a published image is remixed in three clicks', async (given) => {
    const { page, rig, expect } = given;
    await enterAsUser(given, rig, '/library');
    await uploadTo(page, `published ${randomUUID()}.png`);
    await tiles(page).first().locator('.open').click();
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Share the image' });
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByRole('button', { name: 'Yes, publish' }).click();
    await dialog.getByRole('button', { name: 'Unpublish' }).waitFor();

    const other = await secondDevice(given, '/memory', `${randomUUID()}@example.com`);
    await other.getByRole('link', { name: 'Explore' }).click();
    await other.locator('.gallery .asset-image.there').first().waitFor();
    await judge(other, 'the gallery');
    await other.getByRole('button', { name: 'Remix' }).first().click();
    const remix = other.getByRole('dialog', { name: 'Remix the image' });
    await remix.getByLabel('Prompt').fill('as a watercolor');
    await remix.locator('.reference .asset-image.there').waitFor();
    expect(await remix.getByRole('radio', { name: 'Same as source' }).isChecked()).toBe(true);
    // As many as of a variation.
    await remix.getByRole('button', { name: 'Create 4 images' }).click();
    await made(other).nth(3).waitFor();
    await other.getByRole('button', { name: 'Made from this' }).click();
    await other.waitForURL(/\/explore\//);
    await other.locator('dialog.lightbox').waitFor();
    await other.context().close();

    await dialog.getByRole('button', { name: 'Unpublish' }).click();
    await dialog.getByRole('button', { name: 'Yes, unpublish' }).click();
    await dialog.getByRole('button', { name: 'Publish' }).waitFor();
    const gallery = async () => (await fetch(`${rig.addresses.content}/op/gallery`)).json();
    await expect.poll(async () => ((await gallery()) as { items: object[] }).items.length, { timeout: 10_000 }).toBe(0);
  });
}

/** Plays on phones, with touch. */
export function playPhone(scene: Scene): void {
  for (const width of isNightly ? [390, 430] : [390]) playPhoneOf(scene, width);
}

function playPhoneOf(scene: Scene, width: number): void {
  const name = `at ${width} pixels, a suggestion runs with one tap, fields do not zoom, and the drawer closes with a choice`;
  scene(name, async (given) => {
    const { browser, rig, expect } = given;
    const context = await browser.newContext({
      locale: 'en-GB',
      // Where the sign-in is seen; then that of a phone.
      viewport: { width: 1000, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    // The connection for events opens after the first conversation has begun.
    const hasBegun = Promise.withResolvers<void>();
    await page.route('**/events', async (route) => {
      await hasBegun.promise;
      await route.continue();
    });
    await enterAsUser({ page, context }, rig, '/studio');
    await page.setViewportSize({ width, height: 844 });
    await page.getByRole('button', { name: 'An image of a lighthouse at dusk 1 credit + 2 to make it' }).tap();
    await page.getByRole('region', { name: 'Generated an image' }).locator('.asset-image.there').waitFor();
    hasBegun.resolve();
    const first = page.url();
    const sizes = await page.evaluate(`(() => {
      const field = document.querySelector('.composer textarea');
      const sides = [...document.querySelectorAll('.composer button, .bar button, .messagetools button, .outcome button')].map((it) => {
        const { width, height } = it.getBoundingClientRect();
        return Math.min(width, height);
      });
      return { font: parseFloat(getComputedStyle(field).fontSize), smallest: Math.min(...sides) };
    })()`);
    expect(sizes).toMatchObject({ font: 16 });
    expect((sizes as { smallest: number }).smallest).toBeGreaterThanOrEqual(44);
    const drawer = page.getByRole('dialog', { name: 'Menu' });
    await page.getByRole('button', { name: 'Menu' }).tap();
    await drawer.getByRole('button', { name: 'New conversation' }).tap();
    await drawer.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Menu' }).tap();
    await drawer.getByRole('navigation', { name: 'Conversations' }).getByRole('link').first().tap();
    await drawer.waitFor({ state: 'detached' });
    await expect.poll(() => page.url()).toBe(first);
    // The form leaves room for the orders, and opens no keyboard.
    await page.goto(`${rig.url}/create`);
    const example = page.getByRole('button', { name: /^Use “A lighthouse/ });
    expect(((await example.boundingBox()) ?? { y: Number.NaN }).y).toBeLessThan(600);
    expect(await page.evaluate('document.activeElement.tagName')).not.toBe('TEXTAREA');
    await page.getByRole('button', { name: '1:1 · 4 images · Offline renderer' }).tap();
    await page.getByRole('group', { name: 'Number of images' }).getByText('2', { exact: true }).tap();
    // It orders nothing: its price is shown first.
    await example.tap();
    expect(await page.getByLabel('Prompt').inputValue()).toMatch(/^A lighthouse/);
    await page.getByText(/^4 credits\. You have [\d,]+\.$/).waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
    await page.getByRole('button', { name: 'Create 2 images' }).tap();
    await expect.poll(() => made(page).count()).toBe(2);
    await context.close();
  });
}

/** Without the policy of the page, which would block axe. */
async function judgeStatic({ browser }: Given, url: string, what: string): Promise<void> {
  const context = await browser.newContext({ bypassCSP: true, locale: 'en-GB' });
  const page = await context.newPage();
  await page.goto(url);
  await judge(page, what);
  await context.close();
}
