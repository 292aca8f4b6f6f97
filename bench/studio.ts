/** The studio on a processor that is four times slower: the first paints of its pages, and how soon they respond to a user. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchChromium } from '../test/chromium.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, type Visitor, visit } from '../test/console/rig.fixture.ts';
import { createPostgresDatabase } from '../test/database.fixture.ts';
import { makeImage } from '../test/media/images.fixture.ts';
import { atMost, type Bench, median, type Row } from './bench.ts';

const slowdown = 4;
const rounds = 3;
const images = 20;
/** The limits of “good” for users: https://web.dev/articles/fcp, /lcp. For the blocking time, Lighthouse's limit of “poor”. */
const firstPaintMs = 1800;
const largestPaintMs = 2500;
const blockingMs = 600;
/**
 * 200 ms (https://web.dev/articles/inp) as a ratio to the 16 ms of an empty page on a quiet machine. Other work on the
 * machine slows both down.
 */
const interactionRatio = 200 / 16;
/** A page is loaded when nothing has been painted and no task has been long for this time. */
const quietMs = 1000;
/** On a machine that does other work as well, 20 uploads take long. */
const busyMs = 120_000;
/** Longer than the time until the browser reports an interaction. */
const reportMs = 500;

export const studio: Bench = {
  async *run() {
    const database = await createPostgresDatabase();
    const rig = await startConsole({ DATABASE_URL: database.url });
    const browser = await launchChromium();
    try {
      yield* rowsOfLoads(await measureLoads(browser, rig));
      yield* rowsOfInteractions(await measureInteractions(browser, rig));
    } finally {
      await browser.close();
      await rig.close();
      await database.drop();
    }
  },
};

interface Load {
  readonly first: number;
  readonly largest: number;
  readonly blocking: number;
}
type PageName = 'empty page' | 'landing page' | 'studio' | 'library';

const medianOf = (loads: readonly Load[], name: keyof Load): number => median(loads.map((load) => load[name]));

function rowsOfLoads(loads: Readonly<Record<PageName, readonly Load[]>>): Row[] {
  const { 'empty page': empty, ...pages } = loads;
  const against = (name: keyof Load) => `an empty page takes ${Math.round(medianOf(empty, name))} ms`;
  return Object.entries(pages).flatMap(([page, all]) => [
    atMost(firstPaintMs, {
      goal: `${page}, first contentful paint, ms`,
      measured: medianOf(all, 'first'),
      against: against('first'),
    }),
    atMost(largestPaintMs, {
      goal: `${page}, largest contentful paint, ms`,
      measured: medianOf(all, 'largest'),
      against: against('largest'),
    }),
    atMost(blockingMs, {
      goal: `${page}, total blocking time, ms`,
      measured: medianOf(all, 'blocking'),
      against: against('blocking'),
    }),
  ]);
}

function rowsOfInteractions({
  'a key on an empty page': empty = [],
  ...times
}: Readonly<Record<string, number[]>>): Row[] {
  const against = `a key on an empty page, ${median(empty)} ms`;
  return Object.entries(times).map(([name, all]) => {
    console.error(`  ${name}: ${all.join(', ')} ms`);
    const measured = median(all) / median(empty);
    return atMost(interactionRatio, { goal: `${name}, until the next paint`, measured, against });
  });
}

async function slowDown({ page, context }: Visitor): Promise<CDPSession> {
  const devtools = await context.newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  return devtools;
}

/** Each page with an empty cache. */
async function measureLoads(browser: Browser, rig: ConsoleRig): Promise<Readonly<Record<PageName, readonly Load[]>>> {
  const loads: Record<PageName, Load[]> = { 'empty page': [], 'landing page': [], studio: [], library: [] };
  const [stranger, user] = [await visit(browser), await visit(browser)];
  await enterAsUser(user, rig, '/studio');
  const slow = { stranger: await slowDown(stranger), user: await slowDown(user) };
  const load = async (name: PageName, { page }: Visitor, devtools: CDPSession, url: string) => {
    await devtools.send('Network.clearBrowserCache');
    await page.goto(url);
    loads[name].push(await readLoad(page));
  };
  for (let round = 0; round < rounds; round++) {
    await load('empty page', stranger, slow.stranger, 'data:text/html,<p>Empty');
    await load('landing page', stranger, slow.stranger, rig.url);
    await load('studio', user, slow.user, `${rig.url}/studio`);
    await load('library', user, slow.user, `${rig.url}/library`);
  }
  await Promise.all([stranger, user].map(({ context }) => context.close()));
  return loads;
}

const readLoad = (page: Page): Promise<Load> =>
  page.evaluate(`new Promise((resolve) => {
    const load = { first: 0, largest: 0, blocking: 0 };
    const tasks = [];
    let timer;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        for (const { startTime, duration } of tasks) if (startTime + duration > load.first) load.blocking += duration - 50;
        resolve(load);
      }, ${quietMs});
    };
    const observe = (type, note) =>
      new PerformanceObserver((list) => (list.getEntries().forEach(note), wait())).observe({ type, buffered: true });
    observe('paint', ({ name, startTime }) => name === 'first-contentful-paint' && (load.first = startTime));
    observe('largest-contentful-paint', ({ startTime }) => (load.largest = startTime));
    observe('longtask', (task) => tasks.push(task));
    wait();
  })`);

/** Milliseconds from an input to the next paint, of the slowest event of each interaction. */
async function measureInteractions(browser: Browser, rig: ConsoleRig): Promise<Readonly<Record<string, number[]>>> {
  const visitor = await visit(browser);
  const { page } = visitor;
  visitor.context.setDefaultTimeout(busyMs);
  await prepare(visitor, rig);
  await slowDown(visitor);
  const times: Record<string, number[]> = {};
  const measure = async (name: string, act: () => Promise<unknown>) => {
    await page.evaluate('slowest = 0');
    await act();
    await page.waitForTimeout(reportMs);
    times[name] = [...(times[name] ?? []), Number(await page.evaluate('slowest'))];
  };
  await observeEvents(page);
  for (let round = 0; round < rounds; round++) {
    await measureStudio(page, measure, round);
    await measureLibrary(page, measure, round);
    await page.getByRole('link', { name: 'Studio', exact: true }).click();
  }
  await page.goto('about:blank');
  await page.setContent('<input>');
  await observeEvents(page);
  for (let round = 0; round < rounds; round++)
    await measure('a key on an empty page', () => page.locator('input').press('a'));
  return times;
}

type Measure = (name: string, act: () => Promise<unknown>) => Promise<void>;

/** Shorter events than 16 ms are not reported. */
const observeEvents = (page: Page) =>
  page.evaluate(`globalThis.slowest = 0, new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId > 0) slowest = Math.max(slowest, duration);
  }).observe({ type: 'event', durationThreshold: 16 })`);

async function measureStudio(page: Page, measure: Measure, round: number): Promise<void> {
  const field = page.getByLabel('Message', { exact: true });
  const send = page.getByRole('button', { name: 'Send' });
  await measure('open a long conversation', () => page.getByRole('link', { name: '/long 900' }).click());
  await measure('type a message', () => field.pressSequentially('a few words', { delay: 60 }));
  await measure('send a message', () => field.press('Enter'));
  await send.waitFor();
  await measure('open the palette', () => page.keyboard.press('Control+k'));
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^Account/ }).click();
  const theme = page.getByRole('menuitemradio', { name: round % 2 === 0 ? 'Dark' : 'Light' });
  await measure('switch the theme', () => theme.click());
}

async function measureLibrary(page: Page, measure: Measure, round: number): Promise<void> {
  const open = page.locator('.tile .open');
  await measure('open the library', () => page.getByRole('link', { name: 'Library', exact: true }).click());
  await page.locator('.tile .asset-image.there').nth(4).waitFor();
  await measure('open the lightbox', () => open.nth(round).click());
  await measure('step in the lightbox', () => page.keyboard.press('ArrowRight'));
  await measure('close the lightbox', () => page.keyboard.press('Escape'));
  await measure('filter the library', () => page.getByText('Videos', { exact: true }).click());
  await page.getByText('Nothing matches.').waitFor();
  await measure('clear the filter', () => page.getByRole('button', { name: 'Show everything' }).click());
  await open.first().waitFor();
  const search = page.getByLabel('Search names and prompts');
  await measure('search the library', () => search.pressSequentially('dusk', { delay: 60 }));
}

/** A long conversation, and a library of images. */
async function prepare(visitor: Visitor, rig: ConsoleRig): Promise<void> {
  const { page } = visitor;
  await enterAsUser(visitor, rig, '/studio');
  await page.getByLabel('Message', { exact: true }).fill('/long 900');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  await page.getByRole('link', { name: 'Library', exact: true }).click();
  await page.getByText('Nothing here yet.').waitFor();
  const files = await Promise.all(
    Array.from({ length: images }, async (_, place) => ({
      name: `${place}.jpg`,
      mimeType: 'image/jpeg',
      buffer: await makeImage('jpeg', { width: 600, height: 400, seed: place * 12 }),
    })),
  );
  await page.locator('input[type=file]').setInputFiles(files);
  await page.getByText(`${images} uploaded`).waitFor();
  await page.getByRole('button', { name: 'Clear finished' }).click();
  await page.getByRole('link', { name: 'Studio', exact: true }).click();
  await page.getByText('What do you want to create?').waitFor();
}
