/** imgproxy's further options, each compared with its documentation, on an image whose corners identify its parts. */
import { generateImageUrl } from '@imgproxy/imgproxy-node';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gather } from '#platform/objects/gathering.ts';
import { type Rig, resizingKeys, startEdge } from '../../test/edge/edge.fixture.ts';
import { pathSigner } from './api.ts';

const sign = pathSigner(resizingKeys.key, resizingKeys.salt);

type Rgb = readonly [red: number, green: number, blue: number];
const colors: Readonly<Record<string, Rgb>> = {
  red: [255, 0, 0],
  lime: [0, 255, 0],
  blue: [0, 0, 255],
  yellow: [255, 255, 0],
  white: [255, 255, 255],
  black: [0, 0, 0],
};

const solid = (width: number, height: number, background: string) =>
  ({ create: { width, height, channels: 3, background } }) as const;

/** 80 x 40: red and lime above, blue and yellow below. */
const corners = () =>
  sharp(solid(80, 40, 'red')).composite([
    { input: solid(40, 20, 'lime'), left: 40, top: 0 },
    { input: solid(40, 20, 'blue'), left: 0, top: 20 },
    { input: solid(40, 20, 'yellow'), left: 40, top: 20 },
  ]);

describe('edited images', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startEdge();
    await store('corners.png', await corners().png().toBuffer());
    await store('turned.jpg', await corners().jpeg({ quality: 100 }).withMetadata({ orientation: 6 }).toBuffer());
    const framed = corners().png();
    await store(
      'framed.png',
      await sharp(solid(120, 60, 'white'))
        .composite([{ input: await framed.toBuffer(), left: 10, top: 10 }])
        .png()
        .toBuffer(),
    );
    const dot = { ...solid(40, 40, 'red') };
    await store(
      'dot.png',
      await sharp(solid(400, 200, '#777777'))
        .composite([{ input: dot, left: 330, top: 80 }])
        .png()
        .toBuffer(),
    );
    const clear = {
      create: { width: 10, height: 10, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
    } as const;
    await store('clear.png', await sharp(clear).png().toBuffer());
    await store(
      'large.png',
      await sharp(solid(1000, 1000, 'blue'))
        .png()
        .toBuffer(),
    );
  });
  afterAll(() => rig.close());

  const store = (key: string, bytes: Buffer) =>
    rig.originals.put(`u/1/${key}`, bytes, { contentType: 'image/png', size: bytes.length });
  const urlOf = (options: string, key = 'corners.png', format = 'png') => {
    const path = `/${options}/plain/s3://${rig.originals.bucket}/u/1/${key}@${format}`;
    return `${rig.url}/${sign(path)}${path}`;
  };
  async function pixelsAt(url: string) {
    const response = await fetch(url);
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number) => [
      ...data.subarray((y * info.width + x) * info.channels).subarray(0, info.channels),
    ];
    return { width: info.width, height: info.height, at };
  }
  /** The name of the nearest color; `clear` if it is transparent. */
  function nameOf(pixel: readonly number[]): string {
    if (pixel[3] === 0) return 'clear';
    const distance = (color: Rgb) =>
      color.reduce((sum, level, channel) => sum + Math.abs(level - (pixel[channel] ?? 0)), 0);
    const [nearest] = Object.entries(colors).sort(([, a], [, b]) => distance(a) - distance(b));
    return String(nearest?.[0]);
  }
  /** The size, and the colors of the corners: upper left, upper right, lower left, lower right. */
  async function seen(options: string, key?: string, format?: string) {
    const { width, height, at } = await pixelsAt(urlOf(options, key, format));
    const places = [at(0, 0), at(width - 1, 0), at(0, height - 1), at(width - 1, height - 1)];
    return `${width}x${height} ${places.map(nameOf).join(' ')}`;
  }
  const all = 'red lime blue yellow';

  it.each([
    // Sizes.
    ['s:40:40', `40x20 ${all}`],
    ['rs:force:20:40', `20x40 ${all}`],
    ['rs:force:20:0', `20x40 ${all}`],
    ['rs:fill-down:20:20', `20x20 ${all}`],
    ['rs:fit:400:400', `80x40 ${all}`],
    ['w:20/dpr:2', `40x20 ${all}`],
    ['w:80/dpr:2', `80x40 ${all}`],
    ['w:80/dpr:2/el:1', `160x80 ${all}`],
    // Gravity.
    ['rs:fill:40:40/g:we', '40x40 red red blue blue'],
    ['rs:fill:40:40/g:ea', '40x40 lime lime yellow yellow'],
    ['rs:fill:80:20/g:no', '80x20 red lime red lime'],
    ['rs:fill:80:20/g:so', '80x20 blue yellow blue yellow'],
    ['rs:fill:40:40/g:we:10', '40x40 red lime blue yellow'],
    ['rs:fill:40:40/g:fp:0:0.5', '40x40 red red blue blue'],
    ['rs:fill:40:40/g:fp:1:0', '40x40 lime lime yellow yellow'],
    ['rs:fill:40:40/g:fp:0.5:0.5', `40x40 ${all}`],
    // Crop before the resize.
    ['c:40:20:nowe', '40x20 red red red red'],
    ['c:40:20:soea', '40x20 yellow yellow yellow yellow'],
    ['c:0.5:0.5:noea', '40x20 lime lime lime lime'],
    ['c:40:0:we/w:20', '20x20 red red blue blue'],
    ['c:40:20/g:sowe', '40x20 blue blue blue blue'],
    ['c:500:500', `80x40 ${all}`],
    // Rotation and flips, before everything else.
    ['rot:90', '40x80 blue red yellow lime'],
    ['rot:180', '80x40 yellow blue lime red'],
    ['rot:270', '40x80 lime yellow red blue'],
    ['rot:90/w:20', '20x40 blue red yellow lime'],
    ['rot:90/c:20:40:nowe', '20x40 blue blue blue blue'],
    ['fl:1', '80x40 lime red yellow blue'],
    ['fl:0:1', '80x40 blue yellow red lime'],
    ['rot:90/fl:1', '40x80 red blue lime yellow'],
    // Borders.
    ['rs:fit:80:80:0:1', '80x80 clear clear clear clear'],
    ['rs:fit:80:80:0:1:no', '80x80 red lime clear clear'],
    ['rs:fit:80:80/ex:1:so/bg:fff', '80x80 white white blue yellow'],
    ['pd:10/bg:000', '100x60 black black black black'],
    ['pd:0:0:0:10/bg:fff', '90x40 white lime white yellow'],
    ['w:20/dpr:2/pd:5/bg:0:0:255', '60x40 blue blue blue blue'],
    ['w:40/rs:fill:20:20/pd:2', '24x24 clear clear clear clear'],
    // Filters keep the size.
    ['bl:1/sh:1', `80x40 ${all}`],
    // Presets.
    ['pr:sharp', '40x40 red lime blue yellow'],
    ['pr:tiny', '30x30 red lime blue yellow'],
  ])('%s gives %s', async (options, expected) => {
    expect(await seen(options)).toBe(expected);
  });

  it.each([
    ['w:20', '20x40 blue red yellow lime'],
    ['ar:0/w:40', `40x20 ${all}`],
    ['rot:90/w:40', '40x20 yellow blue lime red'],
    ['rs:fill:40:40/g:no', '40x40 blue red blue red'],
    ['rs:fill:40:40/g:fp:0.5:1', '40x40 yellow lime yellow lime'],
    ['c:16:32:nowe', '16x32 blue blue blue blue'],
  ])('%s of an image that its EXIF orientation turns gives %s', async (options, expected) => {
    expect(await seen(options, 'turned.jpg')).toBe(expected);
  });

  it.each([
    ['t:10', '80x40 red lime blue yellow'],
    ['t:10:ffffff', '80x40 red lime blue yellow'],
    ['t:10::1', '100x40 red white blue white'],
    ['t:10:fff:1:1', '100x40 red white blue white'],
    ['t:10/w:40', '40x20 red lime blue yellow'],
  ])('%s of a framed image gives %s', async (options, expected) => {
    expect(await seen(options, 'framed.png')).toBe(expected);
  });

  it.each(['rs:fill:100:100/g:sm', 'rs:fill:100:100:1/g:sm/dpr:1.5', 'c:100:100:sm', 'c:80:60/g:sm/w:40'])(
    '%s shows the interesting part',
    async (options) => {
      const { width, height, at } = await pixelsAt(urlOf(options, 'dot.png'));
      const pixels = Array.from({ length: width * height }, (_, n) => at(n % width, Math.floor(n / width)));
      const red = pixels.filter(([r = 0, g = 0]) => r > 200 && g < 60);
      expect(red.length).toBeGreaterThan(100);
    },
  );

  it('shows the interesting part of a turned image', async () => {
    const dot = await fetch(urlOf('q:0', 'dot.png')).then((response) => response.arrayBuffer());
    // Stored upside down, and shown upright.
    const turned = await sharp(dot).rotate(180).jpeg({ quality: 95 }).withMetadata({ orientation: 3 }).toBuffer();
    await store('dot.jpg', turned);
    const { at } = await pixelsAt(urlOf('rs:fill:100:100/g:sm', 'dot.jpg'));
    const reds = Array.from({ length: 100 }, (_, x) => at(x, 50)).filter(([r = 0, g = 0]) => r > 180 && g < 90);
    expect(reds.length).toBeGreaterThan(10);
  });

  it('puts the watermark at the requested position', async () => {
    const brightestIn = async (options: string, left: number, top: number) => {
      const response = await fetch(urlOf(options, 'large.png'));
      const area = { left, top, width: 500, height: 500 };
      const part = sharp(await response.arrayBuffer())
        .extract(area)
        .removeAlpha()
        .png();
      const { channels } = await sharp(await part.toBuffer()).stats();
      return channels[0]?.max ?? 0;
    };
    expect(await brightestIn('wm:1:nowe', 0, 0)).toBeGreaterThan(150);
    expect(await brightestIn('wm:1:nowe', 500, 500)).toBe(0);
    expect(await brightestIn('wm:1:soea:0:0:0.4', 500, 500)).toBeGreaterThan(150);
    expect(await brightestIn('wm:0.3:soea:0:0:0.4', 500, 500)).toBeLessThan(120);
    for (const [left, top] of [
      [0, 0],
      [500, 500],
    ] as const)
      expect(await brightestIn('wm:1:re:10:10:0.2', left, top)).toBeGreaterThan(150);
    // Beyond the edge.
    expect((await fetch(urlOf('wm:1:soea:-5000:-5000', 'large.png'))).status).toBe(200);
    expect((await fetch(urlOf('wm:1:ce:0:0:1', 'clear.png'))).status).toBe(200);
  });

  it('fills transparent pixels with the background', async () => {
    expect(await seen('bg:f00', 'clear.png')).toBe('10x10 red red red red');
    expect(await seen('pd:1', 'clear.png', 'jpg')).toBe('12x12 white white white white');
    expect(await seen('pd:1/bg:00f', 'clear.png', 'jpg')).toBe('12x12 blue blue blue blue');
  });

  it('respects a budget and a quality for a format', async () => {
    const sizeOf = async (options: string) =>
      (await (await fetch(urlOf(options, 'dot.png', 'jpg'))).arrayBuffer()).byteLength;
    expect(await sizeOf('pd:10/mb:2000')).toBeLessThanOrEqual(2000);
    expect(await sizeOf('fq:jpg:10')).toBeLessThan(await sizeOf('fq:jpg:95'));
    expect(await sizeOf('q:10/fq:jpg:95')).toBe(await sizeOf('q:10'));
  });

  it.each([
    ['w:2500/h:2500/el:1', 'large.png'],
    ['dpr:3/el:1/w:1000', 'large.png'],
    ['pd:2000', 'large.png'],
    ['ex:1/w:5000/h:5000', 'large.png'],
  ])('%s makes too many pixels', async (options, key) => {
    const response = await fetch(urlOf(options, key));
    expect([response.status, JSON.parse(await response.text()).issues[0].path]).toEqual([400, 'options.enlarge']);
  });

  it('expires', async () => {
    const nowS = Math.floor(rig.clock.nowMs / 1000);
    const response = await fetch(urlOf(`w:10/exp:${nowS + 100}`));
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toMatch(/^public, max-age=(99|100)$/);
    expect((await fetch(urlOf(`w:10/exp:${nowS - 100}`))).status).toBe(404);
  });

  it('has the file name that the URL gives it', async () => {
    const { headers } = await fetch(urlOf('w:10/fn:my%20photo/att:1', 'corners.png', 'jpg'));
    expect(headers.get('content-disposition')).toContain('attachment; filename="my photo.jpg"');
    expect((await fetch(urlOf('w:10'))).headers.get('content-disposition')).toBeNull();
  });

  it('ignores a cache buster of another system', async () => {
    for (const buster of ['1', 'v2', '2026-11-22']) expect((await fetch(urlOf(`w:11/cb:${buster}`))).status).toBe(200);
    expect((await fetch(urlOf(`w:11/cb:${'x'.repeat(16)}`))).status).toBe(404);
  });

  it('is stored like every other variant, at most 64 of one source', async () => {
    const before = (await gather(rig.publicObjects, [''])).length;
    for (let side = 1; side <= 70; side++) expect((await fetch(urlOf(`pd:${side}`, 'clear.png'))).status).toBe(200);
    expect((await gather(rig.publicObjects, [''])).length - before).toBeLessThanOrEqual(64);
  });

  it("works with imgproxy's own client", async () => {
    const url = { value: `s3://${rig.originals.bucket}/u/1/corners.png`, displayAs: 'plain' } as const;
    const generated = (options: object) =>
      generateImageUrl({ endpoint: rig.url, url: options === base64 ? url.value : url, options, ...resizingKeys });
    const base64 = { width: 10, format: 'webp' };
    const cases: readonly object[] = [
      base64,
      { resize: { resizing_type: 'fill', width: 20, height: 20, enlarge: 1 }, gravity: { type: 'sm' }, format: 'png' },
      { size: { width: 20, height: 20, extend: { extend: 1 } }, dpr: 2, format: 'jpg' },
      {
        crop: { width: 0.5, height: 0.5, gravity: { type: 'no', x_offset: 5 } },
        gravity: { type: 'fp', x: 0.5, y: 0.2 },
        format: 'webp',
      },
      { trim: { threshold: 10 }, padding: { top: 1, right: 2 }, background: 'ff0000', format: 'webp' },
      { rotate: 90, blur: 1, sharpen: 0.5, watermark: { opacity: 0.5 }, quality: 80, format: 'webp' },
      { auto_rotate: 1, max_bytes: 50_000, format: 'jpg' },
      { filename: { name: 'photo' }, return_attachment: 1, cachebuster: 'v1', format: 'webp' },
    ];
    for (const options of cases) {
      const response = await fetch(generated(options));
      expect([options, response.status, response.status === 200 ? '' : await response.text()]).toEqual([
        options,
        200,
        '',
      ]);
    }
  });

  it('works with an image loader of Next.js', async () => {
    // As in the documentation of Next.js: `({ src, width, quality }) => URL`.
    const loader = ({ src, width, quality }: { src: string; width: number; quality?: number }) =>
      generateImageUrl({
        endpoint: rig.url,
        url: src,
        options: { width, quality: quality ?? 75, format: 'webp' },
        ...resizingKeys,
      });
    for (const width of [16, 640, 3840]) {
      const response = await fetch(loader({ src: `s3://${rig.originals.bucket}/u/1/corners.png`, width }));
      expect([width, response.status, response.headers.get('content-type')]).toEqual([width, 200, 'image/webp']);
    }
  });
});
