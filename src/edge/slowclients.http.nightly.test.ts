/** More slow and silent clients than MAX_IN_FLIGHT. The other clients are still served. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resumableSigner } from '#platform/objects/addresses.ts';
import {
  bytesOf,
  openFilesBelow,
  type Rig,
  type RigChanges,
  resizingKeys,
  startEdge,
  until,
} from '../../test/edge/edge.fixture.ts';
import { pipe, scene } from '../../test/image/images.fixture.ts';
import { isNightly } from '../../test/lane.fixture.ts';
import { resizeSigner } from './api.ts';

const film = bytesOf(24_000_000);
const maxInFlight = 4;
const many = isNightly ? 50 : 10;

let rig: Rig;
let sockets: Socket[];

async function start(changes: RigChanges = {}): Promise<void> {
  rig = await startEdge({ ...changes, server: { maxInFlight, ...changes.server } });
  sockets = [];
  await rig.originals.put('u/1/film.mp4', film, { contentType: 'video/mp4' });
  await rig.originals.put('u/2/photo.png', await pipe(scene()).png().toBuffer(), { contentType: 'image/png' });
}
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await rig.close();
});

/** Sends `text`, then one piece at intervals, and reads nothing. */
function trickle(text: string, piece = 'x'): Socket {
  const socket = connect(rig.port, '127.0.0.1').pause();
  socket.on('error', () => undefined);
  socket.write(text);
  const timer = setInterval(() => socket.write(piece), 500);
  socket.on('close', () => clearInterval(timer));
  sockets.push(socket);
  return socket;
}

const pathOf = (url: string) => url.slice(rig.url.length);
const reserve = (key: string, maxSize = 2 ** 31) =>
  rig.originals.writeAddress(key, { expiresInS: 300, contentType: 'video/mp4', maxSize });
const putHead = (key: string) =>
  `PUT ${pathOf(reserve(key).url)} HTTP/1.1\r\nHost: a\r\nContent-Type: video/mp4\r\nContent-Length: ${2 ** 31}\r\n\r\n`;
const readAddress = (key: string) => rig.originals.readAddress(key, { expiresInS: 300, contentType: 'video/mp4' });
const getHead = () => `GET ${pathOf(readAddress('u/1/film.mp4'))} HTTP/1.1\r\nHost: a\r\n`;

async function everybodyElseIsServed(): Promise<void> {
  const { url, headers } = reserve('u/2/mine.mp4');
  const upload = await fetch(url, { method: 'PUT', headers, body: 'mine' });
  const download = await fetch(readAddress('u/2/mine.mp4'));
  const resizeAddress = resizeSigner({ baseUrl: rig.url, ...resizingKeys });
  const source = { bucket: rig.originals.bucket, key: 'u/2/photo.png' };
  const resized = await fetch(resizeAddress(source, { width: 20 }, 'png'));
  const unknown = await fetch(`${rig.url}/v1/nothing`, { method: 'POST', body: 'x' });
  expect([upload.status, download.status, resized.status, unknown.status]).toEqual([200, 200, 200, 404]);
  expect(await download.text()).toBe('mine');
}

const gauge = async (direction: string) => {
  const metric = await rig.app.metrics.getSingleMetric('http_transfers')?.get();
  return metric?.values.find(({ labels }) => labels.direction === direction)?.value ?? 0;
};

describe(`${many} connections`, () => {
  beforeEach(() => start());

  it('that upload to one address, slowly: all but one are refused', async () => {
    let refused = 0;
    for (let index = 0; index < many; index++)
      trickle(putHead('u/1/slow.mp4'))
        .resume()
        .once('data', () => {
          refused += 1;
        });
    await until(async () => refused === many - 1 && (await gauge('in')) === 1);
    await everybodyElseIsServed();
  });

  it('that upload to many addresses, slowly', async () => {
    for (let index = 0; index < many; index++) {
      trickle(putHead(`u/1/slow-${index}.mp4`));
      await until(async () => (await gauge('in')) > index);
    }
    await everybodyElseIsServed();
  });

  it.each([
    ['whole files', ''],
    ['ranges of files', 'Range: bytes=100-23999999\r\n'],
  ])('that read %s, slowly', async (_name, header) => {
    for (let index = 0; index < many; index++) {
      trickle(`${getHead()}${header}\r\n`, '');
      await until(async () => (await gauge('out')) > index);
    }
    await everybodyElseIsServed();
  });

  it.each([
    ['send their head slowly', 'GET / HTTP/1.1\r\nHo'],
    ['say nothing', ''],
    ['send a body to an unknown route', 'POST /v1/nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n'],
    ['send a body with a GET', 'GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n'],
  ])('that %s', async (_name, text) => {
    for (let index = 0; index < many; index++) trickle(text, text === '' ? '' : 'x');
    await everybodyElseIsServed();
  });
});

describe('an unread body', () => {
  beforeEach(() => start());

  it('does not occupy its connection for the time limit of an upload', async () => {
    const socket = trickle('POST /v1/nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n').resume();
    await until(() => socket.closed);
  });
});

describe('a reader', () => {
  const windowMs = 600;
  beforeEach(() => start({ server: { transferWindowMs: windowMs } }));

  it.each([
    ['takes nothing', 0],
    ['takes a little now and then', 8],
  ])('who %s is cut off, and leaves no file open', async (_name, bytes) => {
    const socket = trickle(`${getHead()}\r\n`, '');
    await until(async () => (await openFilesBelow(rig.dataDir)) === 1);
    const timer = setInterval(() => socket.read(bytes), 50);
    await until(async () => (await openFilesBelow(rig.dataDir)) === 0);
    clearInterval(timer);
    const rest = Buffer.concat(await socket.resume().toArray()).length;
    expect(rest).toBeLessThan(film.length);
  });

  it('is not measured between two requests of one connection', async () => {
    const socket = connect(rig.port, '127.0.0.1');
    sockets.push(socket);
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    const range = `${getHead()}Range: bytes=0-99999\r\n\r\n`;
    socket.write(range);
    await until(() => received.length > 100_000);
    await until(async () => (await gauge('out')) === 0);
    await sleep(2 * windowMs);
    socket.write(range);
    await until(() => received.length > 200_000);
  });
});

describe('a reader', () => {
  // Longer than a busy machine stops the reader, and shorter than the whole transfer.
  const windowMs = 5_000;
  beforeEach(() => start({ server: { transferWindowMs: windowMs } }));

  it('receives the whole file if it reads slowly but fast enough', async () => {
    const socket = connect(rig.port, '127.0.0.1');
    sockets.push(socket);
    socket.write(`${getHead()}Connection: close\r\n\r\n`);
    let received = 0;
    const startedAtMs = performance.now();
    // The kernels on both sides buffer megabytes, so nothing is written for most of the time.
    for await (const chunk of socket) {
      received += chunk.length;
      if (performance.now() - startedAtMs < 1.2 * windowMs) await sleep(100);
    }
    expect(received).toBeGreaterThan(film.length);
  });
});

describe('when all transfers are in use', () => {
  // Longer than a busy machine stops the fast sender.
  const full = { maxTransfers: 2, transferWindowMs: 2_000 };

  it('the next is 503 as long as none is slow', async () => {
    await start({ server: { ...full, transferWindowMs: 60_000 } });
    for (const index of [1, 2]) trickle(putHead(`u/1/slow-${index}.mp4`));
    await until(async () => (await gauge('in')) === 2);
    const { url, headers } = reserve('u/2/mine.mp4');
    const upload = await fetch(url, { method: 'PUT', headers, body: 'mine' });
    expect([upload.status, await upload.json()]).toMatchObject([503, { error: 'overloaded' }]);
    expect((await fetch(readAddress('u/1/film.mp4'))).status).toBe(503);
    expect((await fetch(`${rig.url}/metrics`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await gauge('in')) === 0);
    await everybodyElseIsServed();
    expect(await openFilesBelow(rig.dataDir)).toBe(0);
  });

  it('the slowest makes room', async () => {
    await start({ server: full });
    const send = (key: string, bytes: number) => {
      const socket = trickle(putHead(key)).resume();
      const timer = setInterval(() => socket.write(bytesOf(bytes)), 20);
      socket.on('close', () => clearInterval(timer));
      return socket;
    };
    const slow = send('u/1/slow.mp4', 100);
    const fast = send('u/1/fast.mp4', 200_000);
    await until(async () => (await gauge('in')) === 2);
    await until(async () => {
      const { url, headers } = reserve('u/2/mine.mp4');
      return (await fetch(url, { method: 'PUT', headers, body: 'mine' })).status === 200;
    });
    await until(() => slow.closed);
    expect(fast.closed).toBe(false);
  });
});

describe('unfinished uploads', () => {
  it('store no more than their common limit, and remove received bytes', async () => {
    await start({ settings: { maxStagedBytes: 100_000 } });
    const first = trickle(putHead('u/1/first.mp4'));
    first.write(bytesOf(80_000));
    const staged = async () => (await rig.staged()).reduce((sum, bytes) => sum + bytes, 0);
    await until(async () => (await staged()) >= 80_000);
    const { url, headers } = reserve('u/1/second.mp4');
    const second = await fetch(url, { method: 'PUT', headers, body: bytesOf(50_000) });
    expect([second.status, await second.json()]).toMatchObject([503, { error: 'overloaded' }]);
    await until(async () => (await rig.staged()).length === 1);
    first.destroy();
    await until(async () => (await rig.staged()).length === 0);
    const again = reserve('u/1/second.mp4');
    expect((await fetch(again.url, { method: 'PUT', headers, body: bytesOf(50_000) })).status).toBe(200);
  });

  it('make room for others when they are slow', async () => {
    await start({ settings: { maxStagedBytes: 100_000 }, server: { transferWindowMs: 300 } });
    const slow = trickle(putHead('u/1/slow.mp4')).resume();
    const timer = setInterval(() => slow.write(bytesOf(100)), 20);
    slow.on('close', () => clearInterval(timer));
    slow.write(bytesOf(80_000));
    const put = async () => {
      const { url, headers } = reserve('u/1/mine.mp4');
      return (await fetch(url, { method: 'PUT', headers, body: bytesOf(50_000) })).status;
    };
    await until(async () => (await put()) === 200);
    await until(() => slow.closed);
  });

  it('make room one at a time, also if they are resumable', async () => {
    await start({
      settings: { maxStagedBytes: 100_000 },
      // A pause of this process must not make both too slow.
      server: { transferWindowMs: 1200 },
    });
    const slow = ['u/1/first.mp4', 'u/1/second.mp4'].map((key) => {
      const sign = resumableSigner(rig.url, rig.addressing.secret);
      const expires = Math.floor(rig.clock.now() / 1000) + 300;
      const url = sign({ bucket: rig.originals.bucket, key, expires, contentType: 'video/mp4', size: 1_000_000 });
      const head = `PATCH ${pathOf(url)} HTTP/1.1\r\nHost: a\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n`;
      const socket = trickle(
        `${head}Content-Type: application/offset+octet-stream\r\nContent-Length: 1000000\r\n\r\n`,
      ).resume();
      const timer = setInterval(() => socket.write(bytesOf(200)), 50);
      socket.on('close', () => clearInterval(timer));
      // Room for one of them and the other upload, also after it has grown for six seconds.
      socket.write(bytesOf(30_000));
      return socket;
    });
    const put = async () => {
      const { url, headers } = reserve('u/1/mine.mp4');
      return (await fetch(url, { method: 'PUT', headers, body: bytesOf(45_000) })).status;
    };
    await until(() => rig.app.transfers.count('in') === 2);
    await until(async () => (await put()) === 200);
    // A client that was ended has received a response.
    const ended = () => slow.filter(({ bytesRead }) => bytesRead > 0).length;
    await until(() => ended() > 0);
    await until(() => rig.app.transfers.count('in') === 1);
    expect(ended()).toBe(1);
  });
});
