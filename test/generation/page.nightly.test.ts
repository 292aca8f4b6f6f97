/** The catalogue of docs/generation.md, and the page of examples/generate in Chromium, against providers' wires. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newLanePlace, root } from '../acceptance/running.fixture.ts';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { blocksOf, installClient, type Project } from '../client/project.ts';
import { type Site, startSite } from '../client/site.ts';
import { visit } from '../console/rig.fixture.ts';
import { type Makers, makersKey, startMakers } from './makers.fixture.ts';
import { type Running, start } from './program.fixture.ts';

interface Entry {
  readonly id: string;
  readonly provider?: 'google' | 'fal' | 'replicate';
  readonly apiKeyEnv?: string;
}

describe.skipIf(withoutChromium)('a catalogue of six models', { timeout: 300_000 }, () => {
  let makers: Makers;
  let running: Running;
  let project: Project;
  let site: Site;
  beforeAll(async () => {
    makers = await startMakers();
    [project, site] = [await installClient(), await startSite()];
    const place = await newLanePlace();
    const [block = ''] = blocksOf('json', await readFile(join(root, 'docs/generation.md'), 'utf8'));
    const entries: readonly Entry[] = JSON.parse(block);
    expect(entries).toHaveLength(6);
    const atMakers = entries.map((entry) => ({ ...entry, baseUrl: makers.baseUrls[entry.provider ?? 'openai'] }));
    const keys = entries.flatMap(({ apiKeyEnv }) => (apiKeyEnv === undefined ? [] : [[apiKeyEnv, makersKey]]));
    const file = join(place.dataDir, 'models.json');
    await writeFile(file, JSON.stringify(atMakers));
    running = await start(place, { MODELS_FILE: file, ...Object.fromEntries(keys) });

    const folder = join(project.folder, 'generate');
    await cp(join(root, 'examples/generate'), folder, { recursive: true });
    const page = join(folder, 'page.ts');
    const text = await readFile(page, 'utf8');
    const here = (_match: string, offset: string) => `localhost:${place.portBase + Number(offset)}`;
    await writeFile(page, text.replaceAll(/localhost:40(\d\d)/g, here));
    const sample = blocksOf('tsx', await readFile(join(root, 'docs/generation.md'), 'utf8'));
    await project.write('generate/sample.ts', sample.join('\n'));
    await project.link('vite');
    await project.run([join(root, 'node_modules/vite/bin/vite.js'), 'build', folder]);
    site.show(join(folder, 'dist'));
  }, 300_000);
  afterAll(async () => {
    site.close();
    makers.close();
    await running.stop();
    await Promise.all([running.place.remove(), project.remove()]);
  });

  it('type-checks the page, and its sample in the docs', async () => {
    const options = {
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2022', 'dom', 'dom.iterable'],
      target: 'es2022',
    };
    expect(await project.check(['generate/page.ts', 'generate/sample.ts'], { ...options, skipLibCheck: true })).toBe(
      '',
    );
  });

  it('makes the chosen number of images on the page, refines one and films it', async () => {
    const browser = await launchChromium();
    try {
      const { page, complaints } = await visit(browser);
      await page.goto(site.url);
      await page.getByRole('button', { name: 'Continue' }).first().click();
      complaints.length = 0;
      const models = page.getByLabel('Model');
      await expect.poll(() => models.locator('option').allInnerTexts()).toHaveLength(4);
      await page.getByLabel('Describe an image').fill('A boat in the harbor');
      const counts = () => page.getByLabel('Number').locator('option').allInnerTexts();
      await models.selectOption('own');
      expect(await counts()).toEqual(['1', '2']);
      await models.selectOption({ index: 0 });
      await page.getByLabel('Number').selectOption('4');
      await page.getByRole('button', { name: 'Generate' }).click();
      const images = page.locator('#images img');
      await expect.poll(() => images.count(), { timeout: 60_000 }).toBe(4);
      await page.getByText('completed: 4 of 4, 8 credits').waitFor();
      const widths = () =>
        images.evaluateAll((all) => all.map((image) => Reflect.get(image, 'naturalWidth') as number));
      await expect.poll(async () => (await widths()).every((width) => width > 0)).toBe(true);

      page.on('dialog', (dialog) => dialog.accept('The same boat at night'));
      await models.selectOption('lite');
      await page.getByRole('button', { name: 'Refine' }).nth(1).click();
      await page.getByText('completed: 1 of 1, 1 credits').waitFor();
      await page.getByRole('button', { name: 'Film' }).first().click();
      await page.locator('#images video').waitFor({ timeout: 60_000 });
      await page.getByText('completed: 1 of 1, 30 credits').waitFor();
      const orders = makers.orders.map(({ wire, kind, images: given }) => [wire, kind, given]);
      const four = Array.from({ length: 4 }, () => ['google', 'image', 0]);
      expect(orders).toEqual([...four, ['fal', 'image', 1], ['replicate', 'video', 1]]);
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
