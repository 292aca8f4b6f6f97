/** What holds for every page in every state: no violation that axe finds, and nothing wider than the window. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { isNightly } from '../lane.fixture.ts';

const desktop = { width: 1440, height: 900 };
const viewports = [
  desktop,
  { width: 390, height: 844 },
  { width: 820, height: 1180 },
  { width: 1920, height: 1080 },
] as const;
const options: axe.RunOptions = {
  // A mail is a stranger's page, and nothing can be run in it.
  iframes: false,
  resultTypes: ['violations'],
  rules: { 'target-size': { enabled: true } },
};

const script = readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** A run of axe takes about a second of processor time, so the quick lane has one for each page. */
const looks = isNightly
  ? viewports.flatMap((viewport) => [
      { viewport, colorScheme: 'light' } as const,
      { viewport, colorScheme: 'dark' } as const,
    ])
  : [{ viewport: desktop, colorScheme: 'light' } as const];

/** Checks the page in its current state. */
export async function judge(page: Page, what: string): Promise<void> {
  const faults: string[] = [];
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(`${await script}; null`);
  for (const { viewport, colorScheme } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as axe.AxeResults;
    const at = `${what}, ${colorScheme}, ${viewport.width}`;
    faults.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${at}: ${id}: ${html}`)));
  }
  for (const viewport of viewports.toReversed()) {
    await page.setViewportSize(viewport);
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (width > viewport.width) faults.push(`${what} is ${width} wide on ${viewport.width}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  expect(faults).toEqual([]);
}
