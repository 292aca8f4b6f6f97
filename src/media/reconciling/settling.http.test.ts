/** Objects with the registered bytes and another ETag: files of a copied folder, and objects that a tool restored in parts. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type MediaRig, onEveryStore, startMedia, testLimits, upload } from '../../../test/media/rig.fixture.ts';
import type { SweepFinding } from '../sweeping/api.ts';
import type { MediaTables } from '../tables.ts';

onEveryStore('an original with another ETag', (pair) => {
  const isS3 = pair.name.includes('S3');
  let rig: MediaRig;
  let bytes: Buffer;
  let asset: { assetId: string; storageKey: string };
  beforeEach(async () => {
    rig = await startMedia(pair, { sizes: { ...testLimits, maxImageBytes: 20e6, maxSourcePixels: 4e6 } });
    const raw = { width: 1800, height: 1800, channels: 3 } as const;
    bytes = await sharp(randomBytes(1800 * 1800 * 3), { raw })
      .png({ compressionLevel: 0 })
      .toBuffer();
    const { registration, ...names } = await upload(rig.user, bytes);
    expect((await rig.user.register(registration)).status).toBe(201);
    asset = names;
  });
  afterEach(() => rig.close());

  /** As other tools do: removed, and written again, in parts on S3. */
  async function restore(content: Buffer): Promise<void> {
    const before = await rig.originals.head(asset.storageKey);
    await rig.originals.remove([asset.storageKey]);
    const what = { id: randomBytes(16).toString('hex'), key: asset.storageKey, size: content.length };
    await rig.originals.resumable.append({ ...what, contentType: 'image/png' }, 0, Readable.from([content]));
    const after = await rig.originals.head(asset.storageKey);
    expect(after?.etag).not.toBe(before?.etag);
    if (isS3) expect(after?.etag).toMatch(/-\d+"$/);
  }
  const sign = async () => {
    const { body } = await rig.user.sign([asset.assetId]);
    return body[asset.assetId] as { readonly url: string; readonly previewUrl: string; readonly thumbUrl: string };
  };
  const sweep = async () => {
    const { body } = await rig.server.post<{ found: SweepFinding[] }>('/v1/sweep', { cursor: 'assets:' });
    return body.found.filter(({ assetId }) => assetId === asset.assetId).map(({ what, fate }) => [what, fate]);
  };

  it('has its previews, copies and watermarks', async () => {
    await restore(bytes);
    const signed = await sign();
    for (const url of [signed.url, signed.previewUrl, signed.thumbUrl]) expect((await fetch(url)).status).toBe(200);
    const to = { fromAssetId: asset.assetId, toScopeKind: 'feed', toScopeId: '1' };
    expect((await rig.user.post('/v1/copy', to)).status).toBe(201);
    expect((await rig.user.post('/v1/watermark', { ref: asset.assetId })).status).toBe(200);
  });

  it.each(['copy', 'watermark'])('is settled by a %s alone', async (call) => {
    await restore(bytes);
    const body = call === 'copy' ? { fromAssetId: asset.assetId, toScopeKind: 'feed', toScopeId: '1' } : {};
    const { status } = await rig.user.post(`/v1/${call}`, { ...body, ref: asset.assetId });
    expect(status).toBe(call === 'copy' ? 201 : 200);
  });

  it('has no digest, as those of version 1.0.0, and is settled by its size', async () => {
    const withoutDigests = { sha256: null, md5: null };
    await rig.database.queries<MediaTables>().updateTable('assets').set(withoutDigests).execute();
    await restore(bytes);
    expect((await fetch((await sign()).previewUrl)).status).toBe(200);
    await restore(bytes.subarray(1));
    expect(await sweep()).toEqual([['asset_with_other_bytes', 'left']]);
  });

  it('is settled by a sweep, which reports other bytes and leaves them', async () => {
    await restore(bytes);
    expect(await sweep()).toEqual([]);
    const other = Buffer.from(bytes);
    other.fill(1, other.length - 100, other.length - 50);
    await restore(other);
    expect(await sweep()).toEqual([['asset_with_other_bytes', 'left']]);
    const signed = await sign();
    if (isS3) expect((await fetch(signed.previewUrl)).status).toBe(404);
    else expect(signed).toEqual({ ready: false, error: 'not_found' });
  });

  it.skipIf(isS3)(
    'is not found while its file is missing or different, and is served as soon as the file is back',
    async () => {
      await rig.originals.remove([asset.storageKey]);
      const gone = await sign();
      await rig.originals.put(asset.storageKey, Buffer.alloc(bytes.length), { contentType: 'image/png' });
      const other = await sign();
      await restore(bytes);
      const { url } = await sign();
      expect([gone, other]).toEqual(Array(2).fill({ ready: false, error: 'not_found' }));
      expect((await fetch(url)).status).toBe(200);
    },
  );

  it('is settled once by concurrent calls, and stays deleted if it is deleted meanwhile', async () => {
    await restore(bytes);
    const [signed, again, removed] = await Promise.all([
      sign(),
      sign(),
      rig.user.delete('/v1/assets', { ids: [asset.assetId] }),
    ]);
    expect(removed.status).toBe(200);
    expect(await sign()).toEqual({ ready: false, error: 'not_found' });
    for (const { url } of [signed, again]) if (url !== undefined) expect((await fetch(url)).status).toBe(404);
  });
});
