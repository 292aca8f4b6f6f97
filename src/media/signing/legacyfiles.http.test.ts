/** Legacy paths, and rows of files in the legacy backend, in every read (docs/specification/media.md#legacy-files). */
import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { openLegacyObjects } from '#platform/objects/open.ts';
import { validityS } from '../../../test/media/addresses.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { inBucket, lay, plantLegacy } from '../../../test/media/laying.fixture.ts';
import { plant } from '../../../test/media/planting.fixture.ts';
import { embedded, type MediaRig, onEveryStore, type Refusal, startMedia } from '../../../test/media/rig.fixture.ts';
import type { FittedImage, ImageSignedRefs, VideoSignedRefs } from '../api.ts';

const notFound = { ready: false, error: 'not_found' };
type Who = 'user' | 'otherUser' | 'server';

onEveryStore('legacy files', (pair) => {
  let rig: MediaRig;
  let jpeg: Buffer;
  beforeAll(async () => {
    rig = await startMedia(pair);
    jpeg = await makeImage('jpeg', { width: 800, height: 600 });
  });
  afterAll(() => rig.close());

  const images = async (who: Who, refs: readonly string[], more: object = {}) =>
    (await inBucket(rig, rig[who]).post<ImageSignedRefs>('/v1/sign/image', { refs, ...more })).body;
  const videos = async (who: Who, refs: readonly string[]) =>
    (await inBucket(rig, rig[who]).post<VideoSignedRefs>('/v1/sign/video', { refs })).body;
  const fitted = (who: Who, payload: object) =>
    inBucket(rig, rig[who]).post<FittedImage & Refusal>('/v1/fit', { width: 100, ...payload });

  it('are signed: the URLs, the size in the store, and null for unknown facts', async () => {
    const ref = `${rig.userId}/2019/Foto ä@1?.jpeg`;
    await lay(rig, [ref], jpeg);
    const answer = (await images('user', [ref]))[ref];
    expect(answer).toEqual({
      ready: true,
      url: expect.any(String),
      thumbUrl: expect.any(String),
      previewUrl: expect.any(String),
      width: null,
      height: null,
      byteSize: jpeg.length,
      durationMs: null,
      blurhash: null,
      animated: null,
      generated: null,
      mime: 'image/jpeg',
    });
    if (!answer?.ready) return;
    const original = await fetch(answer.url);
    expect([original.status, original.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    expect(Buffer.from(await original.arrayBuffer())).toEqual(jpeg);
    expect((await fetch(answer.url, { headers: { range: 'bytes=0-1' } })).status).toBe(206);
    expect((await fetch(answer.url.replace('2019', '2018'))).status).toBe(403);
    expect(validityS(answer.url)).toBeGreaterThan(604_800 - 5);
    for (const [url, width, height] of [
      [answer.thumbUrl, 400, 300],
      [answer.previewUrl, 800, 600],
    ] as const) {
      const variant = await fetch(String(url));
      expect(variant.status).toBe(200);
      expect(await sharp(Buffer.from(await variant.arrayBuffer())).metadata()).toMatchObject({ width, height });
    }
  });

  it('have URLs of their own store and bucket for each resizer', async () => {
    const ref = `${rig.userId}/plain.png`;
    await lay(rig, [ref]);
    const answer = (await images('user', [ref]))[ref];
    const source = `/plain/s3://${rig.legacyBucket}/${ref}@webp`;
    expect(answer?.ready && answer.thumbUrl?.endsWith(source)).toBe(true);
    expect(answer?.ready && answer.previewUrl?.endsWith(source)).toBe(true);
    const own = rig.legacyFiles.readAddress(ref, { expiresInS: 60 });
    expect(answer?.ready && answer.url.split('?')[0]).toBe(own.split('?')[0]);
  });

  it.each([
    ['a.png', 'image/png', true],
    ['a.JPG', 'image/jpeg', true],
    ['a.heic', 'image/heic', true],
    ['a.tif', 'image/tiff', true],
    ['a.bmp', 'image/bmp', true],
    ['a.svg', 'image/svg+xml', false],
    ['a.ico', 'image/vnd.microsoft.icon', false],
    ['a.mp4', 'video/mp4', false],
    ['a.mp3', 'audio/mpeg', false],
    ['a.html', 'text/html', false],
    ['a.unheard-of', 'application/octet-stream', false],
    ['a', 'application/octet-stream', false],
    ['.jpg', 'application/octet-stream', false],
    ['a.toString', 'application/octet-stream', false],
  ])('have the mime of their name: %s', async (name, mime, isImage) => {
    const ref = `${rig.userId}/${randomUUID()}/${name}`;
    await lay(rig, [ref]);
    const answer = (await images('user', [ref]))[ref];
    expect(answer).toMatchObject({ ready: true, mime, byteSize: 1, durationMs: null });
    expect([answer && 'thumbUrl' in answer, answer && 'previewUrl' in answer]).toEqual([isImage, isImage]);
  });

  describe('the right to read', () => {
    const paths: Record<string, readonly Who[]> = {
      '<user>/a.jpg': ['user', 'server'],
      '<user>/deep/er/a.jpg': ['user', 'server'],
      'feed/a.jpg': ['user', 'otherUser', 'server'],
      'feed/<user>/a.jpg': ['user', 'otherUser', 'server'],
      'avatars/<user>/a.jpg': ['user', 'otherUser', 'server'],
      '<user>x/a.jpg': ['server'],
      'x<user>/a.jpg': ['server'],
      'other/<user>/a.jpg': ['server'],
      'feedx/a.jpg': ['server'],
      'Feed/a.jpg': ['server'],
      'u/<user>/thread/1/a.jpg': ['server'],
      'anything/a.jpg': ['server'],
    };
    it.each(Object.entries(paths))('%s', async (pattern, readers) => {
      const ref = pattern.replace('<user>', rig.userId);
      await lay(rig, [ref], jpeg);
      for (const who of ['user', 'otherUser', 'server'] as const) {
        const isReader = readers.includes(who);
        expect([who, (await images(who, [ref]))[ref]?.ready]).toEqual([who, isReader]);
        expect([who, (await videos(who, [ref]))[ref]?.ready]).toEqual([who, isReader]);
        const fit = await fitted(who, { ref });
        expect([who, fit.status]).toEqual([who, isReader ? 200 : 404]);
      }
    });

    it('in no other case of letters than the id has', async () => {
      const ref = `${rig.userId.toUpperCase()}/a.jpg`;
      await lay(rig, [ref]);
      expect(ref).not.toBe(`${rig.userId}/a.jpg`);
      expect((await images('user', [ref]))[ref]).toEqual(notFound);
    });
  });

  /** Each leads to an existing file on systems that take it for more than a name. */
  const tricks = (user: string): readonly string[] => [
    `${user}/../secret/a.jpg`,
    `${user}/./a.jpg`,
    `./${user}/a.jpg`,
    `../${rig.legacyBucket}/${user}/a.jpg`,
    `/${user}/a.jpg`,
    `//${user}/a.jpg`,
    `${user}//a.jpg`,
    `${user}/a.jpg/`,
    `${user}/`,
    '/',
    `${user}\\a.jpg`,
    `${user}/..\\secret\\a.jpg`,
    `${user}/a.jpg\0`,
    `${user}/a.jpg\0.png`,
    `${user}/a.jpg\n`,
    `${user}/\u0085a.jpg`,
    `${user}/\ud800.jpg`,
    `${user}/${'x'.repeat(256)}`,
    `${user}/${'x/'.repeat(500)}x`,
    `feed/../${user}/a.jpg`,
    `feed/../../objects/a.jpg`,
  ];
  /** Names like any other, of which there happens to be no file. */
  const literals = (user: string): readonly string[] => [
    `${user}/%2e%2e/secret/a.jpg`,
    `${user}%2fa.jpg/x`,
    `${user}/..%2fa.jpg`,
    `${user}/a.jpg%00`,
    `${user}/a.jpg?x`,
    `${user}/a.jpg#x`,
    `${user}/a.jpg `,
    `${user}/A.JPG`,
    `${user}/a.jpg/b`,
    `${user}/…/a.jpg`,
    `${user}/．．/a.jpg`,
    `${user}/*`,
    `${user}/a.jp`,
    `s3://${user}/a.jpg`.replace('//', '/'),
    `feed/%2e%2e/${user}/a.jpg`,
    `${user}/${'x'.repeat(255)}`,
  ];

  it('are found under their exact name only', { timeout: 60_000 }, async () => {
    const owner = randomUUID();
    await lay(rig, [`${owner}/a.jpg`, 'secret/a.jpg'], jpeg);
    const refs = [...tricks(owner), ...literals(owner)];
    const answers = await images('server', [...refs, `${owner}/a.jpg`]);
    for (const ref of refs) expect([ref, answers[ref]]).toEqual([ref, notFound]);
    expect(answers[`${owner}/a.jpg`]).toMatchObject({ ready: true });
    const asVideos = await videos('server', refs);
    for (const ref of refs) expect([ref, asVideos[ref]]).toEqual([ref, notFound]);
    for (const ref of tricks(owner)) expect([ref, (await fitted('server', { ref })).status]).toEqual([ref, 400]);
    for (const ref of literals(owner)) expect([ref, (await fitted('server', { ref })).status]).toEqual([ref, 404]);
  });

  it('with the longest and with unusual names are read', async () => {
    const names = ['x'.repeat(255), 'ü/日本/🙂.png', 'a b+c&d=e.png', 'quo\'te".png', '%2e%2e', '*', 'a:b.png', '...'];
    const refs = names.map((name) => `${rig.userId}/${name}`);
    await lay(rig, refs, jpeg);
    const answers = await images('user', refs);
    for (const ref of refs) {
      const answer = answers[ref];
      expect([ref, answer?.ready]).toEqual([ref, true]);
      if (!answer?.ready) continue;
      expect([ref, (await fetch(answer.url)).status]).toEqual([ref, 200]);
      if (answer.thumbUrl) expect([ref, (await fetch(answer.thumbUrl)).status]).toEqual([ref, 200]);
    }
  });

  it('resolves valid, absent, foreign and malformed ones and UUIDs in one batch', async () => {
    const mine = [`${rig.userId}/one.jpg`, `${rig.userId}/two.jpg`, 'feed/three.jpg'];
    const foreign = ['secret/four.jpg', `${randomUUID()}/five.jpg`];
    await lay(rig, [...mine, ...foreign]);
    const [asset] = await plant(rig, 1);
    const [theirs] = await plant(rig, 1, { ownerId: randomUUID() });
    const bad = [`${rig.userId}/none.jpg`, ...foreign, ...tricks(rig.userId), 'nonsense', '', String(theirs?.assetId)];
    const refs = [...bad, ...mine, String(asset?.assetId), randomUUID()];
    const answers = await images('user', refs);
    expect(Object.keys(answers).sort()).toEqual([...refs].sort());
    for (const ref of refs) {
      const isGood = mine.includes(ref) || ref === asset?.assetId;
      expect([ref, answers[ref]?.ready]).toEqual([ref, isGood]);
    }
  });

  it('200 at once', async () => {
    const refs = Array.from({ length: 200 }, (_, number) => `${rig.userId}/many/video_${number}.mp4`);
    await lay(rig, refs.slice(100));
    const answers = await videos('user', refs);
    expect(Object.values(answers).map(({ ready }) => ready)).toEqual(refs.map((_ref, number) => number >= 100));
  });

  it('of another bucket are absent, and a missing bucket is empty', async () => {
    const ref = `${rig.userId}/elsewhere.jpg`;
    await lay(rig, [ref]);
    for (const legacyBucket of ['elsewhere', 'ab', '...', 'UPPER', '-'])
      expect((await images('user', [ref], { legacyBucket }))[ref]).toEqual(notFound);
  });

  it('can never be originals or variants of any bucket', async () => {
    const key = `${rig.userId}/of-ours.jpg`;
    for (const own of [rig.originals, rig.publicObjects]) {
      await own.put(key, jpeg, { contentType: 'image/jpeg', size: jpeg.length });
      const named = { legacyBucket: own.bucket };
      for (const who of ['user', 'server'] as const) {
        expect((await images(who, [key], named))[key]).toEqual(notFound);
        expect((await fitted(who, { ref: key, ...named })).status).toBe(404);
        const { body } = await rig[who].delete<unknown>('/v1/assets', { ids: [key], ...named });
        expect(body).toEqual({ deletedNew: 0, deletedLegacy: 0 });
        const legacyPrefixes = [`${rig.userId}/`];
        const scope = { ownerId: rig.userId, scopeKind: 'none', legacyPrefixes, ...named };
        expect((await rig[who].delete('/v1/scope', scope)).body).toMatchObject({ legacyDeleted: 0 });
      }
      const imported = { ownerId: rig.userId, scopeKind: 'thread', scopeId: '1', path: key, ...named };
      expect((await rig.server.post('/v1/assets/legacy', imported)).status).toBe(404);
      expect(await own.head(key)).toBeDefined();
      await own.remove([key]);
    }
  });

  describe('thumbnails by convention', () => {
    const name = () => `${rig.userId}/${randomUUID()}`;

    it.each([
      ['video_1.mp4', 'vc_1.jpg'],
      ['video_.mp4', 'vc_.jpg'],
      ['video_a.mp4.mp4', 'vc_a.mp4.jpg'],
      ['video_video_1.mp4', 'vc_video_1.jpg'],
    ])('%s has %s', async (video, thumb) => {
      const folder = name();
      await lay(rig, [`${folder}/${video}`]);
      await lay(rig, [`${folder}/${thumb}`], jpeg);
      const ref = `${folder}/${video}`;
      const answer = (await videos('user', [ref]))[ref];
      expect(answer).toEqual({
        ready: true,
        url: expect.any(String),
        thumbUrl: expect.any(String),
        thumbAssetId: null,
        width: null,
        height: null,
        byteSize: 1,
        durationMs: null,
        blurhash: null,
        generated: null,
        mime: 'video/mp4',
      });
      const small = await fetch(String(answer?.ready && answer.thumbUrl));
      const { width, height } = await sharp(Buffer.from(await small.arrayBuffer())).metadata();
      expect([width, height]).toEqual([400, 300]);
    });

    it.each(['clip_1.mp4', 'video_1.webm', 'video1.mp4', 'avideo_1.mp4', 'video_1.mp4.bak', 'video_1.MP4'])(
      '%s has none',
      async (video) => {
        const folder = name();
        const ref = `${folder}/${video}`;
        await lay(rig, [ref, ...['vc_1.jpg', 'vc_1.mp4.jpg', 'vc1.jpg'].map((thumb) => `${folder}/${thumb}`)]);
        const answer = (await videos('user', [ref]))[ref];
        expect(answer).toMatchObject({ ready: true, thumbAssetId: null });
        expect(answer).not.toHaveProperty('thumbUrl');
      },
    );

    it('are used in the same folder only, and a video without one is signed', async () => {
      const folder = name();
      const ref = `${folder}/video_1.mp4`;
      await lay(rig, [ref, `${folder}/deeper/vc_1.jpg`, `${rig.userId}/vc_1.jpg`]);
      const answer = (await videos('user', [ref]))[ref];
      expect(answer).toMatchObject({ ready: true, url: expect.any(String), thumbAssetId: null });
      expect(answer).not.toHaveProperty('thumbUrl');
    });
  });

  describe('fitted', () => {
    it('always have the same address, which ends with the file', async () => {
      const ref = `${rig.userId}/${randomUUID()}.jpg`;
      await lay(rig, [ref], jpeg);
      const { status, body } = await fitted('user', { ref });
      expect(status).toBe(200);
      expect((await fitted('server', { ref })).body.url).toBe(body.url);
      const answer = await fetch(body.url);
      expect(await sharp(Buffer.from(await answer.arrayBuffer())).metadata()).toMatchObject({ width: 100, height: 75 });
      await rig.legacyFiles.remove([ref]);
      expect((await fetch(body.url)).status).toBe(404);
      expect((await fitted('user', { ref })).status).toBe(404);
    });

    it('that are no image are 400', async () => {
      const ref = `${rig.userId}/film.mp4`;
      await lay(rig, [ref]);
      expect((await fitted('user', { ref })).status).toBe(400);
    });
  });

  describe('with a row', () => {
    const withBytes = async (options: object = {}) => {
      const [planted] = await plantLegacy(rig, 1, { mime: 'image/jpeg', bytes: jpeg, ...options });
      return { ref: String(planted?.assetId), path: String(planted?.storageKey) };
    };

    it('are read by their id, like every asset', async () => {
      const { ref } = await withBytes();
      const answer = (await rig.user.sign([ref])).body[ref];
      // As in the row.
      expect(answer).toMatchObject({ ready: true, mime: 'image/jpeg', byteSize: jpeg.length });
      if (!answer?.ready) return;
      expect(Buffer.from(await (await fetch(answer.url)).arrayBuffer())).toEqual(jpeg);
      expect((await fetch(String(answer.thumbUrl))).status).toBe(200);
      const fit = await rig.user.post<FittedImage>('/v1/fit', { ref, width: 50 });
      expect((await fetch(fit.body.url)).status).toBe(200);
      expect((await rig.otherUser.sign([ref])).body[ref]).toEqual(notFound);
    });

    it('whose file is missing are not found', async () => {
      const { ref, path } = await withBytes();
      await rig.legacyFiles.remove([path]);
      expect((await rig.user.sign([ref])).body[ref]).toEqual(notFound);
      expect((await rig.user.post<VideoSignedRefs>('/v1/sign/video', { refs: [ref] })).body[ref]).toEqual(notFound);
      expect((await rig.user.post('/v1/fit', { ref, width: 50 })).status).toBe(404);
    });

    it.each(['elsewhere', 'objects', 'public'])('in a bucket %s are not found', async (bucket) => {
      const { ref } = await withBytes({ bucket });
      expect((await rig.server.sign([ref])).body[ref]).toEqual(notFound);
    });

    it('name a thumbnail in either backend', async () => {
      const { ref: thumb, path } = await withBytes();
      const [video] = await plant(rig, 1, { mime: 'video/mp4', thumbAssetId: thumb });
      const ref = String(video?.assetId);
      const signed = async () => (await videos('user', [ref]))[ref];
      expect(await signed()).toMatchObject({ thumbAssetId: thumb, thumbUrl: expect.any(String) });
      await rig.legacyFiles.remove([path]);
      expect(await signed()).toMatchObject({ ready: true, thumbAssetId: thumb });
      expect(await signed()).not.toHaveProperty('thumbUrl');
    });
  });
});

describe('the default bucket', () => {
  it('is agent_message', async () => {
    const rig = await startMedia(embedded);
    const ref = `${rig.userId}/a.png`;
    await lay(rig, [ref]);
    expect(rig.legacyBucket).toBe('agent_message');
    for (const payload of [{}, { legacyBucket: null }, { legacyBucket: 'agent_message' }]) {
      const { body } = await rig.user.post<ImageSignedRefs>('/v1/sign/image', { refs: [ref], ...payload });
      expect(body[ref]).toMatchObject({ ready: true });
    }
    await rig.close();
  });
});

describe('without a legacy backend', () => {
  it('refs do not resolve, and rows remain', async () => {
    const rig = await startMedia({
      ...embedded,
      openObjects: async (edge) => ({ ...(await embedded.openObjects(edge)), legacy: undefined }),
    });
    const ref = `${rig.userId}/a.png`;
    expect((await rig.user.sign([ref])).body[ref]).toEqual(notFound);
    expect((await rig.user.post('/v1/fit', { ref, width: 1 })).status).toBe(404);
    const { body } = await rig.user.delete<unknown>('/v1/assets', { ids: [ref] });
    expect(body).toEqual({ deletedNew: 0, deletedLegacy: 0 });
    const [row] = await plant(rig, 1, { backend: 'legacy', bucket: 'agent_message' });
    const id = String(row?.assetId);
    expect((await rig.user.sign([id])).body[id]).toEqual(notFound);
    expect((await rig.user.delete('/v1/assets', { ids: [id] })).status).toBe(503);
    await rig.close();
  });
});

describe('while the legacy store does not answer', () => {
  it('legacy refs return 503 and are never treated as missing; all other refs work', async () => {
    let isDown = false;
    const rig = await startMedia({
      ...embedded,
      openObjects: async (edge) => {
        const stores = await embedded.openObjects(edge);
        const silent = openLegacyObjects({
          settings: { endpoint: 'http://127.0.0.1:1', region: 'auto', accessKeyId: 'a', secretAccessKey: 'b' },
          ownBuckets: [],
          dataDir: '',
          clock: systemClock,
        });
        const { legacy = silent } = stores;
        return { ...stores, legacy: { ...legacy, bucket: (name) => (isDown ? silent : legacy).bucket(name) } };
      },
    });
    const path = `${rig.userId}/video_1.mp4`;
    await lay(rig, [path]);
    const [asset] = await plant(rig, 1);
    const [old] = await plantLegacy(rig, 1);
    const [video] = await plant(rig, 1, { mime: 'video/mp4', thumbAssetId: String(old?.assetId) });
    isDown = true;
    const sign = (kind: string, refs: readonly unknown[]) =>
      rig.user.post<Record<string, { readonly ready: boolean }> & Refusal>(`/v1/sign/${kind}`, { refs });
    for (const kind of ['image', 'video']) {
      for (const ref of [path, old?.assetId]) {
        const { status, body, headers } = await sign(kind, [asset?.assetId, ref]);
        expect([status, body.error, headers.has('retry-after')]).toEqual([503, 'engine_unavailable', true]);
      }
      // Unreadable paths need no store.
      const { status, body } = await sign(kind, [asset?.assetId, 'secret/a.jpg', `${rig.userId}/../a.jpg`]);
      expect([status, body[String(asset?.assetId)]?.ready, body['secret/a.jpg']?.ready]).toEqual([200, true, false]);
    }
    // Only its thumbnail is there.
    const seen = (await sign('video', [video?.assetId])).body[String(video?.assetId)];
    expect(seen).toMatchObject({ ready: true, thumbAssetId: old?.assetId });
    expect(seen).not.toHaveProperty('thumbUrl');
    expect((await rig.user.post('/v1/fit', { ref: path, width: 1 })).status).toBe(503);
    expect((await rig.user.delete('/v1/assets', { ids: [path] })).status).toBe(503);
    expect((await rig.user.delete('/v1/assets', { ids: [old?.assetId] })).status).toBe(503);
    const deletion = { ownerId: rig.userId, scopeKind: 'none', legacyPrefixes: [`${rig.userId}/`] };
    expect((await rig.user.delete('/v1/scope', deletion)).status).toBe(200);
    isDown = false;
    const { body } = await sign('video', [path, old?.assetId]);
    expect([body[path]?.ready, body[String(old?.assetId)]?.ready]).toEqual([true, true]);
    await rig.close();
  });
});
