import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPermits } from '#image/engine/permits.ts';
import { createEngine } from '#image/engine/working.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { validityS } from '../../../test/media/addresses.fixture.ts';
import { makeImage, mp4Start, svg } from '../../../test/media/images.fixture.ts';
import { type Client, type MediaRig, onEveryPair, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import type { WatermarkedImage } from '../api.ts';
import { createImageWatermarker } from './imagewatermark.ts';

onEveryPair('POST /v1/watermark', (pair) => {
  let rig: MediaRig;
  let jpeg: Buffer;
  beforeAll(async () => {
    rig = await startMedia(pair);
    jpeg = await makeImage('jpeg', { width: 300, height: 200, orientation: 6 });
  });
  afterAll(() => rig.close());

  async function registered(client: Client, bytes: Uint8Array = jpeg, changes: object = { mime: 'image/jpeg' }) {
    const { registration, assetId, storageKey } = await upload(client, bytes, changes);
    expect((await client.register(registration)).status).toBe(201);
    return { assetId, storageKey, markedKey: `${storageKey}.wm.jpg` };
  }

  const watermark = (client: Client, payload: object) =>
    client.post<WatermarkedImage & { error?: string }>('/v1/watermark', { legacyBucket: rig.legacyBucket, ...payload });

  it('signs a watermarked JPEG next to the source, for 7 days; the source does not change', async () => {
    const { assetId, storageKey, markedKey } = await registered(rig.user);
    const { status, body } = await watermark(rig.user, { ref: assetId });
    expect([status, Object.keys(body)]).toEqual([200, ['url']]);
    expect(validityS(body.url)).toBeGreaterThan(604_700);
    expect(validityS(body.url)).toBeLessThanOrEqual(604_800);
    const answer = await fetch(body.url);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    const marked = Buffer.from(await answer.arrayBuffer());
    expect(await sharp(marked).metadata()).toMatchObject({ format: 'jpeg', width: 200, height: 300 });
    expect((await rig.originals.head(markedKey))?.size).toBe(marked.length);
    expect((await rig.originals.head(storageKey))?.size).toBe(jpeg.length);
    const signed = JSON.stringify((await rig.user.sign([assetId])).body);
    expect(signed).not.toContain('.wm.');
  });

  it('is created once for concurrent requests', async () => {
    const { assetId, markedKey } = await registered(rig.user);
    const answers = await Promise.all(Array.from({ length: 12 }, () => watermark(rig.user, { ref: assetId })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const made = await rig.originals.head(markedKey);
    await watermark(rig.user, { ref: assetId.toUpperCase() });
    expect(await rig.originals.head(markedKey)).toEqual(made);
  });

  it('is deleted with its source, and not shown without it', async () => {
    const { assetId, markedKey } = await registered(rig.user);
    const { body } = await watermark(rig.user, { ref: assetId });
    expect((await rig.user.delete('/v1/assets', { ids: [assetId] })).status).toBe(200);
    expect(await rig.originals.head(markedKey)).toBeUndefined();
    expect((await fetch(body.url)).status).toBe(404);
    expect((await watermark(rig.user, { ref: assetId })).status).toBe(404);
  });

  describe('the right to request one', () => {
    it.each<[string, 'user' | 'server', 'user' | 'otherUser', string, number]>([
      ['an own one', 'user', 'user', 'thread', 200],
      ['somebody else’s', 'user', 'otherUser', 'thread', 404],
      ['somebody else’s in a public scope', 'user', 'otherUser', 'feed', 200],
      ['a server any', 'server', 'otherUser', 'thread', 200],
    ])('%s', async (_name, who, owner, scopeKind, status) => {
      const { assetId } = await registered(rig[owner], jpeg, { mime: 'image/jpeg', scopeKind });
      expect((await watermark(rig[who], { ref: assetId })).status).toBe(status);
    });

    it('rejects calls without a credential', async () => {
      expect((await watermark(rig.client({}), { ref: randomUUID() })).status).toBe(401);
    });
  });

  it.each<[string, object, number, string]>([
    ['no ref', {}, 400, 'invalid_request'],
    ['neither UUID nor path', { ref: 'photo.jpg' }, 400, 'invalid_request'],
    ['a path upward', { ref: 'a/../b.jpg' }, 400, 'invalid_request'],
    ['a bucket that is none', { ref: randomUUID(), legacyBucket: '.' }, 400, 'invalid_request'],
    ['an unknown asset', { ref: randomUUID() }, 404, 'not_found'],
    ['a legacy path where nothing is', { ref: 'feed/nothing.jpg' }, 404, 'not_found'],
    ['a foreign legacy path', { ref: `${randomUUID()}/photo.jpg` }, 404, 'not_found'],
  ])('%s', async (_name, payload, status, error) => {
    const answer = await watermark(rig.user, payload);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
  });

  it('a file that is not an image is 400', async () => {
    const { assetId, markedKey } = await registered(rig.user, mp4Start, { mime: 'video/mp4', kind: 'video' });
    expect((await watermark(rig.user, { ref: assetId })).status).toBe(400);
    expect(await rig.originals.head(markedKey)).toBeUndefined();
  });

  it('of a legacy path is next to it; a file that is no image is 422', async () => {
    const path = `${rig.userId}/${randomUUID()}/photo.jpg`;
    await rig.legacyFiles.put(path, jpeg, { contentType: 'image/jpeg', size: jpeg.length });
    const { status, body } = await watermark(rig.user, { ref: path });
    expect(status).toBe(200);
    expect((await fetch(body.url)).status).toBe(200);
    expect(await rig.legacyFiles.head(`${path}.wm.jpg`)).toBeDefined();
    const long = `${rig.userId}/${'x'.repeat(248)}.jpg`;
    await rig.legacyFiles.put(long, jpeg, { contentType: 'image/jpeg', size: jpeg.length });
    expect((await watermark(rig.user, { ref: long })).status).toBe(400);
    const drawing = `${rig.userId}/${randomUUID()}/drawing.svg`;
    await rig.legacyFiles.put(drawing, svg, { contentType: 'image/svg+xml', size: svg.length });
    const refused = await watermark(rig.user, { ref: drawing });
    expect([refused.status, refused.body.error]).toEqual([422, 'unsupported_image']);
  });

  it('that the legacy backend has is returned until its source is replaced', async () => {
    const path = `${rig.userId}/${randomUUID()}/photo.jpg`;
    const put = (key: string, bytes: Uint8Array) =>
      rig.legacyFiles.put(key, bytes, { contentType: 'image/jpeg', size: bytes.length });
    await put(path, jpeg);
    const marked = await makeImage('jpeg', { width: 7, height: 7 });
    await put(`${path}.wm.jpg`, marked);
    const bytesOf = async () => {
      // Responses are cached, except that of another download.
      const { body } = await watermark(rig.user, { ref: path, download: `${randomUUID()}.jpg` });
      return Buffer.from(await (await fetch(body.url)).arrayBuffer());
    };
    for (const _time of [1, 2]) expect((await bytesOf()).equals(marked)).toBe(true);
    await put(path, await makeImage('jpeg', { width: 50, height: 40 }));
    expect((await bytesOf()).equals(marked)).toBe(false);
  });

  describe('the maker', () => {
    const maker = () => {
      const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };
      return createImageWatermarker({
        db: rig.database.queries(),
        engine: createEngine(limits),
        images: createPermits({ count: 2, waitMs: 5000 }),
      });
    };
    const during = (changes: Partial<Objects>): Objects => ({ ...rig.originals, ...changes });

    async function source() {
      const { storageKey, markedKey } = await registered(rig.user);
      const etag = String((await rig.originals.head(storageKey))?.etag);
      return { storageKey, markedKey, etag };
    }

    it('in several processes leaves the file of the first', async () => {
      const { markedKey, ...what } = await source();
      const etags: string[] = [];
      const objects = during({
        put: async (...args) => {
          const head = await rig.originals.put(...args);
          etags.push(head.etag);
          return head;
        },
      });
      const keys = await Promise.all([maker(), maker(), maker()].map((one) => one.ensure({ ...what, objects })));
      expect(keys).toEqual([markedKey, markedKey, markedKey]);
      expect([(await rig.originals.head(markedKey))?.etag]).toEqual(etags);
    });

    it.each<[string, (key: string) => Promise<unknown>]>([
      ['went', (key) => rig.originals.remove([key])],
      ['was replaced', (key) => rig.originals.put(key, Buffer.from('other'), { contentType: 'image/jpeg' })],
    ])('takes its file back when the source %s while it wrote', async (_name, change) => {
      const { markedKey, ...what } = await source();
      const objects = during({
        put: async (...args) => {
          await change(what.storageKey);
          return rig.originals.put(...args);
        },
      });
      await expect(maker().ensure({ ...what, objects })).rejects.toMatchObject({ code: 'not_found' });
      expect(await rig.originals.head(markedKey)).toBeUndefined();
    });

    it('marks only the registered bytes', async () => {
      const { markedKey, ...what } = await source();
      await rig.originals.put(what.storageKey, await makeImage('jpeg', { seed: 9 }), { contentType: 'image/jpeg' });
      await expect(maker().ensure({ ...what, objects: rig.originals })).rejects.toMatchObject({ code: 'not_found' });
      expect(await rig.originals.head(markedKey)).toBeUndefined();
    });

    it('tries again after a failure', async () => {
      const { markedKey, ...what } = await source();
      let isFailing = true;
      const objects = during({
        put: async (...args) => {
          if (isFailing) throw new Error('no');
          return rig.originals.put(...args);
        },
      });
      const one = maker();
      await expect(one.ensure({ ...what, objects })).rejects.toThrow('no');
      isFailing = false;
      expect(await one.ensure({ ...what, objects })).toBe(markedKey);
    });
  });
});
