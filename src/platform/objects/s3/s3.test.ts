/** What a real S3 server makes of our addresses and headers, over plain HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestBucket, skipWithoutS3, testServer } from '../../../../test/platform/objects/s3.fixture.ts';
import type { Objects } from '../objects.ts';
import { openS3Store } from './s3.ts';

const contentType = 'image/png';

describe.skipIf(skipWithoutS3)('addresses of a real S3 server', () => {
  let bucket: string;
  let objects: Objects;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ bucket, objects, close } = await openTestBucket());
    await objects.put('a/ä 1+%2F.png', Buffer.from('0123456789'), { contentType });
  });
  afterAll(() => close());

  /** As they were signed at another time. */
  async function signedAt<T>(nowMs: number, sign: (then: Objects) => T): Promise<T> {
    const store = openS3Store({ ...testServer, clock: { now: () => nowMs } });
    const signed = sign(store.bucket(bucket));
    await store.close();
    return signed;
  }

  describe('for reading', () => {
    const key = 'a/ä 1+%2F.png';
    const address = (type?: string) => objects.readAddress(key, { expiresInS: 60, contentType: type });

    test.each([undefined, 'image/webp', 'text/plain; charset="utf-8"; x=a&b+c'])('serve the type %s', async (type) => {
      const answer = await fetch(address(type));
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type ?? contentType]);
      expect(answer.headers.get('etag')).toBe((await objects.head(key))?.etag);
      expect(await answer.text()).toBe('0123456789');
    });

    test.each([
      ['bytes=0-1', 206, 'bytes 0-1/10', '01'],
      ['bytes=8-', 206, 'bytes 8-9/10', '89'],
      ['bytes=-3', 206, 'bytes 7-9/10', '789'],
      ['bytes=4-100', 206, 'bytes 4-9/10', '456789'],
    ])('honour %s', async (range, status, contentRange, text) => {
      const answer = await fetch(address('image/webp'), { headers: { range } });
      expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange]);
      expect(answer.headers.get('content-type')).toBe('image/webp');
      expect(await answer.text()).toBe(text);
    });

    test('answer 416 and 304', async () => {
      expect((await fetch(address(), { headers: { range: 'bytes=10-' } })).status).toBe(416);
      const etag = (await objects.head(key))?.etag ?? '';
      expect((await fetch(address(), { headers: { 'if-none-match': etag } })).status).toBe(304);
    });

    test.each<[string, (url: URL) => void, string?]>([
      ['another key', (url) => Object.assign(url, { pathname: url.pathname.replace('1', '2') })],
      ['another type', (url) => url.searchParams.set('response-content-type', 'text/html')],
      ['a further parameter', (url) => url.searchParams.set('response-cache-control', 'public')],
      ['a longer life', (url) => url.searchParams.set('X-Amz-Expires', '600')],
      ['another signature', (url) => url.searchParams.set('X-Amz-Signature', '0'.repeat(64))],
      ['no signature', (url) => url.searchParams.delete('X-Amz-Signature')],
      ['another method', () => undefined, 'PUT'],
      ['HEAD, which S3 takes for another method', () => undefined, 'HEAD'],
    ])('refuse %s', async (_, change, method = 'GET') => {
      const url = new URL(address('image/webp'));
      change(url);
      expect((await fetch(url, { method })).status).toBe(403);
    });

    test('expire', async () => {
      const old = await signedAt(Date.now() - 61_000, (then) => then.readAddress(key, { expiresInS: 60 }));
      expect((await fetch(old)).status).toBe(403);
      const good = await signedAt(Date.now() - 61_000, (then) => then.readAddress(key, { expiresInS: 120 }));
      expect((await fetch(good)).status).toBe(200);
    });

    test('return 404 for a missing object', async () => {
      expect((await fetch(objects.readAddress('none', { expiresInS: 60 }))).status).toBe(404);
    });
  });

  describe('for writing', () => {
    const body = 'hello';
    const put = (url: string, headers: Record<string, string>, sent = body) =>
      fetch(url, { method: 'PUT', headers, body: sent });

    test('accept one write of the signed type', async () => {
      const { url, headers } = objects.writeAddress('w/ö 1', { expiresInS: 60, contentType, maxSize: 9 });
      expect((await put(url, headers)).status).toBe(200);
      const answer = await fetch(objects.readAddress('w/ö 1', { expiresInS: 60 }));
      expect(answer.headers.get('cache-control')).toBe('private, max-age=60');
      expect([answer.headers.get('content-type'), await answer.text()]).toEqual([contentType, body]);
      expect((await put(url, headers, 'other')).status).toBe(412);
      expect((await objects.head('w/ö 1'))?.size).toBe(5);
    });

    test('accept only the signed length', async () => {
      const { url, headers } = objects.writeAddress('w/2', { expiresInS: 60, contentType, size: 5, maxSize: 9 });
      for (const sent of ['', 'hell', 'hello!']) expect((await put(url, headers, sent)).status).toBe(403);
      expect(await objects.head('w/2')).toBeUndefined();
      expect((await put(url, headers)).status).toBe(200);
    });

    test.each<[string, (headers: Record<string, string>) => Record<string, string>]>([
      ['another type', (headers) => ({ ...headers, 'Content-Type': 'text/html' })],
      ['no type', ({ 'Content-Type': _, ...others }) => others],
      ['no create-only', ({ 'If-None-Match': _, ...others }) => others],
      ['another condition', (headers) => ({ ...headers, 'If-None-Match': '"x"' })],
    ])('refuse %s', async (_, change) => {
      const { url, headers } = objects.writeAddress('w/3', { expiresInS: 60, contentType, maxSize: 9 });
      expect((await put(url, change({ ...headers }))).status).toBe(403);
      expect(await objects.head('w/3')).toBeUndefined();
    });

    test('refuse another key and reading, and expire', async () => {
      const { url, headers } = objects.writeAddress('w/4', { expiresInS: 60, contentType, maxSize: 9 });
      expect((await put(url.replace('w/4', 'w/5'), headers)).status).toBe(403);
      expect((await fetch(url)).status).toBe(403);
      const old = await signedAt(Date.now() - 61_000, (then) =>
        then.writeAddress('w/4', { expiresInS: 60, contentType, maxSize: 9 }),
      );
      expect((await put(old.url, old.headers)).status).toBe(403);
      expect(await objects.head('w/4')).toBeUndefined();
    });
  });

  test('stored and copied objects have their type and cache rule', async () => {
    const cacheControl = 'public, max-age=31536000, immutable';
    // Unsigned, because signed addresses set a cache rule of their own.
    const open = await openTestBucket({ isPublic: true });
    await open.objects.put('t/1', Buffer.from('x'), { contentType: 'image/webp', cacheControl });
    await open.objects.copy('t/1', 't/2', { contentType: 'image/jpeg' });
    const typeOf = async (key: string) => {
      const { headers } = await fetch(`${testServer.endpoint}/${open.bucket}/${key}`);
      return [headers.get('content-type'), headers.get('cache-control')];
    };
    expect(await typeOf('t/1')).toEqual(['image/webp', cacheControl]);
    expect(await typeOf('t/2')).toEqual(['image/jpeg', null]);
    await open.close();
  });
});
