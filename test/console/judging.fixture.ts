/** What holds for every page in every state: no violation that axe finds, and nothing wider than the window. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { isNightly } from '../lane.fixture.ts';

const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
/** The quick lane checks only these pages in the dark scheme and at the size of a phone. */
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

const script = readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

type Look = readonly [viewport: { readonly width: number; readonly height: number }, colorScheme: 'light' | 'dark'];

/** Each size and each scheme once. The nightly lane checks both schemes at both sizes. */
function looksOf(isWhole: boolean): readonly Look[] {
  const twice: readonly Look[] = [
    [desktop, 'light'],
    [phone, 'dark'],
  ];
  if (isNightly) return [...twice, [phone, 'light'], [desktop, 'dark']];
  return isWhole ? twice : twice.slice(0, 1);
}

/** Checks the page in its current state, light and dark. */
export async function judge(page: Page, what: string, { hasPhone = false } = {}): Promise<void> {
  const faults: string[] = [];
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(`${await script}; null`);
  for (const [viewport, colorScheme] of looksOf(hasPhone || wholly.has(what))) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as axe.AxeResults;
    const at = `${what}, ${colorScheme}, ${viewport.width}`;
    faults.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${at}: ${id}: ${html}`)));
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (width > viewport.width) faults.push(`${what} is ${width} wide on ${viewport.width}`);
  }
  await page.setViewportSize(desktop);
  await page.emulateMedia({ colorScheme: 'light' });
  expect(faults).toEqual([]);
}
