import type { Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '#image/engine/working.ts';
import { fadingScene, paint, photo, pipe, scene, turned } from '../../../test/image/images.fixture.ts';
import { everyNth } from '../../../test/lane.fixture.ts';
import { pdqOf } from './pdq.ts';

const engine = createEngine({ maxSourcePixels: 4e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 20_000 });
/** As a registration does it. */
const pdqOfFile = async (file: Buffer) => pdqOf((await engine.inspect(file)).rendition);

function distance(left: string, right: string): number {
  const bits = (BigInt(`0x${left}`) ^ BigInt(`0x${right}`)).toString(2);
  return bits.replaceAll('0', '').length;
}

describe('PDQ', () => {
  /** The result of the published reference implementation (C++, 2026) for the same pixels. */
  it.each<[string, typeof photo, number, number, string, number]>([
    ['photo', photo, 512, 512, '09370086c54a2d940fe892006fcddf7a7889677bfb65d2862e79e36c9c97a51a', 100],
    ['photo', photo, 512, 341, '193500a6c54a2d940fe892206fcddf7e7889677bfb65d2862e79a36c9c97a10a', 100],
    ['photo', photo, 200, 300, '19350086c4ca2d940fe812206fcddf7e7889677bfb65d2862e79a36c9e97a11a', 100],
    ['photo', photo, 97, 61, '08358a37c44ae51e04e893a0f7cdff7e7809637a6b65c2842f79e36c94d7a50a', 100],
    ['photo', photo, 64, 64, '09358036c44ae5d424e8923027cdff3e7809277b6b65d286af79f36c9697e50a', 100],
    ['photo', photo, 5, 400, '61d8cb723e0f5e3781e093249e273e0fc1f03c8f9627cb72348d3b0e3e0f61d8', 100],
    ['photo', photo, 33, 7, 'cc3ee50e7fd35af331c984931884b73b57d0ccc5a82f4844e7737b6cc836a504', 100],
    ['scene', scene, 512, 512, 'e68d78c6788e3931c4e1c4f0aea53717678de8d6b8add84b8e9326411523b99b', 100],
    ['scene', scene, 512, 341, 'c78d78c6788e3931c6e1c4f0aaa53717678de8d6b8add04b8e9326411563b99b', 100],
    ['scene', scene, 97, 61, '87a97cd6388e3937c8e1ccf0cee4131527adecd6b8a4f84bced302405523b99b', 100],
    ['scene', scene, 5, 400, 'c4f19b269b26349dc4f1cb72c6f1e4f9c4f14b5a93269625685b93a4649964d9', 85],
  ])('of a %s is the published one (%#)', (_name, make, width, height, hex, quality) => {
    const hash = pdqOf(make(width, height));
    expect(hash.hex).toMatch(/^[0-9a-f]{64}$/);
    // Equal where it was written; sines may differ in their last digit elsewhere.
    expect([distance(hash.hex, hex) <= 2, hash.quality]).toEqual([true, quality]);
  });

  it('depends only on the luminance, with or without alpha, in any number of channels', () => {
    const { data, width, height } = photo(100, 80);
    const grey = Uint8Array.from({ length: width * height }, (_, at) => data[at * 3] ?? 0);
    const spread = (channels: number) =>
      Uint8Array.from({ length: grey.length * channels }, (_, at) =>
        channels % 2 === 0 && at % channels === channels - 1 ? 99 : (grey[Math.floor(at / channels)] ?? 0),
      );
    const hexes = ([1, 2, 3, 4] as const).map(
      (channels) => pdqOf({ data: spread(channels), width, height, channels }).hex,
    );
    for (const hex of hexes) expect(distance(hex, String(hexes[0]))).toBeLessThanOrEqual(2);
  });

  it.each<[string, () => ReturnType<typeof photo>, number]>([
    ['of one colour', () => paint(200, 200, 3, () => [120, 130, 140]), 0],
    ['of a soft gradient', () => paint(200, 200, 3, (x) => [255 * x, 255 * x, 255 * x]), 49],
    ['too small to be hashed', () => photo(4, 400), 0],
  ])('finds little in an image %s', (_name, make, atMost) => {
    expect(pdqOf(make()).quality).toBeLessThanOrEqual(atMost);
  });
});

describe('an image is recognised', () => {
  const sizes = { width: 640, height: 480 };
  const pixels = photo(sizes.width, sizes.height);
  const original = pipe(pixels).png().toBuffer();
  const listed = original.then(pdqOfFile);
  const box = (width: number, height: number) => ({
    create: { width, height, channels: 3 as const, background: '#ff2020' },
  });
  /** Upright strokes, as of a line of text. */
  const label = Array.from({ length: 12 }, (_, at) => ({
    input: { create: { width: 6, height: 26, channels: 3 as const, background: '#ffffff' } },
    left: 420 + at * 16,
    top: 440,
  }));

  const edits: readonly (readonly [string, (image: Sharp) => Sharp])[] = [
    ['as JPEG of quality 90', (image) => image.jpeg({ quality: 90 })],
    ['as JPEG of quality 30', (image) => image.jpeg({ quality: 30 })],
    ['as JPEG of quality 10', (image) => image.jpeg({ quality: 10 })],
    ['as WebP', (image) => image.webp({ quality: 40 })],
    ['as AVIF', (image) => image.avif({ quality: 40, effort: 0 })],
    ['as GIF', (image) => image.gif()],
    ['at twice its size', (image) => image.resize(1280, 960).jpeg()],
    ['at half its size', (image) => image.resize(320, 240).jpeg()],
    ['at 128 pixels', (image) => image.resize(128, 96).jpeg()],
    ['stretched to a square', (image) => image.resize(512, 512, { fit: 'fill' }).jpeg()],
    ['brighter', (image) => image.modulate({ brightness: 1.2 }).jpeg()],
    ['darker', (image) => image.modulate({ brightness: 0.7 }).jpeg()],
    ['with less contrast', (image) => image.linear(0.7, 40).jpeg()],
    ['in grey', (image) => image.greyscale().jpeg()],
    ['with other colours', (image) => image.modulate({ saturation: 1.5 }).jpeg()],
    ['blurred', (image) => image.blur(2).jpeg()],
    ['sharpened', (image) => image.sharpen({ sigma: 2 }).jpeg()],
    ['with a label', (image) => image.composite(label).jpeg()],
    ['with a mark in a corner', (image) => image.composite([{ input: box(60, 40), left: 10, top: 10 }]).jpeg()],
    ['cropped by 1 % on each side', (image) => image.extract({ left: 6, top: 5, width: 628, height: 470 }).jpeg()],
  ];
  it.each(everyNth(edits, 3))('%s', async (_name, edit) => {
    const found = await pdqOfFile(await edit(pipe(pixels)).toBuffer());
    expect(distance(found.hex, (await listed).hex)).toBeLessThanOrEqual(31);
    expect(found.quality).toBeGreaterThanOrEqual(50);
  });

  it('upright, for any EXIF orientation', async () => {
    const wanted = await pdqOfFile(await turned(1));
    for (const orientation of everyNth([2, 3, 4, 5, 6, 7, 8], 4))
      expect(distance((await pdqOfFile(await turned(orientation))).hex, wanted.hex)).toBeLessThanOrEqual(31);
  });

  it('and others are not', async () => {
    const files = [
      await original,
      await pipe(scene(640, 480)).png().toBuffer(),
      await pipe(fadingScene(640, 480)).flip().png().toBuffer(),
      await pipe(photo(480, 640)).rotate(90).png().toBuffer(),
    ];
    const hashes = await Promise.all(files.map(pdqOfFile));
    for (const [index, { hex }] of hashes.entries())
      for (const other of hashes.slice(index + 1)) expect(distance(hex, other.hex)).toBeGreaterThan(80);
  });
});
