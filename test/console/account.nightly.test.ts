/** The page of one's own account: usage, export, and a deletion that is taken back. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors } from './rig.fixture.ts';
import { shoot } from './shooting.fixture.ts';

const limitMs = 120_000;

describe.skipIf(withoutChromium)('the account', () => {
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

  it(
    'shows what was used, and exports everything as an archive',
    async () => {
      const visitor = await visit();
      const { page, complaints } = visitor;
      await enterAsUser(visitor, rig, '/account');
      await page.getByRole('heading', { name: 'Your account' }).waitFor();
      await page.getByText(/^Plan: Pro\. Answers, images and videos count the last 30 days\.$/).waitFor();
      // The credits are the first figure.
      expect(await page.locator('.figures .card').first().innerText()).toMatch(
        /^Credits left\s+[\d,]+\s+0 used in 30 days$/,
      );
      await page.getByText('Storage', { exact: true }).waitFor();
      await page.getByRole('meter', { name: 'Credits left' }).waitFor();
      await page.getByText('No limit').waitFor();
      expect(await page.getByRole('meter').count()).toBe(1);
      // One day has been used: 2 credits for an image.
      expect(await page.getByRole('table').count()).toBe(0);
      await page.goto(`${rig.url}/create`);
      await page.getByLabel('Prompt').fill('a boat');
      await page.getByRole('group', { name: 'Number of images' }).getByText('1', { exact: true }).click();
      await page.getByRole('button', { name: 'Create an image' }).click();
      await page.locator('.result.completed .asset-image.there').waitFor();
      await page.goto(`${rig.url}/account`);
      const days = page.getByRole('region', { name: 'Credits by day' }).getByRole('row');
      await expect.poll(async () => (await days.nth(1).getByRole('cell').allInnerTexts()).join()).toBe('0,1,0,2');
      expect(await days.count()).toBe(2);
      await judge(page, 'the account');
      await page.getByRole('group', { name: 'Theme' }).getByText('Dark').click();
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
      await page.getByLabel('Your name on what you share').fill('Ada L.');
      await page.reload();
      await expect.poll(() => page.getByLabel('Your name on what you share').inputValue()).toBe('Ada L.');
      await page.getByRole('button', { name: 'Request an export' }).click();
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      const path = await (await downloading).path();
      expect((await readFile(path)).subarray(0, 4).toString('latin1')).toBe('PK\x03\x04');
      expect(complaints).toEqual([]);
    },
    limitMs,
  );

  it(
    'lists the sessions of two browsers, and ends one, while the other goes on',
    async () => {
      const email = `${randomUUID()}@example.com`;
      const [visitor, other] = [await visit(), await visit()];
      await enterAsUser(other, rig, '/account', email);
      await enterAsUser(visitor, rig, '/account', email);
      const { page, complaints } = visitor;
      const sessions = page.getByRole('list', { name: 'Sessions' }).locator('> li');
      await expect.poll(() => sessions.count()).toBe(2);
      await sessions.first().getByText('This browser').waitFor();
      expect(await sessions.first().innerText()).toContain('Chrome on Linux');
      await judge(page, 'the account');
      await sessions.nth(1).getByRole('button', { name: 'End' }).click();
      await judge(page, 'the question before a session ends');
      await shoot(page, 'sessions');
      await page.getByRole('button', { name: 'Yes, end' }).click();
      await expect.poll(() => sessions.count()).toBe(1);
      await other.page.reload();
      await other.page
        .getByRole('link', { name: /^Sign in/ })
        .first()
        .waitFor();
      await page.reload();
      await expect.poll(() => sessions.count()).toBe(1);

      await enterAsUser(other, rig, '/account', email);
      await page.reload();
      await expect.poll(() => sessions.count()).toBe(2);
      await page.getByRole('button', { name: 'End all others' }).click();
      await page.getByRole('button', { name: 'Yes, end all others' }).click();
      await expect.poll(() => sessions.count()).toBe(1);
      await other.page.reload();
      await other.page
        .getByRole('link', { name: /^Sign in/ })
        .first()
        .waitFor();
      expect(complaints).toEqual([]);
    },
    limitMs,
  );

  it(
    'is deleted, and kept after the next sign-in',
    async () => {
      const visitor = await visit();
      const { page, complaints } = visitor;
      const email = `${randomUUID()}@example.com`;
      await enterAsUser(visitor, rig, '/account', email);
      await page.getByRole('button', { name: 'Delete account' }).click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByRole('button', { name: 'Delete account' }).isDisabled()).toBe(true);
      await dialog.getByLabel(/Type/).fill('delete');
      await dialog.getByRole('button', { name: 'Delete account' }).click();
      const notice = page.getByText(/Your account will be deleted on .+ To keep it, sign in before/).first();
      await notice.waitFor();
      expect(page.url()).toBe(`${rig.url}/`);
      // Other notices close after five seconds.
      await page.waitForTimeout(6000);
      expect(await notice.isVisible()).toBe(true);

      await enterAsUser(visitor, rig, '/account', email);
      await page.getByText(/will be deleted on/).waitFor();
      await page.getByRole('button', { name: 'Keep my account' }).click();
      await page.getByRole('button', { name: 'Delete account' }).waitFor();
      expect(await page.getByText(/will be deleted on/).count()).toBe(0);
      expect(complaints).toEqual([]);
    },
    limitMs,
  );
});
