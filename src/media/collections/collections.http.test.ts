/** Names, favorites and collections of an owner's assets (docs/specification/media.md#collections). */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
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
import type { Asset } from '../api.ts';
import type { AssetPage } from '../listing/api.ts';
import type { Share, ShareData, SharePage } from '../shares/api.ts';
import type { MediaTables } from '../tables.ts';
import type { Collection, Collections, FavoritesChanged } from './api.ts';

onEveryPair('names, favorites and collections', (pair) => {
  let rig: MediaRig;
  let png: Buffer;
  let images: readonly Asset[];
  let foreign: Asset;
  beforeAll(async () => {
    rig = await startMedia(pair);
    png = await makeImage('png');
    const made = [];
    for (const name of ['IMG_4001.png', 'IMG_4002.png', 'Ärger im Büro.png']) made.push(await make(rig.user, name));
    images = made;
    foreign = await make(rig.otherUser, 'secret name.png', { scopeKind: 'feed', scopeId: 'published' });
  });
  afterAll(() => rig.close());

  async function make(client: Client, name: string | null = null, scope = {}): Promise<Asset> {
    const { registration } = await upload(client, png, scope);
    const { status, body } = await client.register({ ...registration, name });
    expect([status, body]).toEqual([201, expect.anything()]);
    return body;
  }
  const idsOf = (assets: readonly Asset[]) => assets.map(({ assetId }) => assetId);
  const list = async (query: string, client = rig.user) =>
    idsOf((await client.get<AssetPage>(`/v1/assets${query}`)).body.assets);
  const found = (q: string) => list(`?q=${encodeURIComponent(q)}`);
  const send = <Body = Collection & Refusal>(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
    client = rig.user,
  ) => {
    const { post, patch, delete: remove } = client;
    return { POST: post<Body>, PATCH: patch<Body>, DELETE: remove<Body> }[method](path, body);
  };

  describe('the name of a file', () => {
    it('is kept, found, changed and cleared', async () => {
      const [first, second, third] = images as readonly [Asset, Asset, Asset];
      expect(first.name).toBe('IMG_4001.png');
      expect(await found('4002')).toEqual([second.assetId]);
      expect(await found('ärger büro')).toEqual([third.assetId]);
      const changed = await send<Asset>('PATCH', `/v1/assets/${first.assetId}`, { name: 'Cover.png' });
      expect([changed.status, changed.body.name]).toEqual([200, 'Cover.png']);
      expect([await found('4001'), await found('cover')]).toEqual([[], [first.assetId]]);
      expect((await send<Asset>('PATCH', `/v1/assets/${first.assetId}`, { name: null })).body.name).toBeNull();
      expect(await found('cover')).toEqual([]);
    });

    it('stays the owner’s own: other readers see none, and no favorite', async () => {
      await send('POST', '/v1/favorites', { ids: [foreign.assetId], favorite: true }, rig.otherUser);
      const { body } = await rig.user.get<Asset>(`/v1/assets/${foreign.assetId}`);
      expect(body).toMatchObject({ name: null, favorite: false });
      expect((await rig.otherUser.get<Asset>(`/v1/assets/${foreign.assetId}`)).body).toMatchObject({ favorite: true });
    });

    it.each(['', 'a/b.png', 'a\\b.png', 'a\nb', 'x'.repeat(256)])('is refused: %j', async (name) => {
      const { status } = await send('PATCH', `/v1/assets/${images[1]?.assetId}`, { name });
      expect(status).toBe(400);
    });
  });

  describe('favorites', () => {
    it('are marked, listed and unmarked', async () => {
      const ids = idsOf(images).slice(0, 2);
      const mark = (favorite: boolean) => send<FavoritesChanged>('POST', '/v1/favorites', { ids, favorite });
      expect([(await mark(true)).body.changed, (await mark(true)).body.changed]).toEqual([2, 0]);
      expect(await list('?favorite=true')).toEqual(ids.toReversed());
      expect((await rig.user.get<Asset>(`/v1/assets/${ids[0]}`)).body.favorite).toBe(true);
      expect([(await mark(false)).body.changed, await list('?favorite=true')]).toEqual([2, []]);
    });

    it('are only assets of the owner, and no other changes with them', async () => {
      const ids = [String(images[0]?.assetId), foreign.assetId];
      expect((await send('POST', '/v1/favorites', { ids, favorite: true })).status).toBe(404);
      expect(await list('?favorite=true')).toEqual([]);
      expect((await send('POST', '/v1/favorites', { ids: [], favorite: true })).status).toBe(400);
    });
  });

  describe('collections', () => {
    const create = (title: string, assetIds: readonly string[] = [], client = rig.user) =>
      send('POST', '/v1/collections', { title, assetIds }, client);
    const titles = async (query = '', client = rig.user) =>
      (await client.get<Collections>(`/v1/collections${query}`)).body.collections.map(({ title }) => title);

    it('hold assets, are found by name and by asset, and are renamed', async () => {
      const [first, second, third] = idsOf(images) as [string, string, string];
      const { status, body } = await create('  Sea and Light ', [first, second]);
      expect([status, body]).toMatchObject([201, { title: 'Sea and Light', count: 2 }]);
      const path = `/v1/collections/${body.collectionId}`;
      expect(await list(`?collectionId=${body.collectionId}`)).toEqual([second, first]);
      const changed = await send('PATCH', path, { title: 'Lighthouses', add: [third, second], remove: [first] });
      expect(changed.body).toMatchObject({ title: 'Lighthouses', count: 2, coverAssetId: third });
      expect(await list(`?collectionId=${body.collectionId}`)).toEqual([third, second]);
      await create('Portraits');
      expect(await titles()).toEqual(['Portraits', 'Lighthouses']);
      expect([await titles('?q=LIGHT'), await titles('?q=sea'), await titles(`?assetId=${third}`)]).toEqual([
        ['Lighthouses'],
        [],
        ['Lighthouses'],
      ]);
      expect((await send('DELETE', path)).status).toBe(204);
      expect([(await rig.user.get(path)).status, (await list('')).length]).toEqual([404, 3]);
    });

    it('have the cover that their owner chose, as long as it is in them', async () => {
      const [first, second, third] = idsOf(images) as [string, string, string];
      const { collectionId } = (await create('Covered', [first])).body;
      const change = async (json: object) =>
        (await send('PATCH', `/v1/collections/${collectionId}`, json)).body.coverAssetId;
      expect(await change({ add: [second] })).toBe(second);
      expect(await change({ coverAssetId: first })).toBe(first);
      expect(await change({ add: [third] })).toBe(first);
      expect(await change({ remove: [first] })).toBe(third);
      expect(await change({ coverAssetId: first })).toBe(first);
      const { body } = await rig.user.get<Collection>(`/v1/collections/${collectionId}`);
      expect(body).toMatchObject({ count: 3, coverAssetId: first, coverMime: 'image/png' });
      const foreignCover = { coverAssetId: foreign.assetId };
      expect((await send('PATCH', `/v1/collections/${collectionId}`, foreignCover)).status).toBe(404);
      await send('DELETE', `/v1/collections/${collectionId}`);
    });

    it('do not count, show or share the poster of a video, which is shown with its video', async () => {
      const [{ assetId: image }, poster, other] = [await make(rig.user), await make(rig.user), await make(rig.user)];
      const { registration } = await upload(rig.user, Buffer.from('a video'), { kind: 'video', mime: 'video/mp4' });
      const { assetId: video } = (await rig.user.register({ ...registration, thumbAssetId: poster.assetId })).body;
      const { collectionId, ...made } = (await create('Clips', [image, video, poster.assetId])).body;
      expect([made.count, [image, video].includes(String(made.coverAssetId))]).toEqual([2, true]);
      expect(await list(`?collectionId=${collectionId}&thumbnails=false`)).toEqual([video, image]);
      const share = () => rig.user.post<Share>('/v1/shares', { collectionId, update: true });
      const { id, items, newItems } = (await share()).body;
      expect([items, newItems]).toEqual([2, 0]);
      const shown = async () =>
        (await rig.server.get<ShareData>(`/v1/shares/${id}/data`)).body.messages[0]?.parts.length;
      const before = await shown();
      // An image that becomes a poster later is none of them any longer.
      await send('PATCH', `/v1/collections/${collectionId}`, { add: [other.assetId] });
      expect([(await share()).body.items, await shown()]).toEqual([3, Number(before) + 1]);
      expect((await send('PATCH', `/v1/assets/${video}`, { thumbAssetId: image })).status).toBe(200);
      const { body } = await rig.user.get<SharePage>(`/v1/shares?collectionId=${collectionId}`);
      expect(body.shares[0]).toMatchObject({ items: 2, newItems: 1 });
      expect(await shown()).toBe(before);
      expect((await rig.user.get<Collection>(`/v1/collections/${collectionId}`)).body.count).toBe(3);
      await send('DELETE', '/v1/assets', { ids: [video, poster.assetId, other.assetId] });
      await send('DELETE', `/v1/collections/${collectionId}`);
    });

    it('have the newest of those that one call added as their cover', async () => {
      const uploads = [await upload(rig.user, png, {}), await upload(rig.user, png, {})];
      const [small, great] = uploads
        .map(({ registration }) => registration)
        .toSorted((one, other) => (one.assetId < other.assetId ? -1 : 1));
      // The greater id is not that of the newer one.
      const made = [(await rig.user.register({ ...great })).body, (await rig.user.register({ ...small })).body];
      const { collectionId, coverAssetId } = (await create('At once', idsOf(made))).body;
      const [newest] = await list(`?collectionId=${collectionId}`);
      expect([newest, coverAssetId]).toEqual([small?.assetId, small?.assetId]);
      await send('DELETE', '/v1/assets', { ids: idsOf(made) });
      await send('DELETE', `/v1/collections/${collectionId}`);
    });

    it('lose an asset that is deleted', async () => {
      const { assetId } = await make(rig.user);
      const { collectionId } = (await create('Passing', [assetId])).body;
      await send('DELETE', '/v1/assets', { ids: [assetId] });
      const { body } = await rig.user.get<Collection>(`/v1/collections/${collectionId}`);
      expect(body).toMatchObject({ count: 0, coverAssetId: null });
    });

    it('are seen and changed by their owner alone', async () => {
      const { collectionId } = (await create('Mine', idsOf(images))).body;
      const path = `/v1/collections/${collectionId}`;
      const others = rig.otherUser;
      expect(await titles('', others)).toEqual([]);
      expect(await list(`?collectionId=${collectionId}`, others)).toEqual([]);
      const statuses = [
        await others.get(path),
        await send('PATCH', path, { title: 'Theirs' }, others),
        await send('DELETE', path, undefined, others),
        await send('PATCH', path, { add: [foreign.assetId] }),
        await create('Stolen', [foreign.assetId]),
      ].map(({ status }) => status);
      expect(statuses).toEqual([404, 404, 404, 404, 404]);
      expect(await titles(`?ownerId=${rig.userId}&q=mine`, rig.server)).toEqual(['Mine']);
    });

    it.each([
      ['a blank title', { title: '  ' }],
      ['a long title', { title: 'x'.repeat(201) }],
      ['a field that does not exist', { title: 'x', assets: [] }],
      ['too many assets', { title: 'x', assetIds: Array.from({ length: 1001 }, () => randomUUID()) }],
    ])('are refused with %s', async (_what, body) => {
      expect((await send('POST', '/v1/collections', body)).status).toBe(400);
    });

    it('have a limit for each owner, also with concurrent requests', async () => {
      const db = rig.database.queries<MediaTables>();
      await sql`delete from collections`.execute(db);
      await sql`
        insert into collections (collection_id, owner_id, title, title_search)
        select gen_random_uuid(), ${rig.userId}::uuid, 'album', 'album' from generate_series(1, 495)`.execute(db);
      const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => create(`album ${index}`)));
      const counts = Map.groupBy(answers, ({ status }) => status);
      expect([counts.get(201)?.length, counts.get(409)?.length]).toEqual([5, 3]);
      expect(answers.find(({ status }) => status === 409)?.body.error).toBe('too_many_collections');
    });

    it('go with the erasure of their owner', async () => {
      const { status, body } = await rig.server.delete<{ removed: Record<string, number> }>(`/v1/people/${rig.userId}`);
      expect([status, body.removed.collections]).toEqual([200, 500]);
      expect(await titles()).toEqual([]);
    });
  });
});
