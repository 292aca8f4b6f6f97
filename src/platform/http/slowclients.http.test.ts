/** Clients that send or read slowly, against a server with a limit of two concurrent requests. */
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isNightly } from '../../../test/lane.fixture.ts';
import { readAnswers, sendRaw } from '../../../test/platform/rawclient.fixture.ts';
import { createLog } from '../log.ts';
import { createServer, type HttpServer, type ServerOptions } from './server.ts';

const large = 'x'.repeat(24_000_000);
const many = isNightly ? 20 : 6;
let app: HttpServer;
let address: string;
let sockets: Socket[];

async function start(options: Partial<ServerOptions> = {}, add?: (server: HttpServer) => void): Promise<void> {
  app = createServer({
    service: 'auth',
    log: createLog({ level: 'silent' }),
    readiness: {},
    maxInFlight: 2,
    ...options,
  });
  app.post('/quick', async (request) => ({ received: request.body }));
  app.get('/large', async () => large);
  app.get('/small', async () => ({ done: true }));
  add?.(app);
  address = await app.listen({ port: 0, host: '127.0.0.1' });
  sockets = [];
}
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await app.close();
});

function begin(text: string): Socket {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  socket.write(text);
  sockets.push(socket);
  return socket;
}

/** Writes a byte at intervals until the connection ends. */
function trickle(socket: Socket): Socket {
  const timer = setInterval(() => socket.write(' '), 20);
  socket.on('close', () => clearInterval(timer));
  return socket;
}

const post = (headers: string, body: string) =>
  `POST /quick HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;

const gauge = async (name: string) => (await app.metrics.getSingleMetric(name)?.get())?.values ?? [];
const open = async () => (await gauge('http_requests_in_flight'))[0]?.value;
const sending = async () => (await gauge('http_transfers')).find(({ labels }) => labels.direction === 'out')?.value;

async function everybodyElseIsServed(): Promise<void> {
  const answers = await Promise.all([
    sendRaw(address, post('Content-Length: 2', '{}')),
    sendRaw(address, 'GET /small HTTP/1.1\r\nHost: a\r\n\r\n'),
  ]);
  expect(answers.map(([answer]) => answer?.status)).toEqual([200, 200]);
}

describe(`${many} clients`, () => {
  beforeEach(() => start());

  it.each([
    ['with a length', post('Content-Length: 1000', '{')],
    ['in chunks', post('Transfer-Encoding: chunked', '1\r\n{\r\n')],
  ])('whose bodies do not arrive (%s) do not count as in flight', async (_name, text) => {
    for (let index = 0; index < many; index++) begin(text);
    await expect.poll(open).toBe(many);
    await everybodyElseIsServed();
  });

  it('that do not read a large response do not count as requests in progress', async () => {
    for (let index = 0; index < many; index++) {
      begin('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
      await expect.poll(sending).toBe(index + 1);
    }
    await everybodyElseIsServed();
  });

  it('that send request after request and read nothing do not count as requests in progress', async () => {
    for (let index = 0; index < many; index++) begin('GET /small HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000));
    await expect.poll(async () => (await gauge('http_request_duration_seconds')).length > 0).toBe(true);
    await everybodyElseIsServed();
  });
});

describe('a request that does not arrive in time', () => {
  beforeEach(() => start({ requestTimeoutMs: 200 }));

  it.each([
    ['whose body trickles in', post('Content-Length: 100000', '{')],
    ['whose body does not arrive', post('Content-Length: 100000', '')],
    ['whose head trickles in', 'POST /quick HTTP/1.1\r\nHost:'],
  ])('%s gets 408, and its connection ends', async (_name, text) => {
    const socket = trickle(begin(text)).resume();
    const [answer] = await readAnswers(socket, 2);
    expect([answer?.status, JSON.parse(answer?.body ?? '{}').error]).toEqual([408, 'request_timeout']);
  });

  it('does not start during a pause on its connection', async () => {
    const socket = begin(post('Content-Length: 2', '{}')).resume();
    expect((await readAnswers(socket, 1))[0]?.status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 600));
    socket.write(post('Content-Length: 2', '{}'));
    expect((await readAnswers(socket, 1))[0]?.status).toBe(200);
  });
});

describe('a large response', () => {
  // Longer than a busy machine stops a reader.
  const windowMs = 5_000;

  it('is cut off if its reader receives nothing', async () => {
    await start({ transferWindowMs: 600 });
    const socket = begin('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(sending).toBe(1);
    await expect.poll(sending, { timeout: 10_000 }).toBe(0);
    expect(Buffer.concat(await socket.resume().toArray()).length).toBeLessThan(large.length);
  });

  it('reaches a reader that is slow, but not too slow', async () => {
    await start({ transferWindowMs: windowMs });
    const socket = begin('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    let received = 0;
    const startedAtMs = performance.now();
    for await (const chunk of socket) {
      received += chunk.length;
      if (performance.now() - startedAtMs < 1.2 * windowMs) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(received).toBeGreaterThan(large.length);
  });
});

describe('when no place is left for another large response', () => {
  it('returns 503 for the next GET, but sends the response of completed work', async () => {
    await start({ maxTransfers: 1 }, (server) => server.post('/large', async () => large));
    begin('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(sending).toBe(1);
    const [refused] = await sendRaw(address, 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    expect([refused?.status, JSON.parse(refused?.body ?? '{}').error]).toEqual([503, 'overloaded']);
    const [done] = await sendRaw(address, 'POST /large HTTP/1.1\r\nHost: a\r\n\r\n');
    expect([done?.status, done?.body.length]).toEqual([200, large.length]);
    await everybodyElseIsServed();
  });
});

describe('a body that arrives while all slots are in use', () => {
  it('is rejected when it is complete, and its sender can retry', async () => {
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
    await start({ maxInFlight: 1 }, (server) => server.get('/slow', async () => finished));
    const arriving = begin(post('Content-Length: 2', '{'));
    await expect.poll(open).toBe(1);
    const slow = begin('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n').resume();
    await expect.poll(open).toBe(2);
    arriving.resume().write('}');
    const [refused] = await readAnswers(arriving, 1);
    expect([refused?.status, JSON.parse(refused?.body ?? '{}').error]).toEqual([503, 'overloaded']);
    finish();
    await readAnswers(slow, 1);
    arriving.write(post('Content-Length: 2', '{}'));
    expect((await readAnswers(arriving, 1))[0]?.status).toBe(200);
  });
});
