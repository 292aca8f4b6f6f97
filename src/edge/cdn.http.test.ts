import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, drivers, openFilesBelow, type Rig, rawGet, startEdge, until } from '../../test/edge/edge.fixture.ts';

const hash = '0123456789abcdef'.repeat(4);
const webp = `img/ab/cd/${hash}.webp`;
const cacheControl = 'public, max-age=31536000, immutable';

describe.each(drivers)('the variant CDN over $name', ({ name, missing }) => {
  describe.skipIf(missing)('', () => {
    const bytes = bytesOf(300_000);
    let rig: Rig;
    beforeAll(async () => {
      rig = await startEdge({ driver: name });
      const put = (key: string, contentType: string) =>
        rig.publicObjects.put(key, bytes, { contentType, cacheControl, size: bytes.length });
      await put(webp, 'image/webp');
      await put(`img/ab/cd/${hash}.jpg`, 'image/jpeg');
      await put(`img/ab/cd/${hash}.png`, 'image/png');
      await put('img/secret.txt', 'text/plain');
      await put('secret.webp', 'image/webp');
    });
    afterAll(() => rig.close());

    it.each([
      ['webp', 'image/webp'],
      ['jpg', 'image/jpeg'],
      ['png', 'image/png'],
    ])('sends a .%s as %s, for good', async (extension, contentType) => {
      const response = await fetch(`${rig.url}/img/ab/cd/${hash}.${extension}`);
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': contentType,
        'content-length': '300000',
        'cache-control': cacheControl,
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': '*',
        etag: expect.stringMatching(/^"[^"]+"$/),
        'last-modified': expect.stringMatching(/GMT$/),
      });
      expect(response.headers.get('content-disposition')).toBeNull();
    });

    it('answers HEAD', async () => {
      const response = await fetch(`${rig.url}/${webp}`, { method: 'HEAD' });
      expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
        200,
        '300000',
        '',
      ]);
      expect((await fetch(`${rig.url}/${webp.replace('cd', 'ce')}`, { method: 'HEAD' })).status).toBe(404);
    });

    it('answers a condition and a range', async () => {
      const url = `${rig.url}/${webp}`;
      const etag = (await fetch(url, { method: 'HEAD' })).headers.get('etag') ?? '';
      const known = await fetch(url, { headers: { 'if-none-match': etag } });
      expect([known.status, known.headers.get('cache-control'), await known.text()]).toEqual([304, cacheControl, '']);
      const part = await fetch(url, { headers: { range: 'bytes=1000-1999', 'if-range': etag } });
      expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 1000-1999/300000']);
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 2000))).toBe(true);
      const beyond = await fetch(url, { headers: { range: 'bytes=300000-' } });
      expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */300000']);
      expect(beyond.headers.get('cache-control')).toBe('no-store');
    });

    it('ignores a query', async () => {
      expect((await fetch(`${rig.url}/${webp}?v=1`)).status).toBe(200);
    });

    it('allows requests from pages of other origins', async () => {
      const response = await fetch(`${rig.url}/${webp}`, {
        method: 'OPTIONS',
        headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
      });
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    });

    it('sends complete images to fifty concurrent readers, and leaves nothing open after disconnects', async () => {
      const sizes = await Promise.all(
        Array.from({ length: 50 }, async () => (await (await fetch(`${rig.url}/${webp}`)).arrayBuffer()).byteLength),
      );
      expect(new Set(sizes)).toEqual(new Set([300_000]));
      for (let turn = 0; turn < 10; turn++) {
        const controller = new AbortController();
        await fetch(`${rig.url}/${webp}`, { signal: controller.signal });
        controller.abort();
      }
      await until(async () => (await openFilesBelow(rig.dataDir)) === 0);
      // The connections to the store are free again.
      expect((await fetch(`${rig.url}/${webp}`)).status).toBe(200);
    });

    it.each([
      `/img/ab/cd/${hash.replace('0', '1')}.webp`,
      `/img/ab/ce/${hash}.webp`,
      '/img/secret.txt',
      '/secret.webp',
      '/img',
      '/img/',
      '/img/ab',
      '/img/ab/',
      '/img/ab/cd/',
      `/img/ab/cd/${hash}`,
      `/img/ab/cd/${hash}.gif`,
      `/img/ab/cd/${hash}.webp/`,
      `/img/AB/cd/${hash}.webp`,
      `/img/ab/cd/${hash}.webp%00`,
      `/img/ab/cd/../cd/${hash}.webp`,
      `/img/ab/cd/%2e%2e/cd/${hash}.webp`,
      `/img/ab%2fcd%2f${hash}.webp`,
      '/img/../objects/secret',
      '/img/../../etc/passwd',
      '/img/..%2f..%2fsecrets.json',
      '/img/..\\..\\secrets.json',
      '/img//etc/passwd',
    ])('has nothing at %s, and does not say so for good', async (path) => {
      const answer = await rawGet(rig.port, path);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).toContain('cache-control: no-store');
      expect(answer).not.toContain('immutable');
    });

    it('accepts no uploads', async () => {
      expect((await fetch(`${rig.url}/${webp}`, { method: 'PUT', body: 'x' })).status).toBe(404);
      expect((await fetch(`${rig.url}/${webp}`, { method: 'DELETE' })).status).toBe(404);
    });
  });
});
