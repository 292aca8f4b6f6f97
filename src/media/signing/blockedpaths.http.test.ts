import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { inBucket, lay } from '../../../test/media/laying.fixture.ts';
import { digestOf, type Lists, openLists } from '../../../test/media/lists.fixture.ts';
import { type MediaRig, onEveryPair, type Refusal, startMedia } from '../../../test/media/rig.fixture.ts';
import type { ImageSignedRefs, VideoSignedRefs } from '../api.ts';

const notFound = { ready: false, error: 'not_found' };

onEveryPair('a legacy path that an incident names', (pair) => {
  let rig: MediaRig;
  let lists: Lists;
  let bad: Buffer;
  beforeAll(async () => {
    lists = await openLists();
    rig = await startMedia(pair, { blockedHashes: lists.folder });
    bad = await makeImage('jpeg', { width: 300, height: 200, seed: 77 });
  });
  afterAll(async () => {
    await rig.close();
    await lists.close();
  });

  const call = <Body = Refusal>(path: string, payload: object) => inBucket(rig, rig.server).post<Body>(path, payload);
  const toAnother = { toOwnerId: randomUUID(), toScopeKind: 'thread', toScopeId: '1' };
  const imageOf = async (ref: string) => (await call<ImageSignedRefs>('/v1/sign/image', { refs: [ref] })).body[ref];

  /** A path whose bytes are copied while a list contains them. The list is then emptied. */
  async function blocked(name: string, blockedBy: (path: string) => Promise<number>, bytes = bad): Promise<string> {
    const path = `feed/${randomUUID()}/${name}`;
    await lay(rig, [path], bytes);
    await lists.write('sha256', digestOf('sha256', bytes));
    expect(await blockedBy(path)).toBe(451);
    await lists.clear();
    return path;
  }

  const copying = async (path: string) => (await call('/v1/copy', { fromAssetId: path, ...toAnother })).status;
  const importing = async (path: string) =>
    (await call('/v1/assets/legacy', { path, ownerId: randomUUID(), scopeKind: 'feed', scopeId: '1' })).status;

  describe.each([
    ['a copy', copying],
    ['an import', importing],
  ])('after %s of it was blocked', (_what, block) => {
    it('does not resolve', async () => {
      const path = await blocked('photo.jpg', block);
      expect(await imageOf(path)).toEqual(notFound);
      expect((await call<VideoSignedRefs>('/v1/sign/video', { refs: [path] })).body[path]).toEqual(notFound);
      const statuses = await Promise.all([
        call('/v1/fit', { ref: path }),
        call('/v1/watermark', { ref: path }),
        call('/v1/copy', { fromAssetId: path, ...toAnother }),
      ]);
      expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect((await call('/v1/watermark-video', { ref: path })).status).toBe(404);
    });

    it('is not shown as the thumbnail of a video', async () => {
      const thumb = await blocked('vc_1.jpg', block);
      const video = thumb.replace('vc_1.jpg', 'video_1.mp4');
      await lay(rig, [video], Buffer.from('a film'));
      const answer = (await call<VideoSignedRefs>('/v1/sign/video', { refs: [video] })).body[video];
      expect(answer).toMatchObject({ ready: true, mime: 'video/mp4' });
      expect(answer).not.toHaveProperty('thumbUrl');
    });

    it('can be deleted, and others stay', async () => {
      const path = await blocked('photo.jpg', block);
      const other = path.replace('photo', 'other');
      await lay(rig, [other], bad);
      expect(await imageOf(other)).toMatchObject({ ready: true });
      expect(await inBucket(rig, rig.server).delete('/v1/assets', { ids: [path] })).toMatchObject({
        status: 200,
        body: { deletedLegacy: 1 },
      });
    });
  });

  it('applies to its bucket only', async () => {
    const path = await blocked('photo.jpg', copying);
    const elsewhere = await rig.server.post<ImageSignedRefs>('/v1/sign/image', {
      refs: [path],
      legacyBucket: `${rig.legacyBucket}x`,
    });
    expect(elsewhere.body[path]).toEqual(notFound);
    expect(await imageOf(`${path}x`)).toEqual(notFound);
  });

  it('of a file that is no image too', async () => {
    const film = Buffer.from('a prohibited film');
    const path = await blocked('film.mp4', copying, film);
    expect((await call<VideoSignedRefs>('/v1/sign/video', { refs: [path] })).body[path]).toEqual(notFound);
  });
});
