/** MEDIA_UPLOAD_TTL_SECS: uploads that are not registered in time give their bytes back. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MediaRig, onEveryPair, put, startMedia } from '../../../test/media/rig.fixture.ts';
import type { MediaUsage } from '../api.ts';

const patience = { timeout: 30_000 };
const maxOwnerBytes = 10_000;
const file = { scopeKind: 'thread', scopeId: '1', kind: 'file', mime: 'text/plain' };

onEveryPair('an upload that is not registered in time', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair, { maxOwnerBytes, uploadTtlS: 2 });
  });
  afterAll(() => rig.close());
  const usage = async () => (await rig.user.get<MediaUsage>('/v1/usage')).body;

  it('is removed with its parts, and its bytes and URLs are void', async () => {
    const sized = (await rig.user.reserve({ ...file, byteSize: 3000 })).body;
    expect(await put(sized, Buffer.alloc(3000))).toBe(200);
    const wanted = { ...file, assetId: randomUUID(), resumable: true, byteSize: 4000 };
    const url = (await rig.user.reserve(wanted)).body.resumable?.url ?? '';
    const tus = { 'tus-resumable': '1.0.0' };
    const piece = { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
    expect((await fetch(url, { method: 'PATCH', headers: piece, body: Buffer.alloc(1000) })).status).toBe(204);
    expect((await rig.user.reserve({ ...file, byteSize: 3000 })).status).toBe(200);
    expect(await usage()).toMatchObject({ bytes: 0, reservedBytes: maxOwnerBytes });
    await expect.poll(async () => (await rig.user.reserve({ ...file, byteSize: 9000 })).status, patience).toBe(200);
    await expect.poll(async () => (await usage()).reservedBytes, patience).toBe(0);
    expect(await rig.originals.head(sized.storageKey)).toBeUndefined();
    expect((await fetch(url, { method: 'HEAD', headers: tus })).status).toBe(410);
  });

  it('goes without another request of its owner', async () => {
    const server = { ...file, ownerId: randomUUID() };
    const reserved = (await rig.server.reserve({ ...server, byteSize: 10 })).body;
    expect(await put(reserved, Buffer.alloc(10))).toBe(200);
    await expect.poll(() => rig.originals.head(reserved.storageKey), patience).toBeUndefined();
  });
});
