/** Watermarks of the operator's brand, over HTTP (docs/specification/media.md#brand). */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Brand, brandIdOf, defaultBrand } from '#image/engine/brand.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type MediaRig, onEveryPair, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import { createFfmpeg } from '../video/ffmpeg.ts';
import { probeVideo } from '../video/probing.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'brand-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const clipOf = async (name: string, ...args: readonly string[]) => {
  const file = join(folder, name);
  await run('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', ...args, '-pix_fmt', 'yuv420p', file]);
  return file;
};

onEveryPair(
  'watermarks of a brand',
  (pair) => {
    let rig: MediaRig;
    let acme: Brand;
    beforeAll(async () => {
      const path = await clipOf('closing.mp4', 'color=red:s=100x100:d=1.5:r=10');
      const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
      acme = { ...defaultBrand, name: 'Студия 1:1', opacity: 1, closing: { path, sha256 } };
      rig = await startMedia(pair, { brand: acme });
    });
    afterAll(() => rig.close());

    async function register(bytes: Uint8Array, changes: { mime: string; kind?: string }) {
      const { registration, assetId, storageKey } = await upload(rig.user, bytes, changes);
      expect((await rig.user.register({ ...registration, ...changes })).status).toBe(201);
      return { assetId, storageKey };
    }

    it('have addresses of their own, and are deleted with the image, those of all brands', async () => {
      const { assetId, storageKey } = await register(await makeImage('jpeg'), { mime: 'image/jpeg' });
      const { body } = await rig.user.post<{ url: string }>('/v1/watermark', { ref: assetId });
      const own = `${storageKey}.wm-${brandIdOf(acme)}.jpg`;
      expect(new URL(body.url).pathname.endsWith(own)).toBe(true);
      expect((await fetch(body.url)).status).toBe(200);
      // Of earlier brands.
      const others = [`${storageKey}.wm.jpg`, `${storageKey}.wm-0123456789ab.jpg`, `${storageKey}.wm-0123456789ab.mp4`];
      for (const key of others) await rig.originals.put(key, Buffer.from('x'), { contentType: 'image/jpeg', size: 1 });
      const { body: deleted } = await rig.user.delete<{ deletedNew: number }>('/v1/assets', { ids: [assetId] });
      expect(deleted).toMatchObject({ deletedNew: 1 });
      for (const key of [own, ...others]) expect(await rig.originals.head(key)).toBeUndefined();
    });

    it('are downloaded under the name of the brand, unless the request names the file', async () => {
      const { assetId } = await register(await makeImage('png'), { mime: 'image/png' });
      const nameOf = async (url: string) => (await fetch(url)).headers.get('content-disposition') ?? '';
      const { body: mark } = await rig.user.post<{ url: string }>('/v1/watermark', { ref: assetId, download: true });
      const { body: signed } = await rig.user.post<Record<string, { url: string }>>('/v1/sign/image', {
        refs: [assetId],
        download: true,
      });
      const start = encodeURIComponent(`Студия 11 ${assetId.slice(0, 8)}`);
      expect(await nameOf(mark.url)).toContain(`filename*=UTF-8''${start}.jpg`);
      expect(await nameOf(String(signed[assetId]?.url))).toContain(`filename*=UTF-8''${start}.png`);
      const { body: named } = await rig.user.post<{ url: string }>('/v1/watermark', {
        ref: assetId,
        download: 'mine.jpg',
      });
      expect(await nameOf(named.url)).toContain('filename="mine.jpg"');
    });

    it('of a video end with the closing clip of the brand', async () => {
      const file = await clipOf('film.mp4', 'color=black:s=320x180:d=1:r=10');
      const { assetId, storageKey } = await register(await readFile(file), { mime: 'video/mp4', kind: 'video' });
      const { status, body } = await rig.user.post<{ url: string }>('/v1/watermark-video', { ref: assetId });
      expect(status).toBe(200);
      expect(new URL(body.url).pathname.endsWith(`${storageKey}.wm-${brandIdOf(acme)}.mp4`)).toBe(true);
      const made = join(folder, 'made.mp4');
      await writeFile(made, Buffer.from(await (await fetch(body.url)).arrayBuffer()));
      const { durationMs } = await probeVideo(createFfmpeg('ffmpeg'), made);
      expect(durationMs).toBeGreaterThan(2400);
      expect(durationMs).toBeLessThan(2700);
      const frame = join(folder, 'frame.png');
      await run('ffmpeg', ['-v', 'error', '-y', '-ss', '2', '-i', made, '-frames:v', '1', frame]);
      const { channels } = await sharp(await readFile(frame))
        .extract({ left: 150, top: 80, width: 10, height: 10 })
        .png()
        .toBuffer()
        .then((part) => sharp(part).stats());
      expect(channels[0]?.mean).toBeGreaterThan(200);
      expect(channels[1]?.mean).toBeLessThan(60);
    });
  },
  { programs: ['ffmpeg'] },
);
