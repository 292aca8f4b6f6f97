/** MEDIA_MAX_BYTES_PER_OWNER, at every way by which bytes come to an owner. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { clip } from '../../../test/media/clips.fixture.ts';
import { inBucket, lay } from '../../../test/media/laying.fixture.ts';
import {
  type Client,
  createClient,
  type MediaRig,
  onEveryPair,
  put,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import type { Asset, MediaUsage } from '../api.ts';
import { storageKeyOf } from '../assets/storagekey.ts';
import type { AssetPage } from '../listing/api.ts';
import type { MediaTask, VideoTask } from '../tasks/api.ts';

/** The machine may have other work. */
const patience = { timeout: 60_000 };

const maxOwnerBytes = 10_000;

onEveryPair('the bytes of an owner', (pair) => {
  let rig: MediaRig;
  /** A new owner in each test. */
  let user: Client;
  let ownerId: string;
  beforeAll(async () => {
    rig = await startMedia(pair, { maxOwnerBytes });
  });
  afterAll(() => rig.close());
  beforeEach(async () => {
    ownerId = randomUUID();
    user = createClient(rig.url, { authorization: `Bearer ${await rig.issuer.token({ sub: ownerId })}` });
  });

  const file = { kind: 'file', mime: 'text/plain' };
  const scope = { scopeKind: 'thread', scopeId: '1' };
  const uploaded = (bytes: number, changes: object = {}) =>
    upload(user, Buffer.alloc(bytes, 'a'), { ...file, ...changes });
  const registered = async (bytes: number, changes: object = {}) => {
    const { registration } = await uploaded(bytes, changes);
    expect((await user.register(registration)).status).toBe(201);
    return registration;
  };
  /** An upload whose reservation has expired. */
  const planted = async (bytes: number) => {
    const registration = { ...scope, ...file, assetId: randomUUID() };
    const options = { contentType: file.mime };
    await rig.originals.put(storageKeyOf({ ...registration, ownerId }), Buffer.alloc(bytes, 'a'), options);
    return registration;
  };
  const usedBytes = async () => {
    const { body } = await user.get<AssetPage>('/v1/assets?limit=200');
    return body.assets.reduce((sum, { byteSize }) => sum + byteSize, 0);
  };
  const outcome = ({ status, body }: { status: number; body: object }) => [
    status,
    'error' in body ? body.error : undefined,
  ];
  const refused = [413, 'quota_exceeded'];

  const reserve = async (more: object = {}) => outcome(await user.reserve({ ...scope, ...file, ...more }));
  const ok = [200, undefined];
  const usage = async () => (await user.get<MediaUsage>('/v1/usage')).body;

  it('bound the reservation by used, reserved and announced bytes', async () => {
    expect(await reserve({ byteSize: maxOwnerBytes + 1 })).toEqual(refused);
    const said = await registered(6000);
    expect(await reserve({ byteSize: 4001 })).toEqual(refused);
    const assetId = randomUUID();
    expect(await reserve({ assetId, byteSize: 4000 })).toEqual(ok);
    expect(await usage()).toMatchObject({ assets: 1, bytes: 6000, reservedBytes: 4000, limitBytes: maxOwnerBytes });
    expect(await reserve()).toEqual(refused);
    expect(await reserve({ byteSize: 1 })).toEqual(refused);
    expect(await reserve({ byteSize: 0 })).toEqual(ok);
    // The same again counts once.
    expect(await reserve({ assetId, byteSize: 4000 })).toEqual(ok);
    // What is registered already may be repeated.
    expect(outcome(await user.reserve(said))).toEqual([200, undefined]);
    expect(outcome(await rig.server.reserve({ ...scope, ...file, ownerId }))).toEqual(refused);
    expect(outcome(await rig.otherUser.reserve({ ...scope, ...file }))).toEqual([200, undefined]);
  });

  it('are bounded at the registration, which removes the object', async () => {
    await registered(6000);
    const registration = await planted(4001);
    const { assetId } = registration;
    const storageKey = storageKeyOf({ ...registration, ownerId });
    for (const client of [user, rig.server]) {
      const answer = await client.register({ ...registration, ownerId });
      expect(outcome(answer)).toEqual(client === user ? refused : [409, 'object_not_found']);
    }
    expect(await rig.originals.head(storageKey)).toBeUndefined();
    expect((await user.sign([assetId])).body[assetId]).toMatchObject({ ready: false });
    expect(await usedBytes()).toBe(6000);
    const fits = await registered(4000);
    expect((await user.register(fits)).status).toBe(200);
  });

  it('have room again after a deletion', async () => {
    const { assetId } = await registered(9000);
    expect(outcome(await user.reserve({ ...scope, ...file, byteSize: 2000 }))).toEqual(refused);
    expect((await user.delete('/v1/assets', { ids: [assetId] })).status).toBe(200);
    await registered(9000);
    expect((await user.delete('/v1/scope', { ownerId })).status).toBe(200);
    await registered(maxOwnerBytes);
  });

  it('are bounded at a copy, of an asset and of a legacy file', async () => {
    const { assetId } = await registered(6000);
    const copy = (fromAssetId: string, client = user, more: object = {}) =>
      inBucket(rig, client).post<Asset>('/v1/copy', { fromAssetId, toScopeKind: 'feed', toScopeId: '1', ...more });
    expect(outcome(await copy(assetId))).toEqual(refused);
    expect(outcome(await copy(assetId, rig.server))).toEqual(refused);
    expect((await copy(assetId, rig.server, { toOwnerId: randomUUID() })).status).toBe(201);
    const paths = [`${ownerId}/small.txt`, `${ownerId}/large.txt`];
    await lay(rig, paths.slice(0, 1), Buffer.alloc(4000, 'a'));
    await lay(rig, paths.slice(1), Buffer.alloc(4001, 'a'));
    expect(outcome(await copy(String(paths[1])))).toEqual(refused);
    expect((await copy(String(paths[0]))).status).toBe(201);
    expect(await usedBytes()).toBe(maxOwnerBytes);
    const keys: string[] = [];
    for await (const { key } of rig.originals.list(`u/${ownerId}/`)) keys.push(key);
    expect(keys).toHaveLength(2);
  });

  it('count an upload of unknown size from its arrival on, and bound it', async () => {
    const held = (await user.reserve({ ...scope, ...file })).body;
    expect(await usage()).toMatchObject({ reservedBytes: 0 });
    expect(await reserve()).toEqual(refused);
    expect(await put(held, Buffer.alloc(3000))).toBe(200);
    expect(await usage()).toMatchObject({ bytes: 0, reservedBytes: 3000 });
    expect(await reserve({ byteSize: 7001 })).toEqual(refused);
    const rest = (await user.reserve({ ...scope, ...file })).body;
    // An S3 server cannot enforce the size of a signed PUT.
    if (pair.name.includes('files')) expect(await put(rest, Buffer.alloc(7001))).toBe(413);
    expect(await put(rest, Buffer.alloc(7000))).toBe(200);
    expect(await reserve()).toEqual(refused);
    for (const { assetId } of [held, rest])
      expect((await user.register({ ...scope, ...file, assetId })).status).toBe(201);
    expect(await usage()).toMatchObject({ bytes: maxOwnerBytes, reservedBytes: 0 });
  });

  it('give one of many concurrent reservations all the room', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => reserve({ byteSize: 2500 })));
    expect(answers.filter(([status]) => status === 200)).toHaveLength(4);
    expect(answers.filter(([status]) => status !== 200)).toEqual(Array.from({ length: 46 }, () => refused));
    expect(await usage()).toMatchObject({ reservedBytes: maxOwnerBytes });
  });

  it('count resumable uploads, each of the same object too, and end earlier ones for a later one', async () => {
    const assetId = randomUUID();
    const wanted = { ...scope, ...file, assetId, resumable: true, byteSize: 6000 };
    const send = (url: string, bytes: number) =>
      fetch(url, {
        method: 'PATCH',
        headers: { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
        body: Buffer.alloc(bytes),
      });
    const first = (await user.reserve(wanted)).body.resumable?.url ?? '';
    expect((await send(first, 5000)).status).toBe(204);
    expect(await reserve({ byteSize: 4001 })).toEqual(refused);
    const second = (await user.reserve(wanted)).body.resumable?.url ?? '';
    expect((await send(first, 1)).status).toBe(410);
    expect(await usage()).toMatchObject({ reservedBytes: 6000 });
    expect((await send(second, 6000)).status).toBe(204);
    expect((await user.register(wanted)).status).toBe(201);
    expect(await usage()).toMatchObject({ bytes: 6000, reservedBytes: 0 });
    expect(await reserve({ byteSize: 4000 })).toEqual(ok);
  });

  it('give the bytes of a refused upload back', async () => {
    const image = { kind: 'image', mime: 'image/png', byteSize: 9000 };
    const { registration } = await upload(user, Buffer.alloc(9000), image);
    expect((await user.register(registration)).status).toBe(422);
    expect(await reserve({ byteSize: maxOwnerBytes })).toEqual(ok);
  });

  it('are limited for any number of concurrent registrations and copies', async () => {
    const { assetId } = await registered(1000);
    const uploads = await Promise.all(Array.from({ length: 20 }, () => planted(1000)));
    const answers = await Promise.all([
      ...uploads.map((registration) => user.register(registration)),
      ...Array.from({ length: 20 }, () =>
        user.post('/v1/copy', { fromAssetId: assetId, toScopeKind: 'feed', toScopeId: '1' }),
      ),
    ]);
    const outcomes = answers.map(outcome);
    expect(outcomes.filter(([status]) => status === 201)).toHaveLength(9);
    expect(outcomes.filter(([status]) => status !== 201)).toEqual(Array.from({ length: 31 }, () => refused));
    expect(await usedBytes()).toBe(maxOwnerBytes);
    const left = [];
    for await (const { key } of rig.originals.list(`u/${ownerId}/`)) left.push(key);
    expect(left).toHaveLength(10);
  });

  it.skipIf(skipWithout('ffmpeg'))('are bounded for video tasks', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'atelier-quota-'));
    const bytes = await readFile(await render(clip, folder));
    await rm(folder, { recursive: true, force: true });
    expect(bytes.length).toBeGreaterThan(maxOwnerBytes);
    const registration = { ...scope, kind: 'video', mime: 'video/mp4', assetId: randomUUID() };
    const { assetId } = registration;
    const storageKey = storageKeyOf({ ...registration, ownerId });
    await rig.originals.put(storageKey, bytes, { contentType: 'video/mp4' });
    const { taskId } = (await user.post<VideoTask>('/v1/media-tasks/video', registration)).body;
    const task = async () => (await user.get<MediaTask>(`/v1/media-tasks/${taskId}`)).body;
    await expect.poll(async () => (await task()).status, patience).toBe('failed');
    expect((await task()).metadata).toMatchObject({ error: 'quota_exceeded' });
    expect(await rig.originals.head(storageKey)).toBeUndefined();
    expect((await user.sign([assetId])).body[assetId]).toMatchObject({ ready: false });
    expect(await usedBytes()).toBe(0);
  });
});
