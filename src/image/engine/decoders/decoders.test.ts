import { deflateSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { fadingScene, paint, pipe, scene, sceneColour } from '../../../../test/image/images.fixture.ts';
import { colourAt, dhash, difference, distance } from '../../../../test/image/looks.fixture.ts';
import { bmp, bmpOf } from '../../../../test/media/bmp.fixture.ts';
import { fixture, grid, heif, mirror, rotation, tile } from '../../../../test/media/heif.fixture.ts';
import { tiff } from '../../../../test/media/tiff.fixture.ts';
import { type Engine, EngineTimeout, type ImageFault, type Transform } from '../engine.ts';
import { createEngine } from '../working.ts';

const limits = { maxSourcePixels: 1_000_000, processTimeoutMs: 60_000, concurrency: 1, permitWaitMs: 60_000 };
const engine = createEngine(limits);
const asPng: Transform = {
  width: 0,
  height: 0,
  quality: 0,
  format: 'png',
  resizingType: 'fit',
  enlarge: false,
  blur: 0,
  maxBytes: 0,
  resampling: 'lanczos3',
};

async function show(bytes: Uint8Array, transform: Transform = asPng): Promise<Uint8Array> {
  const shown: Uint8Array[] = [];
  await engine.transform(bytes, [{ transform, deliver: (output) => shown.push(output) }]);
  const [output] = shown;
  if (output === undefined) throw new Error('nothing was made');
  return output;
}

/** Upper left, upper right, lower left, lower right. */
async function cornersOf(bytes: Uint8Array) {
  const shown = await show(bytes);
  return Promise.all(
    [
      [0.05, 0.05],
      [0.95, 0.05],
      [0.05, 0.95],
      [0.95, 0.95],
    ].map(([x = 0, y = 0]) => colourAt(shown, x, y)),
  );
}

const [red, green, blue, yellow] = [
  [220, 30, 30],
  [30, 200, 30],
  [30, 30, 220],
  [220, 220, 30],
] as const;

function expectColors(found: readonly (readonly number[])[], wanted: readonly (readonly number[])[], tolerance = 12) {
  expect(found.length).toBe(wanted.length);
  for (const [index, color] of wanted.entries())
    expect(difference(color, found[index] ?? []), `corner ${index} is ${found[index]}`).toBeLessThanOrEqual(tolerance);
}

/** Why the engine refuses them; `undefined`: it does not. */
async function faultOf(bytes: Uint8Array, on: Engine = engine) {
  return on.inspect(bytes).then(
    () => undefined,
    (error: ImageFault) => error.reason ?? error,
  );
}

const sceneCorners = () => cornersOf(new Uint8Array(sceneFile));
let sceneFile: Buffer;
let avif: Buffer;
beforeAll(async () => {
  avif = await pipe(scene(64, 48)).avif({ effort: 0 }).toBuffer();
  sceneFile = await pipe(scene(96, 64)).png().toBuffer();
});

const quarters = ['red.heic', 'green.heic', 'blue.heic', 'yellow.heic'].map((name) => tile(name));
const quartered = (...more: readonly Buffer[]) => heif([grid(2, 2, [128, 128], [1, 2, 3, 4], ...more), ...quarters]);

/** A square of as many tiles a side, each of 64 × 64. */
function tiled(side: number): Buffer {
  const indices = Array.from({ length: side * side }, (_none, index) => index + 1);
  const one = tile('red.heic');
  return heif([grid(side, side, [side * 64, side * 64], indices), ...indices.map(() => one)]);
}

describe('HEIC', () => {
  it.each([
    ['8 bits', 'scene.heic', 96, 64],
    ['10 bits', 'deep.heic', 96, 64],
    ['the profile of Display P3, which is applied', 'p3.heic', 96, 64],
  ])('of %s', async (_what, name, width, height) => {
    const facts = await engine.inspect(fixture(name));
    expect(facts).toMatchObject({ mime: 'image/heic', width, height });
    expectColors(await cornersOf(fixture(name)), await sceneCorners());
  });

  it('preserves its transparency', async () => {
    const wanted = await cornersOf(await pipe(fadingScene(96, 64)).png().toBuffer());
    expectColors(await cornersOf(fixture('fading.heic')), wanted);
  });

  it('is assembled of tiles, and cropped to the size of the whole', async () => {
    expectColors(await cornersOf(quartered()), [red, green, blue, yellow]);
    const cropped = heif([grid(2, 2, [100, 90], [1, 2, 3, 4]), ...quarters]);
    expect(await engine.inspect(cropped)).toMatchObject({ width: 100, height: 90 });
    expectColors(await cornersOf(cropped), [red, green, blue, yellow]);
  });

  it.each([
    ['turned', [rotation(1)], [green, yellow, red, blue]],
    ['turned twice', [rotation(2)], [yellow, blue, green, red]],
    ['mirrored', [mirror(1)], [green, red, yellow, blue]],
    ['turned and mirrored', [rotation(1), mirror(1)], [yellow, green, blue, red]],
  ] as const)('is %s once', async (_what, properties, corners) => {
    expectColors(await cornersOf(quartered(...properties)), corners);
  });

  it('has the size of the upright image', async () => {
    const turned = heif([tile('scene.heic', [96, 64], rotation(3))]);
    expect(await engine.inspect(turned)).toMatchObject({ width: 64, height: 96 });
  });

  it('is not turned by EXIF', async () => {
    expect(await engine.inspect(fixture('exif.heic'))).toMatchObject({ width: 64, height: 96 });
  });

  it('shows its primary image, wherever it is in the file', async () => {
    const several = heif([tile('red.heic'), tile('green.heic'), tile('blue.heic')], { primary: 1 });
    expectColors(await cornersOf(several), [green, green, green, green]);
  });

  it('shows the first frame when it is a sequence', async () => {
    expect(await engine.inspect(fixture('sequence.heics'))).toMatchObject({ mime: 'image/heif', width: 64 });
    expectColors(await cornersOf(fixture('sequence.heics')), [red, red, red, red], 30);
  });

  it('is known by any of its brands', async () => {
    const brands = ['mif1', 'miaf', 'heic'];
    expect(await engine.inspect(heif([tile('red.heic')], { brands }))).toMatchObject({ mime: 'image/heic' });
    const plain = heif([tile('red.heic')], { brands: ['mif1', 'mif1'] });
    expect(await engine.inspect(plain)).toMatchObject({ mime: 'image/heif' });
  });

  it('becomes every kind of variant, and a watermarked JPEG', async () => {
    const variants: Uint8Array[] = [];
    const deliver = (output: Uint8Array) => variants.push(output);
    const webp: Transform = { ...asPng, width: 48, height: 48, format: 'webp', quality: 80 };
    await engine.transform(fixture('scene.heic'), [
      { transform: webp, deliver },
      { transform: { ...webp, format: 'jpeg', resizingType: 'fill' }, deliver },
    ]);
    const [fitted, filled] = await Promise.all(variants.map((variant) => engine.inspect(variant)));
    expect(fitted).toMatchObject({ mime: 'image/webp', width: 48, height: 32 });
    expect(filled).toMatchObject({ mime: 'image/jpeg', width: 48, height: 48 });
    const watermarked = await engine.watermark(fixture('scene.heic'));
    expect(await engine.inspect(watermarked)).toMatchObject({ mime: 'image/jpeg', width: 96, height: 64 });
  });

  it.each<[string, () => Buffer, string]>([
    ['a tile that claims to be huge', () => heif([tile('red.heic', [60_000, 60_000])]), 'too_large'],
    ['a grid that claims to be huge', () => heif([grid(1, 1, [65_535, 65_535], [1]), tile('red.heic')]), 'too_large'],
    [
      'a grid of one tile again and again',
      () =>
        heif([
          grid(
            256,
            255,
            [900, 900],
            Array.from({ length: 65_280 }, () => 1),
          ),
          tile('red.heic'),
        ]),
      'undecodable',
    ],
    ['more tiles than pixels are allowed', () => tiled(20), 'too_large'],
    ['a tile that is larger than it claims', () => heif([tile('red.heic', [1, 1])]), 'undecodable'],
    ['a grid of itself', () => heif([grid(1, 1, [64, 64], [0])]), 'undecodable'],
    ['a grid of what is not there', () => heif([grid(2, 1, [128, 64], [6, 7])]), 'undecodable'],
    [
      'a codec that is not there',
      () => Buffer.from(avif.toString('latin1').replaceAll('avif', 'mif1'), 'latin1'),
      'unsupported',
    ],
    ['no content', () => heif([], { brands: ['heic', 'mif1'] }), 'undecodable'],
    ['a beginning alone', () => fixture('scene.heic').subarray(0, 24), 'undecodable'],
  ])('with %s is refused', async (_what, make, reason) => {
    expect(await faultOf(make())).toBe(reason);
  });

  it.each([0.3, 0.6, 0.9, 0.99])('that is cut off at %s of its length is refused', async (share) => {
    const file = fixture('scene.heic');
    expect(await faultOf(file.subarray(0, Math.floor(file.length * share)))).toBe('undecodable');
  });

  it('ends at the deadline, and frees its place for the next', async () => {
    const slow = tiled(15);
    const hasty = createEngine({ ...limits, processTimeoutMs: 1 });
    expect(await faultOf(slow, hasty)).toBeInstanceOf(EngineTimeout);
    expect(await faultOf(slow, hasty)).toBeInstanceOf(EngineTimeout);
    expect(await faultOf(slow)).toBeUndefined();
  });
});

describe('BMP', () => {
  const quarter = [red, green, blue, yellow] as const;
  /** Two by two: below blue and yellow, above red and green. */
  const indices = (bits: number) =>
    [
      [2, 3],
      [0, 1],
    ].map(([left = 0, right = 0]) => {
      const row = Buffer.alloc(4);
      for (const [column, index] of [left, right].entries()) {
        const at = column * bits;
        row[at >> 3] = (row[at >> 3] ?? 0) | (index << (8 - bits - (at & 7)));
      }
      return row;
    });
  const indexed = (bits: number, more: object = {}) =>
    bmp({ width: 2, height: 2, bits, palette: [...quarter], pixels: Buffer.concat(indices(bits)), ...more });
  const words = (bytes: 2 | 4, ...values: readonly number[]) => {
    const pixels = Buffer.alloc(values.length * bytes);
    for (const [index, value] of values.entries()) pixels.writeUIntLE(value, index * bytes, bytes);
    return pixels;
  };
  const five = ([r = 0, g = 0, b = 0]: readonly number[]) => ((r >> 3) << 10) | ((g >> 3) << 5) | (b >> 3);
  const six = ([r = 0, g = 0, b = 0]: readonly number[]) => ((r >> 3) << 11) | ((g >> 2) << 5) | (b >> 3);
  const eight = ([r = 0, g = 0, b = 0]: readonly number[], alpha = 0) => alpha * 2 ** 24 + r * 2 ** 16 + g * 256 + b;
  const upward = [blue, yellow, red, green];
  const fields = { compression: 3, masks: [0xff0000, 0xff00, 0xff, 0xff000000] };

  it.each<[string, () => Buffer]>([
    ['2 bits', () => indexed(2)],
    ['4 bits', () => indexed(4)],
    ['8 bits', () => indexed(8)],
    [
      '8 bits with the offset of the palette in place of that of the pixels',
      () => {
        const file = indexed(8);
        file.writeUInt32LE(54, 10);
        return file;
      },
    ],
    ['8 bits with a header of version 5', () => indexed(8, { header: 124 })],
    ['8 bits with a gap before the pixels', () => indexed(8, { gap: 77 })],
    ['8 bits from the top down', () => indexed(8, { height: -2, pixels: Buffer.concat(indices(8).toReversed()) })],
    ['16 bits', () => bmp({ width: 2, height: 2, bits: 16, pixels: words(2, ...upward.map(five)) })],
    [
      '16 bits with fields',
      () =>
        bmp({
          width: 2,
          height: 2,
          bits: 16,
          compression: 3,
          masks: [0xf800, 0x7e0, 0x1f],
          pixels: words(2, ...upward.map(six)),
        }),
    ],
    ['24 bits', () => bmpOf(2, 2, (x, y) => quarter[(x < 0.5 ? 0 : 1) + (y < 0.5 ? 0 : 2)] ?? [])],
    ['32 bits', () => bmp({ width: 2, height: 2, bits: 32, pixels: words(4, ...upward.map((color) => eight(color))) })],
    [
      '32 bits whose alpha was never written',
      () =>
        bmp({
          width: 2,
          height: 2,
          bits: 32,
          header: 124,
          ...fields,
          pixels: words(4, ...upward.map((color) => eight(color))),
        }),
    ],
  ])('of %s', async (_what, make) => {
    expect(await engine.inspect(make())).toMatchObject({ mime: 'image/bmp', width: 2, height: 2 });
    expectColors(await cornersOf(make()), [red, green, blue, yellow]);
  });

  it('of 1 bit, of a width that fills no byte', async () => {
    const pixels = Buffer.concat([Buffer.from([0b00000000, 0b10000000, 0, 0]), Buffer.from([0b10000000, 0, 0, 0])]);
    const file = bmp({ width: 9, height: 2, bits: 1, palette: [red, green], pixels });
    expectColors(await cornersOf(file), [green, red, red, green]);
  });

  it('preserves its transparency', async () => {
    const pixels = words(4, eight(blue, 255), eight(yellow, 128), eight(red, 255), eight(green, 0));
    const file = bmp({ width: 2, height: 2, bits: 32, header: 124, ...fields, pixels });
    expectColors(await cornersOf(file), [
      [...red, 255],
      [...green, 0],
      [...blue, 255],
      [...yellow, 128],
    ]);
  });

  const plain = () => bmpOf(8, 8, () => red);
  const patched = (at: number, value: number) => {
    const file = plain();
    file.writeInt32LE(value, at);
    return file;
  };
  it.each<[string, () => Buffer, string]>([
    ['a width of 2^31-1', () => patched(18, 0x7fffffff), 'too_large'],
    ['a height of -2^31', () => patched(22, -0x80000000), 'too_large'],
    ['no width', () => patched(18, 0), 'undecodable'],
    ['a negative width', () => patched(18, -8), 'undecodable'],
    ['pixels that are not there', () => patched(10, 0x7fffffff), 'undecodable'],
    ['a pixel less than it claims', () => plain().subarray(0, -3), 'undecodable'],
    ['a header alone', () => plain().subarray(0, 54), 'undecodable'],
    ['half a header', () => plain().subarray(0, 30), 'undecodable'],
    ['a JPEG in it', () => patched(30, 4), 'unsupported'],
    ['RLE8', () => indexed(8, { compression: 1, pixels: Buffer.from([1, 2, 1, 3, 0, 1]) }), 'unsupported'],
    ['RLE4', () => indexed(4, { compression: 2, pixels: Buffer.from([2, 0x23, 0, 1]) }), 'unsupported'],
    ['a header of OS/2', () => indexed(8, { header: 12 }), 'unsupported'],
    ['a long header of OS/2 2', () => indexed(8, { header: 64 }), 'unsupported'],
    [
      'a mask in pieces',
      () =>
        bmp({ width: 1, height: 1, bits: 16, compression: 3, masks: [0xa000, 0x7e0, 0x1f], pixels: Buffer.alloc(4) }),
      'undecodable',
    ],
  ])('with %s is refused', async (_what, make, reason) => {
    expect(await faultOf(make())).toBe(reason);
  });
});

describe('TIFF', () => {
  const source = () => pipe(scene(96, 64));
  it.each<[string, () => Promise<Buffer>]>([
    ['no compression', () => source().tiff({ compression: 'none' }).toBuffer()],
    ['LZW', () => source().tiff({ compression: 'lzw', predictor: 'horizontal' }).toBuffer()],
    ['deflate', () => source().tiff({ compression: 'deflate' }).toBuffer()],
    ['JPEG', () => source().tiff({ compression: 'jpeg', quality: 95 }).toBuffer()],
    ['tiles', () => source().tiff({ tile: true, tileWidth: 32, tileHeight: 32, compression: 'lzw' }).toBuffer()],
    ['BigTIFF', () => source().tiff({ bigtiff: true, compression: 'lzw' }).toBuffer()],
    ['16 bits', () => source().toColourspace('rgb16').tiff({ compression: 'lzw' }).toBuffer()],
    ['the profile of Display P3', () => source().withIccProfile('p3').tiff({ compression: 'lzw' }).toBuffer()],
    [
      'EXIF orientation',
      () => source().rotate(90).withMetadata({ orientation: 8 }).tiff({ compression: 'lzw' }).toBuffer(),
    ],
  ])('of %s', async (_what, make) => {
    const file = await make();
    expect(await engine.inspect(file)).toMatchObject({ mime: 'image/tiff', width: 96, height: 64 });
    expectColors(await cornersOf(file), await sceneCorners());
  });

  it('of CMYK', async () => {
    const cmyk = await source().toColourspace('cmyk').tiff({ compression: 'lzw' }).toBuffer();
    expectColors(
      await cornersOf(cmyk),
      await cornersOf(await source().toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer()),
      40,
    );
  });

  it('preserves its transparency', async () => {
    const fading = pipe(fadingScene(96, 64));
    const wanted = await cornersOf(await fading.clone().png().toBuffer());
    expectColors(await cornersOf(await fading.tiff({ compression: 'lzw' }).toBuffer()), wanted);
  });

  it('shows the first of its pages', async () => {
    const one = await cornersOf(tiff({ width: 8, height: 8 }));
    expect(one[0]?.[0]).toBe(0);
    expect(await cornersOf(tiff({ width: 8, height: 8, pages: 3 }))).toEqual(one);
    expect(await cornersOf(tiff({ width: 8, height: 8, pages: 60_000 }))).toEqual(one);
    expect(await cornersOf(tiff({ width: 8, height: 8, pages: 2, isCircle: true }))).toEqual(one);
  });

  it.each<[string, () => Buffer, string]>([
    ['a width of 2^31', () => tiff({ width: 0x80000000, height: 1 }), 'undecodable'],
    ['too many pixels', () => tiff({ width: 60_000, height: 60_000 }), 'too_large'],
    ['no pixels', () => tiff({ width: 0, height: 8 }), 'undecodable'],
    ['pixels beyond its end', () => tiff({ width: 8, height: 8, fields: { 273: 0x7fffffff } }), 'undecodable'],
    [
      'tiles of gigabytes',
      () =>
        tiff({ width: 8, height: 8, fields: { 322: 65_536, 323: 65_536, 324: 8, 325: 64, 273: -1, 278: -1, 279: -1 } }),
      'undecodable',
    ],
    ['a directory beyond its end', () => Buffer.from('II*\0\xff\xff\xff\x7f\0\0\0\0\0\0\0\0', 'latin1'), 'undecodable'],
    ['a beginning alone', () => Buffer.from('II*\0\x08\0\0\0', 'latin1'), 'undecodable'],
  ])('with %s is refused', async (_what, make, reason) => {
    expect(await faultOf(make())).toBe(reason);
  });

  it('of a compressed strip that breaks off is refused', async () => {
    const strip = deflateSync(Buffer.alloc(640_000)).subarray(0, 300);
    const file = tiff({ width: 800, height: 800, fields: { 259: 8, 279: strip.length } });
    strip.copy(file, 8);
    expect(await faultOf(file)).toBe('undecodable');
  });

  it.each<[string, Readonly<Record<number, number>>]>([
    ['old-style JPEG', { 259: 6 }],
    ['old-style JPEG in tiles', { 259: 6, 322: 16, 323: 16, 324: 8, 325: 64, 273: -1, 278: -1, 279: -1 }],
    ['LZMA', { 259: 34_925 }],
    ['YCbCr with neither JPEG nor subsampling', { 262: 6, 277: 3, 279: 192, 530: 1 }],
    ['tiles of separate planes', { 277: 3, 284: 2, 322: 16, 323: 16, 324: 8, 325: 64, 273: -1, 278: -1, 279: -1 }],
  ])('with %s is refused', async (_what, fields) => {
    expect(await faultOf(tiff({ width: 8, height: 8, fields }))).toBe('unsupported');
  });

  it('that is the raw file of a camera is refused', async () => {
    // The tag of DNG's version.
    expect(await faultOf(tiff({ width: 8, height: 8, fields: { 50706: 1 } }))).toBe('unsupported');
  });
});

it('the same image has the same hash in each of them', async () => {
  const files = [
    fixture('scene.heic'),
    bmpOf(96, 64, sceneColour),
    await pipe(paint(96, 64, 3, sceneColour))
      .tiff({ compression: 'lzw' })
      .toBuffer(),
  ];
  const wanted = await dhash(sceneFile);
  for (const file of files) expect(distance(await dhash(await show(file)), wanted)).toBeLessThanOrEqual(3);
});
