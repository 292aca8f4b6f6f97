/** The page "Explore" in a real browser: pictures of home cards, and the lineage of what is made from a published image. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GalleryPage } from '#media/shares/api.ts';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors } from './rig.fixture.ts';
import { shoot } from './shooting.fixture.ts';

const limitMs = 120_000;

describe.skipIf(withoutChromium)('Explore', () => {
  let rig: ConsoleRig;
  let browser: Browser;
  let pictures: Server;
  let host: string;
  beforeAll(async () => {
    const png = await makeImage('png', { width: 300, height: 200 });
    pictures = createServer((_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(png));
    await new Promise<void>((listening) => pictures.listen(0, 'localhost', listening));
    host = `localhost:${(pictures.address() as AddressInfo).port}`;
    [rig, browser] = await Promise.all([startConsole({ CMS_MEDIA_HOSTS: host }), launchChromium()]);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
    pictures.close();
  });
  const visit = useVisitors(() => browser);

  it('shows pictures of home cards from the hosts of the CMS, and no others', { timeout: limitMs }, async () => {
    const file = join(rig.dataDir, 'cms/home-cards-v2.json');
    const content = await readFile(file, 'utf8');
    await writeFile(
      file,
      content
        .replace('/sample-lighthouse.webp', `http://${host}/a.png`)
        .replace('/sample-falling-leaves.webp', 'https://example.com/leaves.png'),
    );
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/explore');
    const { page, complaints } = visitor;
    const ideas = page.getByRole('region', { name: 'Ideas to start from' });
    const shown = ideas.locator('img');
    const width = () => shown.first().evaluate((image) => Reflect.get(image, 'naturalWidth'));
    await expect.poll(width, { timeout: 10_000 }).toBe(300);
    const sources = () => shown.evaluateAll((all) => all.map((image) => String(Reflect.get(image, 'src'))));
    const named = await sources();
    expect(named.slice(0, 2)).toEqual([`http://${host}/a.png`, `${rig.url}/sample-paper-city.webp`]);
    // A card without a picture that may be shown is left out.
    expect(named).toHaveLength(11);
    // The picture of a sample is one of the console.
    await expect.poll(() => shown.nth(1).evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBe(480);
    // Each trending sample leads to its prompt.
    const trending = page.getByRole('list', { name: 'Trending' }).getByRole('link');
    expect(await trending.allInnerTexts()).toEqual(['Ink landscapes', 'Tiny worlds']);
    expect(await trending.first().getAttribute('href')).toBe(
      '/create?prompt=An%20ink%20landscape%20with%20mountains%20in%20mist',
    );
    // The samples hold nothing for operators.
    expect(await page.getByRole('main').innerText()).not.toMatch(/cms\/|example\.com|Trending/);
    expect(await page.getByRole('region', { name: 'News' }).count()).toBe(0);
    await page.getByText('Be the first on this wall.').waitFor();
    await page.getByRole('link', { name: 'Choose from your library' }).waitFor();
    expect(complaints).toEqual([]);
    await judge(page, 'home cards');
    await shoot(page, 'explore');
    await page.getByLabel('Shape').selectOption('Wide');
    await expect.poll(() => ideas.getByRole('listitem').count()).toBe(4);
    await page.getByLabel('Search prompts and authors').fill('aurora');
    await expect.poll(() => ideas.getByRole('listitem').count()).toBe(1);
    expect(page.url()).toBe(`${rig.url}/explore?q=aurora&shape=wide`);
    await ideas.getByRole('link').click();
    const box = page.locator('dialog.lightbox');
    await box.getByText('Cabin under the aurora').waitFor();
    expect(await box.getByRole('button', { name: /Report|Copy link|Use as reference/ }).count()).toBe(0);
    await judge(page, 'an idea');
    await box.getByRole('button', { name: 'Use the prompt' }).click();
    const prompt = page.getByRole('textbox', { name: 'Prompt', exact: true });
    await expect.poll(() => prompt.inputValue()).toMatch(/^A cabin with lit windows/);
    expect(complaints).toEqual([]);
  });

  it('shows an announcement until the user has read it', { timeout: limitMs }, async () => {
    const file = join(rig.dataDir, 'cms/announcements.json');
    const content = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...content, visible: true, url: '/create', title_en: 'Video is here' }));
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/explore');
    const { page } = visitor;
    const news = page.getByRole('region', { name: 'News' });
    await expect
      .poll(
        async () => {
          await page.reload();
          await page.getByRole('region', { name: 'Ideas to start from' }).waitFor();
          return news.count();
        },
        { timeout: 90_000 },
      )
      .toBe(1);
    expect(await news.innerText()).not.toMatch(/cms\/|json/);
    expect(await news.getByRole('link', { name: 'Read more' }).getAttribute('href')).toBe('/create');
    await judge(page, 'an announcement');
    await news.getByRole('button', { name: 'Dismiss' }).click();
    await page.reload();
    await page.getByRole('region', { name: 'Ideas to start from' }).waitFor();
    expect(await news.count()).toBe(0);
  });

  it('publishes a photo with metadata once, and unpublishes all of its copies', { timeout: limitMs }, async () => {
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/library');
    const { page, complaints } = visitor;
    const image = await makeImage('jpeg', { width: 300, height: 200 });
    const buffer = await sharp(image)
      .withExif({ IFD0: { Artist: 'Ada' } })
      .toBuffer();
    await page.locator('input[type=file]').setInputFiles({ name: 'boat.jpg', mimeType: 'image/jpeg', buffer });
    const gallery = async () => {
      const answer = await fetch(`${rig.addresses.content}/op/gallery`);
      return ((await answer.json()) as GalleryPage).items.map(({ assetId }) => assetId);
    };
    const sharing = page.getByRole('dialog', { name: 'Share the image' });
    const share = page.locator('dialog.lightbox').getByRole('button', { name: 'Share', exact: true });
    await page.locator('.tile .open').click();
    await share.click();
    await sharing.getByRole('button', { name: 'Publish' }).click();
    await sharing.getByRole('button', { name: 'Yes, publish' }).click();
    await sharing.getByRole('button', { name: 'Unpublish' }).waitFor();
    await expect.poll(gallery, { timeout: 10_000 }).toHaveLength(1);
    await page.reload();
    await share.click();
    await sharing.getByRole('button', { name: 'Unpublish' }).click();
    await sharing.getByRole('button', { name: 'Yes, unpublish' }).click();
    await sharing.getByRole('button', { name: 'Publish' }).waitFor();
    await expect.poll(gallery, { timeout: 10_000 }).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('opens each picture with its prompt and author, to remix, use and step through', {
    timeout: limitMs,
  }, async () => {
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/library');
    const { page, complaints } = visitor;
    const sharing = page.getByRole('dialog', { name: /^Share the/ });
    const box = page.locator('dialog.lightbox');
    for (const [prompt, author] of [
      ['A tall paper tower', 'Ada L.'],
      ['A tram in the snow', ''],
    ] as const) {
      await page.goto(`${rig.url}/create`);
      await page.getByLabel('Prompt').fill(prompt);
      await page.getByRole('group', { name: 'Number of images' }).getByText('1', { exact: true }).click();
      // The kind, the ratio and the number that are chosen have one look.
      const chosen = "[...document.querySelectorAll('.createform label:has(input:checked)')]";
      const colors = await page.evaluate(`${chosen}.map((one) => getComputedStyle(one).color)`);
      expect(colors).toEqual(Array(3).fill(Object(colors)[0]));
      await page.getByRole('button', { name: 'Create an image' }).click();
      await page
        .getByRole('link', { name: `Open image 1: ${prompt}` })
        .locator('.there')
        .waitFor();
      await page.getByRole('link', { name: `Open image 1: ${prompt}` }).click();
      await box.getByRole('button', { name: 'Share', exact: true }).click();
      await sharing.getByLabel('Show the prompt').check();
      await sharing.getByLabel('Your name (optional)').fill(author);
      await sharing.getByRole('button', { name: 'Publish' }).click();
      // Escape answers “No”, and leaves the dialog open.
      await sharing.getByRole('button', { name: 'Yes, publish' }).waitFor();
      await page.keyboard.press('Escape');
      await sharing.getByRole('button', { name: 'Publish', exact: true }).click();
      await sharing.getByRole('button', { name: 'Yes, publish' }).click();
      await sharing.getByRole('button', { name: 'Unpublish' }).waitFor();
      if (author === '') await sharing.getByRole('button', { name: 'Create a public link' }).click();
    }
    await sharing.getByLabel('Public link').waitFor();
    await page.goto(`${rig.url}/shared`);
    const links = page.getByRole('list', { name: 'Shared links' });
    await links.getByText('published in Explore').waitFor();
    // One row for the link. The copies in Explore have none.
    expect(await links.getByRole('listitem').count()).toBe(1);
    await judge(page, 'shared links');

    await page.goto(`${rig.url}/explore`);
    const gallery = page.getByRole('region', { name: 'Published by users' });
    await gallery.getByText('Ada L.').waitFor();
    await gallery.getByRole('heading', { name: 'Published by users' }).waitFor();
    expect(await gallery.getByText('example.com').count()).toBe(0);
    await judge(page, 'the gallery');
    const search = page.getByLabel('Search prompts and authors');
    await search.fill('ADA tower');
    await expect.poll(() => gallery.getByRole('listitem').count()).toBe(1);
    expect(page.url()).toBe(`${rig.url}/explore?q=ADA+tower`);
    await gallery.getByRole('listitem').hover();
    await gallery.getByRole('button', { name: 'Remix: A tall paper tower' }).click();
    const prompt = page.getByRole('textbox', { name: 'Prompt', exact: true });
    await expect.poll(() => prompt.inputValue()).toBe('A tall paper tower');
    await page.keyboard.press('Escape');
    await search.fill('zebra');
    await gallery.getByText('Nothing matches “zebra”.').waitFor();
    await judge(page, 'a search that finds nothing');
    await gallery.getByRole('button', { name: 'Show everything' }).click();
    await expect.poll(() => gallery.getByRole('listitem').count()).toBe(2);
    expect(await search.inputValue()).toBe('');
    await gallery.locator('img').last().click();
    await box.getByText('Ada L.').waitFor();
    await box.locator('.asset-image.there').waitFor();
    expect(page.url()).toMatch(/\/explore\/[0-9a-f-]{36}$/);
    await box.getByRole('button', { name: 'Report' }).getByText('Report').waitFor();
    await judge(page, 'a published image');
    await shoot(page, 'published');
    // The link shows the image to everyone, also without an account.
    const stranger = await (await browser.newContext()).newPage();
    await stranger.goto(page.url());
    await stranger.getByRole('heading', { name: 'Sign in to remix this' }).waitFor();
    await stranger.getByText('By Ada L.').waitFor();
    await stranger
      .getByRole('img', { name: 'A tall paper tower' })
      .evaluate((it) => Reflect.get(it, 'decode').call(it));
    await judge(stranger, 'a published image without an account');
    await shoot(stranger, 'published-stranger');
    await stranger.goto(`${rig.url}/explore/${crypto.randomUUID()}`);
    await stranger.getByText('This is not published any longer.').waitFor();
    await stranger.context().close();
    await page.keyboard.press('ArrowLeft');
    await box.getByText('A tram in the snow').waitFor();
    await box.getByRole('button', { name: 'Next' }).click();
    await box.getByText('Ada L.').waitFor();
    await page.keyboard.press('Escape');
    await box.waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/explore');
    await gallery.getByRole('link', { name: 'Open: A tall paper tower' }).click();
    await box.getByRole('button', { name: 'Use as reference' }).click();
    await page.getByRole('list', { name: 'References' }).locator('.asset-image.there').waitFor();
    expect(await prompt.inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await box.getByRole('button', { name: 'Remix' }).click();
    await expect.poll(() => prompt.inputValue()).toBe('A tall paper tower');
    await page.getByRole('list', { name: 'References' }).locator('.asset-image.there').waitFor();
    expect(complaints).toEqual([]);
  });

  it('leads from a remix to its source and back', { timeout: limitMs }, async () => {
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/library');
    const { page, complaints } = visitor;
    const buffer = await makeImage('png', { width: 300, height: 200 });
    await page.locator('input[type=file]').setInputFiles({ name: 'boat.png', mimeType: 'image/png', buffer });
    const box = page.locator('dialog.lightbox');
    await page.locator('.tile .open').click();
    await box.getByRole('button', { name: 'Vary' }).click();
    const vary = page.getByRole('dialog', { name: 'Vary the image' });
    await vary.getByLabel('Prompt').fill('as a watercolor');
    await vary.getByRole('button', { name: 'Create 4 images' }).click();
    await expect.poll(() => page.locator('.generation .asset-image.there').count()).toBeGreaterThan(1);
    await page.getByRole('link', { name: 'Library' }).click();
    // The library reads its list again when the generation ends.
    const newest = page.locator('.tile .open').first();
    await expect.poll(() => newest.getAttribute('aria-label')).toContain('as a watercolor');
    await newest.click();
    await box.getByText('as a watercolor').first().waitFor();
    await box.getByRole('list', { name: 'Made from' }).locator('.asset-image.there').waitFor();
    await judge(page, 'a remix');
    await shoot(page, 'lineage');
    const remix = page.url();
    await box.getByRole('list', { name: 'Made from' }).getByRole('link', { name: 'Image: boat.png' }).click();
    await box.getByRole('list', { name: 'Used for' }).getByRole('link').first().click();
    await expect.poll(() => page.url()).toBe(remix);
    await box.getByRole('button', { name: 'Share', exact: true }).click();
    const sharing = page.getByRole('dialog', { name: 'Share the image' });
    await sharing.getByLabel('Show the prompt').check();
    await sharing.getByRole('button', { name: 'Create a public link' }).click();
    const link = await sharing.getByLabel('Public link').inputValue();
    await sharing.getByRole('button', { name: 'Publish' }).click();
    await sharing.getByRole('button', { name: 'Yes, publish' }).click();
    await sharing.getByRole('button', { name: 'Unpublish' }).waitFor();
    expect(complaints).toEqual([]);
    await copiesWhenOrdered(link);
  });

  /** Another user remixes the image of a public page. */
  async function copiesWhenOrdered(link: string): Promise<void> {
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/library');
    const { page, complaints } = visitor;
    const uploads: string[] = [];
    page.on('request', (request) => {
      const { pathname, origin } = new URL(request.url());
      // The page signs the image, to learn whether the user may use it.
      const isUpload = request.method() !== 'GET' && !pathname.startsWith('/v1/sign/');
      if (isUpload && origin === rig.addresses.media) uploads.push(request.url());
    });
    await page.goto(link);
    await page.getByRole('link', { name: 'Remix' }).click();
    const references = page.getByRole('list', { name: 'References' });
    await references.getByRole('img', { name: 'Shared image' }).waitFor();
    await references.locator('.asset-image.there').waitFor();
    await judge(page, 'a shared image to remix');
    expect(await page.getByLabel('Prompt').inputValue()).toBe('as a watercolor');
    // Until the order, nothing is copied.
    await page.reload();
    await references.locator('.asset-image.there').waitFor();
    expect(uploads).toEqual([]);
    await page.getByRole('button', { name: 'Create 4 images' }).click();
    await references.getByRole('img', { name: 'Reference' }).waitFor();
    await expect.poll(() => page.locator('.generation .result .asset-image.there').count()).toBe(4);
    expect(uploads.length).toBeGreaterThan(0);
    await page.goto(`${rig.url}/library`);
    await expect.poll(() => page.locator('.tile').count()).toBe(5);
    // The prompt is in the words of its author, without the strength of the variation.
    await page.goto(`${rig.url}/explore?q=watercolor`);
    await page.getByRole('link', { name: 'Open: as a watercolor', exact: true }).waitFor();
    // A link that has ended, or was never there.
    await page.goto(`${rig.url}/create?share=${'x'.repeat(22)}`);
    await page.getByText('This link has ended. Add another image, or describe one.').waitFor();
    // A browser reports the asset of the other user, which it may not read.
    expect(complaints.filter((line) => !/status of 404/.test(line))).toEqual([]);
  }
});
