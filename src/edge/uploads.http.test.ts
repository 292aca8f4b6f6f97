import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#platform/log.ts';
import {
  bytesOf,
  exchange,
  openFilesBelow,
  type Rig,
  resizingKeys,
  startEdge,
  until,
} from '../../test/edge/edge.fixture.ts';
import { createEdge } from './service.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startEdge();
});
afterAll(() => rig.close());

/** Starts another edge for the tests of a suite. The default window outlasts every pause of a busy machine. */
function withTransferWindow(transferWindowMs: number): void {
  let usual: Rig;
  beforeAll(async () => {
    usual = rig;
    rig = await startEdge({ server: { transferWindowMs } });
  });
  afterAll(async () => {
    await rig.close();
    rig = usual;
  });
}

let count = 0;
const newKey = () => `u/1/upload-${++count}.png`;

interface Terms {
  readonly key?: string;
  readonly contentType?: string;
  readonly size?: number;
  readonly maxSize?: number;
}

function reserve({ key = newKey(), contentType = 'image/png', size, maxSize = 100_000 }: Terms = {}) {
  const { url, headers } = rig.originals.writeAddress(key, { expiresInS: 300, contentType, size, maxSize });
  return { key, url, headers, target: url.slice(rig.url.length) };
}

const put = (url: string, headers: Record<string, string>, body: Uint8Array | string) =>
  fetch(url, { method: 'PUT', headers, body });

/** Sends the body in chunks, without a length. */
const putChunked = (url: string, headers: Record<string, string>, chunks: Uint8Array[]) =>
  fetch(url, { method: 'PUT', headers, body: Readable.from(chunks), duplex: 'half' } as RequestInit);

async function stored(key: string): Promise<Buffer | undefined> {
  const body = await rig.originals.get(key);
  return body && Buffer.concat(await body.stream.toArray());
}

const drafts = async () => (await readdir(join(rig.dataDir, '.incoming')).catch(() => [])).length;

/** Checks that there is no object under the key, no draft and no open file. */
async function nothingLeft(key: string): Promise<void> {
  await until(async () => (await drafts()) === 0 && (await openFilesBelow(rig.dataDir)) === 0);
  expect(await rig.originals.head(key)).toBeUndefined();
}

describe('an upload', () => {
  it('is stored completely and returns its ETag', async () => {
    const { key, url, headers } = reserve();
    const bytes = bytesOf(50_000);
    const response = await put(url, headers, bytes);
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('etag')).toBe((await rig.originals.head(key))?.etag);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await stored(key)).toEqual(bytes);
  });

  it('may arrive in chunks without a length', async () => {
    const { key, url, headers } = reserve();
    const chunks = [bytesOf(10_000), bytesOf(1), bytesOf(20_000)];
    expect((await putChunked(url, headers, chunks)).status).toBe(200);
    expect(await stored(key)).toEqual(Buffer.concat(chunks));
  });

  it.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded'])(
    'of %s is stored unchanged',
    async (contentType) => {
      const { key, url, headers } = reserve({ contentType });
      expect((await put(url, headers, '{ "not": json')).status).toBe(200);
      expect((await stored(key))?.toString()).toBe('{ "not": json');
    },
  );

  it('without bytes is stored', async () => {
    const { key, url, headers } = reserve();
    expect((await put(url, headers, '')).status).toBe(200);
    expect(await stored(key)).toEqual(Buffer.alloc(0));
  });

  it('may exceed the body limit of other services', async () => {
    const { key, url, headers } = reserve({ maxSize: 50_000_000 });
    const bytes = bytesOf(20_000_000);
    expect((await put(url, headers, bytes)).status).toBe(200);
    const digest = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');
    expect(digest((await stored(key)) ?? Buffer.alloc(0))).toBe(digest(bytes));
  });

  it('of 2 GiB at 1 Mbit/s does not time out', () => {
    const neededMs = (2 ** 31 * 8) / 1000;
    expect(rig.app.server.requestTimeout).toBeGreaterThan(neededMs);
  });

  it('waits for 100 Continue before it sends its body', async () => {
    const { target } = reserve();
    const head = `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 2\r\n`;
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(`${head}Expect: 100-continue\r\nConnection: close\r\n\r\n`);
    const [leave] = await once(socket, 'data');
    expect(String(leave)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('ab');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

describe('a taken key', () => {
  it('returns 412, and the object is unchanged', async () => {
    const { key, url, headers } = reserve();
    await put(url, headers, 'first');
    const second = await put(url, headers, 'second');
    expect(second.status).toBe(412);
    expect(await second.json()).toMatchObject({ error: 'already_exists' });
    expect((await stored(key))?.toString()).toBe('first');
    await until(async () => (await drafts()) === 0);
  });

  it('is 412 without If-None-Match too', async () => {
    const { url, headers } = reserve();
    await put(url, headers, 'first');
    expect((await put(url, { 'content-type': 'image/png' }, 'second')).status).toBe(412);
  });

  it('returns 412 before the body is sent if the client expects 100-continue', async () => {
    const { url, headers, target } = reserve();
    await put(url, headers, 'first');
    const head = `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 2\r\n`;
    expect(await exchange(rig.port, `${head}Expect: 100-continue\r\nIf-None-Match: *\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 412 /,
    );
  });

  it('stores the first complete upload if two processes receive it at the same time', async () => {
    const other = createEdge({
      server: { log: createLog({ level: 'silent' }), readiness: {} },
      clock: rig.clock,
      resizing: resizingKeys,
      settings: { maxStagedBytes: 1024 ** 3 },
      originals: rig.originals,
      publicObjects: rig.publicObjects,
      variants: rig.variants,
    });
    await other.listen({ port: 0, host: '127.0.0.1' });
    const { key, target } = reserve();
    const bodies = [bytesOf(60_000), bytesOf(60_000)];
    // Both requests have passed every check and sent half of their body before either may end.
    const head = `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 60000\r\nConnection: close\r\n\r\n`;
    const ports = [rig.port, (other.server.address() as AddressInfo).port];
    const sockets = bodies.map((body, index) => {
      const socket = connect(ports[index] ?? 0, '127.0.0.1');
      socket.write(head);
      socket.write(body.subarray(0, 30_000));
      return socket;
    });
    await until(async () => (await drafts()) === 2);
    const answers = await Promise.all(
      sockets.map(async (socket, index) => {
        socket.write(bodies[index]?.subarray(30_000) ?? '');
        return Buffer.concat(await socket.toArray()).toString();
      }),
    );
    const won = answers.findIndex((answer) => answer.startsWith('HTTP/1.1 200 '));
    expect(answers[1 - won]).toMatch(/^HTTP\/1\.1 412 /);
    expect(await stored(key)).toEqual(bodies[won]);
    await until(async () => (await drafts()) === 0);
    await other.close();
  });
});

describe('a key that is being uploaded', () => {
  const begin = async (target: string, headers = '') => {
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(`PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\n${headers}`);
    socket.write('Content-Length: 60000\r\nConnection: close\r\n\r\n');
    socket.write(bytesOf(30_000));
    await until(async () => (await drafts()) === 1);
    return socket;
  };

  it('is 409 for other uploads, whose body is not read, and the first continues', async () => {
    const { key, url, headers, target } = reserve();
    const first = await begin(target);
    const second = await put(url, headers, 'second');
    expect([second.status, await second.json()]).toMatchObject([409, { error: 'upload_in_progress' }]);
    expect(second.headers.get('retry-after')).toMatch(/^\d+$/);
    const head = `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 2\r\n`;
    expect(await exchange(rig.port, `${head}Expect: 100-continue\r\n\r\n`)).toMatch(/^HTTP\/1\.1 409 /);
    first.write(bytesOf(30_000));
    expect(Buffer.concat(await first.toArray()).toString()).toMatch(/^HTTP\/1\.1 200 /);
    expect((await stored(key))?.length).toBe(60_000);
    expect((await put(url, headers, 'third')).status).toBe(412);
  });

  it('is free again when the upload breaks off', async () => {
    const { key, url, headers, target } = reserve();
    (await begin(target)).destroy();
    await nothingLeft(key);
    expect((await put(url, headers, 'again')).status).toBe(200);
  });
});

describe('what the address does not allow', () => {
  it.each<[string, (url: string) => string]>([
    ['another key', (url) => url.replace('upload-', 'other-')],
    ['a larger limit', (url) => url.replace('max=100000', 'max=900000')],
    ['no limit', (url) => url.replace('max=100000&', '')],
    ['another type', (url) => url.replace('image%2Fpng', 'text%2Fhtml')],
    ['another size', (url) => url.replace('size=5', 'size=6')],
    ['no size', (url) => url.replace('size=5&', '')],
    ['no signature', (url) => url.replace(/&signature=.*/, '')],
  ])('%s is 403', async (_name, change) => {
    const { key, url } = reserve({ size: 5 });
    expect(change(url)).not.toBe(url);
    const type = change(url).includes('html') ? 'text/html' : 'image/png';
    expect((await put(change(url), { 'content-type': type }, 'bytes')).status).toBe(403);
    await nothingLeft(key);
  });

  it('its end is stored', async () => {
    const { key, url, headers } = reserve();
    rig.clock.nowMs += 300_000;
    expect((await put(url, headers, 'late')).status).toBe(403);
    rig.clock.nowMs -= 300_000;
    await nothingLeft(key);
  });

  it.each([['image/jpeg'], ['image/png; charset=utf-8'], ['']])('the content type %j is 403', async (contentType) => {
    const { key, url } = reserve();
    const response = await put(url, contentType === '' ? {} : { 'content-type': contentType }, bytesOf(3));
    expect([response.status, await response.json()]).toMatchObject([403, { error: 'invalid_address' }]);
    await nothingLeft(key);
  });

  it('the same type in other letters is the same', async () => {
    const { url } = reserve();
    expect((await put(url, { 'content-type': 'Image/PNG' }, 'x')).status).toBe(200);
  });

  it.each([4, 6])('%i bytes where 5 were signed are 403', async (size) => {
    for (const send of [
      put,
      (url: string, headers: Record<string, string>, body: Buffer) => putChunked(url, headers, [body]),
    ]) {
      const { key, url, headers } = reserve({ size: 5 });
      expect((await send(url, headers, bytesOf(size))).status).toBe(403);
      await nothingLeft(key);
    }
  });

  it('5 bytes where 5 were signed are stored', async () => {
    const [announced, chunked] = [reserve({ size: 5 }), reserve({ size: 5 })];
    expect((await put(announced.url, announced.headers, bytesOf(5))).status).toBe(200);
    expect((await putChunked(chunked.url, chunked.headers, [bytesOf(2), bytesOf(3)])).status).toBe(200);
  });
});

describe('too many bytes', () => {
  it.each([
    [99_999, 200],
    [100_000, 200],
    [100_001, 413],
  ])('%i of at most 100000 are %i', async (size, status) => {
    for (const send of [
      put,
      (url: string, headers: Record<string, string>, body: Buffer) => putChunked(url, headers, [body]),
    ]) {
      const { key, url, headers } = reserve();
      const response = await send(url, headers, bytesOf(size));
      expect(response.status).toBe(status);
      if (status === 413) {
        expect(await response.json()).toMatchObject({ error: 'payload_too_large' });
        await nothingLeft(key);
      }
    }
  });

  it('are refused when they are announced, before they are sent', async () => {
    const { key, target } = reserve();
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(`PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: 100001\r\n\r\n`);
    const [answer] = await socket.take(1).toArray();
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    await nothingLeft(key);
  });

  it('are refused in the middle of an endless body, and its sender can read why', async () => {
    const { key, url, headers } = reserve();
    const chunk = bytesOf(16_384);
    let sent = 0;
    const sending: ClientRequest = httpRequest(url, { method: 'PUT', headers });
    const endless = Readable.from(
      (function* () {
        while (!sending.destroyed) {
          sent += chunk.length;
          yield chunk;
        }
      })(),
    );
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sending.on('response', resolve).on('error', reject);
      endless.pipe(sending);
    });
    expect(response.statusCode).toBe(413);
    expect(sent).toBeLessThan(100_000_000);
    sending.destroy();
    await nothingLeft(key);
  });
});

describe('an upload that is cut off', () => {
  const begin = (target: string, header: string, part: Uint8Array | string) => {
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(`PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\n${header}\r\n\r\n`);
    socket.write(part);
    return socket;
  };

  it.each([
    ['with a length', 'Content-Length: 60000', bytesOf(30_000)],
    ['in chunks', 'Transfer-Encoding: chunked', '5\r\nbytes\r\n'],
    ['in the middle of a chunk', 'Transfer-Encoding: chunked', '5\r\nby'],
  ])('%s leaves nothing, and the key is free', async (_name, header, part) => {
    const { key, url, headers, target } = reserve();
    const socket = begin(target, header, part);
    await until(async () => (await drafts()) === 1);
    socket.destroy();
    await nothingLeft(key);
    expect((await put(url, headers, 'again')).status).toBe(200);
  });

  it('by a half-closed connection stores nothing', async () => {
    const { key, target } = reserve();
    const socket = begin(target, 'Content-Length: 60000', bytesOf(30_000));
    await until(async () => (await drafts()) === 1);
    socket.end();
    socket.resume();
    await nothingLeft(key);
  });

  it('by invalid chunks stores nothing', async () => {
    const { key, target } = reserve();
    const socket = begin(target, 'Transfer-Encoding: chunked', '5\r\nbytes\r\n');
    await until(async () => (await drafts()) === 1);
    socket.write('nonsense\r\n');
    expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 400 /);
    await nothingLeft(key);
  });

  it('before the request to the store stores nothing', async () => {
    const { key, target } = reserve();
    const socket = begin(target, 'Transfer-Encoding: chunked', '5\r\nbytes\r\nnonsense\r\n');
    await socket.toArray();
    await nothingLeft(key);
  });

  describe('', () => {
    withTransferWindow(300);

    it('by stalling returns 408 and stores nothing', async () => {
      const { key, target } = reserve();
      const socket = begin(target, 'Content-Length: 60000', bytesOf(30_000));
      const answer = Buffer.concat(await socket.toArray()).toString();
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toContain('request_timeout');
      await nothingLeft(key);
    });

    it('by sending less than 1 kB a second is ended with 408 too', async () => {
      const { key, target } = reserve();
      const socket = begin(target, 'Content-Length: 60000', 'b');
      let answer = '';
      socket.on('data', (chunk) => {
        answer += String(chunk);
      });
      // A byte that arrives after the response resets the connection.
      socket.on('error', () => undefined);
      const trickle = setInterval(() => socket.write('b'), 20);
      await new Promise((resolve) => socket.once('close', resolve));
      clearInterval(trickle);
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      await nothingLeft(key);
    });

    it('when its address has expired in the meantime is ended the same way', async () => {
      const { key, target } = reserve();
      const socket = begin(target, 'Content-Length: 60000', 'b');
      await until(async () => (await drafts()) === 1);
      rig.clock.nowMs += 300_000;
      expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 408 /);
      rig.clock.nowMs -= 300_000;
      await nothingLeft(key);
    });
  });

  describe('', () => {
    const windowMs = 3_000;
    withTransferWindow(windowMs);

    it('does not end a slow upload above 1 kB per second', async () => {
      const { key, target } = reserve();
      const parts = Array.from({ length: 8 }, () => bytesOf(1000));
      const pauseMs = (1.2 * windowMs) / parts.length;
      const socket = begin(target, 'Content-Length: 8000\r\nConnection: close', '');
      for (const part of parts) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        socket.write(part);
      }
      expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 200 /);
      expect(await stored(key)).toEqual(Buffer.concat(parts));
    });
  });
});

describe('a path that points elsewhere', () => {
  it.each([
    '/o/objects/../../secrets.json',
    '/o/objects/%2e%2e/%2e%2e/secrets.json',
    '/o/objects/..%2f..%2fsecrets.json',
    '/o/objects/a%00b',
    '/o/objects/a%5cb',
    '/o/objects//a',
    '/o/objects/',
  ])('%s takes no upload', async (path) => {
    const { target } = reserve();
    const query = target.slice(target.indexOf('?'));
    const head = 'Host: a\r\nContent-Type: image/png\r\nContent-Length: 1\r\nConnection: close';
    expect(await exchange(rig.port, `PUT ${path}${query} HTTP/1.1\r\n${head}\r\n\r\na`)).toMatch(/^HTTP\/1\.1 403 /);
    expect((await readdir(rig.dataDir)).sort()).toEqual(['.incoming', 'objects']);
  });
});

it('stores uploads of open connections while the edge drains, and accepts no new ones', async () => {
  const other = await startEdge();
  const socket = connect(other.port, '127.0.0.1');
  socket.write('GET /health HTTP/1.1\r\nHost: edge\r\n\r\n');
  await once(socket, 'data');
  await other.app.drain();
  const { url, headers } = other.originals.writeAddress('u/1/late.png', {
    expiresInS: 300,
    contentType: 'image/png',
    maxSize: 100,
  });
  const lines = Object.entries({ host: 'edge', 'content-length': '9', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write(`PUT ${url.slice(other.url.length)} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\nlate file`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close/i);
  expect((await other.originals.head('u/1/late.png'))?.size).toBe(9);
  await expect(fetch(other.url)).rejects.toThrow('fetch failed');
  await other.close();
});
