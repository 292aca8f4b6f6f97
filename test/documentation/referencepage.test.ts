/** The reference page of a service in a browser: it sends requests, passes axe, and fits a phone. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { judge } from '../console/judging.fixture.ts';
import { type ConsoleRig, startConsole } from '../console/rig.fixture.ts';

const upload = { scopeKind: 'thread', scopeId: 'thread-1', kind: 'image', mime: 'image/jpeg' };

describe.skipIf(withoutChromium)('the reference page', () => {
  let rig: ConsoleRig;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    [rig, browser] = await Promise.all([startConsole({}, ['media', 'image', 'edge']), launchChromium()]);
    page = await browser.newPage();
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    page.on('pageerror', (error) => void complaints.push(String(error)));
    await page.goto(`${rig.addresses.media}/docs`);
  });
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });

  it('sends a request with the credential of its form', async () => {
    await page.getByLabel('Internal key').fill(await rig.secret('INTERNAL_KEY'));
    const section = page.locator('#post-v1-uploads');
    await section.getByText('Try it').click();
    await section
      .getByLabel('Body')
      .fill(JSON.stringify({ ...upload, ownerId: '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21' }));
    await section.getByRole('button', { name: 'Send' }).click();
    const output = section.locator('output').filter({ hasText: /^200 OK/ });
    await output.waitFor();
    expect(await output.textContent()).toContain('"uploadUrl"');
    expect(complaints).toEqual([]);
  });

  it('shows the URL of the service in its commands, and the codes of each operation', async () => {
    const section = page.locator('#post-v1-assets');
    expect(await section.locator('pre').first().textContent()).toContain(
      `curl -X POST "${rig.addresses.media}/v1/assets"`,
    );
    await section.getByText(/^Errors/).click();
    expect(await section.getByText('asset_conflict').count()).toBeGreaterThan(0);
  });

  it('passes axe, on a service with few operations', async () => {
    await page.goto(`${rig.addresses.image}/docs`);
    await judge(page, 'the reference page');
  });

  it('fits a phone with all details open', async () => {
    await page.goto(`${rig.addresses.media}/docs`);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate('document.querySelectorAll("details").forEach((details) => { details.open = true; })');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});
