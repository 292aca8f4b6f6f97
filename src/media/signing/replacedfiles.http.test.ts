/** Legacy files that are replaced in place, and legacy files whose name does not show their type. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReadOptions } from '#platform/objects/objects.ts';
import { clip } from '../../../test/media/clips.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { inBucket, lay } from '../../../test/media/laying.fixture.ts';
import { openFiles } from '../../../test/media/registering.fixture.ts';
import { type MediaRig, onEveryStore, startMedia } from '../../../test/media/rig.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import type { Asset, FittedImage, ImageSignedRefs, VideoSignedRefs, WatermarkedImage } from '../api.ts';
import { mimeOfFile } from '../reading/legacymime.ts';

/** The machine may have other work. */
const patience = { timeout: 60_000 };

type Color = 'red' | 'blue';
const plain = (background: Color, format: 'png' | 'jpeg' = 'png') =>
  sharp({ create: { width: 600, height: 450, channels: 3, background } })
    .toFormat(format)
    .toBuffer();

/** `undefined`: there is no image at the address. */
async function colorAt(url: string | undefined): Promise<Color | undefined> {
  const answer = await fetch(String(url));
  if (answer.status !== 200) return void (await answer.arrayBuffer());
  const { channels } = await sharp(Buffer.from(await answer.arrayBuffer())).stats();
  return (channels[0]?.mean ?? 0) > (channels[2]?.mean ?? 0) ? 'red' : 'blue';
}

onEveryStore('legacy files that are replaced', (pair) => {
  let rig: MediaRig;
  let folder: string;
  beforeAll(async () => {
    rig = await startMedia(pair);
    folder = await mkdtemp(join(tmpdir(), 'atelier-replacing-'));
  });
  afterAll(async () => {
    await rig.close();
    await rm(folder, { recursive: true, force: true });
  });

  const asUser = () => inBucket(rig, rig.user);
  const image = async (ref: string) => {
    const { body } = await asUser().post<ImageSignedRefs>('/v1/sign/image', { refs: [ref] });
    const answer = body[ref];
    if (!answer?.ready) throw new Error(`${ref} does not resolve`);
    return answer;
  };
  const video = async (ref: string) => {
    const { body } = await asUser().post<VideoSignedRefs>('/v1/sign/video', { refs: [ref] });
    const answer = body[ref];
    if (!answer?.ready) throw new Error(`${ref} does not resolve`);
    return answer;
  };
  const fitted = async (ref: string) => (await asUser().post<FittedImage>('/v1/fit', { ref, width: 100 })).body.url;
  const watermarked = async (ref: string, path = '/v1/watermark') =>
    (await asUser().post<WatermarkedImage>(path, { ref })).body.url;
  const variants = async () => {
    const keys: string[] = [];
    for await (const { key } of rig.publicObjects.list('img/')) keys.push(key);
    return keys;
  };
  const isNextSecond = async (work: () => Promise<unknown>) => {
    const before = Math.floor(Date.now() / 1000);
    await work();
    await expect.poll(() => Math.floor(Date.now() / 1000), patience).toBeGreaterThan(before);
  };

  it('show their new bytes: originals, variants, fitted and watermarked images', async () => {
    const ref = `avatars/${rig.userId}/${randomUUID()}.png`;
    await lay(rig, [ref], await plain('red'));
    const before = await image(ref);
    const old = [before.thumbUrl, before.previewUrl, await fitted(ref), await watermarked(ref)];
    for (const url of [before.url, ...old]) expect(await colorAt(url)).toBe('red');
    const standing = await variants();

    await lay(rig, [ref], await plain('blue'));
    const after = await image(ref);
    const now = [after.thumbUrl, after.previewUrl, await fitted(ref), await watermarked(ref)];
    for (const url of [after.url, ...now]) expect(await colorAt(url)).toBe('blue');
    // The old bytes are neither shown nor stored any more.
    for (const url of old.slice(0, 3)) expect(await colorAt(url)).toBeUndefined();
    await expect.poll(async () => (await variants()).filter((key) => standing.includes(key)), patience).toEqual([]);
    expect(await variants()).toHaveLength(3);
  });

  it('have no variants left when they are removed', async () => {
    const ref = `${rig.userId}/${randomUUID()}.png`;
    const standing = await variants();
    for (const color of ['red', 'blue', 'red'] as const) {
      await lay(rig, [ref], await plain(color));
      expect(await colorAt((await image(ref)).thumbUrl)).toBe(color);
    }
    expect((await asUser().delete<object>('/v1/assets', { ids: [ref] })).body).toMatchObject({ deletedLegacy: 1 });
    expect(await variants()).toEqual(standing);
  });

  it('preserve their URLs while they are unchanged', async () => {
    const folderOf = `${rig.userId}/${randomUUID()}`;
    const [ref, clipRef] = [`${folderOf}/a.png`, `${folderOf}/video_1.mp4`];
    await lay(rig, [ref], await plain('red'));
    await lay(rig, [clipRef]);
    const all = async () => ({
      image: await image(ref),
      video: await video(clipRef),
      watermark: await watermarked(ref),
      fit: await fitted(ref),
    });
    let kept: unknown;
    // Addresses are made to the second; a cache in Redis takes a moment to begin.
    await expect
      .poll(async () => {
        let sooner: unknown;
        await isNextSecond(async () => {
          sooner = await all();
        });
        kept = await all();
        return JSON.stringify(kept) === JSON.stringify(sooner);
      }, patience)
      .toBe(true);
    await lay(rig, [ref], await plain('blue'));
    await lay(rig, [`${folderOf}/vc_1.jpg`], await plain('blue', 'jpeg'));
    const changed = await all();
    expect(await colorAt(changed.image.thumbUrl)).toBe('blue');
    expect(await colorAt(changed.watermark)).toBe('blue');
    expect(await colorAt(changed.video.thumbUrl)).toBe('blue');
    expect(JSON.stringify(changed.image)).not.toBe(JSON.stringify((kept as typeof changed).image));
    await rig.legacyFiles.remove([ref]);
    const { body } = await asUser().post<ImageSignedRefs>('/v1/sign/image', { refs: [ref] });
    expect(body[ref]).toEqual({ ready: false, error: 'not_found' });
  });

  it('never show another version when they are replaced over and over', async () => {
    const ref = `${rig.userId}/${randomUUID()}.png`;
    const colors = { red: await plain('red'), blue: await plain('blue') };
    for (let round = 0; round < 6; round++) {
      const color = round % 2 === 0 ? 'red' : 'blue';
      await lay(rig, [ref], colors[color]);
      const shown = await Promise.all([
        ...Array.from({ length: 3 }, async () => colorAt((await image(ref)).thumbUrl)),
        ...Array.from({ length: 3 }, async () => colorAt(await watermarked(ref))),
      ]);
      expect([round, shown]).toEqual([round, shown.map(() => color)]);
    }
  });

  it('that are registered are not found until they are registered again', async () => {
    const ref = `${rig.userId}/${randomUUID()}.png`;
    await lay(rig, [ref], await plain('red'));
    const imported = { ownerId: rig.userId, scopeKind: 'thread', scopeId: '1', path: ref };
    const { assetId } = (await inBucket(rig, rig.server).post<Asset>('/v1/assets/legacy', imported)).body;
    expect(await colorAt(await watermarked(assetId))).toBe('red');
    await lay(rig, [ref], await plain('blue'));
    expect(await colorAt(await watermarked(ref))).toBe('blue');
    // The new bytes were not screened for the asset.
    expect((await asUser().post('/v1/watermark', { ref: assetId })).status).toBe(404);
    expect(await colorAt((await image(assetId)).thumbUrl)).toBeUndefined();
  });

  describe.skipIf(skipWithout('ffmpeg'))('films', () => {
    it('are watermarked again', async () => {
      const film = async (name: string, color: Color) =>
        readFile(
          await render({ ...clip, name, inputs: [`color=${color}:s=160x90:d=1:r=10`, 'sine=duration=1'] }, folder),
        );
      const ref = `${rig.userId}/${randomUUID()}.mp4`;
      const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
      await lay(rig, [ref], await film('red', 'red'));
      const first = await bytesAt(await watermarked(ref, '/v1/watermark-video'));
      const made = await rig.legacyFiles.head(`${ref}.wm.mp4`);
      await watermarked(ref, '/v1/watermark-video');
      expect(await rig.legacyFiles.head(`${ref}.wm.mp4`)).toEqual(made);
      await lay(rig, [ref], await film('blue', 'blue'));
      const second = await bytesAt(await watermarked(ref, '/v1/watermark-video'));
      expect(second.equals(first)).toBe(false);
      expect((await rig.legacyFiles.head(`${ref}.wm.mp4`))?.etag).not.toBe(made?.etag);
    });
  });

  describe('are what', () => {
    const put = (path: string, bytes: Uint8Array, contentType: string) =>
      rig.legacyFiles.put(path, bytes, { contentType, size: bytes.length });

    it.each(['application/octet-stream', 'binary/octet-stream'])('their first bytes say, under %s', async (type) => {
      const ref = `${rig.userId}/${randomUUID()}/without-extension`;
      await put(ref, await plain('red'), type);
      const answer = await image(ref);
      expect(answer).toMatchObject({ mime: 'image/png', thumbUrl: expect.any(String), previewUrl: expect.any(String) });
      expect((await fetch(answer.url)).headers.get('content-type')).toBe('image/png');
      expect(await colorAt(await fitted(ref))).toBe('red');
      expect(await colorAt(await watermarked(ref))).toBe('red');
      const to = { fromAssetId: ref, toScopeKind: 'thread', toScopeId: '1' };
      const copied = await asUser().post<Asset>('/v1/copy', to);
      expect(copied).toMatchObject({
        status: 201,
        body: { kind: 'image', mime: 'image/png', width: 600, height: 450 },
      });
      const imported = { ownerId: rig.userId, scopeKind: 'thread', scopeId: '1', path: ref };
      const row = await inBucket(rig, rig.server).post<Asset>('/v1/assets/legacy', imported);
      expect(row).toMatchObject({ status: 201, body: { kind: 'image', mime: 'image/png', width: 600 } });
      expect((await inBucket(rig, rig.server).post<Asset>('/v1/assets/legacy', imported)).status).toBe(200);
    });

    it('match their first bytes, regardless of their name', async () => {
      const ref = `${rig.userId}/${randomUUID()}.mp4`;
      await put(ref, await makeImage('webp'), 'application/octet-stream');
      expect(await image(ref)).toMatchObject({ mime: 'image/webp', thumbUrl: expect.any(String) });
    });

    it('match their names if the bytes are ambiguous', async () => {
      const folderOf = `${rig.userId}/${randomUUID()}`;
      const zip = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), Buffer.alloc(60)]);
      await put(`${folderOf}/a.docx`, zip, 'application/octet-stream');
      await put(`${folderOf}/a.csv`, Buffer.from('a,b'), 'application/octet-stream');
      await put(`${folderOf}/empty.png`, Buffer.alloc(0), 'application/octet-stream');
      expect((await image(`${folderOf}/a.docx`)).mime).toMatch(/wordprocessingml/);
      expect((await image(`${folderOf}/a.csv`)).mime).toBe('text/csv');
      expect((await image(`${folderOf}/empty.png`)).mime).toBe('image/png');
    });
  });
});

describe('the type of a legacy file', () => {
  const head = (contentType?: string) => ({
    size: 5,
    etag: `"${randomUUID()}"`,
    modifiedAt: new Date(),
    ...(contentType && { contentType }),
  });
  const unreadable = {
    bucket: 'old',
    get: async () => {
      throw new Error('nothing had to be read');
    },
  };

  it.each([
    ['image/png', 'image/png'],
    ['Image/PNG; charset=binary', 'image/png'],
    ['text/html; charset=utf-8', 'text/html'],
  ])('is what its store says, unread: %s', async (said, mime) => {
    expect(await mimeOfFile(unreadable, 'a/b.jpg', head(said))).toBe(mime);
  });

  it('is read once for each version of the file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'atelier-mime-'));
    const files = openFiles(folder);
    const reads: string[] = [];
    const watched = {
      bucket: files.bucket,
      get: (key: string, options?: ReadOptions) => {
        reads.push(String(options?.ifMatch));
        return files.get(key, options);
      },
    };
    const path = `${randomUUID()}/file`;
    const [one, two] = [
      await files.put(path, await plain('red'), options),
      await files.put(path, await makeImage('webp'), options),
    ];
    for (let round = 0; round < 3; round++) expect(await mimeOfFile(watched, path, two)).toBe('image/webp');
    // It is another one by now.
    expect(await mimeOfFile(watched, path, one)).toBeUndefined();
    expect(reads).toEqual([two.etag, one.etag]);
    await rm(folder, { recursive: true, force: true });
  });
});

const options = { contentType: 'application/octet-stream' };
