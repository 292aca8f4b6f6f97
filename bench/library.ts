/** The library of the console with 50,000 assets, in Chromium: frames a second while one scrolls through all of them. */
import type { Page } from 'playwright-core';
import { signIn } from '../test/console/rig.fixture.ts';
import { makeImage } from '../test/media/images.fixture.ts';
import { atLeast, atMost, type Bench } from './bench.ts';
import { type ConsolePage, withConsolePage } from './consolepage.ts';

const assets = 50_000;
const images = 20;
const scrollMs = 8000;
/** More than three windows of 900 px a second. */
const pixelsPerSecond = 3000;
/** 50 frames a second. */
const frameMs = 20;

export const library: Bench = {
  run: () =>
    withConsolePage(async (visitor) => {
      const { page, rig } = visitor;
      await signIn(visitor, `${rig.url}/library`);
      await uploadImages(page);
      await plantAssets(visitor);
      await page.reload();
      await page.locator('.tile .asset-image.there').first().waitFor();
      const atTop = await scroll(page, pixelsPerSecond);
      const loadMs = await loadAll(page);
      const inMiddle = await scroll(page, -pixelsPerSecond);
      await page.goto('about:blank');
      await page.setContent('<body><script>document.body.style.height = "10000000px"</script>');
      const empty = await scroll(page, pixelsPerSecond);
      for (const [name, { fps, slowest, processorMs }] of Object.entries({ atTop, inMiddle, empty }))
        console.error(
          `  ${name}: ${fps.toFixed(1)} frames/s, slowest ${slowest} ms, ${processorMs.toFixed(1)} ms of processor`,
        );
      console.error(`  all pages were read in ${Math.round(loadMs / 1000)} s`);
      const against = `50 frames/s; an empty page reaches ${Math.round(empty.fps)}`;
      const processor = 'ms of processor in 20 ms';
      return [
        atLeast(50, { goal: 'frames/s, down, while pages are read', measured: atTop.fps, against }),
        atLeast(50, { goal: `frames/s, up, among ${assets} assets`, measured: inMiddle.fps, against }),
        atMost(frameMs, { goal: `${processor}, down, while pages are read`, measured: atTop.processorMs, against }),
        atMost(frameMs, { goal: `${processor}, up, among ${assets} assets`, measured: inMiddle.processorMs, against }),
        atMost(1000, { goal: 'tiles in the document', measured: inMiddle.tiles, against: 'a limit' }),
      ];
    }),
};

interface Scrolled {
  readonly fps: number;
  /** The longest time between two frames, in ms. */
  readonly slowest: number;
  readonly tiles: number;
  /** Of the page's main thread, for each frame of an ideal display. */
  readonly processorMs: number;
}

async function uploadImages(page: Page): Promise<void> {
  const files = await Promise.all(
    Array.from({ length: images }, async (_, place) => ({
      name: `${place}.jpg`,
      mimeType: 'image/jpeg',
      buffer: await makeImage('jpeg', { width: 600, height: 400, seed: place * 12 }),
    })),
  );
  await page.locator('input[type=file]').setInputFiles(files);
  await page.getByText(`${images} uploaded`).waitFor();
}

/** Rows that show the uploaded images, over the days of two years. */
async function plantAssets({ plant }: ConsolePage): Promise<void> {
  await plant(
    `insert into assets (asset_id, owner_id, scope_kind, scope_id, kind, requested_mime, mime, backend, bucket, storage_key,
       etag, byte_size, sha256, md5, pdq, pdq_quality, width, height, blurhash, prompt, prompt_search, created_at, ready_at)
     select gen_random_uuid(), owner_id, scope_kind, scope_id, kind, requested_mime, mime, backend, bucket, storage_key, etag,
       byte_size, sha256, md5, pdq, pdq_quality, width, height, blurhash, 'image ' || place, 'image ' || place,
       now() - place * interval '20 minutes', now()
     from generate_series(1, $1::integer) as place
     join (select *, row_number() over () as number from assets) as source on source.number = 1 + place % $2::integer`,
    [assets, images],
  );
  await plant('analyze assets');
}

/** Until the timeline has read its last page. Returns the milliseconds. */
async function loadAll(page: Page): Promise<number> {
  const since = performance.now();
  for (let height = -1, still = 0; still < 5; ) {
    const now = Number(
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight), document.documentElement.scrollHeight'),
    );
    await page.waitForTimeout(200);
    const isReading = await page.getByText('Reading more').isVisible();
    still = now === height && !isReading ? still + 1 : 0;
    height = now;
  }
  return performance.now() - since;
}

/** Scrolls at an even pace, and counts the frames of the browser. */
async function scroll(page: Page, speed: number): Promise<Scrolled> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busyMs = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  const before = await busyMs();
  const counted = await countFrames(page, speed);
  const processorMs = (await busyMs()) - before;
  await devtools.detach();
  return { ...counted, processorMs: processorMs / (scrollMs / frameMs) };
}

function countFrames(page: Page, speed: number): Promise<Omit<Scrolled, 'processorMs'>> {
  return page.evaluate(`new Promise((resolve) => {
    const start = performance.now();
    let [last, frames, slowest, tiles] = [start, 0, 0, 0];
    const step = (now) => {
      scrollBy(0, (${speed} * (now - last)) / 1000);
      slowest = Math.max(slowest, Math.round(now - last));
      tiles = Math.max(tiles, document.querySelectorAll('.tile').length);
      last = now;
      frames += 1;
      if (now - start < ${scrollMs}) requestAnimationFrame(step);
      else resolve({ fps: (frames * 1000) / (now - start), slowest, tiles });
    };
    requestAnimationFrame(step);
  })`);
}
