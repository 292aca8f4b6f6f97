/** `GET` and `PATCH /v1/assets/:assetId` and `GET /v1/usage` (docs/specification/media.md#one-asset). */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import {
  type Client,
  createClient,
  type MediaRig,
  onEveryPair,
  type Refusal,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import type { Asset, MediaUsage, VideoSignedRefs } from '../api.ts';

onEveryPair('one asset', (pair) => {
  let rig: MediaRig;
  let png: Buffer;
  beforeAll(async () => {
    rig = await startMedia(pair);
    png = await makeImage('png');
  });
  afterAll(() => rig.close());

  const bytes = Buffer.from('a film, for all that is known');
  const video = { kind: 'video', mime: 'video/mp4' };
  const registered = async (content: Uint8Array, changes: object = {}): Promise<Asset> => {
    const { registration } = await upload(rig.user, content, changes);
    const { status, body } = await rig.user.register({ ...registration, ...changes });
    expect(status).toBe(201);
    return body;
  };
  const read = (client: Client, assetId: string) => client.get<Asset & Refusal>(`/v1/assets/${assetId}`);
  const patch = (client: Client, assetId: string, change: unknown) =>
    client.patch<Asset & Refusal>(`/v1/assets/${assetId}`, change);
  const signVideo = async (client: Client, assetId: string) =>
    (await client.post<VideoSignedRefs>('/v1/sign/video', { refs: [assetId] })).body[assetId];

  describe('GET', () => {
    it('returns the row with the SHA-256 of its bytes to its owner and to servers', async () => {
      const asset = await registered(png);
      expect(asset.sha256).toBe(createHash('sha256').update(png).digest('hex'));
      for (const client of [rig.user, rig.server])
        expect(await read(client, asset.assetId)).toMatchObject({ status: 200, body: asset });
      expect((await read(rig.user, asset.assetId.toUpperCase())).body).toEqual(asset);
    });

    it('returns assets of public scopes to every user, and no others', async () => {
      const shared = await registered(png, { scopeKind: 'feed' });
      const own = await registered(png);
      expect((await read(rig.otherUser, shared.assetId)).status).toBe(200);
      expect((await read(rig.otherUser, own.assetId)).status).toBe(404);
    });

    it.each([
      ['an unknown id', () => randomUUID(), 404],
      ['an id that is no UUID', () => 'mine', 400],
    ])('refuses %s', async (_what, id, status) => {
      expect((await read(rig.user, id())).status).toBe(status);
    });

    it('returns 404 for an upload without a registration, and for a deleted asset', async () => {
      const { assetId } = await upload(rig.user, png);
      expect((await read(rig.user, assetId)).status).toBe(404);
      const asset = await registered(png);
      await rig.user.delete('/v1/assets', { ids: [asset.assetId] });
      expect((await read(rig.user, asset.assetId)).status).toBe(404);
    });

    it('requires a credential', async () => {
      expect((await read(rig.client({}), randomUUID())).status).toBe(401);
    });
  });

  describe('PATCH', () => {
    it('changes a video, preserves omitted fields, and clears fields with null', async () => {
      const thumb = await registered(png);
      const asset = await registered(bytes, { ...video, width: 640, durationMs: 1000 });
      const change = { thumbAssetId: thumb.assetId, height: 480, durationMs: null, blurhash: 'LKO2' };
      const expected = { ...asset, ...change };
      expect(await patch(rig.user, asset.assetId, change)).toMatchObject({ status: 200, body: expected });
      expect((await read(rig.user, asset.assetId)).body).toEqual(expected);
      expect((await patch(rig.server, asset.assetId, { thumbAssetId: null })).body.thumbAssetId).toBeNull();
      expect((await patch(rig.user, asset.assetId, {})).body).toEqual({ ...expected, thumbAssetId: null });
    });

    it('drops cached URLs, also those of videos that show the asset', async () => {
      const thumb = await registered(png);
      const asset = await registered(bytes, video);
      expect(await signVideo(rig.user, asset.assetId)).toMatchObject({ width: null, thumbAssetId: null });
      await patch(rig.user, asset.assetId, { width: 320, thumbAssetId: thumb.assetId });
      const signed = await signVideo(rig.user, asset.assetId);
      expect(signed).toMatchObject({ width: 320, thumbAssetId: thumb.assetId, thumbUrl: expect.any(String) });
    });

    it('never shows the thumbnail of another owner', async () => {
      const { registration } = await upload(rig.otherUser, png);
      const foreign = (await rig.otherUser.register(registration)).body;
      const asset = await registered(bytes, video);
      expect((await patch(rig.user, asset.assetId, { thumbAssetId: foreign.assetId })).body.thumbAssetId).toBeNull();
      expect(await signVideo(rig.user, asset.assetId)).toMatchObject({ thumbAssetId: null });
    });

    it('changes the duration of an audio file', async () => {
      const asset = await registered(bytes, { kind: 'voice', mime: 'audio/mpeg' });
      expect((await patch(rig.user, asset.assetId, { durationMs: 2500 })).body.durationMs).toBe(2500);
    });

    it.each([
      ['width of an image', { width: 10 }, { kind: 'image' }, 'body.width'],
      ['height of an image, even null', { height: null }, { kind: 'image' }, 'body.height'],
      ['the thumbnail of an image', { thumbAssetId: randomUUID() }, { kind: 'image' }, 'body.thumbAssetId'],
      ['width of an image that is called a video', { width: 10 }, { ...video }, 'body.width'],
      ['width of an image that is called audio', { width: 10 }, { kind: 'audio' }, 'body.width'],
      ['the thumbnail of an audio file', { thumbAssetId: randomUUID() }, { mime: 'audio/mpeg' }, 'body.thumbAssetId'],
      ['the blurhash of a document', { blurhash: 'x' }, { kind: 'file', mime: 'text/plain' }, 'body.blurhash'],
      ['a negative width', { width: -1 }, video, 'body.width'],
      ['a width beyond 32 bits', { width: 2 ** 31 }, video, 'body.width'],
      ['a fraction of a millisecond', { durationMs: 1.5 }, video, 'body.durationMs'],
      ['a thumbnail that is no UUID', { thumbAssetId: 'mine' }, video, 'body.thumbAssetId'],
      ['a blurhash beyond ASCII', { blurhash: 'ä' }, video, 'body.blurhash'],
    ])('refuses %s', async (what, change, kind, path) => {
      const asset = await registered(what.includes('image') ? png : bytes, kind);
      const { status, body } = await patch(rig.user, asset.assetId, change);
      expect([status, body.issues?.[0]?.path]).toEqual([400, path]);
      expect((await read(rig.user, asset.assetId)).body).toEqual(asset);
    });

    it('rejects assets of other users: 404, and 403 for readable ones', async () => {
      const own = await registered(bytes, video);
      const shared = await registered(bytes, { ...video, scopeKind: 'feed' });
      expect((await patch(rig.otherUser, own.assetId, { width: 1 })).status).toBe(404);
      expect((await patch(rig.otherUser, shared.assetId, { width: 1 })).status).toBe(403);
      expect((await read(rig.user, shared.assetId)).body).toEqual(shared);
      expect((await patch(rig.client({}), own.assetId, {})).status).toBe(401);
    });

    it('is allowed to pages of the application', async () => {
      const response = await fetch(`${rig.url}/v1/assets/${randomUUID()}`, {
        method: 'OPTIONS',
        headers: { origin: 'https://app.example', 'access-control-request-method': 'PATCH' },
      });
      expect(response.headers.get('access-control-allow-methods')).toContain('PATCH');
    });

    it('races a deletion without bringing the asset back', async () => {
      const assets = await Promise.all(Array.from({ length: 5 }, () => registered(bytes, video)));
      const ids = assets.map(({ assetId }) => assetId);
      const changes = ids.map((assetId) => patch(rig.user, assetId, { width: 7 }));
      await rig.user.delete('/v1/assets', { ids });
      for (const { status } of await Promise.all(changes)) expect([200, 404]).toContain(status);
      for (const assetId of ids) expect((await read(rig.server, assetId)).status).toBe(404);
    });
  });

  describe('GET /v1/usage', () => {
    const usage = (client: Client, query = '') => client.get<MediaUsage & Refusal>(`/v1/usage${query}`);

    it('counts the ready assets of an owner and their bytes', async () => {
      const ownerId = randomUUID();
      const token = await rig.issuer.token({ sub: ownerId });
      const user = createClient(rig.url, { authorization: `Bearer ${token}` });
      expect((await usage(user)).body).toEqual({ ownerId, assets: 0, bytes: 0, reservedBytes: 0, limitBytes: 0 });
      for (const content of [png, bytes]) {
        const { registration } = await upload(user, content, content === png ? {} : video);
        await user.register(registration);
      }
      await upload(user, png);
      const expected = {
        ownerId,
        assets: 2,
        bytes: png.length + bytes.length,
        reservedBytes: png.length,
        limitBytes: 0,
      };
      expect(await usage(user)).toMatchObject({ status: 200, body: expected });
      expect((await usage(rig.server, `?ownerId=${ownerId}`)).body).toEqual(expected);
    });

    it('refuses another owner, a server without an owner, and requests without a credential', async () => {
      expect((await usage(rig.user, `?ownerId=${randomUUID()}`)).status).toBe(403);
      const { status, body } = await usage(rig.server);
      expect([status, body.issues?.[0]?.path]).toEqual([400, 'querystring.ownerId']);
      expect((await usage(rig.client({}))).status).toBe(401);
    });
  });
});
