/** `GET /v1/assets`: the assets of an owner, newest first (docs/media.md). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type MediaRig, onEveryPair, type Refusal, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import type { Asset } from '../api.ts';
import type { AssetMonths, AssetPage } from './api.ts';

onEveryPair('GET /v1/assets', (pair) => {
  let rig: MediaRig;
  /** Newest first. */
  const made: Asset[] = [];
  beforeAll(async () => {
    rig = await startMedia(pair);
    const png = await makeImage('png');
    for (const scopeId of ['one', 'one', 'two', 'two', 'two']) {
      const { registration } = await upload(rig.user, png, { scopeKind: 'thread', scopeId });
      made.unshift((await rig.user.register(registration)).body);
    }
    // Reserved, uploaded and never registered: it is no asset.
    await upload(rig.user, png);
  });
  afterAll(() => rig.close());

  const list = (client = rig.user, query = '') => client.get<AssetPage & Refusal>(`/v1/assets${query}`);

  it('lists the user’s assets newest first, as the registration returned them', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body).toEqual({ assets: made, nextCursor: null });
    expect((await list(rig.otherUser)).body).toEqual({ assets: [], nextCursor: null });
  });

  it('continues after the end of a page, and ends', async () => {
    const found: string[] = [];
    const lengths: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: { body: AssetPage } = await list(rig.user, `?limit=2${cursor && `&cursor=${cursor}`}`);
      found.push(...body.assets.map(({ assetId }) => assetId));
      lengths.push(body.assets.length);
      cursor = body.nextCursor;
    }
    expect(lengths).toEqual([2, 2, 1]);
    expect(found).toEqual(made.map(({ assetId }) => assetId));
    const oldest = (await list(rig.user, '?sort=oldest&limit=3')).body;
    const rest = (await list(rig.user, `?sort=oldest&limit=3&cursor=${oldest.nextCursor}`)).body;
    expect([...oldest.assets, ...rest.assets].map(({ assetId }) => assetId)).toEqual(found.toReversed());
    expect([rest.nextCursor, (await list(rig.user, '?sort=size')).status]).toEqual([null, 400]);
  });

  it('counts the months of the user in the time zone of the request', async () => {
    const [newest, ...others] = made;
    const set = (assetId: string, createdAt: string) =>
      rig.database
        .queries<{ assets: { asset_id: string; created_at: Date } }>()
        .updateTable('assets')
        .set({ created_at: new Date(createdAt) })
        .where('asset_id', '=', assetId)
        .execute();
    for (const { assetId } of others) await set(assetId, '2025-03-31T22:30:00Z');
    await set(String(newest?.assetId), '2026-01-01T12:00:00Z');
    const months = async (query: string, client = rig.user) =>
      (await client.get<AssetMonths>(`/v1/assets/months${query}`)).body.months;
    const january = { month: '2026-01', count: 1 };
    expect(await months('')).toEqual([january, { month: '2025-03', count: 4 }]);
    expect(await months('?utcOffset=120')).toEqual([january, { month: '2025-04', count: 4 }]);
    expect(await months('', rig.otherUser)).toEqual([]);
    expect((await rig.user.get('/v1/assets/months?utcOffset=900')).status).toBe(400);
    expect((await rig.server.get('/v1/assets/months')).status).toBe(400);
  });

  it('orders assets that were created at the same time', async () => {
    await rig.database
      .queries<{ assets: { created_at: Date } }>()
      .updateTable('assets')
      .set({ created_at: new Date(0) })
      .execute();
    const first = (await list(rig.user, '?limit=3')).body;
    const second = (await list(rig.user, `?limit=3&cursor=${first.nextCursor}`)).body;
    const ids = [...first.assets, ...second.assets].map(({ assetId }) => assetId);
    expect(new Set(ids)).toEqual(new Set(made.map(({ assetId }) => assetId)));
    expect(ids).toHaveLength(made.length);
  });

  it.each([
    ['?scopeKind=thread&scopeId=one', 2],
    ['?scopeKind=thread', 5],
    ['?scopeKind=feed', 0],
    ['?kind=image', 5],
    ['?kind=video', 0],
  ])('narrows: %s', async (query, count) => {
    expect((await list(rig.user, query)).body.assets).toHaveLength(count);
  });

  it('leaves out published copies of what the owner still has, and marks their sources', async () => {
    const source = (await list()).body.assets[0]?.assetId;
    const to = { fromAssetId: source, toScopeKind: 'feed', toScopeId: 'published' };
    const copy = (await rig.user.post<Asset>('/v1/copy', to)).body.assetId;
    const shown = async (query: string) =>
      (await list(rig.user, query)).body.assets.flatMap(({ assetId, published }) => (published ? [assetId] : []));
    expect((await shown('')).toSorted()).toEqual([source, copy].toSorted());
    expect(await shown('?copies=false')).toEqual([source]);
    expect(await shown('?scopeKind=feed')).toEqual([copy]);
    await rig.user.post('/v1/trash', { ids: [source], trashed: true });
    expect(await shown('?copies=false')).toEqual([copy]);
    await rig.user.post('/v1/trash', { ids: [source], trashed: false });
    await rig.user.delete('/v1/assets', { ids: [copy] });
    expect(await shown('?copies=false')).toEqual([]);
    expect((await list(rig.user, '?copies=true')).status).toBe(400);
  });

  it('lists for a server whomever it names', async () => {
    const { body } = await list(rig.server, `?ownerId=${rig.userId.toUpperCase()}`);
    expect(body.assets).toHaveLength(made.length);
  });

  describe('refuses', () => {
    it.each([
      ['a limit of 0', '?limit=0', 400],
      ['a limit over 200', '?limit=201', 400],
      ['a limit that is no number', '?limit=many', 400],
      ['a cursor that is none', '?cursor=bm9uZQ', 400],
      ['a cursor of another shape', `?cursor=${Buffer.from(`1 ${'0'.repeat(36)}`).toString('base64url')}`, 400],
      ['a scope id without its kind', '?scopeId=one', 400],
      ['an owner that is no UUID', '?ownerId=somebody', 400],
      ['another owner', '?ownerId=00000000-0000-4000-8000-000000000000', 403],
    ])('%s', async (_what, query, status) => {
      const answer = await list(rig.user, query);
      expect(answer.status).toBe(status);
    });

    it('a server without an owner', async () => {
      const { status, body } = await list(rig.server);
      expect([status, body.issues?.[0]?.path]).toEqual([400, 'querystring.ownerId']);
    });

    it('a request without a credential', async () => {
      expect((await list(rig.client({}))).status).toBe(401);
    });
  });
});
