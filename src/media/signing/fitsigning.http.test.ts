import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import {
  type Client,
  type MediaRig,
  onEveryPair,
  type Refusal,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import type { FittedImage } from '../api.ts';

const box = { width: 100, height: 100 };

onEveryPair('POST /v1/fit', (pair) => {
  let rig: MediaRig;
  let ref: string;
  beforeAll(async () => {
    rig = await startMedia(pair);
    ref = await image(rig.user);
  });
  afterAll(() => rig.close());

  /** The id of a registered image of 800 × 600. */
  async function image(client: Client, changes: object = {}): Promise<string> {
    const bytes = await makeImage('jpeg', { width: 800, height: 600 });
    const { registration, assetId } = await upload(client, bytes, { mime: 'image/jpeg', ...changes });
    expect((await client.register(registration)).status).toBe(201);
    return assetId;
  }

  const fitted = (client: Client, payload: object) => client.post<FittedImage>('/v1/fit', payload);
  const address = async (payload: object) => (await fitted(rig.user, { ref, ...payload })).body.url;

  describe('the image behind the URL', () => {
    it.each<[string, object, string, number, number]>([
      ['a jpeg that fits the box', box, 'jpeg', 100, 75],
      ['the same, said in full', { ...box, resizingType: 'fit', enlarge: false, format: 'jpeg' }, 'jpeg', 100, 75],
      ['the width alone', { width: 400 }, 'jpeg', 400, 300],
      ['the height alone', { width: 0, height: 300 }, 'jpeg', 400, 300],
      ['a box that is filled', { ...box, resizingType: 'fill' }, 'jpeg', 100, 100],
      ['a box larger than the image', { width: 1000, height: 1000 }, 'jpeg', 800, 600],
      ['a larger image', { width: 1000, height: 1000, enlarge: true }, 'jpeg', 1000, 750],
      ['a png', { ...box, format: 'png' }, 'png', 100, 75],
      ['a webp', { ...box, format: 'webp' }, 'webp', 100, 75],
      ['no other size, only a budget', { maxBytes: 50_000 }, 'jpeg', 800, 600],
      ['no bound at all', { width: 0 }, 'jpeg', 800, 600],
    ])('%s', async (_name, payload, format, width, height) => {
      const { status, body } = await fitted(rig.user, { ref, ...payload });
      expect([status, Object.keys(body)]).toEqual([200, ['url']]);
      const answer = await fetch(body.url);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `image/${format}`]);
      const facts = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
      expect(facts).toMatchObject({ format, width, height });
    });

    it('respects a budget of bytes', async () => {
      const sizeOf = async (payload: object) =>
        (await (await fetch(await address({ width: 800, ...payload }))).arrayBuffer()).byteLength;
      const whole = await sizeOf({});
      const maxBytes = Math.floor(whole * 0.8);
      expect(await sizeOf({ maxBytes })).toBeLessThanOrEqual(maxBytes);
    });

    it.each(['lanczos3', 'lanczos2', 'cubic', 'linear', 'nearest'])('resized by %s', async (resizingAlgorithm) => {
      expect((await fetch(await address({ ...box, resizingAlgorithm }))).status).toBe(200);
    });

    it('reveals nothing if it is altered', async () => {
      const url = await address(box);
      expect((await fetch(url.replace(':100:100:', ':101:100:'))).status).toBe(403);
    });

    it('nothing after the image has been deleted', async () => {
      const gone = await upload(rig.user, await makeImage('png'));
      await rig.user.register(gone.registration);
      const { body } = await fitted(rig.user, { ref: gone.assetId, ...box });
      await rig.originals.remove([gone.storageKey]);
      expect((await fetch(body.url)).status).toBe(404);
    });
  });

  it('the same image and transform have the same URL for every caller and spelling', async () => {
    const url = await address(box);
    const defaults = { resizingType: 'fit', enlarge: false, format: 'jpeg', resizingAlgorithm: 'lanczos3' };
    const nulls = { resizingType: null, enlarge: null, maxBytes: null, format: null, resizingAlgorithm: null };
    expect(await address(box)).toBe(url);
    expect(await address({ ...box, ...defaults })).toBe(url);
    expect(await address({ ...box, ...nulls, legacyBucket: null })).toBe(url);
    expect(await address({ ...box, ref: ref.toUpperCase() })).toBe(url);
    expect(await address({ ...box, legacyBucket: 'agent_message', colour: 'red' })).toBe(url);
    expect((await fitted(rig.server, { ref, ...box })).body.url).toBe(url);
  });

  it('every other transform has another address', async () => {
    const changes = [
      {},
      { width: 101 },
      { height: 101 },
      { resizingType: 'fill' },
      { enlarge: true },
      { maxBytes: 5000 },
      { format: 'png' },
      { format: 'webp' },
      { resizingAlgorithm: 'nearest' },
    ];
    const urls = await Promise.all(changes.map((change) => address({ ...box, ...change })));
    expect(new Set(urls).size).toBe(changes.length);
  });

  describe('the right to read', () => {
    it.each([
      ['the owner', 'user', 'thread', 200],
      ['another user', 'otherUser', 'thread', 404],
      ['a server', 'server', 'thread', 200],
      ['another user, in a public scope', 'otherUser', 'feed', 200],
      ['another user, in the other public scope', 'otherUser', 'avatars', 200],
      ['another user, in a scope named almost like a public one', 'otherUser', 'Feed', 404],
    ] as const)('%s', async (_name, who, scopeKind, status) => {
      expect((await fitted(rig[who], { ref: await image(rig.user, { scopeKind }), ...box })).status).toBe(status);
    });

    it('rejects calls without a credential', async () => {
      expect((await rig.client({}).post('/v1/fit', '{ no json')).status).toBe(401);
    });
  });

  describe('404 for', () => {
    const legacy = (start: string) => async () => `${start}/image.png`;
    const absent: Record<string, () => Promise<string>> = {
      'an id that nobody knows': async () => randomUUID(),
      'what is uploaded but not registered': async () => (await upload(rig.user, await makeImage('png'))).assetId,
      'a legacy path of the caller': () => legacy(rig.userId)(),
      'a legacy path of a public scope': legacy('feed'),
      'a legacy path of somebody else': legacy(randomUUID()),
      'a legacy path with escapes': legacy('a/%2e%2e'),
    };
    it.each(Object.entries(absent))('%s', async (_name, make) => {
      const payload = { ref: await make(), ...box };
      for (const client of [rig.user, rig.server]) {
        const { status, body } = await client.post('/v1/fit', payload);
        expect([status, body.error]).toEqual([404, 'not_found']);
      }
    });
  });

  it('a file that is not an image is 400 to users who may read it', async () => {
    const { registration, assetId } = await upload(rig.user, Buffer.from('moving'), { mime: 'video/mp4' });
    await rig.user.register(registration);
    const { status, body } = await rig.user.post<Refusal>('/v1/fit', { ref: assetId, ...box });
    expect([status, body.issues?.map((issue) => issue.path)]).toEqual([400, ['body.ref']]);
    expect((await fitted(rig.otherUser, { ref: assetId, ...box })).status).toBe(404);
  });

  it.each<[string, object, string]>([
    ['no ref', { ref: undefined }, 'body.ref'],
    ['a ref that is a number', { ref: 7 }, 'body.ref'],
    ['an empty ref', { ref: '' }, 'body.ref'],
    ['neither a UUID nor a path', { ref: 'image.png' }, 'body.ref'],
    ['almost a UUID', { ref: `${randomUUID()}0` }, 'body.ref'],
    ['a path upwards', { ref: 'a/../b.png' }, 'body.ref'],
    ['a path that starts upwards', { ref: '../b.png' }, 'body.ref'],
    ['a path with a dot', { ref: 'a/./b.png' }, 'body.ref'],
    ['an absolute path', { ref: '/a/b.png' }, 'body.ref'],
    ['a path with an empty segment', { ref: 'a//b.png' }, 'body.ref'],
    ['a path that ends in a slash', { ref: 'a/' }, 'body.ref'],
    ['a path with a backslash', { ref: 'a/..\\b' }, 'body.ref'],
    ['a path with a NUL', { ref: 'a/b\0' }, 'body.ref'],
    ['too long a path', { ref: `a/${'b/'.repeat(600)}c` }, 'body.ref'],
    ['a bucket that is a path', { legacyBucket: '..' }, 'body.legacyBucket'],
    ['a negative width', { width: -1 }, 'body.width'],
    ['half a pixel', { width: 0.5 }, 'body.width'],
    ['a width that is a text', { width: '100' }, 'body.width'],
    ['too wide', { width: 16_384 }, 'body.width'],
    ['too high', { height: 16_384 }, 'body.height'],
    ['another resizing type', { resizingType: 'auto' }, 'body.resizingType'],
    ['an enlarge that is a text', { enlarge: 'yes' }, 'body.enlarge'],
    ['a budget of nothing', { maxBytes: 0 }, 'body.maxBytes'],
    ['a budget that is a text', { maxBytes: '1' }, 'body.maxBytes'],
    ['another name of a format', { format: 'jpg' }, 'body.format'],
    ['another format', { format: 'avif' }, 'body.format'],
    ['an unknown algorithm', { resizingAlgorithm: 'bicubic' }, 'body.resizingAlgorithm'],
    ['an empty algorithm', { resizingAlgorithm: '' }, 'body.resizingAlgorithm'],
  ])('%s is a 400', async (_name, changes, path) => {
    const answer = await rig.user.post<Refusal>('/v1/fit', { ref, ...box, ...changes });
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request']);
    expect(answer.body.issues?.map((issue) => issue.path)).toEqual([path]);
  });

  it.each<[object, number]>([
    [{ width: 2364, enlarge: true }, 200],
    [{ width: 2048, height: 2048, resizingType: 'fill', enlarge: true }, 200],
    [{ width: 2366, enlarge: true }, 400],
    [{ width: 7000, height: 7000, resizingType: 'fill', enlarge: true, format: 'webp' }, 400],
    [{ width: 7000, height: 500, resizingType: 'fill', enlarge: true }, 200],
  ])('%j of 800 × 600: enlarged up to 4 megapixels', async (changes, status) => {
    const answer = await rig.user.post<Refusal>('/v1/fit', { ref, ...changes });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.issues?.map((issue) => issue.path)).toEqual(['body.enlarge']);
  });

  it('accepts the longest sides', async () => {
    expect((await fitted(rig.user, { ref, width: 16_383, height: 16_383 })).status).toBe(200);
  });

  it.each(['jpeg', 'png', 'webp'])('never returns more than `maxBytes` (%s)', async (format) => {
    for (const maxBytes of [3000, 20_000, 100_000]) {
      const { status, body } = await fitted(rig.user, { ref, maxBytes, format });
      expect(status).toBe(200);
      const bytes = Buffer.from(await (await fetch(body.url)).arrayBuffer());
      expect(bytes.length).toBeLessThanOrEqual(maxBytes);
      const { width, height, format: made } = await sharp(bytes).metadata();
      expect([made, Math.max(width, height) >= 64]).toEqual([format, true]);
    }
    const refused = await rig.user.post<Refusal>('/v1/fit', { ref, format, maxBytes: 30 });
    expect([refused.status, refused.body.error]).toEqual([422, 'cannot_fit']);
  });
});
