import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { validityS } from '../../../test/media/addresses.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import {
  type Client,
  type MediaRig,
  onEveryPair,
  type Refusal,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import type { VideoSignedRefs } from '../api.ts';

const notFound = { ready: false, error: 'not_found' };
const film = Buffer.from('moving');

onEveryPair('POST /v1/sign/video', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  const sign = (client: Client, refs: readonly string[]) => client.post<VideoSignedRefs>('/v1/sign/video', { refs });
  const signed = async (client: Client, ref: string) => (await sign(client, [ref])).body[ref];

  /** Ids of registered assets. */
  async function video(client: Client, changes: object = {}): Promise<string> {
    const { registration, assetId } = await upload(client, film, { kind: 'video', mime: 'video/mp4', ...changes });
    expect((await client.register({ ...changes, ...registration })).status).toBe(201);
    return assetId;
  }
  async function still(client: Client, changes: object = {}): Promise<string> {
    const bytes = await makeImage('jpeg', { width: 800, height: 600 });
    const { registration, assetId } = await upload(client, bytes, { mime: 'image/jpeg', ...changes });
    expect((await client.register(registration)).status).toBe(201);
    return assetId;
  }

  it('returns the URLs and facts of a video and its thumbnail', async () => {
    const thumbAssetId = await still(rig.user);
    const facts = { width: 640, height: 360, durationMs: 2500, blurhash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj' };
    const assetId = await video(rig.user, { ...facts, thumbAssetId });
    const answer = await signed(rig.user, assetId);
    expect(answer).toEqual({
      ready: true,
      url: expect.any(String),
      thumbUrl: expect.any(String),
      thumbAssetId,
      ...facts,
      generated: null,
      byteSize: film.length,
      mime: 'video/mp4',
    });
    if (!answer?.ready) return;

    const original = await fetch(answer.url);
    expect([original.status, original.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect(Buffer.from(await original.arrayBuffer())).toEqual(film);
    expect((await fetch(`${answer.url}0`)).status).toBe(403);
    expect(validityS(answer.url)).toBeGreaterThan(604_800 - 5);
    expect(validityS(answer.url)).toBeLessThanOrEqual(604_800);

    const small = await fetch(String(answer.thumbUrl));
    expect(small.status).toBe(200);
    const { width, height } = await sharp(Buffer.from(await small.arrayBuffer())).metadata();
    expect([width, height]).toEqual([400, 300]);
    const asImage = (await rig.user.sign([thumbAssetId])).body[thumbAssetId];
    expect(asImage).toMatchObject({ thumbUrl: answer.thumbUrl });
  });

  it('returns null for unknown facts, and no thumbUrl without a thumbnail', async () => {
    const answer = await signed(rig.user, await video(rig.user));
    expect(answer).toEqual({
      ready: true,
      url: expect.any(String),
      thumbAssetId: null,
      width: null,
      height: null,
      byteSize: film.length,
      durationMs: null,
      blurhash: null,
      generated: null,
      mime: 'video/mp4',
    });
  });

  it('returns no thumbnail for an image, which names none', async () => {
    const answer = await signed(rig.user, await still(rig.user));
    expect(answer).toMatchObject({ ready: true, thumbAssetId: null, width: 800, durationMs: null, mime: 'image/jpeg' });
    expect(answer).not.toHaveProperty('thumbUrl');
  });

  describe('which thumbnail is shown', () => {
    type Shown = 'whole' | 'id alone' | 'nothing';
    const make: Record<string, { readonly thumb: () => Promise<string>; readonly shown: Shown; said?: object }> = {
      'of a video of another kind': { thumb: () => still(rig.user), said: { kind: 'clip' }, shown: 'whole' },
      'of a video without a video mime': {
        thumb: () => still(rig.user),
        said: { mime: 'application/octet-stream' },
        shown: 'whole',
      },
      'in another scope of the owner': { thumb: () => still(rig.user, { scopeKind: 'feed' }), shown: 'whole' },
      'not registered at all': { thumb: async () => randomUUID(), shown: 'id alone' },
      'uploaded but not registered': {
        thumb: async () => (await upload(rig.user, await makeImage('png'))).assetId,
        shown: 'id alone',
      },
      'that is no image': { thumb: () => video(rig.user), shown: 'id alone' },
      'of another owner': { thumb: () => still(rig.otherUser), shown: 'nothing' },
      'of another owner, in a public scope': {
        thumb: () => still(rig.otherUser, { scopeKind: 'feed' }),
        shown: 'nothing',
      },
    };

    it.each(Object.entries(make))('%s', async (_name, { thumb, said, shown }) => {
      const thumbAssetId = await thumb();
      const assetId = await video(rig.user, { ...said, thumbAssetId });
      for (const client of [rig.user, rig.server]) {
        const answer = await signed(client, assetId);
        expect(answer).toMatchObject({ ready: true, url: expect.any(String) });
        expect(answer).toHaveProperty('thumbAssetId', shown === 'nothing' ? null : thumbAssetId);
        if (shown === 'whole') expect(answer).toHaveProperty('thumbUrl', expect.any(String));
        else expect(answer).not.toHaveProperty('thumbUrl');
      }
    });

    it('one that is registered later, from its registration', async () => {
      const { registration, assetId: thumbAssetId } = await upload(rig.user, await makeImage('png'));
      const assetId = await video(rig.user, { thumbAssetId });
      expect(await signed(rig.user, assetId)).not.toHaveProperty('thumbUrl');
      await rig.user.register(registration);
      expect(await signed(rig.user, assetId)).toHaveProperty('thumbUrl');
    });

    it('in a private scope, only to callers who can read it', async () => {
      const thumbAssetId = await still(rig.user);
      const assetId = await video(rig.user, { scopeKind: 'feed', thumbAssetId });
      expect(await signed(rig.user, assetId)).toHaveProperty('thumbUrl');
      const seenByOther = await signed(rig.otherUser, assetId);
      expect(seenByOther).toMatchObject({ ready: true, thumbAssetId });
      expect(seenByOther).not.toHaveProperty('thumbUrl');
    });

    it('each video has its own, despite one invalid thumbnail', async () => {
      const thumbs = [await still(rig.user), randomUUID(), await still(rig.otherUser)];
      const videos = await Promise.all(thumbs.map((thumbAssetId) => video(rig.user, { thumbAssetId })));
      const { body } = await sign(rig.user, videos);
      const answers = videos.map((ref) => body[ref]);
      expect(answers.map((answer) => answer?.ready && [answer.thumbAssetId, 'thumbUrl' in answer])).toEqual([
        [thumbs[0], true],
        [thumbs[1], false],
        [null, false],
      ]);
    });
  });

  describe('the right to read', () => {
    it.each([
      ['the owner', 'user', 'thread', true],
      ['another user', 'otherUser', 'thread', false],
      ['a server', 'server', 'thread', true],
      ['another user, in a public scope', 'otherUser', 'feed', true],
      ['another user, in the other public scope', 'otherUser', 'avatars', true],
      ['another user, in a scope named almost like a public one', 'otherUser', 'Feed', false],
    ] as const)('%s', async (_name, who, scopeKind, isReadable) => {
      const answer = await signed(rig[who], await video(rig.user, { scopeKind }));
      if (isReadable) expect(answer).toMatchObject({ ready: true });
      else expect(answer).toEqual(notFound);
    });
  });

  it('returns one entry for each reference as given', async () => {
    const assetId = await video(rig.user);
    const { registration: unregistered } = await upload(rig.user, film, { mime: 'video/mp4' });
    const upper = assetId.toUpperCase();
    const strange = [
      unregistered.assetId,
      randomUUID(),
      '',
      '__proto__',
      `${rig.userId}/video_1.mp4`,
      'a/../b',
      '/a',
      'nul\0',
    ];
    const { status, body } = await sign(rig.user, [...strange, assetId, upper, assetId]);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual([...strange, assetId, upper].sort());
    for (const ref of strange) expect(Object.getOwnPropertyDescriptor(body, ref)?.value).toEqual(notFound);
    for (const ref of [assetId, upper]) expect(body[ref]).toMatchObject({ ready: true, mime: 'video/mp4' });
  });

  it('accepts 0 to 200 refs', async () => {
    const assetId = await video(rig.user);
    expect((await sign(rig.user, [])).body).toEqual({});
    const { body } = await sign(rig.user, [...Array.from({ length: 199 }, () => randomUUID()), assetId]);
    expect(Object.keys(body)).toHaveLength(200);
    expect(Object.values(body).filter(({ ready }) => ready)).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ['201 refs', { refs: Array(201).fill('x') }, 'body.refs'],
    ['no refs', {}, 'body.refs'],
    ['a ref that is a number', { refs: ['a', 7] }, 'body.refs.1'],
    ['a bucket that is a path', { refs: [], legacyBucket: '..' }, 'body.legacyBucket'],
  ])('%s is a 400', async (_name, payload, path) => {
    const answer = await rig.user.post<Refusal>('/v1/sign/video', payload);
    expect(answer.status).toBe(400);
    expect(answer.body.issues?.map((issue) => issue.path)).toEqual([path]);
  });

  it('without a credential is 401', async () => {
    expect((await rig.client({}).post('/v1/sign/video', '{ no json')).status).toBe(401);
  });
});
