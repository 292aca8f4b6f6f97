import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeImage, mp4Start, svg } from '../../../test/media/images.fixture.ts';
import { plant } from '../../../test/media/planting.fixture.ts';
import {
  type Client,
  type MediaRig,
  onEveryStore,
  type Refusal,
  startMedia,
  testLimits,
  upload,
} from '../../../test/media/rig.fixture.ts';
import type { Asset } from '../api.ts';
import type { AssetPage } from '../listing/api.ts';
import type { MediaTables } from '../tables.ts';

const there = { toScopeKind: 'feed', toScopeId: 'published' };

onEveryStore('POST /v1/copy', (pair) => {
  let rig: MediaRig;
  let png: Buffer;
  let source: Asset;
  beforeAll(async () => {
    rig = await startMedia(pair);
    png = await makeImage('png', { seed: 7 });
    source = await registered(rig.user, png);
  });
  afterAll(() => rig.close());

  async function registered(client: Client, bytes: Uint8Array, changes: object = {}): Promise<Asset> {
    const { registration } = await upload(client, bytes, changes);
    const { status, body } = await client.register({ ...registration, ...changes });
    expect(status).toBe(201);
    return body;
  }

  const copy = (client: Client, payload: object) =>
    client.post<Asset & Refusal>('/v1/copy', { legacyBucket: rig.legacyBucket, ...there, ...payload });

  async function copied(client: Client, payload: object): Promise<Asset> {
    const { status, body } = await copy(client, payload);
    expect([status, body.error]).toEqual([201, undefined]);
    return body;
  }

  async function bytesOf(client: Client, assetId: string): Promise<Buffer> {
    const ref = (await client.sign([assetId])).body[assetId];
    if (!ref?.ready) throw new Error('it is not ready');
    return Buffer.from(await (await fetch(ref.url)).arrayBuffer());
  }

  /** How many rows and objects an owner has, ready or not. */
  async function holdings(ownerId: string) {
    const rows = await rig.database
      .queries<MediaTables>()
      .selectFrom('assets')
      .select('asset_id')
      .where('owner_id', '=', ownerId)
      .execute();
    let objects = 0;
    for await (const _ of rig.originals.list(`u/${ownerId}/`)) objects += 1;
    return { rows: rows.length, objects };
  }

  it('lists the copies of an asset, also where their metadata was removed', async () => {
    const bytes = await sharp(png)
      .withExif({ IFD0: { Artist: 'Ada' } })
      .jpeg()
      .toBuffer();
    const original = await registered(rig.user, bytes, { mime: 'image/jpeg' });
    const published = await copied(rig.user, { fromAssetId: original.assetId });
    expect(published.sha256).not.toBe(original.sha256);
    const again = await copied(rig.user, { fromAssetId: published.assetId, toScopeKind: 'library', toScopeId: 'l' });
    const list = async (query: string, client = rig.user) =>
      (await client.get<AssetPage>(`/v1/assets?${query}`)).body.assets.map(({ assetId }) => assetId);
    for (const { assetId } of [original, published, again]) {
      expect(await list(`copiesOf=${assetId}`)).toEqual([again.assetId, published.assetId, original.assetId]);
      expect(await list(`copiesOf=${assetId}&scopeKind=feed&scopeId=published`)).toEqual([published.assetId]);
    }
    expect(await list(`copiesOf=${original.assetId}`, rig.otherUser)).toEqual([]);
    expect((await rig.user.get('/v1/assets?copiesOf=x')).status).toBe(400);
  });

  describe('of an asset in the object store', () => {
    it('answers the new row, flat', async () => {
      const { status, body } = await copy(rig.user, { fromAssetId: source.assetId });
      expect(status).toBe(201);
      expect(body.assetId).not.toBe(source.assetId);
      expect(body).toEqual({
        ...source,
        assetId: body.assetId,
        scopeKind: 'feed',
        scopeId: 'published',
        published: true,
        storageKey: `u/${rig.userId}/feed/published/${body.assetId}.png`,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        createdAt: expect.any(String),
      });
      expect(Object.keys(body).sort()).toEqual(Object.keys(source).sort());
    });

    it('has the same bytes, and keeps them when the source is deleted', async () => {
      const short = await registered(rig.user, png);
      const { assetId } = await copied(rig.user, { fromAssetId: short.assetId.toUpperCase() });
      await rig.user.delete('/v1/assets', { ids: [short.assetId] });
      expect(await bytesOf(rig.user, assetId)).toEqual(png);
    });

    it('creates another asset in the same scope, also of a copy', async () => {
      const home = { toScopeKind: source.scopeKind, toScopeId: source.scopeId };
      const first = await copied(rig.user, { fromAssetId: source.assetId, ...home });
      const second = await copied(rig.user, { fromAssetId: first.assetId, ...home });
      expect(new Set([source.assetId, first.assetId, second.assetId]).size).toBe(3);
      expect(await bytesOf(rig.user, second.assetId)).toEqual(png);
    });

    it('has its key from the detected type, and carries its digests', async () => {
      const disguised = await registered(rig.user, png, { mime: 'image/jpeg' });
      expect(disguised.storageKey).toMatch(/\.jpg$/);
      const body = await copied(rig.user, { fromAssetId: disguised.assetId });
      expect([body.mime, body.storageKey.slice(-4)]).toEqual(['image/png', '.png']);
      const digests = await rig.database
        .queries<MediaTables>()
        .selectFrom('assets')
        .select(['sha256', 'md5'])
        .where('asset_id', 'in', [disguised.assetId, body.assetId])
        .execute();
      expect(digests[0]?.sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(digests[1]).toEqual(digests[0]);
    });
  });

  describe('of a video', () => {
    const facts = { mime: 'video/mp4', kind: 'video', width: 640, height: 360, durationMs: 1500, blurhash: 'LEHV6n' };
    let video: Asset;
    beforeAll(async () => {
      const thumb = await registered(rig.user, png);
      video = await registered(rig.user, mp4Start, { ...facts, thumbAssetId: thumb.assetId });
    });

    it('preserves its facts, and drops its thumbnail', async () => {
      expect(video.thumbAssetId).not.toBeNull();
      expect(await copied(rig.user, { fromAssetId: video.assetId })).toMatchObject({ ...facts, thumbAssetId: null });
    });

    it('has the thumbnail of the request, and never shows that of another owner', async () => {
      const thumb = await copied(rig.user, { fromAssetId: String(video.thumbAssetId) });
      const body = await copied(rig.user, { fromAssetId: video.assetId, thumbAssetId: thumb.assetId });
      expect(body.thumbAssetId).toBe(thumb.assetId);
      const foreign = await registered(rig.otherUser, png);
      const other = await copied(rig.user, { fromAssetId: video.assetId, thumbAssetId: foreign.assetId });
      expect(other.thumbAssetId).toBeNull();
    });

    it('ignores a thumbnail for an image', async () => {
      const body = await copied(rig.user, { fromAssetId: source.assetId, thumbAssetId: video.assetId });
      expect(body.thumbAssetId).toBeNull();
    });
  });

  describe('whose it is', () => {
    it.each<[string, 'user' | 'server', object, number]>([
      ['a user, not saying so', 'user', {}, 201],
      ['a user, saying so', 'user', { toOwnerId: 'self' }, 201],
      ['a user, naming somebody else', 'user', { toOwnerId: randomUUID() }, 403],
      ['a server, not saying so: the owner of the source', 'server', {}, 201],
      ['a server, naming somebody', 'server', { toOwnerId: '6F9619FF-8B86-4D01-B42D-00CF4FC964FF' }, 201],
    ])('%s', async (_name, who, payload, status) => {
      const toOwnerId = 'toOwnerId' in payload && payload.toOwnerId === 'self' ? rig.userId : undefined;
      const said = { fromAssetId: source.assetId, ...payload, ...(toOwnerId && { toOwnerId }) };
      const answer = await copy(rig[who], said);
      expect(answer.status).toBe(status);
      if (status !== 201) return expect(answer.body.error).toBe('forbidden');
      const owner = ('toOwnerId' in said ? String(said.toOwnerId) : rig.userId).toLowerCase();
      expect(answer.body.ownerId).toBe(owner);
      expect(answer.body.storageKey.startsWith(`u/${owner}/feed/`)).toBe(true);
    });

    it.each(['thread', 'feed'])('the asset of another user in %s is 403', async (scopeKind) => {
      const foreign = await registered(rig.otherUser, png, { scopeKind });
      const { status, body } = await copy(rig.user, { fromAssetId: foreign.assetId });
      expect([status, body.error]).toEqual([403, 'forbidden']);
    });

    it('an unknown asset is 404 to both, and so is one that is not ready', async () => {
      const [mine] = await plant(rig, 1, { isReady: false });
      const [theirs] = await plant(rig, 1, { isReady: false, ownerId: randomUUID() });
      for (const client of [rig.user, rig.server])
        for (const fromAssetId of [randomUUID(), mine?.assetId, theirs?.assetId]) {
          const { status, body } = await copy(client, { fromAssetId });
          expect([status, body.error]).toEqual([404, 'not_found']);
        }
    });
  });

  describe('refuses', () => {
    it.each<[string, object, string]>([
      ['no source', { fromAssetId: undefined }, 'body.fromAssetId'],
      ['neither UUID nor path', { fromAssetId: 'photo.jpg' }, 'body.fromAssetId'],
      ['a path upward', { fromAssetId: 'a/../b.jpg' }, 'body.fromAssetId'],
      ['an absolute path', { fromAssetId: '/a/b.jpg' }, 'body.fromAssetId'],
      ['an empty segment', { fromAssetId: 'a//b.jpg' }, 'body.fromAssetId'],
      ['no scope kind', { toScopeKind: undefined }, 'body.toScopeKind'],
      ['a long scope kind', { toScopeKind: 'x'.repeat(65) }, 'body.toScopeKind'],
      ['a scope kind with a slash', { toScopeKind: 'a/b' }, 'body.toScopeKind'],
      ['no scope id', { toScopeId: '' }, 'body.toScopeId'],
      ['a long scope id', { toScopeId: 'x'.repeat(129) }, 'body.toScopeId'],
      ['an owner that is no UUID', { toOwnerId: 'me' }, 'body.toOwnerId'],
      ['a thumbnail that is no UUID', { thumbAssetId: 'a/b.jpg' }, 'body.thumbAssetId'],
      ['a bucket that is none', { legacyBucket: '..' }, 'body.legacyBucket'],
    ])('%s', async (_name, payload, path) => {
      const { status, body } = await copy(rig.user, { fromAssetId: source.assetId, ...payload });
      expect([status, body.error]).toEqual([400, 'invalid_request']);
      expect(body.issues?.map((issue) => issue.path)).toEqual([path]);
    });

    it('no error at the limits', async () => {
      const longest = { toScopeKind: 'x'.repeat(64), toScopeId: 'y'.repeat(128) };
      expect(await copied(rig.user, { fromAssetId: source.assetId, ...longest })).toMatchObject({
        scopeKind: longest.toScopeKind,
        scopeId: longest.toScopeId,
      });
    });

    it('without a credential', async () => {
      expect((await copy(rig.client({}), { fromAssetId: source.assetId })).status).toBe(401);
    });

    it('a file beyond the limit of uploads', async () => {
      const ownerId = randomUUID();
      const [large] = await plant(rig, 1, { ownerId });
      const size = async (bytes: number) =>
        rig.database
          .queries<MediaTables>()
          .updateTable('assets')
          .set({ byte_size: bytes })
          .where('asset_id', '=', String(large?.assetId))
          .execute();
      await size(testLimits.maxImageBytes + 1);
      const { status, body } = await copy(rig.server, { fromAssetId: large?.assetId });
      expect([status, body.error]).toEqual([413, 'asset_too_large']);
      expect(await holdings(ownerId)).toEqual({ rows: 1, objects: 1 });
    });
  });

  describe('of a legacy path', () => {
    async function put(path: string, bytes: Uint8Array): Promise<string> {
      await rig.legacyFiles.put(path, bytes, { contentType: 'application/octet-stream', size: bytes.length });
      return path;
    }

    it.each(['', 'feed/', 'avatars/'])(
      'below %s<sub>/ lands in the object store, looked at as an upload',
      async (start) => {
        const path = await put(`${start}${rig.userId}/${randomUUID()}/photo.jpg`, png);
        const body = await copied(rig.user, { fromAssetId: path });
        expect(body).toMatchObject({
          ownerId: rig.userId,
          kind: 'image',
          mime: 'image/png',
          byteSize: png.length,
          width: source.width,
          height: source.height,
          blurhash: source.blurhash,
          storageKey: `u/${rig.userId}/feed/published/${body.assetId}.png`,
        });
        await rig.legacyFiles.remove([path]);
        expect(await bytesOf(rig.user, body.assetId)).toEqual(png);
      },
    );

    it('preserves the bytes of a video', async () => {
      const bytes = Buffer.concat([mp4Start, Buffer.alloc(150_000, 'v')]);
      const path = await put(`${rig.userId}/${randomUUID()}.mp4`, bytes);
      const body = await copied(rig.user, { fromAssetId: path });
      expect(body).toMatchObject({ kind: 'video', mime: 'video/mp4', byteSize: bytes.length, width: null });
      expect(await bytesOf(rig.user, body.assetId)).toEqual(bytes);
    });

    it.each<[string, 'user' | 'server', object, number]>([
      ['a foreign one is 403 to a user', 'user', {}, 403],
      ['though it is not there', 'user', { fromAssetId: `${randomUUID()}/nothing.jpg` }, 403],
      ['a server has to name the owner', 'server', {}, 400],
      ['and may then copy any', 'server', { toOwnerId: randomUUID() }, 201],
      ['that there is', 'server', { toOwnerId: randomUUID(), fromAssetId: 'a/nothing.jpg' }, 404],
    ])('%s', async (_name, who, payload, status) => {
      const path = await put(`${randomUUID()}/photo.png`, png);
      expect((await copy(rig[who], { fromAssetId: path, ...payload })).status).toBe(status);
    });

    it('the user’s own missing file is 404', async () => {
      expect((await copy(rig.user, { fromAssetId: `${rig.userId}/nothing.jpg` })).status).toBe(404);
    });

    it.each<[string, string, () => Uint8Array, number, string]>([
      ['an image that no upload could be', 'p.svg', () => svg, 422, 'unsupported_image'],
      ['a damaged one', 'p.png', () => png.subarray(0, 90), 422, 'undecodable_image'],
      ['too large an image', 'p.png', () => Buffer.alloc(testLimits.maxImageBytes + 1), 413, 'asset_too_large'],
      ['too large a video', 'v.mp4', () => Buffer.alloc(testLimits.maxVideoBytes + 1), 413, 'asset_too_large'],
    ])('%s leaves nothing', async (_name, name, bytes, status, error) => {
      const toOwnerId = randomUUID();
      const path = await put(`${randomUUID()}/${name}`, bytes());
      const { status: answered, body } = await copy(rig.server, { fromAssetId: path, toOwnerId });
      expect([answered, body.error]).toEqual([status, error]);
      expect(await holdings(toOwnerId)).toEqual({ rows: 0, objects: 0 });
    });

    it('copies an asset with a UUID from the legacy store', async () => {
      const key = await put(`${rig.userId}/${randomUUID()}.png`, png);
      const [row] = await plant(rig, 1, { backend: 'legacy', bucket: rig.legacyBucket });
      await rig.database
        .queries<MediaTables>()
        .updateTable('assets')
        .set({ storage_key: key, byte_size: png.length })
        .where('asset_id', '=', String(row?.assetId))
        .execute();
      const body = await copied(rig.user, { fromAssetId: row?.assetId });
      expect(body).toMatchObject({ mime: 'image/png', width: source.width, byteSize: png.length });
      expect(await bytesOf(rig.user, body.assetId)).toEqual(png);
      const foreign = await copy(rig.otherUser, { fromAssetId: row?.assetId });
      expect(foreign.status).toBe(403);
    });
  });
});
