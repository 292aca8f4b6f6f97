/** Marks of generated media, and metadata of published files, over HTTP (docs/specification/media.md#made-by-ai). */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Client,
  type MediaRig,
  onEveryPair,
  startMedia,
  testLimits,
  upload,
} from '../../../test/media/rig.fixture.ts';
import type { Asset } from '../api.ts';

const run = promisify(execFile);
const aiType = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';
const folder = mkdtempSync(join(tmpdir(), 'marks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function tagsOf(bytes: Uint8Array): Promise<Record<string, unknown>> {
  const file = join(folder, 'read');
  await writeFile(file, bytes);
  const { stdout } = await run('exiftool', ['-j', '-G1', '-n', file]);
  return (JSON.parse(stdout) as Record<string, unknown>[])[0] ?? {};
}

async function tagged(bytes: Uint8Array, name: string, ...tags: readonly string[]): Promise<Buffer> {
  const file = join(folder, name);
  await writeFile(file, bytes);
  await run('exiftool', ['-q', '-overwrite_original', ...tags, file]);
  return readFile(file);
}

const place = ['-GPSLatitude=48.2', '-GPSLatitudeRef=N', '-GPSLongitude=16.3', '-GPSLongitudeRef=E', '-Orientation#=6'];
const markName = 'XMP-iptcExt:DigitalSourceType';

onEveryPair(
  'marks and metadata',
  (pair) => {
    let rig: MediaRig;
    let photo: Buffer;
    let clip: Buffer;
    beforeAll(async () => {
      rig = await startMedia(pair, { sizes: { ...testLimits, maxImageBytes: 1_000_000 } });
      const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
      const plain = await sharp({ create: { width: 500, height: 300, channels: 3, background: '#777', noise } })
        .jpeg()
        .toBuffer();
      photo = await tagged(plain, 'photo.jpg', ...place);
      const file = join(folder, 'clip.mp4');
      await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=s=64x48:d=0.3', '-pix_fmt', 'yuv420p', file]);
      clip = await tagged(await readFile(file), 'clip2.mp4', '-Keys:GPSCoordinates=48.2, 16.3');
    });
    afterAll(() => rig.close());

    async function register(client: Client, bytes: Uint8Array, changes: object = {}): Promise<Asset> {
      const { registration } = await upload(client, bytes, changes);
      const { status, body } = await client.register({ ...registration, ...changes });
      expect([status, body]).toEqual([201, expect.anything()]);
      return body;
    }

    const fetched = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
    async function signed(client: Client, assetId: string) {
      const ref = (await client.sign([assetId])).body[assetId];
      if (!ref?.ready) throw new Error('it is not ready');
      return ref;
    }

    it('a registration by a server writes the mark into the original and everything made from it', async () => {
      const ownerId = rig.userId;
      const asset = await register(rig.server, photo, { ownerId, mime: 'image/jpeg', generated: 'ai' });
      expect(asset.generated).toBe('ai');
      const { generated, url, thumbUrl = '', previewUrl = '' } = await signed(rig.user, asset.assetId);
      expect(generated).toBe('ai');
      const original = await fetched(url);
      expect(asset).toMatchObject({
        byteSize: original.length,
        sha256: createHash('sha256').update(original).digest('hex'),
      });
      const { body: fit } = await rig.user.post<{ url: string }>('/v1/fit', {
        ref: asset.assetId,
        width: 400,
        height: 400,
        maxBytes: 9000,
      });
      const { body: mark } = await rig.user.post<{ url: string }>('/v1/watermark', { ref: asset.assetId });
      for (const address of [url, thumbUrl, previewUrl, fit.url, mark.url]) {
        const tags = await tagsOf(await fetched(address));
        expect(tags[markName]).toBe(aiType);
        expect('GPS:GPSLatitude' in tags).toBe(address === url);
      }
      expect((await fetched(fit.url)).length).toBeLessThanOrEqual(9000);
      const { body: copy } = await rig.user.post<Asset>('/v1/copy', {
        fromAssetId: asset.assetId,
        toScopeKind: 'thread',
        toScopeId: 'private',
      });
      expect(copy).toMatchObject({ generated: 'ai', sha256: asset.sha256 });
    });

    it('a video gets the mark too, and a mark of an upload is found', async () => {
      const ownerId = rig.userId;
      const video = { ownerId, mime: 'video/mp4', kind: 'video', generated: 'edited' };
      const asset = await register(rig.server, clip, video);
      const { url, generated } = await signed(rig.user, asset.assetId);
      expect(generated).toBe('edited');
      const tags = await tagsOf(await fetched(url));
      expect(tags[markName]).toContain('compositeWithTrained');
      expect(tags['Keys:GPSCoordinates']).toBeDefined();
      const marked = await register(rig.user, await fetched(url), { mime: 'video/mp4', kind: 'video' });
      expect(marked).toMatchObject({ generated: 'edited', sha256: asset.sha256 });
      const png = await tagged(
        await sharp(photo).png().toBuffer(),
        'marked.png',
        `-XMP-iptcExt:DigitalSourceType=${aiType}`,
      );
      const uploaded = await register(rig.user, png, { mime: 'image/png' });
      expect(uploaded.generated).toBe('ai');
      expect(await fetched((await signed(rig.user, uploaded.assetId)).url)).toEqual(png);
    });

    it('users cannot claim a mark, and other values are refused', async () => {
      const { registration } = await upload(rig.user, photo, { mime: 'image/jpeg' });
      const refused = await rig.user.register({ ...registration, generated: 'ai' });
      expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('generated') } });
      const wrong = await rig.server.register({ ...registration, ownerId: rig.userId, generated: 'human' });
      expect(wrong).toMatchObject({ status: 400, body: { message: expect.stringContaining('generated') } });
    });

    it('what others can read has no place, and private copies are the same bytes', async () => {
      for (const [bytes, mime, kind] of [
        [photo, 'image/jpeg', 'image'],
        [clip, 'video/mp4', 'video'],
      ] as const) {
        const source = await register(rig.user, bytes, { mime, kind });
        expect(await fetched((await signed(rig.user, source.assetId)).url)).toEqual(bytes);
        const copyTo = async (toScopeKind: string) =>
          (await rig.user.post<Asset>('/v1/copy', { fromAssetId: source.assetId, toScopeKind, toScopeId: 'there' }))
            .body;
        const [feed, thread] = [await copyTo('feed'), await copyTo('thread')];
        expect(await fetched((await signed(rig.user, thread.assetId)).url)).toEqual(bytes);
        const published = await fetched((await signed(rig.otherUser, feed.assetId)).url);
        const direct = await register(rig.user, bytes, { mime, kind, scopeKind: 'feed' });
        expect(await fetched((await signed(rig.otherUser, direct.assetId)).url)).toEqual(published);
        expect(Object.keys(await tagsOf(published)).join()).not.toContain('GPS');
        const facts = { byteSize: published.length, sha256: createHash('sha256').update(published).digest('hex') };
        expect(feed).toMatchObject(facts);
        expect(direct).toMatchObject(facts);
        if (kind === 'image') expect((await sharp(published).metadata()).orientation).toBe(6);
      }
    });
  },
  { programs: ['exiftool', 'ffmpeg'] },
);
