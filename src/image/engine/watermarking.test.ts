import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { animation, fadingScene, hollowPng, paint, pipe, scene, turned } from '../../../test/image/images.fixture.ts';
import { colourAt, dhash, difference, distance } from '../../../test/image/looks.fixture.ts';
import { ImageFault } from './engine.ts';
import { createEngine } from './working.ts';

const engine = createEngine({ maxSourcePixels: 25e6, processTimeoutMs: 30_000, concurrency: 2, permitWaitMs: 5000 });
const plain = (width: number, height: number, ...colour: number[]) =>
  pipe(paint(width, height, 3, () => colour))
    .png()
    .toBuffer();

/** The lightest and the darkest gray of a part, given in shares of the sides. */
async function greys(image: Uint8Array, left: number, top: number, right = 1, bottom = 1) {
  const { width, height } = await sharp(image).metadata();
  const part = {
    left: Math.floor(left * width),
    top: Math.floor(top * height),
    width: Math.floor((right - left) * width),
    height: Math.floor((bottom - top) * height),
  };
  const data = await sharp(image).extract(part).greyscale().raw().toBuffer();
  const sorted = data.sort();
  return { lightest: sorted.at(-1) ?? Number.NaN, darkest: sorted[0] ?? Number.NaN };
}

describe('a watermark', () => {
  it.each([
    ['black', 0],
    ['grey', 128],
    ['white', 255],
  ])('can be read on %s, at the lower right, and nowhere else', async (_name, grey) => {
    const marked = await engine.watermark(await plain(800, 600, grey, grey, grey));
    expect(await sharp(marked).metadata()).toMatchObject({
      ...{ format: 'jpeg', width: 800, height: 600 },
      // Colored letters stay sharp.
      chromaSubsampling: '4:4:4',
    });
    const { lightest, darkest } = await greys(marked, 0.78, 0.9);
    expect(lightest - darkest).toBeGreaterThan(90);
    for (const [left, top, right, bottom] of [
      [0, 0, 1, 0.88],
      [0, 0, 0.7, 1],
    ] as const) {
      const rest = await greys(marked, left, top, right, bottom);
      expect([Math.abs(rest.lightest - grey) < 6, Math.abs(rest.darkest - grey) < 6]).toEqual([true, true]);
    }
  });

  it('is a fifth as wide as the image', async () => {
    const { data, info } = await sharp(await engine.watermark(await plain(2000, 1000, 0, 0, 0)))
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const columns = [...data.keys()].filter((at) => (data[at] ?? 0) > 60).map((at) => at % info.width);
    const wide =
      columns.reduce((most, at) => Math.max(most, at), 0) - columns.reduce((least, at) => Math.min(least, at));
    // The rim is black, too.
    expect(wide).toBeGreaterThan(340);
    expect(wide).toBeLessThan(400);
  });

  it.each<[string, number, number]>([
    ['one pixel', 1, 1],
    ['a row', 2000, 1],
    ['a column', 1, 2000],
    ['a strip', 3000, 40],
    ['a small one', 20, 20],
    ['24 million pixels', 6000, 4000],
  ])('fits on %s', async (_name, width, height) => {
    const marked = await engine.watermark(await plain(width, height, 90, 20, 90));
    expect(await sharp(marked).metadata()).toMatchObject({ format: 'jpeg', width, height });
  });

  it('is made smaller only where a JPEG can be no longer', async () => {
    const marked = await engine.watermark(await plain(70_000, 4, 1, 2, 3));
    expect((await sharp(marked).metadata()).width).toBe(65_500);
  });

  it('is on the upright image, regardless of the orientation', async () => {
    const hash = await dhash(await engine.watermark(await pipe(scene()).png().toBuffer()));
    for (let orientation = 1; orientation <= 8; orientation++) {
      const marked = await engine.watermark(await turned(orientation));
      const { width, height, orientation: left } = await sharp(marked).metadata();
      expect([width, height, left]).toEqual([240, 160, undefined]);
      expect(distance(await dhash(marked), hash)).toBeLessThan(4);
    }
  });

  it('has white where the image was transparent', async () => {
    const marked = await engine.watermark(await pipe(fadingScene()).png().toBuffer());
    expect(difference(await colourAt(marked, 0.9, 0.6), [255, 255, 255])).toBeLessThan(8);
  });

  it.each<[string, () => Promise<Buffer>]>([
    ['CMYK', () => pipe(scene()).toColourspace('cmyk').jpeg().toBuffer()],
    ['16 bits', () => pipe(scene()).toColourspace('rgb16').png().toBuffer()],
    ['16 bits of grey', () => pipe(scene()).toColourspace('grey16').png().toBuffer()],
    ['grey', () => pipe(scene()).toColourspace('b-w').png().toBuffer()],
    ['animated', () => animation([scene(), fadingSceneFrame()]).webp().toBuffer()],
    ['AVIF', () => pipe(scene()).avif().toBuffer()],
  ])('of an image that is %s keeps its looks', async (_name, source) => {
    const bytes = await source();
    const marked = await engine.watermark(bytes);
    expect(await sharp(marked).metadata()).toMatchObject({ width: 240, height: 160, space: 'srgb', channels: 3 });
    const { lightest, darkest } = await greys(marked, 0.6, 0.85);
    expect(lightest - darkest).toBeGreaterThan(80);
    expect(
      distance(await dhash(marked), await dhash(await sharp(bytes).toColourspace('srgb').png().toBuffer())),
    ).toBeLessThan(6);
  });

  it('of no image is a fault of the image', async () => {
    await expect(engine.watermark(Buffer.from('words'))).rejects.toBeInstanceOf(ImageFault);
    await expect(engine.watermark(hollowPng(5001, 5000))).rejects.toMatchObject({ reason: 'too_large' });
    await expect(engine.watermark(hollowPng(100, 100))).rejects.toMatchObject({ reason: 'undecodable' });
  });
});

const fadingSceneFrame = () => paint(240, 160, 3, () => [0, 0, 0]);
