import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { type Brand, brandIdOf, brandPositions, defaultBrand, layOut } from './brand.ts';
import { brandmarkOf } from './brandmark.ts';
import { findFonts } from './fonts.ts';
import { createEngine } from './working.ts';

const limits = { maxSourcePixels: 25e6, processTimeoutMs: 30_000, concurrency: 2, permitWaitMs: 5000 };
const plain = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

/** The part of an image that differs from its plain ground by more than the noise of JPEG, in shares of its sides. */
async function markedPart(brand: Brand, width: number, height: number, ground = '#000000') {
  const marked = await createEngine(limits, brand).watermark(await plain(width, height, ground));
  const { data, info } = await sharp(marked).greyscale().raw().toBuffer({ resolveWithObject: true });
  const level = Number.parseInt(ground.slice(1, 3), 16);
  const [columns, rows] = [new Set<number>(), new Set<number>()];
  for (const [at, gray] of data.entries()) {
    if (Math.abs(gray - level) < 40) continue;
    columns.add(at % info.width);
    rows.add(Math.floor(at / info.width));
  }
  const range = (some: ReadonlySet<number>, side: number) => [Math.min(...some) / side, (Math.max(...some) + 1) / side];
  return { x: range(columns, info.width), y: range(rows, info.height) };
}

const circle = (color: string) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="5" fill="${color}"/></svg>`,
  );

describe('a brand name', () => {
  it.each([
    'Atelier',
    'Студия',
    '画室',
    'مرسم النور',
    '서울',
    'Ατελιέ',
    'ואטליה',
    'สตูดิโอ',
    'स्टूडियो',
    'あとりえ',
    'A & <b>',
  ])('is drawn in its script: %s', async (name) => {
    expect(findFonts(name).missing).toEqual([]);
    const mark = await brandmarkOf({ ...defaultBrand, name });
    const opaque = mark.data.filter((_, at) => at % 4 === 3).filter((alpha) => alpha > 200).length;
    expect(opaque / (mark.width * mark.height)).toBeGreaterThan(0.15);
    // Missing characters would be boxes, which are all the same.
    const other = await brandmarkOf({ ...defaultBrand, name: [...name].reverse().join('') });
    if (new Set(name).size > 1) expect(Buffer.from(other.data).equals(Buffer.from(mark.data))).toBe(false);
  });

  it('can have characters that no font of the program has', () => {
    expect(findFonts('ატელიე').missing).toEqual(['ა', 'ტ', 'ე', 'ლ', 'ი']);
  });
});

describe('a watermark', () => {
  it.each(Object.entries(brandPositions))('can be %s', async (name, position) => {
    const { x, y } = await markedPart({ ...defaultBrand, position, opacity: 1 }, 1000, 700);
    const [left = 0, right = 0] = x;
    const [top = 0, bottom = 0] = y;
    const middle = [(left + right) / 2, (top + bottom) / 2];
    expect(right - left).toBeGreaterThan(0.15);
    expect(right - left).toBeLessThan(0.21);
    expect(middle[0]).toBeCloseTo(name.endsWith('west') ? 0.115 : name.endsWith('east') ? 0.885 : 0.5, 1);
    if (name.startsWith('north')) expect(top).toBeLessThan(0.06);
    else if (name.startsWith('south')) expect(bottom).toBeGreaterThan(0.94);
    else expect(middle[1]).toBeCloseTo(0.5, 1);
    expect(Math.min(left, top, 1 - right, 1 - bottom)).toBeGreaterThan(0.01);
  });

  it('has the opacity, the width and the picture of the brand', async () => {
    const picture = circle('#ff0000');
    const { x, y } = await markedPart({ ...defaultBrand, picture, scale: 0.4, opacity: 1 }, 1000, 1000);
    expect(x[0]).toBeCloseTo(0.58, 1);
    expect(x[1]).toBeCloseTo(0.98, 1);
    expect(y[1]).toBeCloseTo(0.98, 1);
    const engine = createEngine(limits, { ...defaultBrand, picture, scale: 0.4, opacity: 0.5 });
    const faded = await engine.watermark(await plain(1000, 1000, '#000000'));
    const { channels } = await sharp(
      await sharp(faded).extract({ left: 770, top: 770, width: 20, height: 20 }).png().toBuffer(),
    ).stats();
    expect(channels[0]?.mean).toBeGreaterThan(110);
    expect(channels[0]?.mean).toBeLessThan(145);
    expect(channels[1]?.mean).toBeLessThan(20);
  });

  it('fits in small images, with letters that can be read', async () => {
    const mark = await brandmarkOf(defaultBrand);
    const small = layOut({ width: 200, height: 133 }, mark, defaultBrand);
    expect(small.height * Number(mark.letterShare)).toBeGreaterThanOrEqual(9.5);
    const tiny = layOut({ width: 3, height: 3 }, mark, defaultBrand);
    expect([tiny.width + tiny.margin <= 3, tiny.height + tiny.margin <= 3]).toEqual([true, true]);
  });

  it('of a damaged picture is an error, and uploads in SVG stay rejected', async () => {
    await expect(brandmarkOf({ ...defaultBrand, picture: Buffer.from('\x89PNG\r\n\x1a\nnothing') })).rejects.toThrow();
    await expect(createEngine(limits).inspect(circle('#00ff00'))).rejects.toMatchObject({ reason: 'unsupported' });
  });
});

it('another brand has another id, and the default has none', () => {
  const changes: readonly Partial<Brand>[] = [
    { name: 'Acme' },
    { picture: circle('#ff0000') },
    { picture: circle('#00ff00') },
    { position: 'ce' },
    { opacity: 1 },
    { scale: 0.3 },
    { closing: 'none' },
    { closing: { path: '/clip.mp4', sha256: 'a' } },
  ];
  const ids = changes.map((change) => brandIdOf({ ...defaultBrand, ...change }));
  expect(new Set(ids).size).toBe(changes.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{12}$/);
  expect(brandIdOf({ ...defaultBrand })).toBe('');
  // The name is not in the picture.
  const picture = circle('#ff0000');
  expect(brandIdOf({ ...defaultBrand, picture, name: 'Acme' })).toBe(brandIdOf({ ...defaultBrand, picture }));
});
