import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type Planted, plant, remaining } from '../../../test/media/planting.fixture.ts';
import {
  type Client,
  type MediaRig,
  onEveryStore,
  type Refusal,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import { listed } from '../../../test/platform/objects/objects.fixture.ts';
import type { AssetsDeleted } from '../api.ts';

const none = { rows: 0, objects: 0 };
const idsOf = (planted: readonly Planted[]) => planted.map(({ assetId }) => assetId);

onEveryStore('DELETE /v1/assets', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  const remove = (client: Client, ids: readonly unknown[], more: object = {}) =>
    client.delete<AssetsDeleted>('/v1/assets', { ids, ...more });
  const deleted = (deletedNew: number) => ({ status: 200, body: { deletedNew, deletedLegacy: 0 } });

  it('deletes the row, the object, the watermark files and the variants', async () => {
    const { registration, assetId, storageKey } = await upload(rig.user, await makeImage('png'));
    await rig.user.register(registration);
    const signed = (await rig.user.sign([assetId])).body[assetId];
    if (!signed?.ready) throw new Error('not signed');
    for (const url of [signed.thumbUrl, signed.previewUrl]) expect((await fetch(String(url))).status).toBe(200);
    for (const ending of ['.wm.jpg', '.wm.mp4'])
      await rig.originals.put(storageKey + ending, Buffer.from('x'), { contentType: 'image/jpeg', size: 1 });
    expect(await listed(rig.publicObjects, 'img/')).toHaveLength(2);

    expect(await remove(rig.user, [assetId])).toMatchObject(deleted(1));
    expect(await remaining(rig, [{ assetId, storageKey }])).toEqual(none);
    expect(await listed(rig.publicObjects, 'img/')).toEqual([]);
    expect((await rig.user.sign([assetId])).body[assetId]).toEqual({ ready: false, error: 'not_found' });
    for (const url of [signed.url, signed.thumbUrl]) expect((await fetch(String(url))).status).toBe(404);
    expect(await remove(rig.user, [assetId])).toMatchObject(deleted(0));
  });

  it('frees the id: it can be uploaded and registered again', async () => {
    const first = await upload(rig.user, await makeImage('png'));
    await rig.user.register(first.registration);
    await remove(rig.user, [first.assetId]);
    const again = await upload(rig.user, await makeImage('png'), first.registration);
    expect((await rig.user.register(again.registration)).status).toBe(201);
    expect((await rig.user.sign([first.assetId])).body[first.assetId]).toMatchObject({ ready: true });
  });

  it.each<[string, (ids: readonly string[]) => readonly string[], number]>([
    ['several', (ids) => ids, 3],
    ['duplicates once', (ids) => [...ids, ...ids], 3],
    ['upper case as lower', (ids) => ids.flatMap((id) => [id, id.toUpperCase()]), 3],
    ['unknown ids not', (ids) => [randomUUID(), ...ids, randomUUID()], 3],
    [
      'own legacy paths not',
      (ids) => [...ids, `${rig.userId}/a.jpg`, `feed/${rig.userId}/a/b.jpg`, `avatars/${rig.userId}/c`],
      3,
    ],
  ])('counts %s', async (_name, ask, count) => {
    const planted = await plant(rig, 3);
    expect(await remove(rig.user, ask(idsOf(planted)), { legacyBucket: 'agent_message' })).toMatchObject(
      deleted(count),
    );
    expect(await remaining(rig, planted)).toEqual(none);
  });

  it('deletes assets that are not ready, and rows whose object is missing', async () => {
    const planted = [...(await plant(rig, 1, { isReady: false })), ...(await plant(rig, 1))];
    await rig.originals.remove([String(planted[1]?.storageKey)]);
    expect(await remove(rig.user, idsOf(planted))).toMatchObject(deleted(2));
    expect(await remaining(rig, planted)).toEqual(none);
  });

  it('deletes assets of any owner with the internal key', async () => {
    const planted = [...(await plant(rig, 1)), ...(await plant(rig, 1, { ownerId: randomUUID() }))];
    expect(await remove(rig.server, [...idsOf(planted), 'anybody/a.jpg'])).toMatchObject(deleted(2));
    expect(await remaining(rig, planted)).toEqual(none);
  });

  describe('thumbnails', () => {
    it('go with their video, uncounted', async () => {
      const thumbs = await plant(rig, 1, { beside: ['.wm.jpg'] });
      const videos = await plant(rig, 1, { mime: 'video/mp4', thumbAssetId: thumbs[0]?.assetId, beside: ['.wm.mp4'] });
      expect(await remove(rig.user, idsOf(videos))).toMatchObject(deleted(1));
      expect(await remaining(rig, [...thumbs, ...videos])).toEqual(none);
    });

    it('count when they are named too', async () => {
      const thumbs = await plant(rig, 1);
      const videos = await plant(rig, 2, { mime: 'video/mp4', thumbAssetId: thumbs[0]?.assetId });
      expect(await remove(rig.user, idsOf([...videos, ...thumbs]))).toMatchObject(deleted(3));
      expect(await remaining(rig, [...thumbs, ...videos])).toEqual(none);
    });

    it.each<[string, () => Client]>([
      ['a user', () => rig.user],
      ['a server', () => rig.server],
    ])('of somebody else stay, for %s', async (_name, who) => {
      const thumbs = await plant(rig, 1, { ownerId: randomUUID() });
      const videos = await plant(rig, 1, { mime: 'video/mp4', thumbAssetId: thumbs[0]?.assetId });
      expect(await remove(who(), idsOf(videos))).toMatchObject(deleted(1));
      expect(await remaining(rig, thumbs)).toEqual({ rows: 1, objects: 1 });
    });

    it('that were never registered are no error', async () => {
      const videos = await plant(rig, 1, { mime: 'video/mp4', thumbAssetId: randomUUID() });
      expect(await remove(rig.user, idsOf(videos))).toMatchObject(deleted(1));
    });

    it('stay when an image, not the video, is deleted; so does a video whose thumbnail is', async () => {
      const thumbs = await plant(rig, 1);
      const videos = await plant(rig, 1, { mime: 'video/mp4', thumbAssetId: thumbs[0]?.assetId });
      expect(await remove(rig.user, idsOf(thumbs))).toMatchObject(deleted(1));
      expect(await remaining(rig, videos)).toEqual({ rows: 1, objects: 1 });
    });
  });

  it.each<[string, (own: string, foreign: string) => readonly string[]]>([
    ["somebody else's asset", (own, foreign) => [own, foreign]],
    ["somebody else's path", (own) => [own, `${randomUUID()}/a.jpg`]],
    ['a path of no owner', (own) => [own, 'other/a.jpg']],
    ["somebody else's feed", (own) => [own, `feed/${randomUUID()}/a.jpg`]],
    ['a path that only starts alike', (own) => [own, `${rig.userId}x/a.jpg`]],
    ['another folder of the own name', (own) => [own, `other/${rig.userId}/a.jpg`]],
    ['another case', (own) => [own, `FEED/${rig.userId}/a.jpg`]],
  ])('403 for %s, and nothing is deleted', async (_name, ask) => {
    const own = await plant(rig, 1);
    const foreign = await plant(rig, 1, { ownerId: randomUUID(), scopeKind: 'feed' });
    const answer = await rig.user.delete<Refusal>('/v1/assets', { ids: ask(idsOf(own).join(), idsOf(foreign).join()) });
    expect([answer.status, answer.body.error]).toEqual([403, 'forbidden']);
    expect(await remaining(rig, [...own, ...foreign])).toEqual({ rows: 2, objects: 2 });
  });

  it.each<[string, unknown, string]>([
    ['no body', '', 'body'],
    ['no ids', {}, 'body.ids'],
    ['an empty list', { ids: [] }, 'body.ids'],
    ['1001 ids', { ids: Array.from({ length: 1001 }, () => randomUUID()) }, 'body.ids'],
    ['ids that are no list', { ids: randomUUID() }, 'body.ids'],
    ['a number', { ids: [1] }, 'body.ids.0'],
    ['neither UUID nor path', { ids: [randomUUID(), 'nonsense'] }, 'body.ids.1'],
    ['an empty id', { ids: [''] }, 'body.ids.0'],
    ['a path upwards', { ids: ['a/../b'] }, 'body.ids.0'],
    ['a path upwards at the end', { ids: ['a/..'] }, 'body.ids.0'],
    ['an absolute path', { ids: ['/a/b'] }, 'body.ids.0'],
    ['an empty segment', { ids: ['a//b'] }, 'body.ids.0'],
    ['a folder', { ids: ['a/'] }, 'body.ids.0'],
    ['NUL', { ids: ['a/\0'] }, 'body.ids.0'],
    ['a bad bucket', { ids: [randomUUID()], legacyBucket: '..' }, 'body.legacyBucket'],
  ])('400 for %s, before rights are judged', async (_name, payload, path) => {
    for (const client of [rig.user, rig.server]) {
      const { status, body } = await client.delete<Refusal>('/v1/assets', payload);
      expect([status, body.error, body.issues?.[0]?.path]).toEqual([400, 'invalid_request', path]);
    }
  });

  it('401 without a credential', async () => {
    expect((await remove(rig.client({}), [randomUUID()])).status).toBe(401);
    expect((await remove(rig.client({ 'x-internal-key': 'wrong' }), [randomUUID()])).status).toBe(401);
  });

  it('deletes 1000 at once', { timeout: 120_000 }, async () => {
    const planted = await plant(rig, 1000);
    expect(await remove(rig.user, idsOf(planted))).toMatchObject(deleted(1000));
    const left = await listed(rig.originals, `u/${rig.userId}/thread/1/`);
    const keys = new Set(left.map(({ key }) => key));
    expect(planted.filter(({ storageKey }) => keys.has(storageKey))).toEqual([]);
  });

  it('counts each asset once, even if concurrent calls delete it', async () => {
    const planted = await plant(rig, 20);
    const answers = await Promise.all(Array.from({ length: 5 }, () => remove(rig.user, idsOf(planted))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.reduce((sum, { body }) => sum + body.deletedNew, 0)).toBe(20);
    expect(await remaining(rig, planted)).toEqual(none);
  });

  it('503 for a row in a bucket that is not ours; the row stays', async () => {
    const planted = [
      ...(await plant(rig, 1, { bucket: 'elsewhere' })),
      ...(await plant(rig, 1, { backend: 'legacy' })),
    ];
    for (const id of idsOf(planted)) expect((await remove(rig.user, [id])).status).toBe(503);
    expect(await remaining(rig, planted)).toEqual({ rows: 2, objects: 2 });
  });
});
