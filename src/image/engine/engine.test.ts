import { decode, isBlurhashValid } from 'blurhash';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  animation,
  apng,
  blankPng,
  fadingScene,
  fileTypeBox,
  hollowPng,
  photo,
  pipe,
  scene,
  turned,
} from '../../../test/image/images.fixture.ts';
import { difference } from '../../../test/image/looks.fixture.ts';
import { everyNth } from '../../../test/lane.fixture.ts';
import {
  type Engine,
  EngineBusy,
  type EngineLimits,
  EngineTimeout,
  EnlargementFault,
  type ImageFacts,
  ImageFault,
} from './engine.ts';
import { toTransform, type VariantSpec } from './specs.ts';
import { createEngine, toFault } from './working.ts';

const limits: EngineLimits = {
  maxSourcePixels: 50_000_000,
  processTimeoutMs: 30_000,
  concurrency: 2,
  permitWaitMs: 30_000,
};
const engine = createEngine(limits);

async function render(made: Engine, bytes: Uint8Array, spec: VariantSpec): Promise<Uint8Array> {
  const outputs: Uint8Array[] = [];
  await made.transform(bytes, [{ transform: toTransform(spec), deliver: (output) => outputs.push(output) }]);
  const [output] = outputs;
  if (output === undefined) throw new Error('nothing was delivered');
  return output;
}

/** By either way through the engine. */
const ways: [name: string, way: (made: Engine, bytes: Uint8Array) => Promise<unknown>][] = [
  ['inspect', (made, bytes) => made.inspect(bytes)],
  ['a small variant', (made, bytes) => render(made, bytes, { width: 16 })],
  ['a whole variant', (made, bytes) => render(made, bytes, {})],
  ['a variant within a budget', (made, bytes) => render(made, bytes, { maxBytes: 1 })],
];

const encodings = {
  jpeg: () => pipe(scene()).jpeg().toBuffer(),
  'progressive jpeg': () => pipe(scene()).jpeg({ progressive: true }).toBuffer(),
  png: () => pipe(scene()).png().toBuffer(),
  'interlaced png': () => pipe(scene()).png({ progressive: true }).toBuffer(),
  webp: () => pipe(scene()).webp().toBuffer(),
  gif: () => pipe(scene()).gif().toBuffer(),
  avif: () => pipe(scene()).avif({ effort: 0 }).toBuffer(),
};

/** A small JPEG whose header claims a larger size. */
async function resizedHeader(width: number, height: number): Promise<Buffer> {
  const bytes = await encodings.jpeg();
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
}

describe('inspect', () => {
  it.each([
    ['image/jpeg', encodings.jpeg, 240, 160],
    ['image/jpeg', () => turned(6), 240, 160],
    ['image/jpeg', () => pipe(scene()).toColourspace('cmyk').jpeg().toBuffer(), 240, 160],
    ['image/png', encodings.png, 240, 160],
    ['image/png', () => pipe(fadingScene()).png().toBuffer(), 240, 160],
    ['image/png', () => pipe(scene()).greyscale().png().toBuffer(), 240, 160],
    ['image/png', () => pipe(scene(1, 1)).png().toBuffer(), 1, 1],
    ['image/png', () => pipe(scene(3000, 1)).png().toBuffer(), 3000, 1],
    ['image/webp', encodings.webp, 240, 160],
    ['image/webp', () => animation([scene(), scene()]).webp().toBuffer(), 240, 160],
    ['image/gif', encodings.gif, 240, 160],
    ['image/gif', () => animation([scene(), scene()]).gif().toBuffer(), 240, 160],
    ['image/avif', encodings.avif, 240, 160],
    ['image/png', () => pipe(scene(160, 240)).png().toBuffer(), 160, 240],
    ['image/jpeg', () => turned(6), 240, 160],
  ] as const)('%s', async (mime, make, width, height) => {
    const facts = await engine.inspect(await make());
    const { rendition, animated: _isTestedBelow, ...told } = facts;
    expect(told).toEqual({ mime, width, height, blurhash: expect.any(String) });
    const scale = Math.min(1, 512 / Math.max(width, height));
    expect(rendition).toMatchObject({
      width: Math.ceil(width * scale),
      height: Math.ceil(height * scale),
      channels: 3,
    });
    expect(rendition.data.length).toBe(rendition.width * rendition.height * 3);
    expect(isBlurhashValid(facts.blurhash).result).toBe(true);
    // The first digit encodes the components, in base 83: (4 - 1) + (3 - 1) × 9, or (3 - 1) + (4 - 1) × 9.
    expect(facts.blurhash[0]).toBe(height > width ? 'T' : 'L');
  });

  const inverted = { ...scene(), data: scene().data.map((value) => 255 - value) };
  const frames = animation([scene(), inverted]);
  const stills = () => Promise.all([scene(), inverted, scene()].map((pixels) => pipe(pixels).png().toBuffer()));
  it.each([
    ['a GIF', true, () => frames.gif().toBuffer()],
    ['a GIF of one frame', false, encodings.gif],
    ['a WebP', true, () => frames.webp().toBuffer()],
    ['a WebP of one frame', false, encodings.webp],
    ['a PNG', true, async () => apng(await stills())],
    ['a PNG of one frame', false, async () => apng((await stills()).slice(0, 1))],
    ['a PNG without frames', false, encodings.png],
    ['an AVIF', false, encodings.avif],
    ['a TIFF of two pages', false, () => frames.tiff().toBuffer()],
    ['a JPEG', false, encodings.jpeg],
  ] as const)('%s is animated: %s', async (_name, animated, make) => {
    expect((await engine.inspect(await make())).animated).toBe(animated);
  });

  it('refuses an animated PNG whose still image is not its first frame, and sequences of AVIF', async () => {
    const images = await stills();
    for (const count of [2, 3])
      await expect(engine.inspect(apng(images.slice(0, count), true))).rejects.toMatchObject({
        reason: 'unsupported',
        message: 'The still image of an animated PNG must be its first frame.',
      });
    const sequence = await encodings.avif();
    sequence.write('avis', 8);
    await expect(engine.inspect(sequence)).rejects.toMatchObject({ reason: 'undecodable' });
  });

  const alike: [name: string, make: () => Promise<Buffer>][] = [
    ...Object.entries(encodings),
    ['16 bits', () => pipe(scene()).toColourspace('rgb16').png().toBuffer()],
    ['a wide gamut', () => pipe(scene()).withIccProfile('p3').webp().toBuffer()],
    ['16 bits of a wide gamut', () => pipe(scene()).toColourspace('rgb16').withIccProfile('p3').png().toBuffer()],
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((n): [string, () => Promise<Buffer>] => [`orientation ${n}`, () => turned(n)]),
  ];
  it.each(everyNth(alike, 3))('sees the same image in: %s', async (_name, make) => {
    const [wanted, seen] = await Promise.all(
      [encodings.png(), make()].map(async (bytes) => engine.inspect(await bytes)),
    );
    expect(difference(quartersOf(seen), quartersOf(wanted))).toBeLessThan(40);
  });
});

/** The mean colours that a blurhash shows in the four quarters. */
function quartersOf(facts: ImageFacts | undefined): number[] {
  const pixels = decode(facts?.blurhash ?? '', 2, 2);
  return [0, 1, 2, 3].flatMap((pixel) => [...pixels.subarray(pixel * 4, pixel * 4 + 3)]);
}

describe.each(everyNth(ways, 4))('images at fault: %s', (_name, way) => {
  const fault = async (bytes: Uint8Array, made = engine) => {
    const error = await way(made, bytes).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ImageFault);
    return (error as ImageFault).reason;
  };

  it.each(everyNth(Object.entries(encodings), 2))('truncated %s', async (_format, encode) => {
    const whole = await encode();
    for (const share of [0.1, 0.5, 0.9]) {
      expect([share, await fault(whole.subarray(0, Math.floor(whole.length * share)))]).toEqual([share, 'undecodable']);
    }
  });

  it.each([
    ['baseline', {}],
    ['progressive', { progressive: true }],
  ])('a %s jpeg that lacks only its end marker is none, one that lacks more is', async (_kind, options) => {
    const whole = await pipe(scene()).jpeg(options).toBuffer();
    const lacking = whole.subarray(0, -2);
    const wanted = await way(engine, whole);
    const zeros = Buffer.concat([lacking, Buffer.alloc(2)]);
    for (const bytes of [lacking, whole.subarray(0, -1), zeros, Buffer.concat([lacking, Buffer.alloc(5000)])])
      expect(await way(engine, bytes)).toEqual(wanted);
    for (const lost of [200, 1000])
      expect([lost, await fault(whole.subarray(0, -lost))]).toEqual([lost, 'undecodable']);
  });

  it.each(everyNth(Object.entries(encodings), 3))('the pixel limit, both sides: %s', async (_format, encode) => {
    const bytes = await encode();
    const limited = (maxSourcePixels: number) => createEngine({ ...limits, maxSourcePixels });
    await way(limited(240 * 160), bytes);
    expect(await fault(bytes, limited(240 * 160 - 1))).toBe('too_large');
  });

  it.each([
    ['256 megapixels in some kilobytes', () => blankPng(16_000, 16_000), 'too_large'],
    ['a size without pixels', () => hollowPng(100_000, 100_000), 'too_large'],
    ['a size within the limit, without pixels', () => hollowPng(1000, 1000), 'undecodable'],
    ['a jpeg of the largest size there is', () => resizedHeader(65_535, 65_535), 'too_large'],
    ['a jpeg of the largest size that can be decoded', () => resizedHeader(65_500, 65_500), 'too_large'],
    ['a size that no library takes', () => hollowPng(0x7fffffff, 0x7fffffff), 'undecodable'],
    ['no size', () => hollowPng(0, 0), 'undecodable'],
    ['a signature alone', () => Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'undecodable'],
    ['a jpeg of noise', () => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(500, 7)]), 'undecodable'],
    ['an avif of nothing', () => fileTypeBox('avif', 'mif1'), 'undecodable'],
    ['svg', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'), 'unsupported'],
    ['an icon', () => Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0]), 'unsupported'],
    ['text', () => Buffer.from('hello'), 'undecodable'],
    ['nothing', () => Buffer.alloc(0), 'undecodable'],
  ] as const)('%s', async (_what, make, reason) => {
    expect(await fault(await make())).toBe(reason);
  });
});

it('judges every size before it makes any variant', async () => {
  const image = await encodings.png();
  const delivered: string[] = [];
  const jobs = [{ width: 10 }, { width: 16_000, enlarge: true }].map((spec) => ({
    transform: toTransform(spec),
    deliver: () => delivered.push('made'),
  }));
  await expect(engine.transform(image, jobs)).rejects.toBeInstanceOf(EnlargementFault);
  expect(delivered).toEqual([]);
});

describe('permits and the deadline', () => {
  let large: Buffer;
  /** Takes the library a second or more with `slow`. */
  let huge: Buffer;
  let small: Buffer;
  const slow: VariantSpec = { blur: 100 };
  beforeAll(async () => {
    large = await pipe(photo(2000, 1500)).jpeg().toBuffer();
    huge = await pipe(photo(600, 450)).resize(6000, 4500).jpeg().toBuffer();
    small = await encodings.png();
  });

  /** Returns when the work has its permit, which it keeps for many variants more. */
  async function holdPermit(made: Engine, owner?: string): Promise<{ readonly ended: Promise<unknown> }> {
    const { promise: hasBegun, resolve } = Promise.withResolvers<void>();
    const jobs = [16, ...Array.from({ length: 8 }, () => 1500)].map((width) => ({
      transform: toTransform({ width, blur: 20 }),
      deliver: () => resolve(),
    }));
    const ended = made.transform(large, jobs, owner).catch((error: unknown) => error);
    await Promise.race([hasBegun, ended]);
    return { ended };
  }

  it('rejects work without a permit within the time limit, and recovers', async () => {
    const narrow = createEngine({ ...limits, concurrency: 1, permitWaitMs: 1 });
    const { ended } = await holdPermit(narrow);
    await expect(render(narrow, large, {})).rejects.toBeInstanceOf(EngineBusy);
    await expect(narrow.inspect(large)).rejects.toBeInstanceOf(EngineBusy);
    expect(await ended).toBeUndefined();
    await narrow.inspect(large);
  });

  it('serves an owner while another owner uses all permits', async () => {
    const narrow = createEngine({ ...limits, concurrency: 1, permitWaitMs: 1 });
    const { ended } = await holdPermit(narrow, 'one');
    await expect(narrow.inspect(large, 'one')).rejects.toBeInstanceOf(EngineBusy);
    expect(await narrow.inspect(large, 'another')).toMatchObject({ width: 2000 });
    expect(await ended).toBeUndefined();
  });

  it('rejects a file that is not an image without a permit', async () => {
    const narrow = createEngine({ ...limits, concurrency: 1, permitWaitMs: 1 });
    const { ended } = await holdPermit(narrow);
    await expect(narrow.inspect(Buffer.from('hello'))).rejects.toBeInstanceOf(ImageFault);
    expect(await ended).toBeUndefined();
  });

  it('rejects at the deadline, but releases the permit only when the library has ended', async () => {
    const hurried = createEngine({ ...limits, concurrency: 1, processTimeoutMs: 500, permitWaitMs: 1 });
    await expect(render(hurried, huge, slow)).rejects.toBeInstanceOf(EngineTimeout);
    await expect(render(hurried, small, {})).rejects.toBeInstanceOf(EngineBusy);
    const patient = createEngine({ ...limits, concurrency: 1, processTimeoutMs: 500 });
    await expect(render(patient, huge, slow)).rejects.toBeInstanceOf(EngineTimeout);
    // Waits for the permit that the first one still holds, and gets it.
    const next = await patient.inspect(small).catch((error: unknown) => error);
    expect(next).not.toBeInstanceOf(EngineBusy);
  });

  it('has one deadline for all jobs, and returns the results before it', async () => {
    const hurried = createEngine({ ...limits, processTimeoutMs: 1000 });
    const delivered: number[] = [];
    const jobs = [10, ...Array.from({ length: 200 }, () => 1500)].map((width) => ({
      transform: toTransform({ width, blur: 50 }),
      deliver: () => delivered.push(width),
    }));
    await expect(hurried.transform(large, jobs)).rejects.toBeInstanceOf(EngineTimeout);
    expect(delivered[0]).toBe(10);
    expect(delivered.length).toBeLessThan(jobs.length);
  });

  it('does not report a fault in the code as a fault of the image', () => {
    const error = new TypeError('undefined is not a function');
    expect(toFault(error)).toBe(error);
  });

  it('recognizes a timeout that the library detected first', () => {
    expect(toFault(new Error('timeout: 42% complete'))).toBeInstanceOf(EngineTimeout);
  });
});
