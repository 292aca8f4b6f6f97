/** Pages of shares and the report form: accessible in both color schemes, complete without JavaScript, and read by other parsers. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Asset, UploadReservation } from '#media/api.ts';
import type { Collection } from '#media/collections/api.ts';
import type { Share } from '#media/shares/api.ts';
import type { HttpClient } from '#platform/http/client.ts';
import strengths from '#platform/strengths.json' with { type: 'json' };
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { openDesk, type Person } from '../console/desk.fixture.ts';
import { judge } from '../console/judging.fixture.ts';
import { type ConsoleRig, startConsole } from '../console/rig.fixture.ts';
import { shoot } from '../console/shooting.fixture.ts';
import { startEdge } from '../edge/edge.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';

const limitMs = 120_000;

describe.skipIf(withoutChromium || skipWithout('xmllint'))('the page of a share', () => {
  let rig: ConsoleRig;
  let browser: Browser;
  let ada: Person;
  const shares = new Map<string, Share>();
  beforeAll(async () => {
    [rig, browser] = await Promise.all([startConsole(), launchChromium()]);
    ada = await (await openDesk(rig)).person();
    const what = { scopeKind: 'library', scopeId: 'l', kind: 'image', mime: 'image/png' };
    const { body } = await ada.call<UploadReservation>('media', 'POST', '/v1/uploads', what);
    const bytes = new Uint8Array(await makeImage('png', { width: 600, height: 400 }));
    await fetch(body.uploadUrl, { method: 'PUT', headers: body.headers, body: bytes });
    const prompt = 'a "boat" & a lighthouse';
    const { assetId } = (
      await ada.call<Asset>('media', 'POST', '/v1/assets', {
        ...what,
        assetId: body.assetId,
        prompt: `${prompt}\n${strengths.image.subtle}`,
      })
    ).body;
    const threadId = crypto.randomUUID();
    const text = 'Make an image of a lighthouse';
    const { taskId } = (await ada.call<{ taskId: string }>('agent', 'POST', '/task', { threadId, text })).body;
    const ended = async () => expect((await ada.call('agent', 'GET', `/task/${taskId}`)).body.status).toBe('completed');
    await vi.waitFor(ended, limitMs);
    const copy = { fromAssetId: assetId, toScopeKind: 'feed', toScopeId: 'published' };
    const published = (await ada.call<Asset>('media', 'POST', '/v1/copy', copy)).body;
    const album = (
      await ada.call<Collection>('media', 'POST', '/v1/collections', {
        title: 'Coast',
        assetIds: [published.assetId, assetId],
      })
    ).body;
    for (const [name, target] of Object.entries({
      image: { assetId, showPrompt: true, author: 'Ada L.' },
      published: { assetId: published.assetId, showPrompt: true },
      conversation: { threadId, showPrompt: true },
      album: { collectionId: album.collectionId, showPrompt: true },
    }))
      shares.set(name, (await ada.call<Share>('media', 'POST', '/v1/shares', target)).body);
  }, 2 * limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });

  const shareOf = (name: string): Share => {
    const share = shares.get(name);
    if (share === undefined) throw new Error(name);
    return share;
  };
  async function open<T>(work: (page: Page) => Promise<T>, javaScriptEnabled = true): Promise<T> {
    const context = await browser.newContext({ javaScriptEnabled, locale: 'en-GB' });
    context.setDefaultTimeout(30_000);
    try {
      return await work(await context.newPage());
    } finally {
      await context.close();
    }
  }

  it.each(['image', 'conversation', 'album'])('is accessible: %s', { timeout: limitMs }, (name) =>
    open(async (page) => {
      await page.goto(shareOf(name).url);
      await judge(page, name);
      await shoot(page, `share-${name}`);
      await page.setViewportSize({ width: 1440, height: 900 });
      const view = page.getByRole('dialog');
      const shown = () => view.locator('figure:not([inert]) :is(img, video)').first().getAttribute('src');
      await page.locator('a.tile').first().click();
      await expect.poll(shown).toContain('/0/full.webp');
      await judge(page, `the full view: ${name}`);
      await shoot(page, `share-${name}-view`);
      await page.keyboard.press('Escape');
      await expect.poll(() => view.isVisible()).toBe(false);
      if (name !== 'album') return;
      // The image of 600 × 400 pixels is not cropped.
      const box = await page.locator('.grid img').first().boundingBox();
      expect((box?.width ?? 0) / (box?.height ?? 1)).toBeCloseTo(1.5, 1);
      // Keys, buttons and fingers lead through the images, and the back button of a phone to the page.
      await page.locator('a.tile').first().click();
      await page.keyboard.press('ArrowRight');
      await expect.poll(shown).toContain('/1/full.webp');
      await expect.poll(() => view.getByRole('button').allInnerTexts()).toEqual(['✕', '‹']);
      await view.getByRole('button', { name: 'Previous' }).click();
      await expect.poll(shown).toContain('/0/full.webp');
      await page.evaluate('document.querySelector(".strip").scrollBy({ left: innerWidth })');
      await expect.poll(shown).toContain('/1/full.webp');
      // Each image of several can be remixed. The link names its place.
      const remix = view.locator('figure:not([inert])').getByRole('link', { name: 'Remix this' });
      expect(await remix.getAttribute('href')).toContain(`&share=${shareOf(name).id}%2F1&prompt=a+%22boat%22`);
      const downloading = page.waitForEvent('download');
      await view.locator('figure:not([inert])').getByRole('link', { name: 'Download' }).click();
      expect((await downloading).suggestedFilename()).toBe('Coast 2.png');
      await page.goBack();
      await expect.poll(() => view.isVisible()).toBe(false);
      expect(page.url()).toBe(shareOf(name).url);
    }),
  );

  it('has an accessible form for reports, with its errors and its end', { timeout: limitMs }, () =>
    open(async (page) => {
      await page.goto(shareOf('image').url);
      await page.getByRole('link', { name: 'Report' }).click();
      await page.locator('.subject').getByText('a "boat" & a lighthouse').waitFor();
      await page.locator('.subject img').evaluate((image) => Reflect.get(image, 'decode').call(image));
      await page.setViewportSize({ width: 390, height: 844 });
      const heights = '[...document.querySelectorAll("form label:has([type=radio])")].map((it) => it.offsetHeight)';
      expect(Math.min(...((await page.evaluate(heights)) as readonly number[]))).toBeGreaterThanOrEqual(44);
      await judge(page, 'the form');
      await shoot(page, 'share-report');
      await page.locator('form').evaluate((form) => Reflect.set(form, 'noValidate', true));
      await page.getByRole('button', { name: 'Report' }).click();
      await page.getByText('Choose a reason.').waitFor();
      await judge(page, 'a missing reason');
      await page.getByRole('radio', { name: 'Violence' }).check();
      await page.getByRole('button', { name: 'Report' }).click();
      await page.getByText('Thank you.').waitFor();
      await judge(page, 'a report that was sent');
      await page.goto(`${rig.addresses.edge}/s/${'x'.repeat(22)}`);
      await judge(page, 'a share that has ended');
    }),
  );

  it('is readable, and can be reported, without JavaScript', { timeout: limitMs }, () =>
    open(async (page) => {
      await page.goto(shareOf('conversation').url);
      await page.getByText('Make an image of a lighthouse').first().waitFor();
      expect(await page.getByRole('link', { name: 'Remix this' }).getAttribute('href')).toMatch(
        new RegExp(`/create\\?kind=image&reference=[^&]+&share=${shareOf('conversation').id}&prompt=Make\\+an`),
      );
      await page.goto(shareOf('image').url);
      await page.getByText('a "boat" & a lighthouse').first().waitFor();
      // The strength of a variation is a setting, not a part of the prompt.
      expect(await page.content()).not.toContain('Keep the composition');
      const width = () =>
        page
          .locator('img')
          .first()
          .evaluate((image) => Reflect.get(image, 'naturalWidth'));
      await expect.poll(width).toBeGreaterThan(0);
      await page.getByText('By Ada L.').waitFor();
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download' }).click();
      expect((await downloading).suggestedFilename()).toMatch(/lighthouse\.png$/);
      // The studio keeps the prompt during a sign-in.
      expect(await page.getByRole('link', { name: 'Remix this' }).getAttribute('href')).toContain(
        `/create?kind=image&reference=${shareOf('image').assetId}&share=${shareOf('image').id}&prompt=`,
      );
      await page.getByRole('link', { name: 'Report' }).click();
      await page.getByRole('radio', { name: 'Spam' }).check();
      await page.getByRole('button', { name: 'Report' }).click();
      await page.getByText('Thank you.').waitFor();
      await page.getByRole('link', { name: 'Back to the page' }).click();
      expect(page.url()).toBe(shareOf('image').url);
    }, false),
  );

  it.each([
    // The visitor may not use its asset, so the image of the page is copied.
    ['image', 1],
    ['published', 1],
  ])(
    'leads through a sign-in to the prompt, with an image that the visitor may use: %s',
    {
      timeout: limitMs,
    },
    (name, references) =>
      open(async (page) => {
        await page.goto(shareOf(name).url);
        await page.getByRole('link', { name: 'Remix this' }).click();
        await page.getByRole('heading', { name: 'Sign in to remix this' }).waitFor();
        await page.getByText('a "boat" & a lighthouse').waitFor();
        await page.locator('.wanted img').evaluate((image) => Reflect.get(image, 'decode').call(image));
        await judge(page, 'a remix before the sign-in');
        await shoot(page, 'share-remix');
        await page.getByRole('link', { name: 'Sign in', exact: true }).click();
        await page.getByPlaceholder('you@example.com').fill(`${name}@example.com`);
        await page.keyboard.press('Enter');
        await expect.poll(() => page.getByLabel('Prompt').inputValue()).toBe('a "boat" & a lighthouse');
        const shown = page.getByRole('list', { name: 'References' });
        await expect.poll(() => shown.locator('.reference').count()).toBe(references);
        await expect.poll(() => shown.locator('.asset-image.there').count()).toBe(references);
        // Signed in, the same link leads straight to the prompt.
        await page.goto(shareOf(name).url);
        await page.getByRole('link', { name: 'Remix this' }).click();
        await expect.poll(() => page.getByLabel('Prompt').inputValue()).toBe('a "boat" & a lighthouse');
        expect(await page.getByRole('heading', { name: 'Sign in to remix this' }).count()).toBe(0);
      }),
  );

  it.each([
    ['image', 'website', 'a "boat" & a lighthouse'],
    ['conversation', 'article', 'Make an image of a lighthouse'],
  ])('has a card that libxml2 reads: %s', async (name, type, title) => {
    const { url, id } = shareOf(name);
    const source = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
    const reading = promisify(execFile)('xmllint', ['--html', '--xpath', '//head/meta[@content]', '-']);
    reading.child.stdin?.end(source);
    const { stdout } = await reading;
    const attribute = (tag: string, key: string) =>
      new RegExp(`${key}=(?:"([^"]*)"|'([^']*)')`).exec(tag)?.slice(1).find(Boolean) ?? '';
    const decoded = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
    const meta = new Map(
      (stdout.match(/<meta[^>]*>/g) ?? []).map((tag) => [
        attribute(tag, 'property') || attribute(tag, 'name'),
        decoded(attribute(tag, 'content')),
      ]),
    );
    const card = `${rig.addresses.edge}/s/${id}/0/card.jpg`;
    // The four properties that Open Graph requires, and the card of X.
    expect(Object.fromEntries(meta)).toMatchObject({
      'og:type': type,
      'og:url': url,
      'og:title': expect.stringContaining(title),
      'og:image': card,
      'og:image:type': 'image/jpeg',
      'og:site_name': 'Atelier',
      'twitter:card': 'summary_large_image',
      'twitter:image': card,
    });
    expect((await fetch(card)).headers.get('content-type')).toBe('image/jpeg');
  });
});

describe.skipIf(withoutChromium)('the script of a conversation’s page', () => {
  it('copies each code of a conversation, and is accessible if it cannot be shown now', {
    timeout: limitMs,
  }, async () => {
    let given: { status: number; data: object } = { status: 503, data: {} };
    const media = {
      send: async () => ({
        status: given.status,
        body: Buffer.from(JSON.stringify(given.data)),
        json: () => given.data,
      }),
    } as unknown as HttpClient;
    let nowMs = 0;
    // What was read before is not used again.
    const clock = { now: () => (nowMs += 1000) };
    const edgeUrl = 'https://edge.example';
    const shown = { brand: 'Atelier', edgeUrl, homeUrl: edgeUrl, clock, media, trustedProxies: [] };
    const edge = await startEdge({ shares: shown });
    const id = 'x'.repeat(22);
    const browser = await launchChromium();
    try {
      const page = await browser.newPage({ locale: 'en-GB' });
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.goto(`${edge.url}/s/${id}`);
      await page.getByRole('heading', { name: 'This page cannot be shown right now.' }).waitFor();
      await judge(page, 'a share that cannot be shown now');
      await shoot(page, 'share-busy');
      const formula = `$$\nx = ${Array(20).fill('\\frac{abc}{def}').join(' + ')}\n$$`;
      const texts = ['```ts\nconst one = "1"; // first\n```', '```\nnpm start\n```', formula, '- [x] done\n- [ ] open'];
      const parts = texts.map((text) => ({ type: 'text', text }));
      const facts = {
        id,
        kind: 'thread',
        title: 'Code',
        generated: 'ai',
        index: false,
        createdAt: '2026-01-01T00:00:00Z',
      };
      given = { status: 200, data: { ...facts, media: [], messages: [{ role: 'assistant', parts }] } };
      await page.getByRole('link', { name: 'Try again' }).click();
      const copying = page.getByRole('button', { name: 'Copy' });
      await expect.poll(() => copying.count()).toBe(2);
      await judge(page, 'code');
      await shoot(page, 'share-code');
      await copying.first().click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('const one = "1"; // first\n');
      // On a phone, a wide formula scrolls, and the page does not.
      await page.setViewportSize({ width: 390, height: 844 });
      const widths = '[document.documentElement, document.querySelector(".math-display")].map((it) => it.scrollWidth)';
      const [ofPage, ofFormula] = (await page.evaluate(widths)) as readonly number[];
      expect(ofPage).toBe(390);
      expect(ofFormula).toBeGreaterThan(400);
      const marks = '[...document.querySelectorAll("li")].map((it) => getComputedStyle(it).listStyleType)';
      expect(await page.evaluate(marks)).toEqual(['none', 'none']);
    } finally {
      await browser.close();
      await edge.close();
    }
  });
});
