/**
 * Small images of every accepted format that take the most memory, sent to the running program: registered, signed,
 * shrunk, enlarged and marked, one after the other and at once, they take less than 512 MiB, or are refused.
 */
import { spawnSync } from 'node:child_process';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grid, heif, size, tile } from '../media/heif.fixture.ts';
import { type Bombed, interlacedPng, openBombed, twoColorBmp } from './mediabombs.fixture.ts';
import { growthOf } from './resident.fixture.ts';

/** The side of a square of nearly 50 megapixels, and of 24. */
const [side, avifSide] = [7071, 4898];
const plain = (channels: 3 | 4 = 4, width = side, height = width) =>
  sharp({ create: { width, height, channels, background: { r: 200, g: 90, b: 20, alpha: 0.5 } } });
const deep = (width = side, height = width) => plain(4, width, height).toColourspace('rgb16');
const avif = (channels: 3 | 4, bitdepth: 8 | 10 | 12) =>
  plain(channels, avifSide).avif({ effort: 0, bitdepth, chromaSubsampling: '4:4:4' });

/** As large as an image may be: a box that readers skip fills it. */
async function filled(image: Sharp): Promise<Buffer> {
  const bytes = await image.toBuffer();
  const box = Buffer.alloc(64 * 1024 ** 2 - bytes.length);
  box.writeUInt32BE(box.length);
  box.write('free', 4, 'latin1');
  return Buffer.concat([bytes, box]);
}

/** A HEIC of one color, as a phone codes it. */
function heic(across: number): Buffer {
  const source = ['-f', 'lavfi', '-i', `color=red:s=${across}x${across}:r=1`, '-frames:v', '1', '-pix_fmt', 'yuv420p'];
  const coder = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none', '-tag:v', 'hvc1'];
  const place = ['-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4', 'pipe:1'];
  const { stdout: clip } = spawnSync('ffmpeg', ['-v', 'error', ...source, ...coder, ...place], { maxBuffer: 1e8 });
  const boxAt = (type: string) => {
    const at = clip.indexOf(type, 0, 'latin1') - 4;
    return clip.subarray(at, at + clip.readUInt32BE(at));
  };
  return heif([{ type: 'hvc1', data: boxAt('mdat').subarray(8), properties: [boxAt('hvcC'), size(across, across)] }]);
}

const images: readonly (readonly [name: string, mime: string, make: () => Buffer | Sharp | Promise<Buffer>])[] = [
  ['PNG', 'image/png', () => plain().png({ compressionLevel: 1 })],
  ['interlaced PNG', 'image/png', () => plain().png({ progressive: true, compressionLevel: 1 })],
  ['deep PNG', 'image/png', () => deep().png({ compressionLevel: 1 })],
  ['deep interlaced PNG', 'image/png', () => interlacedPng(side, side)],
  ['deep interlaced PNG of 36 megapixels', 'image/png', () => interlacedPng(6000, 6000)],
  ['deep wide PNG', 'image/png', () => deep(900_000, 55).png({ compressionLevel: 1 })],
  ['JPEG', 'image/jpeg', () => plain(3).jpeg()],
  ['wide JPEG', 'image/jpeg', () => plain(3, 65_500, 763).jpeg()],
  ['turned JPEG', 'image/jpeg', () => plain(3).jpeg().withMetadata({ orientation: 6 })],
  ['progressive JPEG', 'image/jpeg', () => plain(3).jpeg({ progressive: true, chromaSubsampling: '4:4:4' })],
  ['CMYK JPEG', 'image/jpeg', () => plain(3).toColourspace('cmyk').jpeg({ progressive: true })],
  ['WebP', 'image/webp', () => plain().webp({ effort: 0 })],
  ['lossless WebP', 'image/webp', () => plain().webp({ effort: 0, lossless: true })],
  ['GIF', 'image/gif', () => plain().gif({ effort: 1 })],
  ['AVIF', 'image/avif', () => avif(3, 8)],
  ['transparent AVIF', 'image/avif', () => avif(4, 8)],
  ['deep AVIF', 'image/avif', () => avif(4, 12)],
  ['AVIF of 64 MiB', 'image/avif', () => filled(avif(3, 8))],
  ['TIFF', 'image/tiff', () => plain().tiff({ compression: 'deflate' })],
  ['deep TIFF', 'image/tiff', () => deep().tiff({ compression: 'deflate' })],
  ['float TIFF', 'image/tiff', () => plain().toColourspace('scrgb').tiff({ compression: 'deflate' })],
  [
    'wide float TIFF',
    'image/tiff',
    () => plain(4, 400_000, 124).toColourspace('scrgb').tiff({ compression: 'deflate' }),
  ],
  [
    'TIFF of large tiles',
    'image/tiff',
    () => plain().tiff({ compression: 'deflate', tile: true, tileWidth: 4992, tileHeight: 4992 }),
  ],
  ['BMP', 'image/bmp', () => twoColorBmp(side, side)],
  ['wide BMP', 'image/bmp', () => twoColorBmp(1_000_000, 49)],
  ['HEIC', 'image/heic', () => heic(5376)],
  ['HEIC of 65,535 × 65,535', 'image/heic', () => heif([grid(1, 1, [65_535, 65_535], [1]), tile('red.heic')])],
];

describe.skipIf(process.platform !== 'linux')('bombs', () => {
  let bombed: Bombed;
  const made = new Map<string, readonly [bytes: Uint8Array<ArrayBuffer>, mime: string]>();
  beforeAll(async () => {
    for (const [name, mime, make] of images) {
      const image = await make();
      made.set(name, [new Uint8Array(Buffer.isBuffer(image) ? image : await image.toBuffer()), mime]);
    }
    bombed = await openBombed();
  }, 600_000);
  afterAll(() => bombed?.close());

  async function send(name: string, inTurn: boolean): Promise<Record<string, number>> {
    const [bytes, mime] = made.get(name) ?? [];
    if (bytes === undefined || mime === undefined) throw new Error(name);
    const { status, assetId } = await bombed.register(bytes, mime);
    return status === 201 ? { status, ...(await bombed.deriveAll(assetId, inTurn)) } : { status };
  }

  it.each(images.map(([name]) => name))('%s takes less than 512 MiB', { timeout: 600_000 }, async (name) => {
    let statuses: Record<string, number> = {};
    const growth = await growthOf(bombed.program, async () => {
      statuses = await send(name, true);
    });
    console.info(name, Math.round(growth / 1024 ** 2), JSON.stringify(statuses));
    expect(Object.values(statuses).filter((status) => ![200, 201, 422].includes(status))).toEqual([]);
    expect(growth / 1024 ** 2).toBeLessThan(512);
  });

  it('take less than 512 MiB at once', { timeout: 1_200_000 }, async () => {
    const statuses: number[] = [];
    const growth = await growthOf(bombed.program, () =>
      Promise.all(images.map(async ([name]) => statuses.push(...Object.values(await send(name, false))))),
    );
    console.info('at once', Math.round(growth / 1024 ** 2), statuses.join(' '));
    expect(statuses.filter((status) => ![200, 201, 422, 503].includes(status))).toEqual([]);
    expect(growth / 1024 ** 2).toBeLessThan(512);
    expect(await bombed.isReady()).toBe(true);
  });
});
