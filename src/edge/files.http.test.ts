import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveAddressKey, signAddress } from '#platform/objects/addresses.ts';
import type { Objects } from '#platform/objects/objects.ts';
import {
  bytesOf,
  exchange,
  openFilesBelow,
  type Rig,
  rawGet,
  resizingKeys,
  startEdge,
  until,
} from '../../test/edge/edge.fixture.ts';

const secret = deriveAddressKey(resizingKeys.key, resizingKeys.salt);
const photo = bytesOf(1000);
const film = bytesOf(8 * 1024 * 1024);

let rig: Rig;
beforeAll(async () => {
  rig = await startEdge();
  await rig.originals.put('u/1/photo.png', photo, { contentType: 'image/png' });
  await rig.originals.put('u/1/film.mp4', film, { contentType: 'video/mp4' });
  await rig.originals.put('u/1/empty.bin', Buffer.alloc(0), { contentType: 'application/octet-stream' });
  await rig.originals.put('u/1/50% ü+?#&.png', photo, { contentType: 'image/png' });
});
afterAll(() => rig.close());

const address = (key = 'u/1/photo.png', contentType: string | undefined = 'image/png', expiresInS = 600) =>
  rig.originals.readAddress(key, { expiresInS, contentType });

describe('a signed file', () => {
  it('is sent completely, with its headers', async () => {
    const response = await fetch(address());
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(photo);
    const head = await rig.originals.head('u/1/photo.png');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '1000',
      'accept-ranges': 'bytes',
      etag: head?.etag,
      'last-modified': head?.modifiedAt.toUTCString(),
      'cache-control': expect.stringMatching(/^private, max-age=(600|599)$/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'access-control-allow-origin': '*',
    });
    expect(head?.etag).toMatch(/^"[^"]+"$/);
    expect(response.headers.get('content-disposition')).toBeNull();
  });

  it('answers HEAD with the same headers and no body', async () => {
    const [got, head] = await Promise.all([fetch(address()), fetch(address(), { method: 'HEAD' })]);
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    for (const name of ['content-type', 'content-length', 'etag', 'accept-ranges', 'last-modified'])
      expect(head.headers.get(name)).toBe(got.headers.get(name));
  });

  it('without bytes returns an empty body', async () => {
    const response = await fetch(address('u/1/empty.bin'));
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '0', '']);
  });

  it('is found under any key that a store accepts', async () => {
    const response = await fetch(address('u/1/50% ü+?#&.png'));
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 1000]);
  });

  it('that does not exist returns an uncacheable 404 without object headers', async () => {
    const response = await fetch(address('u/1/absent.png'));
    expect([response.status, response.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toMatchObject({ error: 'not_found', requestId: expect.any(String) });
    expect((await fetch(address('u/1/absent.png'), { method: 'HEAD' })).status).toBe(404);
  });

  it('in an unknown bucket returns 404', async () => {
    const url = signAddress(rig.url, secret, { method: 'GET', bucket: 'else', key: 'a', expires: 9_999_999_999 });
    expect((await fetch(url)).status).toBe(404);
  });

  it('can be cached as long as the URL is valid', async () => {
    rig.clock.nowMs += 500_000;
    const url = address();
    rig.clock.nowMs += 100_000;
    expect((await fetch(url)).headers.get('cache-control')).toBe('private, max-age=500');
    rig.clock.nowMs -= 600_000;
  });
});

describe('the registered content type', () => {
  it.each<[string | undefined, string, boolean]>([
    ['image/png', 'image/png', true],
    ['image/heic', 'image/heic', true],
    ['video/mp4', 'video/mp4', true],
    ['video/webm', 'video/webm', true],
    ['video/mp4; codecs="avc1"', 'video/mp4; codecs="avc1"', true],
    ['audio/mpeg', 'audio/mpeg', true],
    ['text/plain', 'text/plain', true],
    ['image/svg+xml', 'image/svg+xml', false],
    ['IMAGE/SVG+XML; charset=utf-8', 'IMAGE/SVG+XML; charset=utf-8', false],
    ['image/svg', 'image/svg', false],
    ['text/html', 'text/html', false],
    ['application/xhtml+xml', 'application/xhtml+xml', false],
    ['text/xml', 'text/xml', false],
    ['application/pdf', 'application/pdf', false],
    ['application/octet-stream', 'application/octet-stream', false],
    ['x', 'application/octet-stream', false],
    ['image/png\r\nset-cookie: a=b', 'application/octet-stream', false],
    ['image/ü', 'application/octet-stream', false],
    [undefined, 'application/octet-stream', false],
  ])('%j is sent as %s, shown: %s', async (registered, sent, shown) => {
    const url = rig.originals.readAddress('u/1/photo.png', { expiresInS: 60, contentType: registered });
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(sent);
    expect(response.headers.get('content-disposition')).toBe(shown ? null : 'attachment');
  });
});

describe('the policy of a page that a browser makes around a file', () => {
  const policyOf = async (contentType: string) =>
    (await fetch(address(undefined, contentType))).headers.get('content-security-policy');

  it('allows nothing', async () => {
    for (const contentType of ['image/png', 'text/html', 'image/svg+xml', 'application/pdf'])
      expect(await policyOf(contentType)).toBe("sandbox; default-src 'none'");
  });

  it('allows a film or a sound to fetch itself', async () => {
    for (const contentType of ['video/mp4', 'audio/mpeg'])
      expect(await policyOf(contentType)).toBe("sandbox; default-src 'none'; media-src 'self'");
  });
});

describe('a range', () => {
  it.each([
    ['bytes=0-1', '0-1'],
    ['bytes=10-19', '10-19'],
    ['bytes=990-', '990-999'],
    ['bytes=-10', '990-999'],
    ['bytes=0-5000', '0-999'],
    ['bytes=-5000', '0-999'],
  ])('%s is 206', async (range, sent) => {
    const response = await fetch(address(), { headers: { range } });
    const [start = 0, end = 0] = sent.split('-').map(Number);
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${sent}/1000`);
    expect(response.headers.get('content-length')).toBe(String(end - start + 1));
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(photo.subarray(start, end + 1));
  });

  it.each(['bytes=1000-', 'bytes=5000-6000', 'bytes=-0'])('%s is 416', async (range) => {
    const response = await fetch(address(), { headers: { range } });
    expect([response.status, response.headers.get('content-range')]).toEqual([416, 'bytes */1000']);
    expect(await response.json()).toMatchObject({ error: 'range_not_satisfiable' });
    expect(response.headers.get('etag')).toBeNull();
  });

  it.each(['bytes=0-1,5-6', 'bytes=5-1', 'rows=1-2', 'nonsense'])('%s is the whole', async (range) => {
    const response = await fetch(address(), { headers: { range } });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 1000]);
    expect(response.headers.get('content-range')).toBeNull();
  });

  it('is ignored for HEAD', async () => {
    const response = await fetch(address(), { method: 'HEAD', headers: { range: 'bytes=0-1' } });
    expect([response.status, response.headers.get('content-length')]).toEqual([200, '1000']);
  });

  it('counts only while If-Range names the object', async () => {
    const etag = (await rig.originals.head('u/1/photo.png'))?.etag ?? '';
    const status = async (ifRange: string) =>
      (await fetch(address(), { headers: { range: 'bytes=0-1', 'if-range': ifRange } })).status;
    expect(await status(etag)).toBe(206);
    expect(await status('"another"')).toBe(200);
    expect(await status(`W/${etag}`)).toBe(200);
  });

  it('serves fifty concurrent readers', async () => {
    const url = address('u/1/film.mp4', 'video/mp4');
    const starts = Array.from({ length: 50 }, (_, index) => index * 160_000);
    const parts = await Promise.all(
      starts.map(async (start) => {
        const response = await fetch(url, { headers: { range: `bytes=${start}-${start + 99_999}` } });
        return [response.status, Buffer.from(await response.arrayBuffer())] as const;
      }),
    );
    parts.forEach(([status, bytes], index) => {
      const start = starts[index] ?? 0;
      expect(status).toBe(206);
      expect(bytes.equals(film.subarray(start, start + 100_000))).toBe(true);
    });
    await until(async () => (await openFilesBelow(rig.dataDir)) === 0);
  });
});

describe('a condition', () => {
  it("that matches the client's copy returns 304 without a body", async () => {
    const etag = (await rig.originals.head('u/1/photo.png'))?.etag ?? '';
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(address(), { method, headers: { 'if-none-match': `"x", W/${etag}` } });
      expect([response.status, await response.text()]).toEqual([304, '']);
      expect(response.headers.get('etag')).toBe(etag);
      expect(response.headers.get('cache-control')).toMatch(/^private/);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  it('takes precedence over a range', async () => {
    const etag = (await rig.originals.head('u/1/photo.png'))?.etag ?? '';
    const response = await fetch(address(), { headers: { 'if-none-match': etag, range: 'bytes=5000-' } });
    expect(response.status).toBe(304);
  });

  it('that does not match returns 412', async () => {
    const response = await fetch(address(), { headers: { 'if-match': '"another"' } });
    expect(response.status).toBe(412);
    expect(await response.json()).toMatchObject({ error: 'condition_failed' });
  });
});

describe('an address that is not valid', () => {
  const tampered = (change: (url: string) => string) => async () => {
    const response = await fetch(change(address()));
    expect([response.status, response.headers.get('cache-control')]).toEqual([403, 'no-store']);
    expect(await response.json()).toMatchObject({ error: 'invalid_address', requestId: expect.any(String) });
  };
  /** Every other base64url character in the last position. Some differ only in bits that decoding drops. */
  const lastCharacters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];

  it.each<[string, (url: string) => string]>([
    ['another key', (url) => url.replace('photo', 'film')],
    ['another bucket', (url) => url.replace('/objects/', '/public/')],
    ['a later end', (url) => url.replace(/expires=\d+/, 'expires=9999999999')],
    ['another type', (url) => url.replace('image%2Fpng', 'text%2Fhtml')],
    ['no type', (url) => url.replace('type=image%2Fpng&', '')],
    ['no end', (url) => url.replace(/expires=\d+&/, '')],
    ['an end that is no number', (url) => url.replace(/expires=\d+/, 'expires=soon')],
    ['no signature', (url) => url.replace(/&signature=.*/, '')],
    ['an empty signature', (url) => url.replace(/signature=.*/, 'signature=')],
    ['a shorter signature', (url) => url.slice(0, -1)],
    ['a longer signature', (url) => `${url}A`],
    ['a padded signature', (url) => `${url}=`],
    ['no query', (url) => url.replace(/\?.*/, '')],
    ['one parameter more', (url) => `${url}&a=b`],
    ['one parameter twice', (url) => `${url}&type=text%2Fhtml`],
    ['no key', (url) => url.replace(/\/o\/objects\/[^?]*/, '/o/objects/')],
    ['no bucket', (url) => url.replace(/\/o\/objects\/[^?]*/, '/o/')],
  ])('%s is 403', (_name, change) => tampered(change)());

  it('any other last character is 403', async () => {
    const url = address();
    const statuses = await Promise.all(
      lastCharacters
        .filter((character) => !url.endsWith(character))
        .map(async (character) => (await fetch(`${url.slice(0, -1)}${character}`)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([403]));
  });

  it('returns the same 404 as a missing object', async () => {
    const absent = address('u/1/absent.png').replace(/signature=.*/, 'signature=A');
    expect((await fetch(absent)).status).toBe(403);
  });

  it('is 403 from its end on', async () => {
    const url = address(undefined, undefined, 10);
    rig.clock.nowMs += 8000;
    expect((await fetch(url)).status).toBe(200);
    rig.clock.nowMs += 2000;
    expect((await fetch(url)).status).toBe(403);
    rig.clock.nowMs -= 10_000;
  });

  it('allows no other method', async () => {
    expect((await fetch(address(), { method: 'PUT', body: 'x' })).status).toBe(403);
    expect((await fetch(address(), { method: 'DELETE' })).status).toBe(404);
    expect((await fetch(address(), { method: 'POST', body: 'x', headers: { 'content-type': 'a/b' } })).status).toBe(
      404,
    );
    const write = rig.originals.writeAddress('u/1/photo.png', { expiresInS: 60, contentType: 'image/png', maxSize: 9 });
    expect((await fetch(write.url)).status).toBe(403);
  });
});

describe('a path that points elsewhere', () => {
  const query = () => new URL(address()).search;

  it.each([
    '/o/objects/../../secrets.json',
    '/o/objects/u/../../../secrets.json',
    '/o/../o/objects/u/1/photo.png',
    '/o/objects/%2e%2e/%2e%2e/secrets.json',
    '/o/objects/%2E%2E%2F%2E%2E%2Fsecrets.json',
    '/o/objects/..%2f..%2fsecrets.json',
    '/o/objects/%252e%252e%252fsecrets.json',
    '/o/objects/..%5c..%5csecrets.json',
    '/o/objects/..\\..\\secrets.json',
    '/o/objects//etc/passwd',
    '/o/objects/%2fetc%2fpasswd',
    '/o//etc/passwd',
    '/o/objects/u/1/photo.png%00.html',
    '/o/objects/u/1/%0d%0aset-cookie:a',
    '/o/%2e%2e/secrets.json',
    '/o/objects/u/1/./photo.png',
    '/o/objects/u//1/photo.png',
    '/o/objects/u/1/photo.png/',
    '/o/objects',
    '/o',
    '//o/objects/u/1/photo.png',
    '/O/objects/u/1/photo.png',
    'http://edge/o/objects/../secrets.json',
  ])('%s is refused', async (path) => {
    expect(await rawGet(rig.port, path + query())).toMatch(/^HTTP\/1\.1 40[34] /);
  });

  it.each(['/o/objects/%zz', '/o/objects/%', '/o/objects/%c0%ae%c0%ae/a', '/o/objects/%ff'])(
    '%s is refused as malformed',
    async (path) => {
      const answer = await rawGet(rig.port, path + query());
      expect(answer).toMatch(/^HTTP\/1\.1 40[034] /);
      expect(answer).toContain('"requestId"');
    },
  );

  it.each(['../secrets.json', '/etc/passwd', 'a/../../b', 'a\\b', 'a\0b', 'a//b', '.', 'a/..'])(
    '%j is refused even when it was signed',
    async (key) => {
      const signed = signAddress('', secret, { method: 'GET', bucket: 'objects', key, expires: 9_999_999_999 });
      expect(await rawGet(rig.port, signed)).toMatch(/^HTTP\/1\.1 403 /);
    },
  );

  it('reaches the same object and no other when its slashes are encoded', async () => {
    const { pathname, search } = new URL(address());
    expect(await rawGet(rig.port, pathname.replace('/1/', '%2F1%2F') + search)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await rawGet(rig.port, `http://elsewhere${pathname}${search}`)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a reader that disconnects', () => {
  it('leaves no file open', async () => {
    const url = address('u/1/film.mp4', 'video/mp4');
    const leaving = Array.from({ length: 10 }, async () => {
      const controller = new AbortController();
      const response = await fetch(url, { signal: controller.signal });
      await response.body?.getReader().read();
      controller.abort();
    });
    await Promise.all(leaving);
    await until(async () => (await openFilesBelow(rig.dataDir)) === 0);
  });

  it('before it was answered leaves none either', async () => {
    const { pathname, search } = new URL(address('u/1/film.mp4', 'video/mp4'));
    for (let turn = 0; turn < 20; turn++) {
      const socket = connect(rig.port, '127.0.0.1');
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: a\r\n\r\n`);
      // The delay grows with each round, so that some clients leave before the file is open and others after.
      await new Promise((resolve) => setTimeout(resolve, turn / 4));
      socket.resetAndDestroy();
    }
    await until(async () => (await openFilesBelow(rig.dataDir)) === 0);
  });

  it('sends a slow reader no more than it reads', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const response = await fetch(address('u/1/film.mp4', 'video/mp4'));
    const reader = response.body?.getReader();
    await reader?.read();
    await until(async () => (await openFilesBelow(rig.dataDir)) === 1);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(film.length);
    await reader?.cancel();
    await until(async () => (await openFilesBelow(rig.dataDir)) === 0);
  });
});

describe('a store that fails', () => {
  /** Wraps the real store. Its streams fail after some bytes. */
  const failingAfter = (bytes: number): Objects => ({
    ...rig.originals,
    get: async (key, options) => {
      const body = await rig.originals.get(key, options);
      if (body === undefined) return undefined;
      const whole = Buffer.concat(await body.stream.toArray());
      const stream = Readable.from(
        (async function* () {
          yield* bytes === 0 ? [] : [whole.subarray(0, bytes)];
          await setImmediate();
          throw new Error('the disk is broken');
        })(),
      );
      return { ...body, stream };
    },
  });
  const read = async (url: string, otherBucket: (name: string) => Objects | undefined) => {
    const broken = await startEdge({ otherBucket });
    try {
      const path = url.slice(rig.url.length);
      return await exchange(
        broken.port,
        `GET ${path} HTTP/1.1\r\nHost: a\r\nRange: bytes=0-499\r\nConnection: close\r\n\r\n`,
      );
    } finally {
      await broken.close();
    }
  };
  const url = () =>
    signAddress(rig.url, secret, { method: 'GET', bucket: 'broken', key: 'u/1/photo.png', expires: 9_999_999_999 });

  it('before the first byte is an error that is not cacheable', async () => {
    const answer = await read(url(), () => failingAfter(0));
    expect(answer).toMatch(/^HTTP\/1\.1 500 /);
    expect(answer).toContain('internal_error');
    expect(answer).toContain('cache-control: no-store');
    expect(answer).not.toMatch(/etag:|content-range:|private|broken/i);
  });

  it('closes the connection in the middle, so that no client accepts a part as the whole', async () => {
    const answer = await read(url(), () => failingAfter(100));
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain('content-length: 500');
    expect(body.length).toBeLessThan(500);
  });
});

describe('a reader that stalls', () => {
  it('is cut off, and leaves no file open', async () => {
    const impatient = await startEdge({ server: { transferWindowMs: 200 } });
    try {
      await impatient.originals.put('film.mp4', film, { contentType: 'video/mp4' });
      const { pathname, search } = new URL(impatient.originals.readAddress('film.mp4', { expiresInS: 60 }));
      const socket = connect(impatient.port, '127.0.0.1').pause();
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await until(async () => (await openFilesBelow(impatient.dataDir)) === 1);
      await until(async () => (await openFilesBelow(impatient.dataDir)) === 0);
      const sent = Buffer.concat(await socket.resume().toArray()).length;
      expect(sent).toBeLessThan(film.length);
    } finally {
      await impatient.close();
    }
  });
});

describe('a page of another origin', () => {
  it.each(['PUT', 'GET', 'HEAD'])('is allowed by a preflight to %s', async (method) => {
    const response = await fetch(address(), {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type,if-none-match,range',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toContain(method);
    const allowed = response.headers.get('access-control-allow-headers')?.toLowerCase();
    for (const name of ['content-type', 'content-length', 'if-none-match', 'range']) expect(allowed).toContain(name);
  });

  it('may read the headers of an object and of errors', async () => {
    for (const url of [address(), address().slice(0, -1)]) {
      const { headers } = await fetch(url, { headers: { origin: 'https://app.example' } });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      for (const name of ['ETag', 'Content-Range', 'Accept-Ranges', 'Content-Length'])
        expect(headers.get('access-control-expose-headers')).toContain(name);
    }
  });
});

describe('the service', () => {
  it('names itself', async () => {
    expect(await (await fetch(`${rig.url}/health`)).json()).toEqual({ status: 'ok', service: 'edge' });
    expect(await (await fetch(`${rig.url}/`)).json()).toEqual({
      service: 'edge',
      version: expect.any(String),
      commit: expect.any(String),
    });
    expect((await fetch(`${rig.url}/ready`)).status).toBe(200);
  });

  it.each(['/nowhere', '/v1/nowhere', '/favicon.ico'])('returns 404 for %s', async (path) => {
    const response = await fetch(rig.url + path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: 'not_found' });
  });

  it('reuses a connection for the next request', async () => {
    const { pathname, search } = new URL(address());
    const get = (close: string) => `GET ${pathname}${search} HTTP/1.1\r\nHost: a\r\nRange: bytes=0-0\r\n${close}\r\n`;
    const answers = await exchange(rig.port, get(''), get('Connection: close\r\n'));
    expect(answers.match(/HTTP\/1\.1 206/g)).toHaveLength(2);
  });
});
