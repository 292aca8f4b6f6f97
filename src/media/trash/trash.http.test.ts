/** The trash of an owner's assets (docs/specification/media.md#trash). */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type Client, type MediaRig, onEveryPair, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import type { Asset, ImageSignedRefs } from '../api.ts';
import type { Collection } from '../collections/api.ts';
import type { AssetPage } from '../listing/api.ts';
import type { Swept } from '../sweeping/api.ts';
import type { MediaTables } from '../tables.ts';
import type { TrashChanged } from './routes.ts';

onEveryPair('the trash', (pair) => {
  let rig: MediaRig;
  let png: Buffer;
  beforeAll(async () => {
    rig = await startMedia(pair);
    png = await makeImage('png');
  });
  afterAll(() => rig.close());

  async function make(client: Client = rig.user, scope = {}): Promise<Asset> {
    const { registration } = await upload(client, png, scope);
    const { status, body } = await client.register(registration);
    expect([status, body]).toEqual([201, expect.anything()]);
    return body;
  }
  const move = (ids: readonly string[], trashed: unknown = true, client = rig.user) =>
    client.post<TrashChanged>('/v1/trash', { ids, trashed });
  const list = async (query = '', client = rig.user) =>
    (await client.get<AssetPage>(`/v1/assets?limit=200${query}`)).body.assets.map(({ assetId }) => assetId);
  const trash = () => list('&trashed=true');
  const age = (assetId: string, hours: number) =>
    sql`update assets set trashed_at = now() - make_interval(secs => ${hours * 3600}) where asset_id = ${assetId}::uuid`.execute(
      rig.database.queries<MediaTables>(),
    );
  const isSigned = async (assetId: string, client = rig.user) =>
    (await client.post<ImageSignedRefs>('/v1/sign/image', { refs: [assetId] })).body[assetId]?.ready;

  describe('POST /v1/trash', () => {
    it('takes assets from the listings, and gives them back as they were', async () => {
      const [first, second] = [await make(), await make()];
      const ids = [first.assetId, second.assetId];
      await rig.user.post('/v1/favorites', { ids, favorite: true });
      const made = await rig.user.post<Collection>('/v1/collections', { title: 'Sea', assetIds: ids });
      const album = `/v1/collections/${made.body.collectionId}`;
      expect((await move(ids)).body).toEqual({ changed: 2 });
      expect((await move(ids)).body).toEqual({ changed: 0 });
      expect([await trash(), await list('&favorite=true')]).toEqual([ids.toReversed(), []]);
      expect(await list()).not.toContain(first.assetId);
      expect((await rig.user.get<Collection>(album)).body).toMatchObject({ count: 0, coverAssetId: null });
      const { body } = await rig.user.get<Asset>(`/v1/assets/${first.assetId}`);
      expect(body.trashedAt).toEqual(expect.any(String));
      expect((await move(ids, false)).body).toEqual({ changed: 2 });
      expect([await trash(), await list('&favorite=true')]).toEqual([[], ids.toReversed()]);
      expect((await rig.user.get<Collection>(album)).body).toMatchObject({ count: 2 });
      expect((await rig.user.get<Asset>(`/v1/assets/${first.assetId}`)).body.trashedAt).toBeNull();
    });

    it('hides published assets from everyone but their owner, cached URLs included', async () => {
      const { assetId } = await make(rig.user, { scopeKind: 'feed', scopeId: 'published' });
      const gallery = async () =>
        (await rig.server.get<{ items: { assetId: string }[] }>('/v1/gallery')).body.items.map((item) => item.assetId);
      const seen = async () => [
        await isSigned(assetId),
        await isSigned(assetId, rig.otherUser),
        (await rig.otherUser.get(`/v1/assets/${assetId}`)).status,
        (await gallery()).includes(assetId),
      ];
      expect(await seen()).toEqual([true, true, 200, true]);
      await move([assetId]);
      expect(await seen()).toEqual([true, false, 404, false]);
      await move([assetId], false);
      expect(await seen()).toEqual([true, true, 200, true]);
    });

    it('hides the page of a shared asset until it is restored', async () => {
      const { assetId } = await make();
      const { id } = (await rig.user.post<{ id: string }>('/v1/shares', { assetId })).body;
      const page = async () => (await rig.server.get(`/v1/shares/${id}/data`)).status;
      expect(await page()).toBe(200);
      await move([assetId]);
      expect(await page()).toBe(404);
      await move([assetId], false);
      expect(await page()).toBe(200);
    });

    it('moves a video with its thumbnail', async () => {
      const [video, thumb] = [await make(), await make()];
      await sql`
        update assets set mime = 'video/mp4', kind = 'video', thumb_asset_id = ${thumb.assetId}::uuid
        where asset_id = ${video.assetId}::uuid`.execute(rig.database.queries<MediaTables>());
      expect((await move([video.assetId])).body).toEqual({ changed: 1 });
      expect([await list('&trashed=true&thumbnails=false'), await list()]).toEqual([
        [video.assetId],
        expect.not.arrayContaining([thumb.assetId]),
      ]);
      expect((await move([video.assetId], false)).body).toEqual({ changed: 1 });
      expect(await list()).toEqual(expect.arrayContaining([video.assetId, thumb.assetId]));
    });

    it('moves nothing if one asset is another user’s or unknown, and rejects bad requests', async () => {
      const [own, foreign] = [await make(), await make(rig.otherUser)];
      expect((await move([own.assetId, foreign.assetId])).status).toBe(404);
      expect((await move([own.assetId, randomUUID()])).status).toBe(404);
      expect(await trash()).toEqual([]);
      expect((await move([])).status).toBe(400);
      expect((await move([own.assetId], 'yes')).status).toBe(400);
      expect((await rig.server.post('/v1/trash', { ids: [own.assetId], trashed: true })).status).toBe(400);
      const body = { ids: [own.assetId], trashed: true, ownerId: rig.userId };
      expect((await rig.server.post('/v1/trash', body)).status).toBe(200);
      expect(await trash()).toEqual([own.assetId]);
    });

    it('counts toward the usage until the deletion, and DELETE deletes at once', async () => {
      const bytes = async () => (await rig.user.get<{ bytes: number }>('/v1/usage')).body.bytes;
      const { assetId } = await make();
      const full = await bytes();
      await move([assetId]);
      expect(await bytes()).toBe(full);
      expect((await rig.user.delete<{ deletedNew: number }>('/v1/assets', { ids: [assetId] })).body.deletedNew).toBe(1);
      expect(await bytes()).toBe(full - png.length);
      expect((await move([assetId], false)).status).toBe(404);
    });
  });

  describe('after 30 days', () => {
    const sweep = async (apply: boolean) => {
      const { body } = await rig.server.post<Swept>('/v1/sweep', { apply, cursor: 'trash:' });
      return body.found.map(({ assetId, fate }) => [assetId, fate]);
    };

    it('assets are deleted with their objects; those that were restored, or are younger, stay', async () => {
      const [old, young, restored] = [await make(), await make(), await make()];
      await move([old.assetId, young.assetId, restored.assetId]);
      await move([restored.assetId], false);
      await age(old.assetId, 30 * 24 + 2);
      await age(young.assetId, 30 * 24 - 1);
      expect(await sweep(false)).toEqual([[old.assetId, 'found']]);
      expect(await sweep(true)).toEqual([[old.assetId, 'removed']]);
      expect(await sweep(true)).toEqual([]);
      expect(await rig.originals.head(old.storageKey)).toBeUndefined();
      expect((await rig.user.get(`/v1/assets/${old.assetId}`)).status).toBe(404);
      expect(await trash()).toContain(young.assetId);
      expect(await list()).toContain(restored.assetId);
    });

    it('they cannot be restored, so a deletion that was interrupted after the objects goes on', async () => {
      const { assetId, storageKey } = await make();
      await move([assetId]);
      await age(assetId, 30 * 24 + 0.5);
      expect(await trash()).not.toContain(assetId);
      expect((await move([assetId], false)).body).toEqual({ changed: 0 });
      // Nothing is deleted in the hour in which a restoration may have begun before.
      expect(await sweep(true)).toEqual([]);
      await age(assetId, 30 * 24 + 2);
      await rig.originals.remove([storageKey]);
      expect(await sweep(true)).toEqual([[assetId, 'removed']]);
    });
  });
});
