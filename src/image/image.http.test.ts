import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { createLog } from '#platform/log.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { type OpenedObjects, openObjects } from '#platform/objects/open.ts';
import { blankPng, photo, pipe, scene, sceneColour, turned } from '../../test/image/images.fixture.ts';
import { bmpOf } from '../../test/media/bmp.fixture.ts';
import { fixture } from '../../test/media/heif.fixture.ts';
import type { EngineLimits } from './engine/engine.ts';
import { createVariantMaker } from './engine/variants.ts';
import { createEngine } from './engine/working.ts';
import { createImageService } from './service.ts';

const log = createLog({ level: 'silent' });
const internalKey = 'the internal key';
const limits: EngineLimits = {
  maxSourcePixels: 4_000_000,
  processTimeoutMs: 30_000,
  concurrency: 2,
  permitWaitMs: 30_000,
};

let folder: string;
let objects: OpenedObjects;
let images: Server;
let imagesUrl: string;
let fetches: string[];
let image: Buffer;
let base: string;
const running: HttpServer[] = [];

interface Changes {
  limits?: Partial<EngineLimits>;
  originals?: Partial<Objects>;
  publicObjects?: Partial<Objects>;
  internalKey?: string;
}

/** Starts a separate service and returns its URL. */
async function start(changes: Changes = {}): Promise<string> {
  const changed = { ...limits, ...changes.limits };
  const publicObjects = { ...objects.publicObjects, ...changes.publicObjects };
  const variants = createVariantMaker({
    engine: createEngine(changed),
    keySecret: 'key secret',
    publicObjects,
    limits: changed,
  });
  const service = createImageService({
    settings: {
      internalKey: changes.internalKey ?? internalKey,
      allowedSourceHosts: [new URL(imagesUrl).host],
      permitWaitMs: changed.permitWaitMs,
      processTimeoutS: changed.processTimeoutMs / 1000,
    },
    variants,
    originals: { ...objects.originals, ...changes.originals },
    publicUrl: 'https://cdn.test',
    server: { log, readiness: { objects: () => objects.publicObjects.check() } },
  });
  running.push(service);
  return service.listen({ host: '127.0.0.1', port: 0 });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'image-'));
  objects = await openObjects({
    settings: {
      endpoint: 'embedded',
      region: undefined,
      bucket: undefined,
      publicBucket: undefined,
      accessKeyId: undefined,
      secretAccessKey: undefined,
    },
    production: false,
    dataDir: folder,
    clock: systemClock,
    log,
  });
  image = await pipe(scene()).png().toBuffer();
  images = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    fetches.push(pathname);
    if (pathname.startsWith('/image')) response.end(image);
    else if (pathname === '/to') response.writeHead(302, { location: searchParams.get('url') ?? '' }).end();
    else if (pathname === '/text') response.end('no image');
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => images.listen(0, '127.0.0.1', resolve));
  imagesUrl = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
  fetches = [];
  base = await start();
  await objects.originals.put('u/a.png', image, { contentType: 'image/png' });
});
afterAll(async () => {
  await Promise.all(running.map((service) => service.close()));
  images.closeAllConnections();
  images.close();
  await objects.close();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly variants?: Record<string, string>;
    readonly overBudget?: readonly string[];
    readonly forgotten?: number;
    readonly error?: string;
    readonly message?: string;
    readonly requestId?: string;
    readonly issues?: readonly { path: string }[];
  };
}

async function send(path: string, body: unknown, headers: Record<string, string> = {}, at = base): Promise<Answer> {
  const answer = await fetch(`${at}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-key': internalKey, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] };
}

const key = 'u/a.png';
const ensure = (specs: unknown, source: unknown = { key }, at = base) => send('/v1/ensure', { source, specs }, {}, at);
const spec = (rest: object = {}) => [{ name: 'v', ...rest }];

async function stored(address: string | undefined) {
  const body = await objects.publicObjects.get(address?.replace('https://cdn.test/', '') ?? 'none');
  return body && Buffer.concat(await body.stream.toArray());
}

describe('operations', () => {
  it('is healthy in plain text', async () => {
    const answer = await fetch(`${base}/health`);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
  });
  it('names itself', async () => {
    expect(await (await fetch(base)).json()).toMatchObject({ service: 'image' });
    expect((await fetch(`${base}/ready`)).status).toBe(200);
    expect((await fetch(`${base}/v1/none`)).status).toBe(404);
  });
});

describe('checks credentials before anything else', () => {
  const bodies = ['{}', 'not json', JSON.stringify({ source: { key }, specs: spec() }), 'x'.repeat(1024 * 1024 + 1)];
  it.each(['/v1/ensure', '/v1/forget'])('%s', async (path) => {
    const wrong: Record<string, string>[] = [
      {},
      { 'x-internal-key': '' },
      { 'x-internal-key': 'wrong' },
      { authorization: 'Bearer a.b.c' },
    ];
    for (const given of wrong) {
      for (const body of bodies) {
        const headers = { 'content-type': body === 'not json' ? 'text/plain' : 'application/json', ...given };
        const answer = await fetch(`${base}${path}`, { method: 'POST', headers, body });
        expect(answer.status).toBe(401);
        expect(await answer.json()).toMatchObject({ error: 'unauthorized', requestId: expect.any(String) });
      }
    }
  });

  it('rejects every key if the setting is empty', async () => {
    const closed = await start({ internalKey: '' });
    for (const given of ['', ' ', 'undefined']) {
      const answer = await send('/v1/ensure', { source: { key }, specs: spec() }, { 'x-internal-key': given }, closed);
      expect(answer.status).toBe(401);
    }
  });
});

describe('the form of a request', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `v${index}`, width: 5 }));
  const faults: [what: string, body: unknown, path: string][] = [
    ['no source', { specs: spec() }, 'body.source'],
    ['source null', { source: null, specs: spec() }, 'body.source'],
    ['source a string', { source: key, specs: spec() }, 'body.source'],
    ['neither key nor url', { source: {}, specs: spec() }, 'body.source'],
    ['both null', { source: { key: null, url: null }, specs: spec() }, 'body.source'],
    ['both key and url', { source: { key, url: 'http://a.test/' }, specs: spec() }, 'body.source'],
    ['an empty key', { source: { key: '' }, specs: spec() }, 'body.source.key'],
    ['a key that is no string', { source: { key: 5 }, specs: spec() }, 'body.source.key'],
    ['a key that climbs', { source: { key: '../secrets.json' }, specs: spec() }, 'body.source.key'],
    ['a key that climbs inside', { source: { key: 'u/../../secrets.json' }, specs: spec() }, 'body.source.key'],
    ['an absolute key', { source: { key: '/etc/passwd' }, specs: spec() }, 'body.source.key'],
    ['a key with a backslash', { source: { key: 'u\\a.png' }, specs: spec() }, 'body.source.key'],
    ['a key with NUL', { source: { key: 'u/a.png\0' }, specs: spec() }, 'body.source.key'],
    ['a key with an empty part', { source: { key: 'u//a.png' }, specs: spec() }, 'body.source.key'],
    ['a key of a part too long', { source: { key: `u/${'a'.repeat(256)}` }, specs: spec() }, 'body.source.key'],
    ['a url that is none', { source: { url: 'not an address' }, specs: spec() }, 'body.source.url'],
    ['a url without a host', { source: { url: 'http://' }, specs: spec() }, 'body.source.url'],
    ['no specs', { source: { key } }, 'body.specs'],
    ['empty specs', { source: { key }, specs: [] }, 'body.specs'],
    ['specs an object', { source: { key }, specs: {} }, 'body.specs'],
    ['33 specs', { source: { key }, specs: names(33) }, 'body.specs'],
    ['no name', { source: { key }, specs: [{ width: 5 }] }, 'body.specs.0.name'],
    ['an empty name', { source: { key }, specs: [{ name: '' }] }, 'body.specs.0.name'],
    ['a name twice', { source: { key }, specs: [...names(2), { name: 'v0' }] }, 'body.specs.2.name'],
  ];
  const bad: [field: string, values: readonly unknown[]][] = [
    ['width', [-1, 1.5, 16_384, '5', true]],
    ['height', [-1, 1.5, 16_384, '5', true]],
    ['quality', [0, -1, 101, 1.5, '80', true]],
    ['format', ['gif', 'JPEG', '', 5, 'heic']],
    ['resizingType', ['crop', 'FIT', '', 5]],
    ['enlarge', [1, 'true']],
    ['blur', [-0.1, 100.1, '1', true]],
    ['maxBytes', [0, -1, 1.5, '5', true]],
    ['resampling', ['mitchell', 'LANCZOS3', '', 5]],
  ];
  for (const [field, values] of bad)
    for (const value of values)
      faults.push([
        `${field} ${JSON.stringify(value)}`,
        { source: { key }, specs: spec({ [field]: value }) },
        `body.specs.0.${field}`,
      ]);

  it.each(faults)('400 naming the field: %s', async (_what, body, path) => {
    const answer = await send('/v1/ensure', body);
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request']);
    expect(answer.body.issues?.map((issue) => issue.path)).toContain(path);
    expect(answer.body.message).toContain(path);
    expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'));
  });

  it.each(faults.slice(0, 17))('400 when forgetting too: %s', async (_what, body, path) => {
    const answer = await send('/v1/forget', body);
    expect([answer.status, answer.body.issues?.[0]?.path]).toEqual([400, path]);
  });

  const good: [field: string, values: readonly unknown[]][] = [
    ['width', [0, 1, 16_383, null]],
    ['height', [0, 1, 16_383, null]],
    ['quality', [1, 100, null]],
    ['format', ['webp', 'jpeg', 'jpg', 'png', 'avif', null]],
    ['resizingType', ['fit', 'fill', 'auto', null]],
    ['enlarge', [true, false, null]],
    ['blur', [0, 0.1, 100, 1e-9, null]],
    ['maxBytes', [1, 2_000_000_000, null]],
    ['resampling', ['lanczos3', 'lanczos2', 'cubic', 'linear', 'nearest', null]],
  ];
  it.each(good)('200 for every good value of %s', async (field, values) => {
    for (const value of values) {
      const answer = await ensure(spec({ [field]: value }));
      expect([value, answer.status]).toEqual([value, 200]);
    }
  });

  it('400 for an enlargement beyond 4 megapixels', async () => {
    const [within, beyond] = [2000, 2049].map((side) =>
      ensure(spec({ width: side, height: side, resizingType: 'fill', enlarge: true, format: 'jpeg' })),
    );
    expect((await within)?.status).toBe(200);
    const refused = await beyond;
    expect([refused?.status, refused?.body.error]).toEqual([400, 'invalid_request']);
    expect(refused?.body.issues).toEqual([{ path: 'body.specs', message: expect.stringContaining('2049 × 2049') }]);
  });

  it('treats null as absent', async () => {
    const nothing = { width: null, height: null, quality: null, format: null, resizingType: null, enlarge: null };
    const [asNull, absent] = await Promise.all([ensure(spec(nothing)), ensure(spec({}))]);
    expect(asNull?.body.variants).toEqual(absent?.body.variants);
  });

  it('200 for 32 specs, and for fields it does not know', async () => {
    const answer = await send('/v1/ensure', { source: { key, more: 1 }, specs: names(32), more: 1 });
    expect([answer.status, Object.keys(answer.body.variants ?? {}).length]).toEqual([200, 32]);
    expect((await ensure([{ name: 'v', more: 1 }], { key, url: null })).status).toBe(200);
  });

  it.each(['__proto__', 'constructor', 'a/b', '日本', ' '])('any name is answered: %s', async (name) => {
    const answer = await ensure([{ name, width: 9 }]);
    expect(answer.status).toBe(200);
    expect(Object.entries(answer.body.variants ?? {})).toEqual([
      [name, expect.stringMatching(/^https:\/\/cdn\.test\/img\//)],
    ]);
  });

  it('400 for invalid JSON, 415 for another type, 413 for a large body', async () => {
    expect(await send('/v1/ensure', '{')).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await send('/v1/ensure', '')).toMatchObject({ status: 400 });
    const text = await send('/v1/ensure', 'x', { 'content-type': 'text/plain' });
    expect(text).toMatchObject({ status: 415, body: { error: 'unsupported_media_type' } });
    const large = await send('/v1/ensure', `"${'x'.repeat(1024 * 1024)}"`);
    expect(large).toMatchObject({ status: 413, body: { error: 'payload_too_large' } });
  });
});

describe('variants', () => {
  it('are public objects under deterministic addresses', async () => {
    const specs = [
      { name: 'thumb', width: 40, height: 40, quality: 80 },
      { name: 'preview', width: 100, height: 100, format: 'jpeg' },
      { name: 'lossless', format: 'png' },
    ];
    const first = await ensure(specs);
    expect(first.status).toBe(200);
    expect(Object.keys(first.body)).toEqual(['variants']);
    const { thumb, preview, lossless } = first.body.variants ?? {};
    expect(thumb).toMatch(/^https:\/\/cdn\.test\/img\/([0-9a-f]{2})\/([0-9a-f]{2})\/\1\2[0-9a-f]{60}\.webp$/);
    expect(preview).toMatch(/\.jpg$/);
    expect(lossless).toMatch(/\.png$/);
    expect(await sharp(await stored(thumb)).metadata()).toMatchObject({ format: 'webp', width: 40, height: 27 });
    expect(await sharp(await stored(preview)).metadata()).toMatchObject({ format: 'jpeg', width: 100, height: 67 });
    expect(await sharp(await stored(lossless)).metadata()).toMatchObject({ format: 'png', width: 240, height: 160 });
    expect((await ensure(specs)).body).toEqual(first.body);
    expect((await ensure(specs, { key }, await start())).body).toEqual(first.body);
  });

  it('avif is produced as webp, under the address of webp', async () => {
    const { variants } = (
      await ensure([
        { name: 'a', format: 'avif', width: 33 },
        { name: 'w', width: 33 },
      ])
    ).body;
    expect(variants?.a).toBe(variants?.w);
    expect(variants?.a).toMatch(/\.webp$/);
  });

  it('of another source have other addresses', async () => {
    await objects.originals.put('u/b.png', image, { contentType: 'image/png' });
    const [one, other] = [await ensure(spec()), await ensure(spec(), { key: 'u/b.png' })];
    expect(one.body.variants?.v).not.toBe(other.body.variants?.v);
  });

  it('are upright', async () => {
    await objects.originals.put('u/turned.jpg', await turned(6), { contentType: 'image/jpeg' });
    const { variants } = (await ensure(spec({ width: 60 }), { key: 'u/turned.jpg' })).body;
    expect(await sharp(await stored(variants?.v)).metadata()).toMatchObject({ width: 60, height: 40 });
  });

  it('over their budget are named, every time', async () => {
    const specs = [
      { name: 'never', maxBytes: 1, width: 50 },
      { name: 'fits', maxBytes: 100_000, width: 50 },
      { name: 'lossless', maxBytes: 1, width: 50, format: 'png' },
    ];
    for (let time = 0; time < 2; time++) {
      const { status, body } = await ensure(specs);
      expect([status, body.overBudget]).toEqual([200, ['never', 'lossless']]);
      expect(Object.keys(body.variants ?? {})).toEqual(['never', 'fits', 'lossless']);
    }
  });
});

describe('sources by address', () => {
  it('are fetched once, and not at all if no variant is missing', async () => {
    fetches = [];
    const source = { url: `${imagesUrl}/image-once` };
    const specs = [
      { name: 'a', width: 10 },
      { name: 'b', width: 20 },
    ];
    const answers = await Promise.all(Array.from({ length: 16 }, () => ensure(specs, source)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(fetches).toEqual(['/image-once']);
    expect((await ensure(specs, source)).status).toBe(200);
    expect(fetches).toHaveLength(1);
  });

  it.each([
    ['a scheme', () => 'ftp://93.184.215.14/a.png'],
    ['a file', () => 'file:///etc/passwd'],
    ['a neighbour', () => `${base}/health`],
    ['a neighbour in another form', () => `${base.replace('127.0.0.1', '2130706433')}/health`],
    ['a neighbour hidden in IPv6', () => `${base.replace('127.0.0.1', '[::ffff:127.0.0.1]')}/health`],
    ['a neighbour by name', () => `${base.replace('127.0.0.1', 'localhost')}/health`],
    ['metadata', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a redirect to a neighbour', () => `${imagesUrl}/to?url=${encodeURIComponent(`${base}/health`)}`],
    ['a redirect to a file', () => `${imagesUrl}/to?url=file:///etc/passwd`],
    ['credentials', () => imagesUrl.replace('//', '//user:pass@')],
  ])('400 source_url_forbidden: %s', async (_what, url) => {
    const answer = await ensure(spec(), { url: url() });
    expect([answer.status, answer.body.error]).toEqual([400, 'source_url_forbidden']);
  });
});

describe('sources at fault', () => {
  const cases: [what: string, make: () => Promise<Buffer> | Buffer, error: string][] = [
    ['svg', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'), 'unsupported_image'],
    ['icon', () => Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0]), 'unsupported_image'],
    ['text', () => Buffer.from('no image'), 'undecodable_image'],
    ['nothing', () => Buffer.alloc(0), 'undecodable_image'],
    ['truncated', () => image.subarray(0, image.length / 2), 'undecodable_image'],
    ['a pixel too many', () => blankPng(2001, 2000), 'image_too_large'],
    ['a bomb', () => blankPng(20_000, 20_000), 'image_too_large'],
  ];
  it.each(cases)('422: %s', async (_what, make, error) => {
    await objects.originals.put('u/fault', await make(), { contentType: 'image/png' });
    const answer = await ensure(spec(), { key: 'u/fault' });
    expect([answer.status, answer.body.error]).toEqual([422, error]);
  });

  it.each([
    ['HEIC', () => fixture('scene.heic')],
    ['BMP', () => bmpOf(96, 64, sceneColour)],
    ['TIFF', () => pipe(scene(96, 64)).tiff().toBuffer()],
  ] as const)('200 of %s', async (format, make) => {
    await objects.originals.put(`u/source.${format}`, await make(), { contentType: 'application/octet-stream' });
    const answer = await ensure(spec({ width: 48, format: 'webp' }), { key: `u/source.${format}` });
    expect(answer.status).toBe(200);
  });

  it('200 with as many pixels as are allowed', async () => {
    await objects.originals.put('u/limit.png', blankPng(2000, 2000), { contentType: 'image/png' });
    expect((await ensure(spec({ width: 5 }), { key: 'u/limit.png' })).status).toBe(200);
  });

  it('422 over 64 MiB', async () => {
    writeFileSync(join(folder, 'objects', 'u', 'large'), '');
    truncateSync(join(folder, 'objects', 'u', 'large'), 64 * 1024 * 1024 + 1);
    const answer = await ensure(spec(), { key: 'u/large' });
    expect([answer.status, answer.body.error]).toEqual([422, 'image_too_large']);
  });

  it.each([
    ['an absent key', { key: 'u/none.png' }],
    ['a key below another', { key: 'u/a.png/b' }],
  ])('502: %s', async (_what, source) => {
    const answer = await ensure(spec(), source);
    expect([answer.status, answer.body.error]).toEqual([502, 'source_unavailable']);
  });

  it('502 for an address that answers with an error, 422 for one without an image', async () => {
    const missing = await ensure(spec(), { url: `${imagesUrl}/none` });
    expect([missing.status, missing.body.error]).toEqual([502, 'source_unavailable']);
    const text = await ensure(spec(), { url: `${imagesUrl}/text` });
    expect([text.status, text.body.error]).toEqual([422, 'undecodable_image']);
  });

  it('is not remembered', async () => {
    expect((await ensure(spec(), { key: 'u/later.png' })).status).toBe(502);
    await objects.originals.put('u/later.png', image, { contentType: 'image/png' });
    expect((await ensure(spec(), { key: 'u/later.png' })).status).toBe(200);
  });
});

describe('when the service cannot', () => {
  const fail = () => Promise.reject(new Error('the engine speaks of secrets'));

  it.each([
    ['reading the source', { originals: { get: fail } }, 'source_unavailable'],
    ['looking for a variant', { publicObjects: { head: fail } }, 'variant_store_failed'],
    ['writing a variant', { publicObjects: { put: fail } }, 'variant_store_failed'],
  ])('502: %s fails', async (what, changes: Changes, error) => {
    const answer = await ensure(spec({ quality: 33, width: what.length }), { key }, await start(changes));
    expect([answer.status, answer.body.error]).toEqual([502, error]);
    expect(JSON.stringify(answer.body)).not.toContain('secrets');
  });

  it('503 with Retry-After without a permit in time; existing variants need none', async () => {
    await objects.originals.put('u/photo.jpg', await pipe(photo(1600, 1200)).jpeg().toBuffer(), {
      contentType: 'image/jpeg',
    });
    const narrow = await start({ limits: { concurrency: 1, permitWaitMs: 1 } });
    expect((await ensure(spec({ width: 7 }), { key }, narrow)).status).toBe(200);
    const blurs = [11, 12, 13, 14].map((blur) => ensure(spec({ blur }), { key: 'u/photo.jpg' }, narrow));
    const hit = ensure(spec({ width: 7 }), { key }, narrow);
    const answers = await Promise.all(blurs);
    const refused = answers.filter(({ status }) => status === 503);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4 - refused.length);
    expect(refused.length).toBeGreaterThan(0);
    for (const { body, headers } of refused) {
      expect(body.error).toBe('overloaded');
      expect(headers.get('retry-after')).toBe('1');
    }
    expect((await hit).status).toBe(200);
    expect((await ensure(spec({ blur: 15 }), { key: 'u/photo.jpg' }, narrow)).status).toBe(200);
  });

  it('504: the processing took too long', async () => {
    await objects.originals.put('u/photo.jpg', await pipe(photo(1600, 1200)).jpeg().toBuffer(), {
      contentType: 'image/jpeg',
    });
    const hurried = await start({ limits: { processTimeoutMs: 10 } });
    const answer = await ensure(spec({ blur: 100 }), { key: 'u/photo.jpg' }, hurried);
    expect([answer.status, answer.body.error]).toEqual([504, 'processing_timeout']);
  });

  it('502 without stored variants if the source is deleted during the request', async () => {
    await objects.originals.put('u/fleeting.png', image, { contentType: 'image/png' });
    const get: Objects['get'] = async (name, options) => {
      const body = await objects.originals.get(name, options);
      if (body === undefined) return undefined;
      const bytes = Buffer.concat(await body.stream.toArray());
      await objects.originals.remove([name]);
      return { ...body, stream: Readable.from([bytes]) };
    };
    const written: string[] = [];
    const put: Objects['put'] = (name, ...rest) => {
      written.push(name);
      return objects.publicObjects.put(name, ...rest);
    };
    const answer = await ensure(
      spec(),
      { key: 'u/fleeting.png' },
      await start({ originals: { get }, publicObjects: { put } }),
    );
    expect([answer.status, answer.body.error]).toEqual([502, 'source_unavailable']);
    expect(written).toHaveLength(1);
    expect(await objects.publicObjects.head(written[0] ?? '')).toBeUndefined();
  });
});

describe('sixteen identical cold requests', () => {
  it('write each variant once', async () => {
    const written: string[] = [];
    const put: Objects['put'] = (name, ...rest) => {
      written.push(name);
      return objects.publicObjects.put(name, ...rest);
    };
    const at = await start({ publicObjects: { put } });
    const specs = [
      { name: 'a', width: 51 },
      { name: 'b', width: 52 },
    ];
    const answers = await Promise.all(Array.from({ length: 16 }, () => ensure(specs, { key }, at)));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(written).toHaveLength(2);
    expect(new Set(written).size).toBe(2);
  });
});

describe('forget', () => {
  const forget = (source: unknown, at = base) => send('/v1/forget', { source }, {}, at);

  it('removes the variants of a source, and returns their number', async () => {
    await objects.originals.put('u/forget.png', image, { contentType: 'image/png' });
    const source = { key: 'u/forget.png' };
    const { variants } = (
      await ensure(
        [
          { name: 'a', width: 10 },
          { name: 'b', width: 20 },
        ],
        source,
      )
    ).body;
    const other = (await ensure(spec({ width: 10 }))).body.variants?.v;
    expect(await forget(source)).toMatchObject({ status: 200, body: { forgotten: 2 } });
    expect(await stored(variants?.a)).toBeUndefined();
    expect(await stored(variants?.b)).toBeUndefined();
    expect(await stored(other)).toBeDefined();
    expect((await forget(source)).body).toEqual({ forgotten: 0 });
  });

  it('accepts URLs as sources too, and does not fetch them', async () => {
    const source = { url: `${imagesUrl}/image-forgotten` };
    expect((await ensure(spec(), source)).status).toBe(200);
    fetches = [];
    expect((await forget(source)).body).toEqual({ forgotten: 1 });
    expect((await forget({ url: 'ftp://10.0.0.1/a' })).body).toEqual({ forgotten: 0 });
    expect(fetches).toEqual([]);
  });

  it('502 when the store does not answer', async () => {
    const remove = () => Promise.reject(new Error('no'));
    await ensure(spec({ width: 77 }));
    const answer = await forget({ key }, await start({ publicObjects: { remove } }));
    expect([answer.status, answer.body.error]).toEqual([502, 'variant_store_failed']);
  });
});
