/** Deletes legacy files by path, by prefix and with the rows at these paths (docs/specification/media.md#deletion). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { groundOf, inBucket, lay, plantLegacy, standing } from '../../../test/media/laying.fixture.ts';
import { plant, remaining } from '../../../test/media/planting.fixture.ts';
import { type Client, type MediaRig, onEveryStore, type Refusal, startMedia } from '../../../test/media/rig.fixture.ts';
import { listed } from '../../../test/platform/objects/objects.fixture.ts';
import type { AssetsDeleted, ImageSignedRefs, ScopeDeleted } from '../api.ts';
import type { MediaTables } from '../tables.ts';

onEveryStore('deleting legacy files', (pair) => {
  let rig: MediaRig;
  /** Below the user's own id; new for each test. */
  let folder: string;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  beforeEach(() => {
    folder = `${rig.userId}/${randomUUID()}`;
  });
  afterAll(() => rig.close());

  const remove = (client: Client, ids: readonly string[], more: object = {}) =>
    inBucket(rig, client).delete<AssetsDeleted>('/v1/assets', { ids, ...more });
  const removeScope = (client: Client, payload: object) =>
    inBucket(rig, client).delete<ScopeDeleted>('/v1/scope', payload);
  const deleted = (deletedNew: number, deletedLegacy: number) => ({ status: 200, body: { deletedNew, deletedLegacy } });
  const idsOf = (planted: readonly { readonly assetId: string }[]) => planted.map(({ assetId }) => assetId);

  describe('by path', () => {
    it('deletes the file with its watermark files, and nothing else', async () => {
      const gone = [`${folder}/a.jpg`, `${folder}/a.jpg.wm.jpg`, `${folder}/a.jpg.wm.mp4`];
      const kept = [`${folder}/a.jpg.wm.png`, `${folder}/a.jpgx`, `${folder}/b/a.jpg`, `${folder}/a.jpg.wm.jpg.bak`];
      await lay(rig, [...gone, ...kept]);
      expect(await remove(rig.user, [`${folder}/a.jpg`])).toMatchObject(deleted(0, 1));
      expect(await standing(rig, [...gone, ...kept])).toEqual(kept);
      expect(await remove(rig.user, [`${folder}/a.jpg`])).toMatchObject(deleted(0, 0));
    });

    it('counts existing files, each once, next to assets', async () => {
      const files = [`${folder}/a.jpg`, `${folder}/b.mp4`, `feed/${rig.userId}/c`, `avatars/${rig.userId}/d.png`];
      await lay(rig, files);
      const assets = await plant(rig, 2);
      const ids = [...files, ...files, `${folder}/none.jpg`, ...idsOf(assets), randomUUID()];
      expect(await remove(rig.user, ids)).toMatchObject(deleted(2, 4));
      expect(await standing(rig, files)).toEqual([]);
      expect(await remaining(rig, assets)).toEqual({ rows: 0, objects: 0 });
    });

    it('removes watermark files whose source has been deleted', async () => {
      await lay(rig, [`${folder}/a.jpg.wm.jpg`]);
      expect(await remove(rig.user, [`${folder}/a.jpg`])).toMatchObject(deleted(0, 0));
      expect(await standing(rig, [`${folder}/a.jpg.wm.jpg`])).toEqual([]);
    });

    it('accepts the longest names, which leave no room for a watermark suffix', async () => {
      const file = `${folder}/${'x'.repeat(255)}`;
      await lay(rig, [file]);
      expect(await remove(rig.user, [file])).toMatchObject(deleted(0, 1));
      expect(await standing(rig, [file])).toEqual([]);
    });

    it('with an internal key deletes any path, in the named bucket only', async () => {
      const file = `anybody/${randomUUID()}.jpg`;
      await lay(rig, [file]);
      expect(await remove(rig.server, [file], { legacyBucket: 'elsewhere' })).toMatchObject(deleted(0, 0));
      expect(await standing(rig, [file])).toEqual([file]);
      expect(await remove(rig.server, [file])).toMatchObject(deleted(0, 1));
    });

    it('of 1000 at once', { timeout: 120_000 }, async () => {
      const files = Array.from({ length: 1000 }, (_, number) => `${folder}/${number}.bin`);
      for (let start = 0; start < files.length; start += 50) await lay(rig, files.slice(start, start + 50));
      expect(await remove(rig.user, files)).toMatchObject(deleted(0, 1000));
      expect(await listed(rig.legacyFiles, `${folder}/`)).toEqual([]);
    });

    it('the URLs of the file and of its variants are then 404', async () => {
      const file = `${folder}/a.png`;
      await lay(rig, [file], await makeImage('png'));
      const { body } = await inBucket(rig, rig.user).post<ImageSignedRefs>('/v1/sign/image', { refs: [file] });
      const answer = body[file];
      const urls = answer?.ready ? [answer.url, String(answer.thumbUrl), String(answer.previewUrl)] : [];
      expect(await Promise.all(urls.map(async (url) => (await fetch(url)).status))).toEqual([200, 200, 200]);
      expect(await listed(rig.publicObjects, 'img/')).not.toEqual([]);
      await remove(rig.user, [file]);
      expect(await Promise.all(urls.map(async (url) => (await fetch(url)).status))).toEqual([404, 404, 404]);
      expect(await listed(rig.publicObjects, 'img/')).toEqual([]);
    });

    it.each<[string, (user: string) => string]>([
      ["somebody else's", () => `${randomUUID()}/a.jpg`],
      ['one that only starts alike', (user) => `${user}x/a.jpg`],
      ["somebody else's in the feed", () => `feed/${randomUUID()}/a.jpg`],
      ['one of the feed, of nobody', () => 'feed/a.jpg'],
      ['one that is public in another case', (user) => `Feed/${user}/a.jpg`],
      ['one encoded to look like the own', (user) => `${user}%2fa/a.jpg`],
    ])('403 for %s, and nothing at all is deleted', async (_name, path) => {
      const [own, foreign] = [`${folder}/own.jpg`, path(rig.userId)];
      await lay(rig, [own, foreign]);
      const assets = await plant(rig, 1);
      const answer = await remove(rig.user, [own, ...idsOf(assets), foreign]);
      expect(answer.status).toBe(403);
      expect(await standing(rig, [own, foreign])).toEqual([own, foreign]);
      expect(await remaining(rig, assets)).toEqual({ rows: 1, objects: 1 });
      await rig.legacyFiles.remove([foreign]);
    });

    it.each([
      (user: string) => `${user}/../b/a.jpg`,
      (user: string) => `${user}/./a.jpg`,
      (user: string) => `${user}//a.jpg`,
      (user: string) => `/${user}/a.jpg`,
      (user: string) => `${user}/a.jpg/`,
      (user: string) => `${user}/`,
      (user: string) => `${user}\\a.jpg/b`,
      (user: string) => `${user}/a.jpg\0`,
      (user: string) => `${user}/${'x'.repeat(256)}`,
      (user: string) => `${user}/${'x/'.repeat(500)}x`,
      (user: string) => `${user}/\ud800`,
    ])('400 for a trick, and nothing is deleted (%#)', async (trick) => {
      const own = `${folder}/own.jpg`;
      await lay(rig, [own]);
      const { status, body } = await inBucket(rig, rig.user).delete<Refusal>('/v1/assets', {
        ids: [own, trick(rig.userId)],
      });
      expect([status, body.issues?.[0]?.path]).toEqual([400, 'body.ids.1']);
      expect(await standing(rig, [own])).toEqual([own]);
    });
  });

  describe('with rows', () => {
    it('by id: deletes the file in its bucket', async () => {
      const planted = await plantLegacy(rig, 3, { beside: ['.wm.jpg', '.wm.mp4'] });
      const modern = await plant(rig, 2, { beside: ['.wm.jpg'] });
      expect(await remove(rig.user, idsOf([...planted, ...modern]))).toMatchObject(deleted(5, 0));
      expect(await remaining(groundOf(rig), planted)).toEqual({ rows: 0, objects: 0 });
      expect(await remaining(rig, modern)).toEqual({ rows: 0, objects: 0 });
    });

    it('by path deletes the row with its file', async () => {
      const [planted] = await plantLegacy(rig, 1);
      const path = String(planted?.storageKey);
      expect((await remove(rig.user, [path])).status).toBe(403);
      expect(await remove(rig.server, [path])).toMatchObject(deleted(0, 1));
      expect(await remaining(groundOf(rig), planted ? [planted] : [])).toEqual({ rows: 0, objects: 0 });
    });

    it('by path and id: counted as both', async () => {
      const planted = await plantLegacy(rig, 1);
      const ids = planted.flatMap(({ assetId, storageKey }) => [assetId, storageKey]);
      expect(await remove(rig.server, ids)).toMatchObject(deleted(1, 1));
    });

    it("of another user: not reachable by a path of one's own", async () => {
      const path = `${folder}/given.bin`;
      await lay(rig, [path]);
      const given = { path, legacyBucket: rig.legacyBucket, ownerId: randomUUID(), scopeKind: 'thread', scopeId: '1' };
      expect((await rig.server.post('/v1/assets/legacy', given)).status).toBe(201);
      expect((await remove(rig.user, [path])).status).toBe(403);
      expect(await standing(rig, [path])).toEqual([path]);
      expect(await remove(rig.server, [path])).toMatchObject(deleted(0, 1));
    });

    it('in a bucket that is not configured: 503, and the row stays', async () => {
      const planted = await plantLegacy(rig, 1, { bucket: rig.originals.bucket });
      expect((await remove(rig.user, idsOf(planted))).status).toBe(503);
      expect((await removeScope(rig.user, { ownerId: rig.userId })).status).toBe(503);
      expect((await remaining(groundOf(rig), planted)).rows).toBe(1);
      // The user's other deletions would meet it.
      await rig.database.queries<MediaTables>().deleteFrom('assets').execute();
    });
  });

  describe('by scope', () => {
    it('deletes rows of both backends from their own buckets, and counts them separately', async () => {
      const ownerId = randomUUID();
      const old = await plantLegacy(rig, 3, { ownerId, beside: ['.wm.jpg'] });
      const modern = await plant(rig, 2, { ownerId, beside: ['.wm.mp4'] });
      const elsewhere = await plantLegacy(rig, 1, { ownerId, scopeKind: 'feed' });
      expect(await removeScope(rig.server, { ownerId, scopeKind: 'thread' })).toMatchObject({
        status: 200,
        body: { r2Deleted: 4, legacyDeleted: 6, dbDeleted: 5 },
      });
      expect(await remaining(groundOf(rig), old)).toEqual({ rows: 0, objects: 0 });
      expect(await remaining(rig, modern)).toEqual({ rows: 0, objects: 0 });
      expect(await remaining(groundOf(rig), elsewhere)).toEqual({ rows: 1, objects: 1 });
    });

    it('rows of both backends, over several pages', { timeout: 120_000 }, async () => {
      const ownerId = randomUUID();
      await plantLegacy(rig, 400, { ownerId });
      await plant(rig, 400, { ownerId });
      expect(await removeScope(rig.server, { ownerId })).toMatchObject({
        body: { r2Deleted: 400, legacyDeleted: 400, dbDeleted: 800 },
      });
    });

    it('prefixes are listed and removed', async () => {
      const gone = [`${folder}/a.jpg`, `${folder}/a.jpg.wm.jpg`, `${folder}/deep/er/b.mp4`, `feed/${rig.userId}/x/c`];
      const kept = [`${folder}x/a.jpg`, `avatars/${rig.userId}/d.png`, `feed/${rig.userId}y/c`];
      await lay(rig, [...gone, ...kept]);
      const legacyPrefixes = [`${folder}/`, `${folder}/deep/`, `feed/${rig.userId}/`, `${rig.userId}/none/`];
      expect(await removeScope(rig.user, { ownerId: rig.userId, scopeKind: 'none', legacyPrefixes })).toMatchObject({
        status: 200,
        body: { r2Deleted: 0, legacyDeleted: 4, dbDeleted: 0 },
      });
      expect(await standing(rig, [...gone, ...kept])).toEqual(kept);
      await rig.legacyFiles.remove(kept);
    });

    it('a prefix may end within a name', async () => {
      await lay(rig, [`${folder}/2019-a.jpg`, `${folder}/2019-b.jpg`, `${folder}/2020-a.jpg`]);
      const legacyPrefixes = [`${folder}/2019-`];
      expect(await removeScope(rig.user, { ownerId: rig.userId, scopeKind: 'none', legacyPrefixes })).toMatchObject({
        body: { legacyDeleted: 2 },
      });
      expect(await standing(rig, [`${folder}/2020-a.jpg`])).toHaveLength(1);
    });

    it('a prefix spares files registered outside the scope, and counts those registered in it once', async () => {
      const ownerId = randomUUID();
      const inScope = await plantLegacy(rig, 2, { ownerId, beside: ['.wm.jpg'] });
      const outside = await plantLegacy(rig, 2, { ownerId, scopeKind: 'feed', beside: ['.wm.jpg'] });
      const loose = `u/${ownerId}/loose.jpg`;
      await lay(rig, [loose]);
      const payload = { ownerId, scopeKind: 'thread', legacyPrefixes: [`u/${ownerId}/`] };
      expect(await removeScope(rig.server, payload)).toMatchObject({
        body: { r2Deleted: 0, legacyDeleted: 5, dbDeleted: 2 },
      });
      expect(await remaining(groundOf(rig), inScope)).toEqual({ rows: 0, objects: 0 });
      expect(await remaining(groundOf(rig), outside)).toEqual({ rows: 2, objects: 4 });
      expect(await standing(rig, [loose])).toEqual([]);
    });

    it('variants of files below a prefix go too', async () => {
      const file = `${folder}/a.png`;
      await lay(rig, [file], await makeImage('png'));
      const { body } = await inBucket(rig, rig.user).post<ImageSignedRefs>('/v1/sign/image', { refs: [file] });
      const answer = body[file];
      await fetch(String(answer?.ready && answer.thumbUrl));
      expect(await listed(rig.publicObjects, 'img/')).toHaveLength(1);
      await removeScope(rig.user, { ownerId: rig.userId, scopeKind: 'none', legacyPrefixes: [`${folder}/`] });
      expect(await listed(rig.publicObjects, 'img/')).toEqual([]);
    });

    it.each<[string, (user: string) => string]>([
      ['the own id without a slash', (user) => user],
      ['one that starts alike', (user) => `${user}x/`],
      ['a public scope as a whole', () => 'feed/'],
      ['the start of the own part of the feed', (user) => `feed/${user}`],
      ["somebody else's", () => `${randomUUID()}/`],
    ])('403 for %s', async (_name, prefix) => {
      const file = `${folder}/a.jpg`;
      await lay(rig, [file]);
      const legacyPrefixes = [`${folder}/`, prefix(rig.userId)];
      expect((await removeScope(rig.user, { ownerId: rig.userId, scopeKind: 'none', legacyPrefixes })).status).toBe(
        403,
      );
      expect(await standing(rig, [file])).toEqual([file]);
    });

    it.each([
      ['1001 prefixes', () => Array(1001).fill('a/'), 'body.legacyPrefixes'],
      ['one of 1025 bytes', () => [`${'a'.repeat(204)}/`.repeat(5)], 'body.legacyPrefixes.0'],
      [
        'one below which no name fits',
        () => [`${`${'a'.repeat(203)}/`.repeat(4)}${'b'.repeat(207)}/`],
        'body.legacyPrefixes.0',
      ],
      ['dots at the end', (user: string) => [`${user}/..`], 'body.legacyPrefixes.0'],
      ['a dot within', (user: string) => [`${user}/./a`], 'body.legacyPrefixes.0'],
      ['a backslash', (user: string) => [`${user}/\\`], 'body.legacyPrefixes.0'],
    ])('400 for %s', async (_name, prefixes, path) => {
      const payload = { ownerId: rig.userId, scopeKind: 'none', legacyPrefixes: prefixes(rig.userId) };
      const { status, body } = await inBucket(rig, rig.user).delete<Refusal>('/v1/scope', payload);
      expect([status, body.issues?.[0]?.path]).toEqual([400, path]);
    });
  });
});
