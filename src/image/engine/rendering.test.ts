/**
 * Compares variants with goldens by perceptual hash (`goldens.json`). For a new case or an intended change, run with
 * UPDATE_GOLDENS=1, look at the results, and commit the file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import {
  animation,
  fadingScene,
  paint,
  photo,
  pipe,
  scene,
  sceneColour,
  turned,
} from '../../../test/image/images.fixture.ts';
import { colourAt, dhash, difference, distance } from '../../../test/image/looks.fixture.ts';
import { everyNth } from '../../../test/lane.fixture.ts';
import { resamplings, toTransform, type VariantSpec } from './specs.ts';
import { createEngine } from './working.ts';

const engine = createEngine({
  maxSourcePixels: 50_000_000,
  processTimeoutMs: 30_000,
  concurrency: 2,
  permitWaitMs: 30_000,
});

async function renderAll(bytes: Uint8Array, specs: readonly VariantSpec[]): Promise<readonly Uint8Array[]> {
  const outputs: Uint8Array[] = [];
  await engine.transform(
    bytes,
    specs.map((spec) => ({ transform: toTransform(spec), deliver: (output) => outputs.push(output) })),
  );
  return outputs;
}

async function render(bytes: Uint8Array, spec: VariantSpec): Promise<Uint8Array> {
  const [output = new Uint8Array()] = await renderAll(bytes, [spec]);
  return output;
}

const inverted = paint(240, 160, 3, () => [200, 10, 200]);
const sources = {
  jpeg: () => pipe(scene()).jpeg().toBuffer(),
  'progressive jpeg': () => pipe(scene()).jpeg({ progressive: true }).toBuffer(),
  'cmyk jpeg': () => pipe(scene()).toColourspace('cmyk').jpeg({ quality: 95 }).toBuffer(),
  'grey jpeg': () => pipe(scene()).toColourspace('b-w').jpeg().toBuffer(),
  'p3 jpeg': () => pipe(scene()).withIccProfile('p3').jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer(),
  png: () => pipe(scene()).png().toBuffer(),
  'interlaced png': () => pipe(scene()).png({ progressive: true }).toBuffer(),
  'palette png': () => pipe(scene()).png({ palette: true }).toBuffer(),
  'grey png': () => pipe(scene()).toColourspace('b-w').png().toBuffer(),
  'fading png': () => pipe(fadingScene()).png().toBuffer(),
  'p3 png': () => pipe(scene()).withIccProfile('p3').png().toBuffer(),
  '16-bit png': () => pipe(scene()).toColourspace('rgb16').png().toBuffer(),
  '16-bit p3 png': () => pipe(scene()).toColourspace('rgb16').withIccProfile('p3').png().toBuffer(),
  '16-bit fading png': () => pipe(fadingScene()).toColourspace('rgb16').png().toBuffer(),
  webp: () => pipe(scene()).webp().toBuffer(),
  'fading webp': () => pipe(fadingScene()).webp({ quality: 95 }).toBuffer(),
  'p3 webp': () => pipe(scene()).withIccProfile('p3').webp({ lossless: true }).toBuffer(),
  'animated webp': () => animation([scene(), inverted, inverted]).webp().toBuffer(),
  gif: () => pipe(scene()).gif().toBuffer(),
  'animated gif': () => animation([scene(), inverted, inverted]).gif().toBuffer(),
  avif: () => pipe(scene()).avif({ effort: 0 }).toBuffer(),
  'fading avif': () => pipe(fadingScene()).avif({ effort: 0, quality: 80 }).toBuffer(),
  'p3 avif': () => pipe(scene()).withIccProfile('p3').avif({ effort: 0, quality: 90 }).toBuffer(),
};
const isFading = (name: string) => name.includes('fading');

const goldenFile = new URL('./goldens.json', import.meta.url);
const goldens: Record<string, string> = JSON.parse(readFileSync(goldenFile, 'utf8'));
const updating = process.env.UPDATE_GOLDENS === '1';
afterAll(() => {
  if (updating) writeFileSync(goldenFile, `${JSON.stringify(goldens, Object.keys(goldens).sort(), 2)}\n`);
});

/** Has the requested size and format, no metadata, 8 bits in sRGB, and the hash of the golden. */
async function expectGolden(name: string, image: Uint8Array, format: string): Promise<void> {
  const { width, height, ...header } = await sharp(image).metadata();
  expect(header).toMatchObject({ format, space: 'srgb', depth: 'uchar', hasProfile: false });
  for (const trace of ['exif', 'icc', 'xmp', 'iptc', 'orientation', 'delay', 'comments'])
    expect(header).not.toHaveProperty(trace);
  const hash = await dhash(image);
  if (updating) goldens[name] = `${width}x${height} ${hash}`;
  const [size, golden = ''] = (goldens[name] ?? '').split(' ');
  expect(`${width}x${height}`).toBe(size);
  expect(distance(hash, golden)).toBeLessThanOrEqual(5);
}

describe.each(['webp', 'jpeg', 'png'] as const)('%s of', (format) => {
  it.each(everyNth(Object.entries(sources), 2))('%s', async (name, make) => {
    await expectGolden(`${format} of ${name}`, await render(await make(), { width: 120, height: 120, format }), format);
  });
});

/** Away from edges; a quarter each. */
const places = [
  [0.1, 0.25],
  [0.75, 0.25],
  [0.25, 0.75],
  [0.75, 0.75],
] as const;

describe('the colours of the source stay, in sRGB', () => {
  const colourful = Object.entries(sources).filter(([name]) => !/fading|grey|cmyk|animated gif/.test(name));
  it.each(colourful)('%s', async (name, make) => {
    const output = await render(await make(), { width: 120, format: 'png' });
    for (const [x, y] of places) {
      const [seen, wanted] = [await colourAt(output, x, y), sceneColour(x, y)];
      // A palette has few colors.
      const tolerance = name === 'palette png' || name === 'gif' ? 20 : 12;
      expect([x, y, seen, wanted, difference(seen, wanted) <= tolerance]).toEqual([x, y, seen, wanted, true]);
    }
  });

  it.each(['cmyk jpeg', 'animated gif'] as const)('as far as it had them: %s', async (name) => {
    const output = await render(await sources[name](), { width: 120, format: 'png' });
    for (const [x, y] of places) {
      const strongest = (colour: readonly number[]) => colour.map((value) => value > Math.max(...colour) - 50);
      const seen = await colourAt(output, x, y);
      expect(strongest(seen.slice(0, 3))).toEqual(strongest(sceneColour(x, y)));
    }
  });
});

describe('transparency', () => {
  const fading = Object.entries(sources).filter(([name]) => isFading(name));
  it.each(fading)('survives in webp and png, and is white in jpeg: %s', async (_name, make) => {
    const source = await make();
    for (const format of ['webp', 'png'] as const) {
      const output = await render(source, { width: 120, format });
      expect((await colourAt(output, 0.95, 0.9))[3]).toBe(0);
      expect((await colourAt(output, 0.02, 0.1))[3]).toBeGreaterThan(240);
      expect((await colourAt(output, 0.5, 0.75))[3]).toBeGreaterThan(140);
    }
    const flat = await colourAt(await render(source, { width: 120, format: 'jpeg' }), 0.95, 0.9);
    expect(flat).toHaveLength(3);
    expect(difference(flat, [255, 255, 255])).toBeLessThan(4);
  });
});

describe('EXIF orientation', () => {
  it.each(everyNth([1, 2, 3, 4, 5, 6, 7, 8], 3))('%i comes out upright', async (orientation) => {
    const source = await turned(orientation);
    // All eight must look alike, so they share one golden.
    await expectGolden('upright, fit', await render(source, { width: 120, height: 120 }), 'webp');
    const filled = { width: 60, height: 120, resizingType: 'fill' } as const;
    await expectGolden('upright, fill', await render(source, filled), 'webp');
    const image = await render(source, { format: 'png' });
    for (const [x, y] of places) expect(difference(await colourAt(image, x, y), sceneColour(x, y))).toBeLessThan(20);
  });
});

describe('resizing types', () => {
  const boxes = { wide: [120, 40], tall: [40, 120], large: [600, 600], 'half free': [0, 80] } as const;
  const cases = Object.entries(boxes).flatMap(([box, [width, height]]) =>
    (['fit', 'fill', 'auto'] as const).flatMap((resizingType) =>
      [false, true].map((enlarge) => ({
        name: `${resizingType}, ${box}${enlarge ? ', enlarge' : ''}`,
        spec: { width, height, resizingType, enlarge },
      })),
    ),
  );
  it.each(everyNth(cases, 2))('$name', async ({ name, spec }) => {
    for (const source of [sources.png, sources.jpeg]) {
      await expectGolden(name, await render(await source(), spec), 'webp');
    }
  });

  it('auto is resized like fit', async () => {
    const [fit, auto] = await renderAll(await sources.png(), [
      { width: 100, height: 100 },
      { width: 100, height: 100, resizingType: 'auto' },
    ]);
    expect(auto).toEqual(fit);
  });

  it('fill crops to the center', async () => {
    const stripes = paint(300, 100, 3, (x) => (x < 1 / 3 ? [255, 0, 0] : x < 2 / 3 ? [0, 255, 0] : [0, 0, 255]));
    const spec = { width: 50, height: 50, resizingType: 'fill', format: 'png' } as const;
    const output = await render(await pipe(stripes).png().toBuffer(), spec);
    for (const x of [0.05, 0.5, 0.95]) expect(difference(await colourAt(output, x, 0.5), [0, 255, 0])).toBeLessThan(10);
  });
});

describe('resampling', () => {
  const detailed = photo(400, 300);
  it.each(resamplings)('%s', async (resampling) => {
    for (const source of [pipe(detailed).png(), pipe(detailed).jpeg({ quality: 95 }), pipe(detailed).webp()]) {
      const output = await render(await source.toBuffer(), { width: 60, resampling, format: 'png' });
      await expectGolden(`resampled: ${resampling}`, output, 'png');
    }
  });

  it('each kernel makes different pixels', async () => {
    const source = await pipe(detailed).png().toBuffer();
    const outputs = await renderAll(
      source,
      resamplings.map((resampling) => ({ width: 60, resampling, format: 'png' as const })),
    );
    expect(new Set(outputs.map((output) => Buffer.from(output).toString('base64'))).size).toBe(resamplings.length);
  });

  it('nearest copies pixels, and the others blend them', async () => {
    const { data, ...size } = photo(256, 256);
    const board = { ...size, data: data.map((value) => (value > 110 ? 255 : 0)) };
    const source = await pipe(board).png().toBuffer();
    const values = async (resampling: (typeof resamplings)[number]) =>
      new Set(
        await sharp(await render(source, { width: 50, resampling, format: 'png' }))
          .raw()
          .toBuffer(),
      );
    expect([...(await values('nearest'))].sort()).toEqual([0, 255]);
    for (const resampling of resamplings.filter((name) => name !== 'nearest'))
      expect((await values(resampling)).size).toBeGreaterThan(2);
  });

  it('nearest copies pixels when it enlarges, too', async () => {
    const source = await pipe({
      width: 2,
      height: 2,
      channels: 3,
      data: Buffer.from([0, 0, 0, 80, 80, 80, 160, 160, 160, 255, 255, 255]),
    })
      .png()
      .toBuffer();
    const values = async (resampling: (typeof resamplings)[number]) => {
      const enlarged = await render(source, { width: 64, enlarge: true, resampling, format: 'png' });
      return new Set(await sharp(enlarged).raw().toBuffer());
    };
    expect([...(await values('nearest'))].sort((one, other) => one - other)).toEqual([0, 80, 160, 255]);
    for (const resampling of resamplings.filter((name) => name !== 'nearest'))
      expect((await values(resampling)).size).toBeGreaterThan(4);
  });
});

describe('blur', () => {
  const edge = paint(100, 100, 3, (x) => (x < 0.5 ? [0, 0, 0] : [255, 255, 255]));
  /** Counts the columns that are neither black nor white. */
  const softness = async (blur: number | null) => {
    const output = await render(await pipe(edge).png().toBuffer(), { blur, format: 'png' });
    const columns = await Promise.all(Array.from({ length: 100 }, (_, x) => colourAt(output, x / 100, 0.5)));
    return columns.filter(([red = 0]) => red > 0 && red < 255).length;
  };
  it('softens more with a higher value; 0 and null have no effect', async () => {
    expect(await softness(0)).toBe(0);
    expect(await softness(null)).toBe(0);
    const [weak, middle, strong] = [await softness(1), await softness(3), await softness(100)];
    expect(weak).toBeGreaterThan(0);
    expect(middle).toBeGreaterThan(weak);
    expect(strong).toBeGreaterThan(middle);
  });

  it('below 0.3 counts as 0.3', async () => {
    const [least, tiny] = await renderAll(await sources.png(), [{ blur: 0.3 }, { blur: 0.01 }]);
    expect(tiny).toEqual(least);
  });
});

it.each(everyNth(Object.entries(sources), 3))(
  'a variant does not depend on its neighbours: %s',
  async (_name, make) => {
    const source = await make();
    const specs: VariantSpec[] = [
      { width: 50 },
      { width: 90, height: 90, resizingType: 'fill', format: 'jpeg' },
      { format: 'png', blur: 1 },
      { width: 120, maxBytes: 1200 },
      { width: 30, resampling: 'nearest' },
    ];
    const together = await renderAll(source, specs);
    const alone = await Promise.all(specs.map((spec) => render(source, spec)));
    expect(together.map((output) => Buffer.from(output).toString('base64'))).toEqual(
      alone.map((output) => Buffer.from(output).toString('base64')),
    );
  },
);
