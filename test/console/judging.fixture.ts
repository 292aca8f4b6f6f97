/** What holds for every page in every state: no violation that axe finds, and nothing wider than the window. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { isNightly } from '../lane.fixture.ts';

const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
/** The quick lane checks only some of the pages in the dark scheme and at the size of a phone. */
const wholly = new Set([
  'a new conversation',
  'a failed answer',
  'a refused message',
  'refused files',
  'threads',
  'a conversation',
  'a library',
  'the overview',
  'a mail',
  'the form for the token',
  'the landing page',
  'the menu',
  'the reference page',
]);

const options: axe.RunOptions = {
  // A mail is a stranger's page, and nothing can be run in it.
  iframes: false,
  resultTypes: ['violations'],
  rules: { 'target-size': { enabled: true } },
};

/** Checks the page in its current state, light and dark. */
export async function judge(page: Page, what: string, { hasPhone = false } = {}): Promise<void> {
  const faults: string[] = [];
  const isWhole = isNightly || wholly.has(what);
  const schemes = isWhole ? (['light', 'dark'] as const) : (['light'] as const);
  await page.evaluate(`globalThis.axe ?? ${axe.source}; null`);
  for (const viewport of isWhole || hasPhone ? [desktop, phone] : [desktop]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      // Colours are all that the dark scheme changes.
      const asked = colorScheme === 'light' ? options : { ...options, runOnly: ['color-contrast'] };
      const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(asked)})`)) as axe.AxeResults;
      const at = `${what}, ${colorScheme}, ${viewport.width}`;
      faults.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${at}: ${id}: ${html}`)));
    }
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (width > viewport.width) faults.push(`${what} is ${width} wide on ${viewport.width}`);
  }
  await page.setViewportSize(desktop);
  expect(faults).toEqual([]);
}
