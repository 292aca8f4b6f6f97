import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { icon, makeImage, padPng, pngBomb, svg } from '../../../test/media/images.fixture.ts';
import { groundOf, inBucket, lay, standing } from '../../../test/media/laying.fixture.ts';
import { remaining } from '../../../test/media/planting.fixture.ts';
import { type MediaRig, onEveryStore, type Refusal, startMedia, testLimits } from '../../../test/media/rig.fixture.ts';
import type { Asset, AssetsDeleted, VideoSignedRefs } from '../api.ts';
import type { MediaTables } from '../tables.ts';

onEveryStore('POST /v1/assets/legacy', (pair) => {
  let rig: MediaRig;
  let jpeg: Buffer;
  beforeAll(async () => {
    rig = await startMedia(pair);
    jpeg = await makeImage('jpeg', { width: 80, height: 40, orientation: 6 });
  });
  afterAll(() => rig.close());

  const newPath = (name: string) => `old/${randomUUID()}/${name}`;
  const request = (path: string, changes: object = {}) => ({
    ownerId: rig.userId,
    scopeKind: 'thread',
    scopeId: '1',
    path,
    ...changes,
  });
  const imported = (path: string, changes: object = {}) =>
    inBucket(rig, rig.server).post<Asset & Refusal>('/v1/assets/legacy', request(path, changes));
  const rowsAt = (path: string) =>
    rig.database
      .queries<MediaTables>()
      .selectFrom('assets')
      .select(['asset_id', 'backend', 'bucket', 'etag'])
      .where('storage_key', '=', path)
      .execute();

  it('registers an image with the type and size that its bytes show', async () => {
    const path = newPath('really a jpeg.png');
    await lay(rig, [path], jpeg);
    const { status, body } = await imported(path, { ownerId: rig.userId.toUpperCase() });
    expect([status, body]).toEqual([
      201,
      {
        assetId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
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
        scopeKind: 'thread',
        scopeId: '1',
        kind: 'image',
        mime: 'image/jpeg',
        byteSize: jpeg.length,
        width: 40,
        height: 80,
        durationMs: null,
        blurhash: expect.any(String),
        thumbAssetId: null,
        storageKey: path,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        createdAt: expect.any(String),
      },
    ]);
    expect(await rowsAt(path)).toMatchObject([{ backend: 'legacy', bucket: rig.legacyBucket }]);
    expect(await standing(rig, [path])).toEqual([path]);

    // From then on it is an asset like any other.
    const ref = body.assetId;
    const answer = (await rig.user.sign([ref])).body[ref];
    expect(answer).toMatchObject({ ready: true, width: 40, height: 80, blurhash: body.blurhash });
    if (!answer?.ready) return;
    expect(Buffer.from(await (await fetch(answer.url)).arrayBuffer())).toEqual(jpeg);
    expect((await fetch(String(answer.thumbUrl))).status).toBe(200);
    expect((await rig.otherUser.sign([ref])).body[ref]).toEqual({ ready: false, error: 'not_found' });
    const { body: deleted } = await rig.user.delete<AssetsDeleted>('/v1/assets', { ids: [ref] });
    expect(deleted).toEqual({ deletedNew: 1, deletedLegacy: 0 });
    expect(await standing(rig, [path])).toEqual([]);
  });

  it.each([
    ['video_1.mp4', 'video', 'video/mp4'],
    ['a.mp3', 'audio', 'audio/mpeg'],
    ['a.pdf', 'file', 'application/pdf'],
    ['a', 'file', 'application/octet-stream'],
  ])('makes of %s an asset of kind %s', async (name, kind, mime) => {
    const path = newPath(name);
    await lay(rig, [path]);
    const { status, body } = await imported(path);
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind, mime, byteSize: 1, width: null, height: null, durationMs: null });
  });

  it('a video shows its thumbnail by convention', async () => {
    const path = newPath('video_7.mp4');
    await lay(rig, [path]);
    await lay(rig, [path.replace('video_7.mp4', 'vc_7.jpg')], jpeg);
    const { assetId } = (await imported(path)).body;
    const { body } = await rig.user.post<VideoSignedRefs>('/v1/sign/video', { refs: [assetId] });
    const answer = body[assetId];
    expect(answer).toMatchObject({ ready: true, thumbAssetId: null, thumbUrl: expect.any(String) });
    expect((await fetch(String(answer?.ready && answer.thumbUrl))).status).toBe(200);
  });

  it('replayed answers 200 with the same row; a file in the root of its bucket too', async () => {
    for (const path of [newPath('a.png'), `${randomUUID()}.png`]) {
      await lay(rig, [path], await makeImage('png'));
      const first = await imported(path);
      const again = await imported(path);
      expect([first.status, again.status]).toEqual([201, 200]);
      expect(again.body).toEqual(first.body);
      expect(await rowsAt(path)).toHaveLength(1);
    }
  });

  it('runs once for concurrent requests', async () => {
    const path = newPath('a.png');
    await lay(rig, [path], await makeImage('png'));
    const answers = await Promise.all(Array.from({ length: 5 }, () => imported(path)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.assetId)).size).toBe(1);
    expect(await rowsAt(path)).toHaveLength(1);
  });

  it.each<[string, () => object]>([
    ['another owner', () => ({ ownerId: randomUUID() })],
    ['another scope', () => ({ scopeId: '2' })],
    ['another scope kind', () => ({ scopeKind: 'feed' })],
  ])('409 for %s than it was registered with, and the row stays', async (_name, changes) => {
    const path = newPath('a.png');
    await lay(rig, [path], await makeImage('png'));
    const { assetId } = (await imported(path)).body;
    const answer = await imported(path, changes());
    expect([answer.status, answer.body.error]).toEqual([409, 'asset_conflict']);
    expect((await rig.user.sign([assetId])).body[assetId]).toMatchObject({ ready: true });
  });

  it('the same path in another bucket is another asset', async () => {
    const path = newPath('a.png');
    await lay(rig, [path], await makeImage('png'));
    expect((await imported(path)).status).toBe(201);
    expect((await imported(path, { legacyBucket: 'elsewhere' })).status).toBe(404);
  });

  it.each<[string, string, () => Buffer | Promise<Buffer>, number, string]>([
    ['a damaged image', 'a.png', async () => (await makeImage('png')).subarray(0, 60), 422, 'undecodable_image'],
    ['an image of another format', 'a.jpg', () => icon, 422, 'unsupported_image'],
    ['SVG', 'a.svg', () => svg, 422, 'unsupported_image'],
    ['too many pixels', 'a.png', () => pngBomb(2000, 2000), 422, 'image_too_large'],
    [
      'too many bytes',
      'a.png',
      async () => padPng(await makeImage('png'), testLimits.maxImageBytes + 1),
      413,
      'asset_too_large',
    ],
    ['too large a video', 'a.mp4', () => Buffer.alloc(testLimits.maxVideoBytes + 1), 413, 'asset_too_large'],
  ])('%s is refused; the file stays, a row does not', async (_name, name, make, status, error) => {
    const path = newPath(name);
    await lay(rig, [path], await make());
    const answer = await imported(path);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    expect(await standing(rig, [path])).toEqual([path]);
    expect(await rowsAt(path)).toEqual([]);
    // Mended by its owner, it is taken.
    await lay(rig, [path], name.endsWith('mp4') ? Buffer.from('x') : await makeImage('png'));
    expect((await imported(path)).status).toBe(201);
  });

  it('a missing file is 404, even if it was registered', async () => {
    const path = newPath('a.png');
    expect((await imported(path)).status).toBe(404);
    await lay(rig, [path], await makeImage('png'));
    const { assetId, storageKey } = (await imported(path)).body;
    await rig.legacyFiles.remove([path]);
    expect((await imported(path)).status).toBe(404);
    // A deletion removes its row as usual.
    await rig.user.delete('/v1/assets', { ids: [assetId] });
    expect(await remaining(groundOf(rig), [{ assetId, storageKey }])).toEqual({ rows: 0, objects: 0 });
  });

  it('is for servers only', async () => {
    const path = newPath('a.png');
    await lay(rig, [path], await makeImage('png'));
    expect((await inBucket(rig, rig.user).post('/v1/assets/legacy', request(path))).status).toBe(403);
    expect((await inBucket(rig, rig.client({})).post('/v1/assets/legacy', request(path))).status).toBe(401);
    expect(await rowsAt(path)).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['no owner', { ownerId: null }, 'body.ownerId'],
    ['an owner that is no UUID', { ownerId: 'me' }, 'body.ownerId'],
    ['a bad scope', { scopeKind: 'a b' }, 'body.scopeKind'],
    ['a bad scope id', { scopeId: '' }, 'body.scopeId'],
    ['no path', { path: undefined }, 'body.path'],
    ['an empty path', { path: '' }, 'body.path'],
    ['a path upwards', { path: 'a/../b' }, 'body.path'],
    ['an absolute path', { path: '/etc/passwd' }, 'body.path'],
    ['a folder', { path: 'a/' }, 'body.path'],
    ['a backslash', { path: 'a\\b' }, 'body.path'],
    ['NUL', { path: 'a/\0' }, 'body.path'],
    ['a path of 1025 bytes', { path: `${'a/'.repeat(512)}a` }, 'body.path'],
    ['a bad bucket', { legacyBucket: '../objects' }, 'body.legacyBucket'],
  ])('400 for %s', async (_name, changes, path) => {
    const { status, body } = await imported('a/b', changes);
    expect([status, body.issues?.[0]?.path]).toEqual([400, path]);
  });
});
