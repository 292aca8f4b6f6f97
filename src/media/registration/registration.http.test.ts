import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { animation, apng, pipe, scene, sceneColour } from '../../../test/image/images.fixture.ts';
import { bmpOf } from '../../../test/media/bmp.fixture.ts';
import { fixture, heif, tile } from '../../../test/media/heif.fixture.ts';
import {
  heicStart,
  type ImageFormat,
  icon,
  makeImage,
  mp4Start,
  padPng,
  pngBomb,
  svg,
} from '../../../test/media/images.fixture.ts';
import {
  type MediaRig,
  onEveryStore,
  put,
  type Refusal,
  startMedia,
  testLimits,
  upload,
} from '../../../test/media/rig.fixture.ts';
import { tiff } from '../../../test/media/tiff.fixture.ts';

const { maxImageBytes, maxVideoBytes } = testLimits;
const uuidOf = () => randomUUID();

onEveryStore('POST /v1/assets', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  const isReady = async (assetId: string) => (await rig.server.sign([assetId])).body[assetId]?.ready;

  describe('an image', () => {
    it.each<[ImageFormat, string]>([
      ['jpeg', 'jpg'],
      ['png', 'png'],
      ['webp', 'webp'],
      ['gif', 'gif'],
      ['avif', 'avif'],
    ])('of %s becomes an asset', async (format, extension) => {
      const bytes = await makeImage(format, { width: 60, height: 40 });
      const mime = `image/${format}`;
      const { registration, assetId, storageKey } = await upload(rig.user, bytes, { mime });
      const { status, body } = await rig.user.register(registration);
      expect(status).toBe(201);
      expect(body).toEqual({
        assetId,
        prompt: null,
        model: null,
        animated: false,
        generated: null,
        name: null,
        favorite: false,
        published: false,
        trashedAt: null,
        generation: null,
        labels: [],
        ownerId: rig.userId,
        scopeKind: registration.scopeKind,
        scopeId: registration.scopeId,
        kind: 'image',
        mime,
        byteSize: bytes.length,
        width: 60,
        height: 40,
        durationMs: null,
        blurhash: expect.stringMatching(/^[\x21-\x7e]{28}$/),
        thumbAssetId: null,
        storageKey: `u/${rig.userId}/${registration.scopeKind}/${registration.scopeId}/${assetId}.${extension}`,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
      expect(body.storageKey).toBe(storageKey);
      expect(await rig.user.register(registration)).toMatchObject({ status: 200, body });
    });

    it.each([1, 2, 3, 4, 5, 6, 7, 8])('with EXIF orientation %i is measured upright', async (orientation) => {
      const { registration } = await upload(rig.user, await makeImage('jpeg', { width: 60, height: 40, orientation }), {
        mime: 'image/jpeg',
      });
      const [width, height] = orientation >= 5 ? [40, 60] : [60, 40];
      expect((await rig.user.register(registration)).body).toMatchObject({ width, height });
    });

    it('with several frames is animated: in its row, its signed entry and its copies', async () => {
      const moving = await animation([scene(), { ...scene(), data: scene().data.toReversed() }])
        .gif()
        .toBuffer();
      const { registration, assetId } = await upload(rig.user, moving, { mime: 'image/gif' });
      expect((await rig.user.register(registration)).body.animated).toBe(true);
      const place = { fromAssetId: assetId, toScopeKind: 'thread', toScopeId: 'copies' };
      const { body: copy } = await rig.user.post<{ assetId: string; animated: boolean }>('/v1/copy', place);
      expect(copy.animated).toBe(true);
      const refs = (await rig.user.sign([assetId, copy.assetId])).body;
      expect(Object.values(refs)).toMatchObject([{ animated: true }, { animated: true }]);
    });

    it('decides, regardless of the declared values', async () => {
      const bytes = await makeImage('png');
      const { registration } = await upload(rig.user, bytes);
      const claims = { byteSize: 1, width: 9, height: 9, durationMs: 9, blurhash: 'bogus', thumbAssetId: uuidOf() };
      const { body } = await rig.user.register({ ...registration, ...claims });
      expect(body).toMatchObject({
        byteSize: bytes.length,
        width: 60,
        height: 40,
        durationMs: null,
        thumbAssetId: null,
      });
      expect(body.blurhash).not.toBe('bogus');
    });

    it('with a wrong mime is registered with its real type, and replayed with the declared one', async () => {
      const { registration, storageKey } = await upload(rig.user, await makeImage('png'), { mime: 'image/jpeg' });
      const first = await rig.user.register(registration);
      expect(first).toMatchObject({ status: 201, body: { mime: 'image/png', storageKey } });
      expect(storageKey).toMatch(/\.jpg$/);
      expect(await rig.user.register(registration)).toMatchObject({ status: 200, body: first.body });
      expect(await rig.user.register({ ...registration, mime: 'image/png' })).toMatchObject({
        status: 409,
        body: { error: 'asset_conflict' },
      });
    });
  });

  describe('anything else', () => {
    const facts = { width: 1920, height: 1080, durationMs: 12_345, blurhash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj' };

    it('is described by the caller, its size by the store', async () => {
      const thumbAssetId = uuidOf();
      const { registration } = await upload(rig.user, Buffer.alloc(1234), { mime: 'video/mp4', kind: 'video' });
      const { status, body } = await rig.user.register({ ...registration, ...facts, byteSize: 7, thumbAssetId });
      expect(status).toBe(201);
      expect(body).toMatchObject({ ...facts, byteSize: 1234, mime: 'video/mp4', thumbAssetId });
    });

    it('is null if the caller declares none', async () => {
      const { registration } = await upload(rig.user, Buffer.alloc(0), { mime: 'audio/mpeg', kind: 'audio' });
      expect((await rig.user.register({ ...registration, width: null })).body).toMatchObject({
        byteSize: 0,
        width: null,
        height: null,
        durationMs: null,
        blurhash: null,
        animated: null,
        thumbAssetId: null,
      });
    });

    it.each([
      ['a video by its mime', { mime: 'video/webm', kind: 'clip' }, true],
      ['a video by its kind', { mime: 'application/mp4', kind: 'video' }, true],
      ['no video', { mime: 'audio/mp4', kind: 'audio' }, false],
    ])('keeps a thumbnail when it is %s: %j', async (_name, what, isKept) => {
      const thumbAssetId = uuidOf();
      const { registration } = await upload(rig.user, Buffer.alloc(9), what);
      const { body } = await rig.user.register({ ...registration, thumbAssetId });
      expect(body.thumbAssetId).toBe(isKept ? thumbAssetId : null);
    });

    it('shows the owner’s thumbnail, but not another owner’s', async () => {
      for (const [owner, isShown] of [
        [rig.user, true],
        [rig.otherUser, false],
      ] as const) {
        const thumb = await upload(owner, await makeImage('png'));
        await owner.register(thumb.registration);
        const { registration } = await upload(rig.user, Buffer.alloc(9), { mime: 'video/mp4' });
        const { body } = await rig.user.register({ ...registration, thumbAssetId: thumb.assetId });
        expect(body.thumbAssetId).toBe(isShown ? thumb.assetId : null);
      }
    });
  });

  describe('a replay', () => {
    it('returns the first row, and ignores other metadata', async () => {
      const { registration } = await upload(rig.user, Buffer.alloc(9), { mime: 'video/mp4' });
      const { body } = await rig.user.register({ ...registration, durationMs: 1 });
      const replay = await rig.user.register({
        ...registration,
        durationMs: 2,
        assetId: registration.assetId.toUpperCase(),
      });
      expect(replay).toMatchObject({ status: 200, body });
    });

    it.each([
      ['scopeKind', { scopeKind: 'feed' }],
      ['scopeId', { scopeId: 'elsewhere' }],
      ['kind', { kind: 'sticker' }],
      ['mime', { mime: 'image/webp' }],
      ['mime with the same extension', { mime: 'application/x-unheard-of' }],
      ['owner', { ownerId: uuidOf() }],
    ])('with another %s is a conflict and changes nothing', async (_name, changes) => {
      const ownerId = uuidOf();
      const { registration, assetId } = await upload(rig.server, Buffer.alloc(9), {
        ownerId,
        mime: 'application/x-heard-of',
      });
      const { body } = await rig.server.register(registration);
      expect(await rig.server.register({ ...registration, ...changes })).toMatchObject({
        status: 409,
        body: { error: 'asset_conflict' },
      });
      expect(await rig.server.register(registration)).toMatchObject({ status: 200, body });
      expect(await isReady(assetId)).toBe(true);
    });

    it('by another user with their own object is a conflict', async () => {
      const { registration, assetId } = await upload(rig.user, await makeImage('png'));
      await rig.user.register(registration);
      const { registration: theirs } = await upload(rig.otherUser, await makeImage('png'), { ...registration });
      expect(theirs.assetId).toBe(assetId);
      expect(await rig.otherUser.register(theirs)).toMatchObject({ status: 409, body: { error: 'asset_conflict' } });
    });
  });

  describe('refused is', () => {
    it.each<[string, object, number, string]>([
      ['an object that was never uploaded', {}, 409, 'object_not_found'],
      ['the object of another owner, by a user', { ownerId: uuidOf() }, 403, 'forbidden'],
      ['another scope than it was uploaded to', { scopeId: 'elsewhere' }, 409, 'object_not_found'],
      ['another mime than it was uploaded with', { mime: 'image/webp' }, 409, 'object_not_found'],
    ])('%s', async (_name, changes, status, error) => {
      const reservation = await rig.user.reserve({
        scopeKind: 'thread',
        scopeId: '1',
        kind: 'image',
        mime: 'image/png',
      });
      if (Object.keys(changes).length > 0) await put(reservation.body, await makeImage('png'));
      const { assetId } = reservation.body;
      const said = { assetId, scopeKind: 'thread', scopeId: '1', kind: 'image', mime: 'image/png', ...changes };
      expect(await rig.user.register(said)).toMatchObject({ status, body: { error } });
      expect(await isReady(assetId)).toBe(false);
    });

    it.each<[string, object, string]>([
      ['no assetId', { assetId: undefined }, 'body.assetId'],
      ['an assetId that is no UUID', { assetId: 'a/../b' }, 'body.assetId'],
      ['a negative width', { width: -1 }, 'body.width'],
      ['a fraction of a millisecond', { durationMs: 0.5 }, 'body.durationMs'],
      ['a thumbAssetId that is no UUID', { thumbAssetId: 'x' }, 'body.thumbAssetId'],
    ])('%s', async (_name, changes, path) => {
      const said = { assetId: uuidOf(), scopeKind: 'thread', scopeId: '1', kind: 'image', mime: 'image/png' };
      const answer = await rig.user.post<Refusal>('/v1/assets', { ...said, ...changes });
      expect(answer.status).toBe(400);
      expect(answer.body.issues?.map((issue) => issue.path)).toEqual([path]);
    });

    it('a server that names no owner', async () => {
      const said = { assetId: uuidOf(), scopeKind: 'thread', scopeId: '1', kind: 'image', mime: 'image/png' };
      const answer = await rig.server.post<Refusal>('/v1/assets', said);
      expect(answer.status).toBe(400);
      expect(answer.body.issues?.map((issue) => issue.path)).toEqual(['body.ownerId']);
    });

    const jpeg = () => makeImage('jpeg', { width: 600, height: 400 });
    const hiding = async () => apng([await makeImage('png'), await makeImage('png', { seed: 200 })], true);
    it.each<[string, string, () => Promise<Uint8Array>, number, string]>([
      ['SVG', 'image/svg+xml', async () => svg, 422, 'unsupported_image'],
      ['SVG that says it is PNG', 'image/png', async () => svg, 422, 'unsupported_image'],
      ['an icon', 'image/x-icon', async () => icon, 422, 'unsupported_image'],
      ['a PNG that browsers show otherwise', 'image/png', hiding, 422, 'unsupported_image'],
      ['the start of a HEIC', 'image/heic', async () => heicStart, 422, 'undecodable_image'],
      ['half a HEIC', 'image/heic', async () => fixture('scene.heic').subarray(0, 900), 422, 'undecodable_image'],
      [
        'half a BMP',
        'image/bmp',
        async () => bmpOf(60, 40, () => [1, 2, 3]).subarray(0, 900),
        422,
        'undecodable_image',
      ],
      ['half a TIFF', 'image/tiff', async () => (await makeImage('tiff')).subarray(0, 900), 422, 'undecodable_image'],
      ['too large a HEIC', 'image/heic', async () => heif([tile('red.heic', [9000, 9000])]), 422, 'image_too_large'],
      ['a video that says it is JPEG', 'image/jpeg', async () => mp4Start, 422, 'undecodable_image'],
      ['a text', 'image/jpeg', async () => Buffer.from('not an image'), 422, 'undecodable_image'],
      ['nothing', 'image/jpeg', async () => Buffer.alloc(0), 422, 'undecodable_image'],
      ['half a JPEG', 'image/jpeg', async () => (await jpeg()).subarray(0, 2000), 422, 'undecodable_image'],
      [
        'the start of a PNG',
        'image/png',
        async () => (await makeImage('png')).subarray(0, 50),
        422,
        'undecodable_image',
      ],
      ['a bomb', 'image/png', async () => pngBomb(60_000, 60_000), 422, 'image_too_large'],
      [
        'one row too many',
        'image/jpeg',
        () => makeImage('jpeg', { width: 1000, height: 1001 }),
        422,
        'image_too_large',
      ],
      [
        'a byte too many',
        'image/png',
        async () => padPng(await makeImage('png'), maxImageBytes + 1),
        413,
        'asset_too_large',
      ],
      ['too long a video', 'video/mp4', async () => Buffer.alloc(maxVideoBytes + 1), 413, 'asset_too_large'],
    ])('%s, and nothing is left of it', async (_name, mime, make, status, error) => {
      const said = { assetId: uuidOf(), scopeKind: 'thread', scopeId: '1', kind: 'image', mime };
      const { body: reservation } = await rig.user.reserve(said);
      // Straight into the store: the edge cuts off what is too large, but an S3 server cannot.
      await rig.originals.put(reservation.storageKey, await make(), { contentType: mime });
      expect(await rig.user.register(said)).toMatchObject({ status, body: { error } });
      expect(await rig.originals.head(reservation.storageKey)).toBeUndefined();
      expect(await rig.user.register(said)).toMatchObject({ status: 409, body: { error: 'object_not_found' } });

      // The place is free again, also for something else.
      const good = mime === 'video/mp4' ? Buffer.alloc(5) : await makeImage('png');
      expect(await put(reservation, good)).toBe(200);
      expect((await rig.user.register({ ...said, kind: 'other' })).status).toBe(201);
    });

    it('names the accepted formats', async () => {
      const { registration } = await upload(rig.user, svg, { mime: 'image/svg+xml' });
      const { body } = await rig.user.post<Refusal>('/v1/assets', registration);
      for (const format of ['JPEG', 'PNG', 'WebP', 'GIF', 'AVIF', 'HEIC', 'HEIF', 'TIFF', 'BMP'])
        expect(body.message).toContain(format);
    });
  });

  it.each<[string, string, string, () => Promise<Uint8Array>]>([
    ['HEIC', 'image/heic', 'heic', async () => fixture('scene.heic')],
    ['HEIF', 'image/heif', 'heif', async () => fixture('sequence.heics')],
    ['BMP', 'image/bmp', 'bmp', async () => bmpOf(96, 64, sceneColour)],
    ['TIFF', 'image/tiff', 'tif', () => pipe(scene(96, 64)).tiff({ compression: 'lzw' }).toBuffer()],
  ])('takes %s, and shows it in every size', async (_name, mime, extension, make) => {
    const bytes = Buffer.from(await make());
    const { registration, assetId, storageKey } = await upload(rig.user, bytes, { mime, kind: 'image' });
    const { status, body } = await rig.user.register(registration);
    expect(status).toBe(201);
    expect(storageKey.endsWith(`.${extension}`)).toBe(true);
    expect(body).toMatchObject({ mime, storageKey, byteSize: bytes.length, blurhash: expect.any(String) });
    const signed = (await rig.user.sign([assetId])).body[assetId];
    if (!signed?.ready) throw new Error('it is not ready');
    expect(signed).toMatchObject({ mime, width: body.width, height: body.height });
    expect(Buffer.from(await (await fetch(signed.url)).arrayBuffer()).equals(bytes)).toBe(true);
    for (const address of [signed.thumbUrl, signed.previewUrl]) {
      const shown = await fetch(String(address));
      expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/webp']);
    }
    const fitted = await rig.user.post<{ url: string }>('/v1/fit', { ref: assetId, width: 20, height: 20 });
    expect((await fetch(fitted.body.url)).headers.get('content-type')).toBe('image/jpeg');
    const marked = await rig.user.post<{ url: string }>('/v1/watermark', { ref: assetId });
    expect(marked.body.url).toContain(`${assetId}.${extension}.wm.jpg?`);
    expect((await fetch(marked.body.url)).headers.get('content-type')).toBe('image/jpeg');
    const copied = await rig.user.post<{ mime: string }>('/v1/copy', {
      fromAssetId: assetId,
      toScopeKind: 'feed',
      toScopeId: '1',
    });
    expect([copied.status, copied.body.mime]).toEqual([201, mime]);
  });

  it.each<[string, string, () => Uint8Array | Promise<Uint8Array>, number, string | null]>([
    ['PNG', 'video/mp4', () => makeImage('png'), 201, 'image/png'],
    ['HEIC', 'application/octet-stream', () => fixture('scene.heic'), 201, 'image/heic'],
    ['BMP', 'text/plain', () => bmpOf(96, 64, sceneColour), 201, 'image/bmp'],
    ['an icon', 'video/mp4', () => icon, 422, null],
    ['a raw file of a camera', 'application/pdf', () => tiff({ width: 8, height: 8, fields: { 50706: 1 } }), 422, null],
    ['JPEG XL', 'application/octet-stream', () => Buffer.from([0xff, 0x0a, 0, 0, 0, 0]), 422, null],
  ])('%s that is called %s is an image all the same', async (_name, mime, make, status, shown) => {
    const { registration, assetId, storageKey } = await upload(rig.user, Buffer.from(await make()), {
      mime,
      kind: 'file',
    });
    const answer = await rig.user.post<Refusal & { mime: string; width: number }>('/v1/assets', registration);
    expect(answer.status).toBe(status);
    if (shown === null) {
      expect([answer.body.error, await rig.originals.head(storageKey)]).toEqual(['unsupported_image', undefined]);
      return;
    }
    expect(answer.body).toMatchObject({ mime: shown, kind: 'file', width: expect.any(Number) });
    expect((await rig.user.sign([assetId])).body[assetId]).toHaveProperty('thumbUrl');
    expect((await rig.user.register(registration)).status).toBe(200);
  });

  it.each([
    ['text that begins like a BMP', 'BMW builds cars, and motorcycles, and the letters mean works.', 'text/plain'],
    ['a drawing that is called text', svg.toString(), 'text/plain'],
    ['a drawing that is called XML', svg.toString(), 'application/xml'],
  ])('%s is no image', async (_name, text, mime) => {
    const { registration } = await upload(rig.user, Buffer.from(text), { mime, kind: 'file' });
    expect(await rig.user.register(registration)).toMatchObject({ status: 201, body: { mime, width: null } });
  });

  it.each<[string, string, () => Promise<Uint8Array>]>([
    ['an image of the largest size', 'image/png', async () => padPng(await makeImage('png'), maxImageBytes)],
    ['an image of the most pixels', 'image/jpeg', () => makeImage('jpeg', { width: 1000, height: 1000 })],
    ['a video of the largest size', 'video/mp4', async () => Buffer.alloc(maxVideoBytes)],
  ])('takes %s', async (_name, mime, make) => {
    const { registration } = await upload(rig.user, await make(), { mime });
    expect((await rig.user.register(registration)).status).toBe(201);
  });

  describe('at once', () => {
    const twenty = Array.from({ length: 20 });

    it.each([
      ['an image', 'image/png', () => makeImage('png')],
      ['a video', 'video/mp4', async () => Buffer.alloc(9)],
    ])('20 registrations of %s make one row', async (_name, mime, make) => {
      const { registration } = await upload(rig.user, await make(), { mime });
      const answers = await Promise.all(twenty.map(() => rig.user.register(registration)));
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    });

    it('20 registrations of a bad image store nothing', async () => {
      const { registration, storageKey } = await upload(rig.user, svg, { mime: 'image/png' });
      const answers = await Promise.all(twenty.map(() => rig.user.post<Refusal>('/v1/assets', registration)));
      expect(answers.map(({ body }) => body.error)).toContain('unsupported_image');
      for (const { body } of answers) expect(['unsupported_image', 'object_not_found']).toContain(body.error);
      expect(await rig.originals.head(storageKey)).toBeUndefined();
      expect((await rig.user.register(registration)).status).toBe(409);
    });

    it('20 registrations as different kinds make one row, and conflicts', async () => {
      const { registration, assetId } = await upload(rig.user, await makeImage('png'));
      const answers = await Promise.all(
        twenty.map((_, index) => rig.user.post<Refusal>('/v1/assets', { ...registration, kind: `kind${index}` })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
      expect(await isReady(assetId)).toBe(true);
    });
  });
});
