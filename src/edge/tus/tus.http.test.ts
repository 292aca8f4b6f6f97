import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resumableSigner } from '#platform/objects/addresses.ts';
import { bytesOf, drivers, type Rig, startEdge, until } from '../../../test/edge/edge.fixture.ts';
import { inLane } from '../../../test/lane.fixture.ts';

const hourS = 3600;

describe.each(inLane(drivers))('resumable uploads on $name', ({ name }) => {
  let rig: Rig;
  let count = 0;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    rig = await startEdge({ driver: name, server: { transferWindowMs: 2_000 } });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => rig.close());

  function reserve(size: number, { key = `u/1/video-${++count}.mp4`, expiresInS = 24 * hourS } = {}) {
    const sign = resumableSigner(rig.url, rig.addressing.secret);
    const expires = Math.floor(rig.clock.now() / 1000) + expiresInS;
    const url = sign({ bucket: rig.originals.bucket, key, expires, contentType: 'video/mp4', size });
    return { key, url, target: url.slice(rig.url.length), expires };
  }
  const tus = { 'tus-resumable': '1.0.0' };
  const head = (url: string) => fetch(url, { method: 'HEAD', headers: tus });
  const remove = (url: string) => fetch(url, { method: 'DELETE', headers: tus });
  const patch = (
    url: string,
    offset: number | string,
    body: Uint8Array | string,
    headers: Record<string, string> = {},
  ) =>
    fetch(url, {
      method: 'PATCH',
      headers: {
        ...tus,
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
        ...headers,
      },
      body,
    });
  const offsetAt = async (url: string) => Number((await head(url)).headers.get('upload-offset'));
  const stored = async (key: string) => {
    const body = await rig.originals.get(key);
    return body && Buffer.concat(await body.stream.toArray());
  };
  const said = async (response: Response) => {
    const body = await response.text();
    return [response.status, body === '' ? undefined : JSON.parse(body).error];
  };
  /** Sends a PATCH whose body does not end. */
  function beginPatch(target: string, offset: number, size: number, bytes: Uint8Array): Socket {
    const socket = connect(rig.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    const lines = [
      `PATCH ${target} HTTP/1.1`,
      'Host: a',
      'Connection: close',
      'Tus-Resumable: 1.0.0',
      `Upload-Offset: ${offset}`,
      'Content-Type: application/offset+octet-stream',
      `Content-Length: ${size}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    socket.write(bytes);
    return socket;
  }

  /** Until a PATCH is received. */
  const underWay = ({ app }: Rig) => until(() => app.transfers.count('in') === 1);

  it('exist at their address before the first request', async () => {
    const { url, key, expires } = reserve(1000);
    const response = await head(url);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'tus-resumable': '1.0.0',
      'upload-offset': '0',
      'upload-length': '1000',
      'upload-expires': new Date(expires * 1000).toUTCString(),
      'cache-control': 'no-store',
    });
    expect(await rig.originals.head(key)).toBeUndefined();
  });

  it('become the object with their last byte', async () => {
    const { url, key } = reserve(1000);
    const bytes = bytesOf(1000);
    const first = await patch(url, 0, bytes.subarray(0, 400));
    expect([first.status, first.headers.get('upload-offset')]).toEqual([204, '400']);
    expect(first.headers.get('upload-expires')).not.toBeNull();
    expect(first.headers.get('tus-resumable')).toBe('1.0.0');
    expect(await offsetAt(url)).toBe(400);
    expect(await rig.originals.head(key)).toBeUndefined();
    const second = await patch(url, 400, bytes.subarray(400));
    expect([second.status, second.headers.get('upload-offset')]).toEqual([204, '1000']);
    expect(await stored(key)).toEqual(bytes);
    expect(await offsetAt(url)).toBe(1000);
    const again = await patch(url, 1000, '');
    expect([again.status, again.headers.get('upload-offset')]).toEqual([204, '1000']);
  });

  it('accept an empty PATCH, and one in chunks', async () => {
    const { url, key } = reserve(10);
    expect((await patch(url, 0, '')).headers.get('upload-offset')).toBe('0');
    const body = new Blob(['hello', 'world']).stream();
    const init = {
      method: 'PATCH',
      body,
      duplex: 'half',
      headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
    };
    expect((await fetch(url, init as RequestInit)).headers.get('upload-offset')).toBe('10');
    expect((await stored(key))?.toString()).toBe('helloworld');
  });

  it('store the received bytes when the connection breaks', async () => {
    const { url, target, key } = reserve(200_000);
    const bytes = bytesOf(200_000);
    const socket = beginPatch(target, 0, 200_000, bytes.subarray(0, 50_000));
    await underWay(rig);
    socket.end();
    await until(async () => (await offsetAt(url)) === 50_000);
    expect((await patch(url, 50_000, bytes.subarray(50_000))).status).toBe(204);
    expect(await stored(key)).toEqual(bytes);
  });

  it.each([
    ['another version', { 'tus-resumable': '0.2.2' }],
    ['no version', { 'tus-resumable': '' }],
  ])('reject %s with 412', async (_, version) => {
    const { url } = reserve(10);
    for (const response of [
      await patch(url, 0, 'hello', version),
      await fetch(url, { method: 'HEAD', headers: version }),
      await fetch(url, { method: 'DELETE', headers: version }),
    ]) {
      expect(response.status).toBe(412);
      expect(response.headers.get('tus-version')).toBe('1.0.0');
    }
    expect(await offsetAt(url)).toBe(0);
  });

  it('reject another offset with 409, and return the right one', async () => {
    const { url } = reserve(10);
    await patch(url, 0, 'hello');
    for (const offset of [0, 4, 6]) {
      const response = await patch(url, offset, 'w');
      expect(await said(response)).toEqual([409, 'offset_conflict']);
    }
    expect(await offsetAt(url)).toBe(5);
  });

  it.each(['', '-1', '1.5', 'x', '0x1', '9'.repeat(16)])('reject the offset %j with 400, named', async (offset) => {
    const response = await patch(reserve(10).url, offset, 'x');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ issues: [{ path: 'headers.upload-offset' }] });
  });

  it.each(['application/octet-stream', 'video/mp4', ''])('reject the content type %j with 415', async (type) => {
    expect(await said(await patch(reserve(10).url, 0, 'x', { 'content-type': type }))).toEqual([
      415,
      'unsupported_media_type',
    ]);
  });

  it('reject bytes beyond their length with 413', async () => {
    const { url, key } = reserve(10);
    expect(await said(await patch(url, 0, '12345678901'))).toEqual([413, 'payload_too_large']);
    await patch(url, 0, '12345');
    expect(await said(await patch(url, 5, '678901'))).toEqual([413, 'payload_too_large']);
    expect(await offsetAt(url)).toBe(5);
    const body = new Blob(['678', '901']).stream();
    const init = {
      method: 'PATCH',
      body,
      duplex: 'half',
      headers: { ...tus, 'upload-offset': '5', 'content-type': 'application/offset+octet-stream' },
    };
    expect(await said(await fetch(url, init as RequestInit))).toEqual([413, 'payload_too_large']);
    expect(await rig.originals.head(key)).toBeUndefined();
  });

  it('reject a second PATCH with 409 while the first is in progress', async () => {
    const { url, target, key } = reserve(100_000);
    const bytes = bytesOf(100_000);
    const socket = beginPatch(target, 0, 100_000, bytes.subarray(0, 1000));
    await underWay(rig);
    expect(await said(await patch(url, 0, 'x'))).toEqual([409, 'upload_in_progress']);
    const response = await patch(url, 0, 'x');
    expect([response.status, response.headers.get('retry-after')]).toEqual([409, '1']);
    // A look at the offset does not disturb it.
    expect((await head(url)).status).toBe(200);
    socket.write(bytes.subarray(1000));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 204 [\s\S]*upload-offset: 100000/);
    expect(await stored(key)).toEqual(bytes);
  });

  it('are unknown at a changed address: 404', async () => {
    const { url } = reserve(10);
    const changes: ((url: URL) => void)[] = [
      (changed) => changed.searchParams.set('size', '11'),
      (changed) => changed.searchParams.set('upload', 'a'.repeat(32)),
      (changed) => changed.searchParams.set('expires', '9999999999'),
      (changed) => changed.searchParams.set('type', 'text/html'),
      (changed) => changed.searchParams.append('size', '10'),
      (changed) => changed.searchParams.delete('signature'),
      (changed) => changed.searchParams.set('more', 'x'),
      (changed) => {
        changed.pathname = `${changed.pathname}x`;
      },
    ];
    for (const change of changes) {
      const changed = new URL(url);
      change(changed);
      expect((await head(changed.href)).status).toBe(404);
      expect((await patch(changed.href, 0, 'x')).status).toBe(404);
      expect((await remove(changed.href)).status).toBe(404);
    }
    expect((await head(url.replace('/tus/', '/o/'))).status).toBe(403);
    expect((await fetch(url.replace('/tus/', '/o/'), { method: 'PUT', body: 'x' })).status).toBe(403);
    const { url: putUrl } = rig.originals.writeAddress('u/1/a', {
      expiresInS: 60,
      contentType: 'video/mp4',
      maxSize: 10,
    });
    const { pathname, search } = new URL(putUrl);
    expect((await head(`${rig.url}${pathname.replace('/o/', '/tus/')}${search}`)).status).toBe(404);
  });

  it('return 410 after they expired', async () => {
    const { url } = reserve(10, { expiresInS: 100 });
    await patch(url, 0, 'hello');
    rig.clock.nowMs += 100_000;
    try {
      expect((await head(url)).status).toBe(410);
      expect(await said(await patch(url, 5, 'world'))).toEqual([410, 'upload_ended']);
      expect(await said(await remove(url))).toEqual([410, 'upload_ended']);
    } finally {
      rig.clock.nowMs -= 100_000;
    }
    expect(await offsetAt(url)).toBe(5);
  });

  it('return 410 after a DELETE', async () => {
    const { url, key } = reserve(10);
    await patch(url, 0, 'hello');
    const response = await remove(url);
    expect([response.status, response.headers.get('tus-resumable')]).toEqual([204, '1.0.0']);
    expect((await head(url)).status).toBe(410);
    expect(await said(await patch(url, 5, 'world'))).toEqual([410, 'upload_ended']);
    expect(await said(await remove(url))).toEqual([410, 'upload_ended']);
    expect(await rig.originals.head(key)).toBeUndefined();
  });

  it('a DELETE ends a PATCH in progress, and removes no object', async () => {
    const { url, target, key } = reserve(100_000);
    const socket = beginPatch(target, 0, 100_000, bytesOf(1000));
    await underWay(rig);
    expect((await remove(url)).status).toBe(204);
    socket.write(bytesOf(99_000));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 4(09|10) /);
    expect((await head(url)).status).toBe(410);
    expect(await rig.originals.head(key)).toBeUndefined();
    const whole = reserve(5);
    await patch(whole.url, 0, 'hello');
    expect(await said(await remove(whole.url))).toEqual([410, 'upload_ended']);
    expect((await stored(whole.key))?.toString()).toBe('hello');
  });

  it('never replace an object', async () => {
    const { url, key } = reserve(10);
    await patch(url, 0, 'hello');
    await rig.originals.put(key, Buffer.from('first'), { contentType: 'video/mp4' });
    expect(await said(await patch(url, 5, 'world'))).toEqual([410, 'upload_ended']);
    expect((await head(url)).status).toBe(410);
    expect((await stored(key))?.toString()).toBe('first');
    // One of the same size is the whole upload.
    const same = reserve(5, { key });
    expect(await offsetAt(same.url)).toBe(5);
    expect(await said(await patch(same.url, 0, 'other'))).toEqual([409, 'offset_conflict']);
    expect((await stored(key))?.toString()).toBe('first');
  });

  it('do not mix with another upload to the same key', async () => {
    const [one, two] = [reserve(10), reserve(10, { key: `u/1/video-${count}.mp4` })];
    await patch(one.url, 0, 'hello');
    expect(await offsetAt(two.url)).toBe(0);
    await patch(two.url, 0, 'HELLOWORLD');
    expect(await said(await patch(one.url, 5, 'world'))).toEqual([409, 'offset_conflict']);
    expect((await stored(one.key))?.toString()).toBe('HELLOWORLD');
  });

  it('accept methods by X-HTTP-Method-Override', async () => {
    const { url, key } = reserve(5);
    const post = (method: string, headers: Record<string, string> = {}, body?: string) =>
      fetch(url, { method: 'POST', headers: { ...tus, 'x-http-method-override': method, ...headers }, body });
    expect((await post('HEAD')).headers.get('upload-offset')).toBe('0');
    const headers = { 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
    expect((await post('PATCH', headers, 'hel')).status).toBe(204);
    expect((await post('PUT', headers, 'lo')).status).toBe(404);
    expect((await fetch(url, { method: 'POST', headers: tus })).status).toBe(404);
    expect((await patch(url, 3, 'lo')).status).toBe(204);
    expect((await stored(key))?.toString()).toBe('hello');
  });

  it('allow pages of any origin to send and read the headers of tus', async () => {
    const { url } = reserve(5);
    const response = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'PATCH' },
    });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(response.headers.get('tus-version')).toBe('1.0.0');
    expect(response.headers.get('tus-extension')).toBe('expiration,termination');
    const listOf = (of: Response, header: string) => (of.headers.get(header) ?? '').toLowerCase().split(', ');
    expect(listOf(response, 'access-control-allow-methods')).toEqual(
      expect.arrayContaining(['head', 'patch', 'delete']),
    );
    expect(listOf(response, 'access-control-allow-headers')).toEqual(
      expect.arrayContaining(['tus-resumable', 'upload-offset', 'content-type']),
    );
    const seen = await fetch(url, { method: 'HEAD', headers: { ...tus, origin: 'https://app.example' } });
    expect(seen.headers.get('access-control-allow-origin')).toBe('*');
    expect(listOf(seen, 'access-control-expose-headers')).toEqual(
      expect.arrayContaining(['upload-offset', 'upload-length', 'upload-expires', 'tus-resumable']),
    );
  });

  it('end a PATCH that is slower than 1 kB/s with 408, and keep its bytes', async () => {
    const { url, target } = reserve(100_000);
    const socket = beginPatch(target, 0, 100_000, bytesOf(500));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 [\s\S]*request_timeout/);
    expect(await offsetAt(url)).toBe(500);
  });

  it('stop a PATCH while the edge drains, and keep its bytes', async () => {
    const { key, expires } = reserve(100_000);
    const other = await startEdge({ driver: name });
    const sign = resumableSigner(other.url, other.addressing.secret);
    const url = sign({ bucket: other.originals.bucket, key, expires, contentType: 'video/mp4', size: 100_000 });
    const socket = connect(other.port, '127.0.0.1');
    const lines = [
      'Host: a',
      'Tus-Resumable: 1.0.0',
      'Upload-Offset: 0',
      'Content-Type: application/offset+octet-stream',
    ];
    socket.write(
      `PATCH ${url.slice(other.url.length)} HTTP/1.1\r\n${lines.join('\r\n')}\r\nContent-Length: 100000\r\n\r\n`,
    );
    socket.write(bytesOf(1000));
    await underWay(other);
    const drained = other.app.drain();
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 503 [\s\S]*draining/);
    await drained;
    const upload = { id: new URL(url).searchParams.get('upload') ?? '', key, size: 100_000, contentType: 'video/mp4' };
    expect(await other.originals.resumable.offset(upload)).toBe(1000);
    await other.close();
  });
});
