/** Prompts and models of assets: who sees them, and the search for words of a prompt (docs/specification/media.md#listing). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type MediaRig, onEveryPair, type Refusal, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import type { Asset } from '../api.ts';
import type { AssetPage } from './api.ts';

const prompts = {
  lighthouse: 'A Lighthouse at dusk, 100% sharp_focus',
  cafe: 'Ein CAFÉ in Paris\nby night',
  tower: 'the same tower with a lighthouse keeper',
};

onEveryPair('prompts of assets', (pair) => {
  let rig: MediaRig;
  let png: Buffer;
  const made = new Map<string, Asset>();
  const unprompted: Asset[] = [];

  async function make(client = rig.user, changes: object = {}): Promise<Asset> {
    const none = { prompt: undefined, model: undefined, name: undefined, thumbAssetId: undefined };
    const { prompt, model, name, thumbAssetId, ...identity } = { ...none, ...changes };
    const { registration } = await upload(client, png, identity);
    const { status, body } = await client.register({ ...registration, prompt, model, name, thumbAssetId });
    if (status !== 201) throw new Error(`the registration returned ${status}`);
    return body;
  }

  beforeAll(async () => {
    rig = await startMedia(pair);
    png = await makeImage('png');
    for (const [name, prompt] of Object.entries(prompts))
      made.set(name, await make(rig.user, { prompt, model: 'gpt-image-2' }));
    unprompted.push(await make());
    await make(rig.otherUser, { prompt: 'a lighthouse of another user' });
  });
  afterAll(() => rig.close());

  const list = async (query: string, client = rig.user) => client.get<AssetPage & Refusal>(`/v1/assets${query}`);
  const found = async (q: string) => {
    const { body } = await list(`?q=${encodeURIComponent(q)}`);
    return body.assets.map(({ assetId }) => [...made].find(([, asset]) => asset.assetId === assetId)?.[0]).sort();
  };

  it('are returned with the asset, and are null without one', async () => {
    expect(made.get('cafe')?.prompt).toBe(prompts.cafe);
    expect(unprompted[0]?.prompt).toBeNull();
    const { body } = await rig.user.get<Asset>(`/v1/assets/${made.get('tower')?.assetId}`);
    expect(body).toMatchObject({ prompt: prompts.tower, model: 'gpt-image-2' });
    expect(unprompted[0]?.model).toBeNull();
  });

  it.each([
    ['lighthouse', ['lighthouse', 'tower']],
    ['LIGHT keeper', ['tower']],
    ['keeper light', ['tower']],
    ['café', ['cafe']],
    ['ＣＡＦÉ  night', ['cafe']],
    ['100%', ['lighthouse']],
    ['%', ['lighthouse']],
    ['p_f', ['lighthouse']],
    ['l_ghthouse', []],
    ['\\', []],
    ["'; drop table assets; --", []],
    ['of another user', []],
  ])('are found by %s', async (q, names) => {
    expect(await found(q)).toEqual(names);
  });

  it('returns all assets for a blank search', async () => {
    expect((await list('?q=%20%20')).body.assets).toHaveLength(4);
  });

  it('continues a search with a cursor', async () => {
    const first = (await list('?q=lighthouse&limit=1')).body;
    const second = (await list(`?q=lighthouse&limit=1&cursor=${first.nextCursor}`)).body;
    expect([first, second].map(({ assets }) => assets[0]?.prompt)).toEqual([prompts.tower, prompts.lighthouse]);
    expect(second.nextCursor).toBeNull();
  });

  it('allows servers to search for the owner that they name', async () => {
    const { body } = await list(`?ownerId=${rig.userId}&q=lighthouse`, rig.server);
    expect(body.assets).toHaveLength(2);
  });

  it('hides them from readers of a public scope', async () => {
    const shared = await make(rig.user, {
      scopeKind: 'feed',
      scopeId: 'published',
      prompt: 'a private wish',
      model: 'secret-9',
    });
    const read = async (client: typeof rig.user) => (await client.get<Asset>(`/v1/assets/${shared.assetId}`)).body;
    const visible = { prompt: 'a private wish', model: 'secret-9' };
    expect(await read(rig.otherUser)).toMatchObject({ prompt: null, model: null });
    expect(await read(rig.user)).toMatchObject(visible);
    expect(await read(rig.server)).toMatchObject(visible);
    await rig.user.delete('/v1/assets', { ids: [shared.assetId] });
  });

  it('go with a copy of the same owner, and not to another owner', async () => {
    const copy = async (client: typeof rig.user, more: object) => {
      const to = { fromAssetId: made.get('cafe')?.assetId, toScopeKind: 'album', toScopeId: 'one', ...more };
      return (await client.post<Asset>('/v1/copy', to)).body;
    };
    const own = await copy(rig.user, {});
    expect(own).toMatchObject({ prompt: prompts.cafe, model: 'gpt-image-2' });
    const foreign = await copy(rig.server, { toOwnerId: '00000000-0000-4000-8000-000000000001' });
    expect(foreign).toMatchObject({ prompt: null, model: null });
    await rig.user.delete('/v1/assets', { ids: [own.assetId] });
  });

  it.each(['', 'm'.repeat(201), 'a\0b', 7])('rejects the model %j', async (model) => {
    const { registration } = await upload(rig.user, png);
    const refused = await rig.user.register({ ...registration, model });
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('model') } });
  });

  it('keep their first value if the registration is repeated', async () => {
    const { registration } = await upload(rig.user, png);
    const first = await rig.user.register({ ...registration, prompt: 'first' });
    const repeated = await rig.user.register({ ...registration, prompt: 'second' });
    expect([first.status, repeated.status, repeated.body.prompt]).toEqual([201, 200, 'first']);
    await rig.user.delete('/v1/assets', { ids: [registration.assetId] });
  });

  describe('types and thumbnails', () => {
    const named: Record<string, string> = {};
    const scope = { scopeKind: 'album', scopeId: 'types' };
    beforeAll(async () => {
      const poster = await make(rig.user, scope);
      const video = { ...scope, kind: 'video', mime: 'video/mp4', thumbAssetId: poster.assetId };
      png = Buffer.from('not an image');
      const clip = await make(rig.user, video);
      const text = await make(rig.user, { ...scope, kind: 'file', mime: 'text/plain' });
      png = await makeImage('png');
      // Another user's video does not hide an image by naming it.
      await make(rig.otherUser, { ...scope, kind: 'image', mime: 'image/png' });
      Object.assign(named, { [poster.assetId]: 'poster', [clip.assetId]: 'video', [text.assetId]: 'text' });
    });

    it.each([
      ['', ['poster', 'text', 'video']],
      ['&type=image', ['poster']],
      ['&type=video', ['video']],
      ['&type=other', ['text']],
      ['&thumbnails=false', ['text', 'video']],
      ['&thumbnails=true', ['poster', 'text', 'video']],
      ['&type=image&thumbnails=false', []],
    ])('narrows: %s', async (query, names) => {
      const { body } = await list(`?scopeKind=album&scopeId=types${query}`);
      expect(body.assets.map(({ assetId }) => named[assetId]).sort()).toEqual(names);
    });
  });

  describe('refuses', () => {
    const words = (count: number) => Array.from({ length: count }, (_, place) => `w${place}`).join('+');
    it.each([
      ['more than ten words', `?q=${words(11)}`, 'querystring.q'],
      ['a search of more than 500 characters', `?q=${'a'.repeat(501)}`, 'querystring.q'],
      ['NUL in a search', '?q=%00', 'querystring.q'],
      ['an unknown type', '?type=audio', 'querystring.type'],
      ['thumbnails that are neither true nor false', '?thumbnails=no', 'querystring.thumbnails'],
    ])('%s', async (_what, query, path) => {
      const { status, body } = await list(query);
      expect([status, body.issues?.[0]?.path]).toEqual([400, path]);
    });

    it('accepts ten words and 500 characters', async () => {
      expect((await list(`?q=${words(10)}`)).status).toBe(200);
      expect((await list(`?q=${'a'.repeat(500)}`)).status).toBe(200);
    });

    it.each([
      ['an empty prompt', ''],
      ['a prompt of more than 4000 characters', 'a'.repeat(4001)],
      ['NUL in a prompt', 'a\0'],
      ['a lone surrogate in a prompt', '\ud800'],
    ])('%s', async (_what, prompt) => {
      const { registration } = await upload(rig.user, png);
      const { status, body } = await rig.user.post('/v1/assets', { ...registration, prompt });
      expect([status, body.issues?.[0]?.path]).toEqual([400, 'body.prompt']);
    });
  });
});
