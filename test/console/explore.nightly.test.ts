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
      content.replace('https://example.com/pictures/sample-lighthouse.png', `http://${host}/a.png`),
    );
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/explore');
    const { page, complaints } = visitor;
    const shown = page.getByRole('region', { name: 'Ideas' }).locator('img');
    const width = () => shown.first().evaluate((image) => Reflect.get(image, 'naturalWidth'));
    await expect.poll(width, { timeout: 10_000 }).toBe(300);
    expect(await shown.count()).toBe(1);
    expect(complaints).toEqual([]);
    await judge(page, 'home cards');
    await shoot(page, 'explore');
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

  it('leads from a remix to its source and back', { timeout: limitMs }, async () => {
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/library');
    const { page, complaints } = visitor;
    const buffer = await makeImage('png', { width: 300, height: 200 });
    await page.locator('input[type=file]').setInputFiles({ name: 'boat.png', mimeType: 'image/png', buffer });
    const box = page.locator('dialog.lightbox');
    await page.locator('.tile .open').click();
    await box.getByRole('button', { name: 'Vary' }).click();
    await page.getByLabel('Prompt').fill('as a watercolor');
    await page.getByRole('button', { name: /^Create \d images/ }).click();
    await expect.poll(() => page.locator('.generation .asset-image.there').count()).toBeGreaterThan(1);
    await page.getByRole('link', { name: 'Library' }).click();
    await page.locator('.tile .open').first().click();
    await box.getByText('as a watercolor').first().waitFor();
    await box.getByRole('list', { name: 'Made from' }).locator('.asset-image.there').waitFor();
    await judge(page, 'a remix');
    await shoot(page, 'lineage');
    const remix = page.url();
    await box.getByRole('list', { name: 'Made from' }).getByRole('link', { name: 'Image: boat.png' }).click();
    await box.getByRole('list', { name: 'Used for' }).getByRole('link').first().click();
    await expect.poll(() => page.url()).toBe(remix);
    expect(complaints).toEqual([]);
  });
});
