import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Client,
  type MediaRig,
  onEveryStore,
  put,
  type Refusal,
  startMedia,
  testLimits,
} from '../../../test/media/rig.fixture.ts';
import type { Asset, UploadReservation } from '../api.ts';

const said = { scopeKind: 'thread', scopeId: 'T-1', kind: 'image', mime: 'image/jpeg' };
const { maxImageBytes, maxVideoBytes } = testLimits;

onEveryStore('POST /v1/uploads', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  const as = (who: string): Client => (who === 'server' ? rig.server : rig.user);

  it('reserves an id, a key and an address for 300 seconds', async () => {
    const before = Math.floor(Date.now() / 1000) * 1000;
    const { status, body } = await rig.user.reserve(said);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['assetId', 'expiresAt', 'headers', 'storageKey', 'uploadUrl']);
    expect(body.assetId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(body.storageKey).toBe(`u/${rig.userId}/thread/T-1/${body.assetId}.jpg`);
    expect(body.headers).toMatchObject({ 'Content-Type': 'image/jpeg', 'If-None-Match': '*' });
    const expiresAt = Date.parse(body.expiresAt);
    expect(new Date(expiresAt).toISOString()).toBe(body.expiresAt);
    expect(expiresAt).toBeGreaterThanOrEqual(before + 300_000);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 300_000);
  });

  describe('resumable', () => {
    const video = { ...said, kind: 'video', mime: 'video/mp4', resumable: true };
    const tus = { 'tus-resumable': '1.0.0' };
    const piece = { ...tus, 'content-type': 'application/offset+octet-stream' };

    it('answers the address of an upload that exists for a day, and is registered as ever', async () => {
      const before = Math.floor(Date.now() / 1000) * 1000;
      const { status, body } = await rig.user.reserve({ ...video, byteSize: 10 });
      expect(status).toBe(200);
      const { protocol, url = '', expiresAt = '' } = body.resumable ?? {};
      expect(protocol).toBe('tus');
      expect(url.startsWith(`${rig.edgeUrl}/`)).toBe(true);
      expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(before + 86_400_000);
      expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 86_400_000);
      const head = await fetch(url, { method: 'HEAD', headers: tus });
      expect([head.status, head.headers.get('upload-offset'), head.headers.get('upload-length')]).toEqual([
        200,
        '0',
        '10',
      ]);
      expect((await rig.user.register({ ...video, assetId: body.assetId })).status).toBe(409);
      for (const [offset, bytes] of [
        ['0', 'hello'],
        ['5', 'world'],
      ] as const)
        await fetch(url, { method: 'PATCH', headers: { ...piece, 'upload-offset': offset }, body: bytes });
      const registered = await rig.user.register({ ...video, assetId: body.assetId });
      expect([registered.status, registered.body.byteSize, registered.body.storageKey]).toEqual([
        201,
        10,
        body.storageKey,
      ]);
      const sha256 = createHash('sha256').update('helloworld').digest('hex');
      expect(registered.body.sha256).toBe(sha256);
    });

    it('gives each reservation its own upload, and none replaces a registered object', async () => {
      const assetId = randomUUID();
      const reserve = async () =>
        (await rig.user.reserve({ ...video, assetId, byteSize: 10 })).body.resumable?.url ?? '';
      const [one, two] = [await reserve(), await reserve()];
      expect(one).not.toBe(two);
      const send = (url: string, offset: number, body: string) =>
        fetch(url, { method: 'PATCH', headers: { ...piece, 'upload-offset': String(offset) }, body });
      await send(two, 0, 'OTHER');
      await send(one, 0, 'helloworld');
      expect((await rig.user.register({ ...video, assetId })).status).toBe(201);
      expect((await send(two, 5, 'BYTES')).status).toBe(409);
      const { storageKey } = (await rig.user.get<Asset>(`/v1/assets/${assetId}`)).body;
      const stored = await rig.originals.get(storageKey);
      expect(Buffer.concat((await stored?.stream.toArray()) ?? []).toString()).toBe('helloworld');
    });

    it.each([
      ['without a size', {}],
      ['without bytes', { byteSize: 0 }],
      ['with a size of null', { byteSize: null }],
    ])('is 400 %s', async (_, size) => {
      const { status, body } = await rig.user.post<Refusal>('/v1/uploads', { ...video, ...size });
      expect(status).toBe(400);
      expect(body.issues).toMatchObject([{ path: 'body.byteSize' }]);
    });

    it.each([false, null])('is not answered if it is %s', async (resumable) => {
      const { status, body } = await rig.user.reserve({ ...video, resumable });
      expect(status).toBe(200);
      expect(body).not.toHaveProperty('resumable');
    });
  });

  it('returns a new id on each call, and writes nothing', async () => {
    const [one, two] = [(await rig.user.reserve(said)).body, (await rig.user.reserve(said)).body];
    expect(one.assetId).not.toBe(two.assetId);
    expect(await rig.originals.head(one.storageKey)).toBeUndefined();
    expect((await rig.user.sign([one.assetId])).body[one.assetId]).toEqual({ ready: false, error: 'not_found' });
  });

  it('accepts a deterministic id in any case', async () => {
    const assetId = randomUUID();
    for (const given of [assetId, assetId.toUpperCase()]) {
      const { body } = await rig.user.reserve({ ...said, assetId: given });
      expect(body.assetId).toBe(assetId);
      expect(body.storageKey).toBe(`u/${rig.userId}/thread/T-1/${assetId}.jpg`);
    }
  });

  const owner = randomUUID();
  it.each<[string, string, object, number, string?]>([
    ['a user without ownerId', 'user', {}, 200],
    ['a server with ownerId', 'server', { ownerId: owner }, 200],
    ['a user naming another owner', 'user', { ownerId: owner }, 403, 'forbidden'],
    ['a server without ownerId', 'server', {}, 400, 'body.ownerId'],
    ['a server with an ownerId that is no UUID', 'server', { ownerId: 'me' }, 400, 'body.ownerId'],
    ['another owner in a request that is not valid either', 'user', { ownerId: owner, kind: '' }, 400, 'body.kind'],
    ['an image of the largest size', 'user', { byteSize: maxImageBytes }, 200],
    ['an image of one byte more', 'user', { byteSize: maxImageBytes + 1 }, 413, 'asset_too_large'],
    ['a video of the largest size', 'user', { mime: 'video/mp4', byteSize: maxVideoBytes }, 200],
    ['a video of one byte more', 'user', { mime: 'video/mp4', byteSize: maxVideoBytes + 1 }, 413, 'asset_too_large'],
    ['a text larger than images may be', 'user', { mime: 'text/plain', byteSize: maxImageBytes + 1 }, 200],
    ['too large for another owner', 'user', { ownerId: owner, byteSize: 1e9 }, 413, 'asset_too_large'],
    ['a negative size', 'user', { byteSize: -1 }, 400, 'body.byteSize'],
    ['the longest names', 'user', { scopeKind: 'k'.repeat(64), scopeId: 's'.repeat(128), kind: 'i'.repeat(64) }, 200],
    ['too long a scopeKind', 'user', { scopeKind: 'k'.repeat(65) }, 400, 'body.scopeKind'],
    ['too long a scopeId', 'user', { scopeId: 's'.repeat(129) }, 400, 'body.scopeId'],
    ['too long a kind', 'user', { kind: 'i'.repeat(65) }, 400, 'body.kind'],
    ['a path in the scope', 'user', { scopeId: '../..' }, 400, 'body.scopeId'],
    ['an encoded path in the scope', 'user', { scopeId: '%2e%2e%2f' }, 400, 'body.scopeId'],
    ['a path in the id', 'user', { assetId: '../x' }, 400, 'body.assetId'],
    ['a NUL in the kind', 'user', { kind: 'a\0' }, 400, 'body.kind'],
    ['a path in the mime', 'user', { mime: 'image/../x' }, 400, 'body.mime'],
    ['a mime with parameters', 'user', { mime: 'video/webm; codecs=vp9' }, 400, 'body.mime'],
    ['no mime', 'user', { mime: undefined }, 400, 'body.mime'],
    ['fields that nobody knows', 'user', { colour: 'red', status: 'ready' }, 200],
  ])('%s', async (_name, who, changes, status, told) => {
    const answer = await as(who).post<Refusal>('/v1/uploads', { ...said, ...changes });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.issues?.map((issue) => issue.path)).toEqual([told]);
    else expect(answer.body.error).toBe(told);
  });

  it('allows a server to reserve for an owner, and users to name themselves', async () => {
    const { body } = await rig.server.reserve({ ...said, ownerId: owner.toUpperCase() });
    expect(body.storageKey).toMatch(`u/${owner}/thread/T-1/`);
    expect((await rig.user.reserve({ ...said, ownerId: rig.userId.toUpperCase() })).status).toBe(200);
  });

  it.each([
    ['no credential', {}],
    ['an empty internal key', { 'x-internal-key': '' }],
    ['a wrong internal key', { 'x-internal-key': 'guess' }],
    ['a token that is none', { authorization: 'Bearer x.y.z' }],
  ])('%s is 401, whatever is sent', async (_name, headers) => {
    for (const path of ['/v1/uploads', '/v1/assets', '/v1/sign/image']) {
      const answer = await rig.client(headers as Record<string, string>).post(path, '{ no json');
      expect([path, answer.status, answer.body.error]).toEqual([path, 401, 'unauthorized']);
      expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'));
    }
  });

  describe('the address', () => {
    async function reserve(changes: object = {}): Promise<UploadReservation> {
      return (await rig.user.reserve({ ...said, mime: 'video/mp4', ...changes })).body;
    }

    it('accepts one PUT; a second one is 412', async () => {
      const reservation = await reserve();
      expect(await put(reservation, Buffer.from('one'))).toBe(200);
      expect(await put(reservation, Buffer.from('two'))).toBe(412);
      expect((await rig.originals.head(reservation.storageKey))?.size).toBe(3);
    });

    it('accepts one of two concurrent PUTs', async () => {
      const reservation = await reserve();
      const bytes = [Buffer.alloc(100_000, 'a'), Buffer.alloc(100_000, 'b')];
      const statuses = await Promise.all(bytes.map((each) => put(reservation, each)));
      const [first, second] = statuses.sort();
      expect(first).toBe(200);
      // While the first is under way, or when it is done.
      expect([409, 412]).toContain(second);
    });

    it('binds the content type', async () => {
      const reservation = await reserve();
      const headers = { ...reservation.headers, 'Content-Type': 'text/html' };
      expect(await put({ ...reservation, headers }, Buffer.from('x'))).toBe(403);
    });

    it('accepts no more than the limit, at the edge or, with S3, at the registration', async () => {
      const reservation = await reserve();
      const stored = await put(reservation, Buffer.alloc(maxVideoBytes + 1));
      const { assetId, storageKey } = reservation;
      const registered = await rig.user.register({ ...said, mime: 'video/mp4', assetId });
      expect([stored, registered.status]).toEqual(stored === 413 ? [413, 409] : [200, 413]);
      expect(await rig.originals.head(storageKey)).toBeUndefined();
    });

    it('binds the size when it was given', async () => {
      const reservation = await reserve({ byteSize: 5 });
      expect(await put(reservation, Buffer.alloc(6))).not.toBe(200);
      expect(await rig.originals.head(reservation.storageKey)).toBeUndefined();
      expect(await put(reservation, Buffer.alloc(5))).toBe(200);
    });
  });
});
