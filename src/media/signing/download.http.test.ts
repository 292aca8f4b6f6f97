/** `download` of signing and of watermarks (docs/specification/media.md#downloads). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { lay } from '../../../test/media/laying.fixture.ts';
import { type MediaRig, onEveryStore, type Refusal, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import type { ImageSignedRefs, VideoSignedRefs, WatermarkedImage } from '../api.ts';

onEveryStore('download', (pair) => {
  let rig: MediaRig;
  let assetId: string;
  beforeAll(async () => {
    rig = await startMedia(pair);
    const { registration } = await upload(rig.user, await makeImage('png'));
    assetId = (await rig.user.register(registration)).body.assetId;
  });
  afterAll(() => rig.close());

  const dispositionOf = async (url: string | undefined) => {
    const response = await fetch(String(url));
    await response.arrayBuffer();
    return [response.status, response.headers.get('content-disposition')];
  };
  const sign = async (download: unknown, refs = [assetId], more: object = {}) => {
    const { status, body } = await rig.user.post<ImageSignedRefs & Refusal>('/v1/sign/image', {
      refs,
      download,
      ...more,
    });
    expect([status, body.issues]).toEqual([200, undefined]);
    const signed = body[refs[0] ?? ''];
    return signed?.ready ? signed : undefined;
  };
  const named = (ascii: string, escaped: string) => `attachment; filename="${ascii}"; filename*=UTF-8''${escaped}`;

  it.each([
    ['holiday.png', named('holiday.png', 'holiday.png')],
    ['Größe "1".png', named('Gr__e _1_.png', 'Gr%C3%B6%C3%9Fe%20%221%22.png')],
    ['🎨; x=1, %41.png', named('_; x=1, _41.png', '%F0%9F%8E%A8%3B%20x%3D1%2C%20%2541.png')],
  ])('%j is the name of the attachment', async (download, header) => {
    const signed = await sign(download);
    expect(await dispositionOf(signed?.url)).toEqual([200, header]);
  });

  it('true names the file after the brand and the asset', async () => {
    const name = `Atelier ${assetId.slice(0, 8)}.png`;
    expect(await dispositionOf((await sign(true))?.url)).toEqual([200, named(name, encodeURIComponent(name))]);
  });

  it.each([undefined, null, false])('%j signs URLs that browsers show', async (download) => {
    expect(await dispositionOf((await sign(download))?.url)).toEqual([200, null]);
  });

  it('is separate from the cached URL, in both directions', async () => {
    const shown = (await sign(undefined))?.url;
    expect((await sign('a.png'))?.url).not.toBe(shown);
    expect((await sign(undefined))?.url).toBe(shown);
  });

  it('does not change variants', async () => {
    const signed = await sign('a.png');
    expect(await dispositionOf(signed?.thumbUrl)).toEqual([200, null]);
  });

  it('names legacy files, videos and watermarked images', async () => {
    const path = `${rig.userId}/me.png`;
    await lay(rig, [path], await makeImage('png'));
    const header = named('a.png', 'a.png');
    expect(await dispositionOf((await sign('a.png', [path], { legacyBucket: rig.legacyBucket }))?.url)).toEqual([
      200,
      header,
    ]);
    const request = { refs: [assetId], download: 'a.png' };
    const video = (await rig.user.post<VideoSignedRefs>('/v1/sign/video', request)).body[assetId];
    expect(await dispositionOf(video?.ready ? video.url : '')).toEqual([200, header]);
    const { body } = await rig.user.post<WatermarkedImage>('/v1/watermark', { ref: assetId, download: 'a.png' });
    expect(await dispositionOf(body.url)).toEqual([200, header]);
    const plain = await rig.user.post<WatermarkedImage>('/v1/watermark', { ref: assetId });
    expect(await dispositionOf(plain.body.url)).toEqual([200, null]);
  });

  it('does not widen who can read an asset', async () => {
    const { body } = await rig.otherUser.post<ImageSignedRefs>('/v1/sign/image', { refs: [assetId], download: true });
    expect(body[assetId]).toEqual({ ready: false, error: 'not_found' });
    const { status } = await rig.otherUser.post('/v1/watermark', { ref: assetId, download: true });
    expect(status).toBe(404);
  });

  it('cannot be changed in the URL', async () => {
    const url = new URL((await sign('a.png'))?.url ?? '');
    const name = url.searchParams.has('download') ? 'download' : 'response-content-disposition';
    url.searchParams.set(name, 'b.png');
    expect((await dispositionOf(url.href))[0]).toBe(403);
  });

  it.each([
    ['an empty name', ''],
    ['256 characters', 'a'.repeat(256)],
    ['a slash', '../a.png'],
    ['a backslash', 'a\\b.png'],
    ['a line break', 'a\r\nSet-Cookie: b'],
    ['a lone surrogate', '\ud800'],
    ['a number', 1],
  ])('refuses %s', async (_what, download) => {
    const { status, body } = await rig.user.post<Refusal>('/v1/sign/image', { refs: [assetId], download });
    expect([status, body.issues?.[0]?.path]).toEqual([400, 'body.download']);
    expect((await rig.user.post('/v1/watermark', { ref: assetId, download })).status).toBe(400);
  });
});
