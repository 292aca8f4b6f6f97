import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EngineBusy, EngineTimeout } from '#image/engine/engine.ts';
import { objectSource, SourceFault } from '#image/engine/sources.ts';
import { toTransform } from '#image/engine/specs.ts';
import { StoreFault, type VariantMaker } from '#image/engine/variants.ts';
import { gather } from '#platform/objects/gathering.ts';
import { bytesOf, drivers, type Rig, rawGet, resizingKeys, startEdge } from '../../test/edge/edge.fixture.ts';
import { sceneColour } from '../../test/image/images.fixture.ts';
import { inLane } from '../../test/lane.fixture.ts';
import { bmpOf } from '../../test/media/bmp.fixture.ts';
import { fixture } from '../../test/media/heif.fixture.ts';
import { pathSigner, type ResizeFormat, type ResizeOptions, type ResizeSigner, resizeSigner } from './api.ts';

/** The machine may be busy with other work. */
const patience = { timeout: 60_000 };

const sign = pathSigner(resizingKeys.key, resizingKeys.salt);
const signed = (path: string) => `/${sign(path)}${path}`;

/** Red above and blue below, so that two pixels show how it was cropped and rotated. */
function image(width: number, height: number) {
  const half = { width, height: height / 2, channels: 3, background: 'blue' } as const;
  return sharp({ create: { width, height, channels: 3, background: 'red' } }).composite([
    { input: { create: half }, gravity: 'south' },
  ]);
}

const noise = () => sharp(bytesOf(300 * 300 * 3), { raw: { width: 300, height: 300, channels: 3 } });

describe.each(inLane(drivers))('resize addresses over $name', ({ name, missing }) => {
  describe.skipIf(missing)('', () => {
    let rig: Rig;
    let address: ResizeSigner;
    beforeAll(async () => {
      rig = await startEdge({ driver: name });
      address = resizeSigner({ baseUrl: rig.url, ...resizingKeys });
      await store('u/1/photo.png', await image(800, 400).png().toBuffer());
      await store('u/1/50% ü@2x.png', await image(80, 40).png().toBuffer());
      await store('u/1/turned.jpg', await image(80, 40).jpeg().withMetadata({ orientation: 6 }).toBuffer());
    });
    afterAll(() => rig.close());

    const store = (key: string, bytes: Buffer) =>
      rig.originals.put(key, bytes, { contentType: 'image/png', size: bytes.length });
    const to = (options: ResizeOptions, format: ResizeFormat = 'webp', key = 'u/1/photo.png') =>
      address({ bucket: rig.originals.bucket, key }, options, format);
    const plain = (key = 'u/1/photo.png') => `plain/s3://${rig.originals.bucket}/${key}`;

    async function sizeAt(url: string): Promise<[number, number, string]> {
      const response = await fetch(url);
      expect(response.status).toBe(200);
      const { width, height, format } = await sharp(await response.arrayBuffer()).metadata();
      return [width, height, format];
    }

    it.each<[ResizeOptions, ResizeFormat, [number, number, string]]>([
      [{ width: 400, height: 400, quality: 80 }, 'webp', [400, 200, 'webp']],
      [{ width: 400 }, 'jpeg', [400, 200, 'jpeg']],
      [{ height: 100 }, 'png', [200, 100, 'png']],
      [{ resizingType: 'fill', width: 100, height: 100 }, 'webp', [100, 100, 'webp']],
      [{ resizingType: 'auto', width: 100, height: 100 }, 'webp', [100, 50, 'webp']],
      [{ width: 1600 }, 'webp', [800, 400, 'webp']],
      [{ width: 1600, enlarge: true, blur: 2, algorithm: 'nearest' }, 'jpeg', [1600, 800, 'jpeg']],
      [{}, 'webp', [800, 400, 'webp']],
    ])('%o as %s', async (options, format, expected) => {
      expect(await sizeAt(to(options, format))).toEqual(expected);
    });

    it('turn the image upright', async () => {
      expect(await sizeAt(to({ width: 20 }, 'png', 'u/1/turned.jpg'))).toEqual([20, 40, 'png']);
    });

    it('keep to a budget of bytes', async () => {
      await store('u/1/noisy.png', await noise().png().toBuffer());
      const response = await fetch(to({ maxBytes: 30_000, quality: 90 }, 'jpeg', 'u/1/noisy.png'));
      expect((await response.arrayBuffer()).byteLength).toBeLessThanOrEqual(30_000);
    });

    it.each(['jpeg', 'png', 'webp'] as const)(
      'become smaller where no quality keeps to a budget (%s)',
      async (format) => {
        await store('u/1/noisy.png', await noise().png().toBuffer());
        const response = await fetch(to({ maxBytes: 8000 }, format, 'u/1/noisy.png'));
        const bytes = Buffer.from(await response.arrayBuffer());
        expect([response.status, bytes.length <= 8000]).toEqual([200, true]);
        const { width, height } = await sharp(bytes).metadata();
        const whole = await sharp(
          Buffer.from(await (await fetch(to({}, format, 'u/1/noisy.png'))).arrayBuffer()),
        ).metadata();
        expect(width / height).toBeCloseTo(whole.width / whole.height, 1);
        expect(Math.max(width, height)).toBeGreaterThanOrEqual(64);
        // No file of the format is as small as this, whatever the noise.
        const refused = await fetch(to({ maxBytes: 20 }, format, 'u/1/noisy.png'));
        expect([refused.status, await refused.json()]).toMatchObject([422, { error: 'cannot_fit' }]);
      },
    );

    it('reach any key', async () => {
      expect(await sizeAt(to({ width: 40 }, 'webp', 'u/1/50% ü@2x.png'))).toEqual([40, 20, 'webp']);
    });

    it.each(['?x=1', '?utm_source=mail&x'])('is 404 with the unsigned query %s, without a variant', async (query) => {
      expect((await fetch(to({ width: 41 }))).status).toBe(200);
      const response = await fetch(`${to({ width: 41 })}${query}`);
      expect([response.status, response.headers.get('cache-control')]).toEqual([404, 'no-store']);
    });

    it('have the headers that caches and browsers need', async () => {
      const response = await fetch(to({ width: 120 }, 'jpeg'));
      const length = (await response.arrayBuffer()).byteLength;
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'image/jpeg',
        'content-length': String(length),
        'cache-control': 'public, max-age=3600',
        etag: expect.stringMatching(/^"[^"]+"$/),
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': '*',
      });
      const headers = { 'if-none-match': response.headers.get('etag') ?? '' };
      const known = await fetch(to({ width: 120 }, 'jpeg'), { headers });
      expect([known.status, await known.text()]).toEqual([304, '']);
      const head = await fetch(to({ width: 120 }, 'jpeg'), { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(length), '']);
      const part = await fetch(to({ width: 120 }, 'jpeg'), { headers: { range: 'bytes=0-9' } });
      expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 10]);
    });

    it('serve the variant that the image service stored', async () => {
      const spec = { width: 77, height: 77, quality: 66 };
      const source = objectSource(rig.originals, 'u/1/photo.png');
      const [variant] = await rig.variants.ensure(source, [{ transform: toTransform(spec) }]);
      const kept = await fetch(`${rig.url}/${variant?.key}`);
      const resized = await fetch(to(spec));
      expect(kept.status).toBe(200);
      expect(Buffer.from(await resized.arrayBuffer())).toEqual(Buffer.from(await kept.arrayBuffer()));
      expect(resized.headers.get('etag')).toBe(kept.headers.get('etag'));
    });

    it('return 404 once their source has been deleted, even if they are stored', async () => {
      await store('u/1/gone.png', await image(80, 40).png().toBuffer());
      const url = to({ width: 40 }, 'webp', 'u/1/gone.png');
      const etag = (await fetch(url)).headers.get('etag') ?? '';
      await rig.originals.remove(['u/1/gone.png']);
      for (const headers of [{}, { 'if-none-match': etag }]) {
        const response = await fetch(url, { headers });
        expect([response.status, response.headers.get('cache-control')]).toEqual([404, 'no-store']);
        expect(response.headers.get('etag')).toBeNull();
      }
    });

    it.each([
      ['HEIC', () => fixture('scene.heic')],
      ['BMP', () => bmpOf(96, 64, sceneColour)],
      ['TIFF', () => image(96, 64).tiff().toBuffer()],
    ] as const)('are made of %s', async (format, make) => {
      await store(`u/1/photo.${format}`, await make());
      expect(await sizeAt(to({ width: 48, height: 48 }, 'webp', `u/1/photo.${format}`))).toEqual([48, 32, 'webp']);
    });

    it.each<[string, string]>([
      ['plain', 'rs:fit:40:40/q:80/PLAIN@png'],
      ['base64url', 'rs:fit:40:40/q:80/ENCODED.png'],
      ['base64url in parts', 'rs:fit:40:40/q:80/PARTS.png'],
      ['long names', 'resize:fit:40:40/quality:80/enlarge:0/max_bytes:0/blur:0/gravity:ce/format:png/PLAIN'],
      ['width and height', 'w:40/h:40/el:0/mb:0/bl:0/g:ce/f:png/ra:lanczos3/PLAIN'],
    ])('are read in the form %s', async (_form, written) => {
      const encoded = Buffer.from(plain().slice('plain/'.length)).toString('base64url');
      const path = written
        .replace('PLAIN', plain())
        .replace('ENCODED', encoded)
        .replace('PARTS', `${encoded.slice(0, 16)}/${encoded.slice(16)}`);
      expect(await sizeAt(rig.url + signed(`/${path}`))).toEqual([40, 20, 'png']);
    });

    it('are right after a proxy has rewritten them', async () => {
      const path = `/rs:fit:40:40/${plain()}@png`;
      const changed = path.replaceAll('rs:fit:40:40', 'rs%3Afit%3A40%3A40').replace('s3://', 's3:/');
      expect(await sizeAt(`${rig.url}/${sign(path)}${changed}`)).toEqual([40, 20, 'png']);
    });

    it.each<[string, (path: string) => string]>([
      ['another size', (path) => path.replace('40:40', '4000:4000')],
      ['another source', (path) => path.replace('photo', 'turned')],
      ['another format', (path) => path.replace('@png', '@webp')],
      ['no signature', (path) => path.replace(/^\/[\w-]+/, '/')],
      ['imgproxy’s word for none', (path) => path.replace(/^\/[\w-]+/, '/insecure')],
      ['a shorter signature', (path) => path.replace(/^\/[\w-]{8}/, '/')],
      ['a longer signature', (path) => path.replace(/^\/[\w-]/, '/AA')],
      ['a padded signature', (path) => path.replace(/^(\/[\w-]{43})/, '$1=')],
      ['another last character', (path) => path.replace(/^(\/[\w-]{42})./, (_all, most) => `${most}_`)],
    ])('with %s are 403', async (_name, change) => {
      const path = signed(`/rs:fit:40:40/${plain()}@png`);
      const changed = change(path);
      expect(changed).not.toBe(path);
      const answer = await rawGet(rig.port, changed);
      expect(answer).toMatch(/^HTTP\/1\.1 403 /);
      expect(answer).toContain('invalid_address');
    });

    it('judge the signature before the options', async () => {
      const path = `/dpr:0/${plain()}@png`;
      expect((await fetch(`${rig.url}/${'A'.repeat(43)}${path}`)).status).toBe(403);
    });

    it.each([
      ['dpr:0/PLAIN@png', 'options.dpr'],
      ['rs:crop:1:1/PLAIN@png', 'options.rs'],
      ['ra:lanczos9/PLAIN@png', 'options.ra'],
      ['resizing_algorithm:/PLAIN@png', 'options.resizing_algorithm'],
      ['w:20000/PLAIN@png', 'options.w'],
      ['q:0.5/PLAIN@png', 'options.q'],
      ['g:obj/PLAIN@png', 'options.g'],
      ['w:1/PLAIN@gif', 'extension'],
      ['w:1/plain/http://127.0.0.1/a.png@png', 'source'],
      ['w:1/plain/local:///etc/passwd@png', 'source'],
      ['w:1/a*b', 'source'],
      ['w:1', 'source'],
    ])('%s is 400 and names %s', async (written, at) => {
      const response = await fetch(rig.url + signed(`/${written.replace('PLAIN', plain())}`));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: 'invalid_request', issues: [{ path: at }] });
    });

    it.each([
      'plain/s3://elsewhere/u/1/photo.png',
      'plain/s3://BUCKET/u/1/absent.png',
      'plain/s3://BUCKET/../secrets.json',
      'plain/s3://BUCKET/%2e%2e/secrets.json',
      'plain/s3://BUCKET//etc/passwd',
      'plain/s3://BUCKET/a%00b',
      'plain/s3://PUBLIC/img/a.png',
    ])('%s is 404', async (written) => {
      const source = written.replace('BUCKET', rig.originals.bucket).replace('PUBLIC', rig.publicObjects.bucket);
      expect(await rawGet(rig.port, signed(`/w:1/${source}@png`))).toMatch(/^HTTP\/1\.1 404 /);
    });

    it.each<[string, () => Promise<Buffer>, string]>([
      ['icons', async () => Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0]), 'unsupported_image'],
      ['SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'unsupported_image'],
      ['half an image', async () => (await noise().jpeg().toBuffer()).subarray(0, 20_000), 'undecodable_image'],
      ['too many pixels', () => image(8000, 8000).png().toBuffer(), 'image_too_large'],
    ])('of %s are 422', async (what, make, code) => {
      const key = `u/1/${what.replaceAll(' ', '-')}`;
      await store(key, await make());
      const response = await fetch(to({ width: 10 }, 'webp', key));
      expect([response.status, response.headers.get('cache-control')]).toEqual([422, 'no-store']);
      expect(await response.json()).toMatchObject({ error: code });
    });

    it.each<[ResizeOptions, number]>([
      [{ width: 2000, enlarge: true }, 200],
      [{ width: 2896, enlarge: true }, 200],
      [{ width: 2900, enlarge: true }, 400],
      [{ width: 2048, height: 2048, resizingType: 'fill', enlarge: true }, 200],
      [{ width: 7000, height: 7000, resizingType: 'fill', enlarge: true, maxBytes: 1 }, 400],
      [{ width: 7000, height: 7000, resizingType: 'fill' }, 200],
    ])('%j: enlarged up to 4 megapixels', async (options, status) => {
      const response = await fetch(to(options));
      expect(response.status).toBe(status);
      if (status === 400)
        expect(await response.json()).toMatchObject({
          error: 'invalid_request',
          issues: [{ path: 'options.enlarge' }],
        });
    });

    it('serve more variants of an image than are stored', async () => {
      await store('u/2/photo.png', await image(200, 100).png().toBuffer());
      const prefix = rig.variants.names.prefix(objectSource(rig.originals, 'u/2/photo.png'));
      const countStored = async () => (await gather(rig.publicObjects, [prefix])).length;
      const ofWidth = (width: number) => to({ width }, 'png', 'u/2/photo.png');
      for (let width = 1; width <= 66; width++) expect((await fetch(ofWidth(width))).status).toBe(200);
      expect(await countStored()).toBe(64);
      expect((await fetch(ofWidth(1))).status).toBe(200);
      expect(await countStored()).toBe(64);
      await rig.originals.remove(['u/2/photo.png']);
      expect((await fetch(ofWidth(1))).status).toBe(404);
    });

    it('generate one variant for concurrent requests', async () => {
      const answers = await Promise.all(
        Array.from({ length: 16 }, async () => {
          const response = await fetch(to({ width: 333 }));
          return [response.status, response.headers.get('etag'), (await response.arrayBuffer()).byteLength];
        }),
      );
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    });
  });
});

describe('resize addresses', () => {
  let rig: Rig;
  /** Runs before the variant is generated, or replaces it. */
  let before: () => Promise<unknown>;
  beforeAll(async () => {
    const variants: Pick<VariantMaker, 'serve'> = {
      serve: async (source, transform) => {
        await before();
        return rig.variants.serve(source, transform);
      },
    };
    const otherBucket = (name: string) => (name === 'legacy' ? rig.originals : undefined);
    rig = await startEdge({ variants, otherBucket });
  });
  beforeEach(async () => {
    before = async () => undefined;
    await rig.originals.put('a.png', await image(8, 4).png().toBuffer(), { contentType: 'image/png' });
  });
  afterAll(() => rig.close());

  const get = (bucket = 'objects') => fetch(rig.url + signed(`/w:1/plain/s3://${bucket}/a.png@webp`));

  it.each<[Error, number, string]>([
    [new EngineBusy('no permit'), 503, 'overloaded'],
    [new EngineTimeout('too long'), 504, 'processing_timeout'],
    [new StoreFault('down'), 503, 'engine_unavailable'],
    [new SourceFault('failed', 'down'), 503, 'engine_unavailable'],
    [new Error('a mistake of ours'), 500, 'internal_error'],
  ])('when the maker says %s', async (error, status, code) => {
    before = () => Promise.reject(error);
    const response = await get();
    expect([response.status, response.headers.get('cache-control')]).toEqual([status, 'no-store']);
    expect(await response.json()).toMatchObject({ error: code });
    expect(response.headers.has('retry-after')).toBe(status === 503);
  });

  it('return 404 if the source is deleted while its variant is rendered', async () => {
    before = () => rig.originals.remove(['a.png']);
    expect((await get()).status).toBe(404);
  });

  it('return the current files of further buckets, and keep variants only of these', async () => {
    const other = await startEdge();
    const rig = await startEdge({ otherBucket: (name) => (name === 'old' ? other.originals : undefined) });
    const address = resizeSigner({ baseUrl: rig.url, ...resizingKeys });
    const lay = async (background: string) => {
      const bytes = await sharp({ create: { width: 40, height: 40, channels: 3, background } })
        .png()
        .toBuffer();
      return other.originals.put('a/b.png', bytes, { contentType: 'image/png', size: bytes.length });
    };
    const redAt = async (url: string) => {
      const { channels } = await sharp(await (await fetch(url)).arrayBuffer()).stats();
      return channels[0]?.mean ?? 0;
    };
    const kept = async () => {
      const keys: string[] = [];
      for await (const { key } of rig.publicObjects.list('img/')) keys.push(key);
      return keys.length;
    };
    const unpinned = address({ bucket: 'old', key: 'a/b.png' }, { width: 20 }, 'png');
    const pinned = (etag: string) => address({ bucket: 'old', key: 'a/b.png', etag }, { width: 20 }, 'png');
    const red = await lay('red');
    for (const url of [unpinned, pinned(red.etag)]) expect(await redAt(url)).toBeGreaterThan(250);
    expect(await kept()).toBe(1);
    const blue = await lay('blue');
    for (const url of [unpinned, pinned(blue.etag)]) expect(await redAt(url)).toBeLessThan(5);
    expect((await fetch(pinned(red.etag))).status).toBe(404);
    await expect.poll(kept, patience).toBe(1);
    await Promise.all([rig.close(), other.close()]);
  });

  it('reach further buckets that are handed in', async () => {
    expect((await get('legacy')).status).toBe(200);
    expect((await get('legacy2')).status).toBe(404);
  });
});
