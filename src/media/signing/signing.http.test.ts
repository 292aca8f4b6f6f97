import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { validityS } from '../../../test/media/addresses.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import {
  type Client,
  type MediaRig,
  onEveryStore,
  type Refusal,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';

const notFound = { ready: false, error: 'not_found' };

onEveryStore('POST /v1/sign/image', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  /** A registered asset. */
  async function registered(client: Client, changes: object = {}, bytes?: Uint8Array) {
    const { registration, assetId, storageKey } = await upload(client, bytes ?? (await makeImage('png')), changes);
    const { status, body } = await client.register(registration);
    expect(status).toBe(201);
    return { assetId, storageKey, row: body };
  }

  const signed = async (client: Client, ref: string) => (await client.sign([ref])).body[ref];

  it('returns the URLs and facts of an image', async () => {
    const bytes = await makeImage('jpeg', { width: 2000, height: 480, orientation: 6 });
    const { assetId, row } = await registered(rig.user, { mime: 'image/jpeg' }, bytes);
    const answer = await signed(rig.user, assetId);
    expect(answer).toEqual({
      ready: true,
      url: expect.any(String),
      thumbUrl: expect.any(String),
      previewUrl: expect.any(String),
      width: 480,
      height: 2000,
      byteSize: bytes.length,
      durationMs: null,
      blurhash: row.blurhash,
      animated: false,
      generated: null,
      mime: 'image/jpeg',
    });
    if (!answer?.ready) return;

    const original = await fetch(answer.url);
    expect([original.status, original.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    expect(Buffer.from(await original.arrayBuffer())).toEqual(bytes);
    expect((await fetch(`${answer.url}0`)).status).toBe(403);
    for (const [url, width, height] of [
      [answer.thumbUrl, 96, 400],
      [answer.previewUrl, 246, 1024],
    ] as const) {
      const variant = await fetch(String(url));
      expect(variant.status).toBe(200);
      expect(await sharp(Buffer.from(await variant.arrayBuffer())).metadata()).toMatchObject({ width, height });
    }
  });

  it('returns a URL for 7 days', async () => {
    const { assetId } = await registered(rig.user);
    const answer = await signed(rig.user, assetId);
    const expiresInS = validityS(answer?.ready ? answer.url : '');
    expect(expiresInS).toBeGreaterThan(604_800 - 5);
    expect(expiresInS).toBeLessThanOrEqual(604_800);
  });

  it('serves the mime that was detected', async () => {
    const { assetId } = await registered(rig.user, { mime: 'image/gif' });
    const answer = await signed(rig.user, assetId);
    expect(answer).toMatchObject({ mime: 'image/png' });
    const original = await fetch(answer?.ready ? answer.url : '');
    expect(original.headers.get('content-type')).toBe('image/png');
  });

  it('returns no variants of other files', async () => {
    const facts = { width: 64, height: 48 };
    const { registration, assetId } = await upload(rig.user, Buffer.from('moving'), {
      mime: 'video/mp4',
      kind: 'image',
    });
    await rig.user.register({ ...registration, ...facts, durationMs: 900 });
    expect(await signed(rig.user, assetId)).toEqual({
      ready: true,
      url: expect.any(String),
      ...facts,
      byteSize: 6,
      durationMs: null,
      blurhash: null,
      animated: null,
      generated: null,
      mime: 'video/mp4',
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
      ['another user, in a scope whose id is public', 'otherUser', 'feeds', false],
    ] as const)('%s', async (_name, who, scopeKind, isReadable) => {
      const { assetId } = await registered(rig.user, { scopeKind, scopeId: 'feed' });
      const answer = await signed(rig[who], assetId);
      if (isReadable) expect(answer).toMatchObject({ ready: true });
      else expect(answer).toEqual(notFound);
    });
  });

  it('does not sign unregistered uploads', async () => {
    const { assetId } = await upload(rig.user, await makeImage('png'));
    expect(await signed(rig.user, assetId)).toEqual(notFound);
  });

  it('returns one entry for each reference as given', async () => {
    const { assetId } = await registered(rig.user);
    const strange = [
      randomUUID(),
      '',
      ' ',
      'no-ref',
      'toString',
      'constructor',
      '__proto__',
      'a/b.png',
      `${rig.userId}/legacy.png`,
      '../../etc/passwd',
      '/absolute',
      'a//b',
      'a/%2e%2e/b',
      'nul\0',
      '\ud800',
      `${assetId} `,
      `{${assetId}}`,
      assetId.replaceAll('-', ''),
      "' or 1=1 --",
      'x'.repeat(5000),
    ];
    const { status, body } = await rig.user.sign([...strange, assetId]);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual([...strange, assetId].sort());
    expect(Object.getOwnPropertyDescriptor(body, '__proto__')?.value).toEqual(notFound);
    for (const ref of strange.filter((each) => each !== '__proto__')) expect([ref, body[ref]]).toEqual([ref, notFound]);
    expect(body[assetId]).toMatchObject({ ready: true });
  });

  it('accepts an id in any case, and a duplicate ref', async () => {
    const { assetId } = await registered(rig.user);
    const upper = assetId.toUpperCase();
    const { body } = await rig.user.sign([assetId, upper, assetId]);
    expect(Object.keys(body).sort()).toEqual([assetId, upper].sort());
    expect(body[upper]).toMatchObject({ ready: true });
  });

  it('accepts 0 to 200 refs', async () => {
    const { assetId } = await registered(rig.user);
    expect((await rig.user.sign([])).body).toEqual({});
    const refs = [...Array.from({ length: 199 }, () => randomUUID()), assetId];
    const { body } = await rig.user.sign(refs);
    expect(Object.keys(body)).toHaveLength(200);
    expect(Object.values(body).filter(({ ready }) => ready)).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ['201 refs', { refs: Array(201).fill('x') }, 'body.refs'],
    ['no refs', {}, 'body.refs'],
    ['a ref that is a number', { refs: ['a', 7] }, 'body.refs.1'],
    ['a bucket that is a path', { refs: [], legacyBucket: '..' }, 'body.legacyBucket'],
    ['a bucket of strange characters', { refs: [], legacyBucket: 'a b' }, 'body.legacyBucket'],
  ])('%s is a 400', async (_name, payload, path) => {
    const answer = await rig.user.post<Refusal>('/v1/sign/image', payload);
    expect(answer.status).toBe(400);
    expect(answer.body.issues?.map((issue) => issue.path)).toEqual([path]);
  });

  it('accepts the name of a legacy bucket', async () => {
    const answer = await rig.user.post('/v1/sign/image', { refs: ['a/b'], legacyBucket: 'agent_message' });
    expect([answer.status, answer.body]).toEqual([200, { 'a/b': notFound }]);
  });
});
