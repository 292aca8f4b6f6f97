import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RawAnswer, readAnswers, sendRaw } from '../../../test/platform/rawclient.fixture.ts';
import { createLog } from '../log.ts';
import { createServer, type HttpServer, type ServerOptions } from './server.ts';

const log = createLog({ level: 'silent' });
let app: HttpServer;
let address: string;
/** Ends the slow requests in flight. */
let finish: () => void;

async function start(options: Partial<ServerOptions> = {}): Promise<void> {
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  app = createServer({ service: 'media', log, readiness: {}, ...options });
  app.get('/slow', async () => {
    await finished;
    return { done: true };
  });
  app.get('/stream', (_request, reply) => {
    const parts = async function* () {
      yield 'first;';
      await finished;
      yield 'last';
    };
    return reply.send(Readable.from(parts()));
  });
  app.post('/quick', async () => ({ done: true }));
  address = await app.listen({ port: 0, host: '127.0.0.1' });
}
afterEach(async () => {
  finish();
  await app.close();
});

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

function open(): Socket {
  const { hostname, port } = new URL(address);
  return connect(Number(port), hostname);
}

/** Opens a request that the handler has started to process. */
async function inFlight(path = '/slow'): Promise<{ socket: Socket; answers: (count: number) => Promise<RawAnswer[]> }> {
  const before = await gauge();
  const socket = open();
  socket.write(get(path));
  await expect.poll(gauge).toBe(before + 1);
  return { socket, answers: (count) => readAnswers(socket, count) };
}

async function gauge(): Promise<number> {
  const metric = await app.metrics.getSingleMetric('http_requests_in_flight')?.get();
  return metric?.values[0]?.value ?? 0;
}

const error = (answer: RawAnswer | undefined) => JSON.parse(answer?.body ?? '{}').error;
const refused = () =>
  sendRaw(address, get('/health')).then(
    () => 'answered',
    (cause: { code?: string }) => cause.code,
  );

describe('closing', () => {
  it('finishes requests in progress, rejects new ones, then stops listening', async () => {
    await start();
    const idle = open();
    idle.write(get('/health'));
    await readAnswers(idle, 1);
    const slow = await inFlight();
    const closed = app.close();
    await once(idle, 'close');

    const [fresh] = await sendRaw(address, get('/health'));
    expect([fresh?.status, error(fresh), fresh?.headers.connection]).toEqual([503, 'draining', 'close']);
    expect(fresh?.headers['retry-after']).toMatch(/^\d+$/);
    expect(fresh?.headers['x-request-id']).toBeDefined();

    // Send the next request on a socket that is still busy.
    slow.socket.write(get('/health'));
    finish();
    const [finished, next] = await slow.answers(2);
    expect([finished?.status, finished?.body]).toEqual([200, '{"done":true}']);
    // The server either closed the connection with the first response or refused the second request.
    if (next === undefined) expect(finished?.headers.connection).toBe('close');
    else expect([next.status, error(next), next.headers.connection]).toEqual([503, 'draining', 'close']);
    await closed;
    expect(await refused()).toBe('ECONNREFUSED');
  });

  it('finishes a stream that has started', async () => {
    await start();
    const stream = await inFlight('/stream');
    let received = '';
    stream.socket.on('data', (chunk) => {
      received += String(chunk);
    });
    await expect.poll(() => received).toContain('first;');
    const closed = app.close();
    await sleep(30);
    finish();
    await closed;
    await expect.poll(() => received).toContain('last');
  });

  it('waits no longer than its limit', async () => {
    await start({ drainTimeoutMs: 100 });
    const slow = await inFlight();
    await app.close();
    expect(await slow.answers(1)).toEqual([]);
  });

  it('is not delayed by a socket that never sends a request', async () => {
    await start();
    const silent = open();
    const half = open();
    half.write('GET / HTTP/1.1\r\nHos');
    await Promise.all([once(silent, 'connect'), once(half, 'connect')]);
    await sleep(20);
    const ended = Promise.all([once(silent, 'close'), once(half, 'close')]);
    await app.close();
    await ended;
  });

  it('can be drained first, and serves calls for runs in progress until it closes', async () => {
    await start({ servedWhileDraining: (request) => request.headers['x-run'] === '1' });
    await app.drain();
    expect(error((await sendRaw(address, get('/health')))[0])).toBe('draining');
    const [served] = await sendRaw(address, get('/health', 'X-Run: 1\r\n'));
    expect([served?.status, served?.headers.connection]).toEqual([200, 'close']);
    await app.drain();
  });

  it('refuses what proxies send on open connections, and ends when they have closed them', async () => {
    await start();
    const idle = open();
    const forwarded = get('/health', 'X-Forwarded-For: 203.0.113.1\r\n');
    idle.write(forwarded);
    await readAnswers(idle, 1);
    const closed = app.close();
    await expect.poll(refused).toBe('ECONNREFUSED');
    idle.write(forwarded);
    const [answer] = await readAnswers(idle, 1);
    expect([answer?.status, error(answer), answer?.headers.connection]).toEqual([503, 'draining', 'close']);
    await closed;
  });

  it('resets no connection that it has not accepted yet', async () => {
    await start();
    // The kernel establishes these at once, and this turn of the event loop does not accept them.
    const waiting = Array.from({ length: 5 }, () => open());
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const closed = app.close();
    const answers = waiting.map((socket) => {
      socket.write(get('/health', 'X-Forwarded-For: 203.0.113.1\r\n'));
      return readAnswers(socket, 1);
    });
    for (const [answer] of await Promise.all(answers))
      expect([answer?.status, error(answer)]).toEqual([503, 'draining']);
    await closed;
  });

  it('leaves idle connections to proxies while it waits for a request', async () => {
    await start();
    const idle = open();
    const forwarded = get('/health', 'X-Forwarded-For: 203.0.113.1\r\n');
    idle.write(forwarded);
    await readAnswers(idle, 1);
    const direct = open();
    direct.write(get('/health'));
    await readAnswers(direct, 1);
    const slow = await inFlight();
    const closed = app.close();
    // Longer than the server leaves its own idle connections open.
    await sleep(300);
    idle.write(forwarded);
    expect((await readAnswers(idle, 1)).map(error)).toEqual(['draining']);
    finish();
    await slow.answers(1);
    await closed;
  });

  it('ends every drain with the last response', { timeout: 10_000 }, async () => {
    await start({ drainTimeoutMs: 600_000 });
    const slow = await inFlight();
    const drains = [app.drain(), app.drain()];
    finish();
    await Promise.all(drains);
    expect((await slow.answers(1))[0]?.status).toBe(200);
  });

  it('closes without an error after a drain of more than ten seconds', async () => {
    const [began, drained] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const onDrain = () => {
      began.resolve();
      return drained.promise;
    };
    await start({ onDrain });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const closed = app.close();
    await began.promise;
    await vi.advanceTimersByTimeAsync(60_000);
    drained.resolve();
    await expect(closed).resolves.toBeUndefined();
  });
});

describe('with more concurrent requests than the limit', () => {
  it('rejects the next one before its body, and accepts requests again when one is done', async () => {
    await start({ maxInFlight: 2 });
    const first = await inFlight();
    await inFlight();
    const [answer] = await sendRaw(
      address,
      'POST /quick HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n',
    );
    expect([answer?.status, error(answer)]).toEqual([503, 'overloaded']);
    expect(answer?.headers['retry-after']).toMatch(/^\d+$/);
    for (const path of ['/', '/health', '/ready', '/metrics'])
      expect((await sendRaw(address, get(path)))[0]?.status).toBe(200);

    first.socket.destroy();
    await expect.poll(gauge).toBe(1);
    expect((await sendRaw(address, 'POST /quick HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'))[0]?.status).toBe(
      200,
    );
  });
});

it('is not healthy until all services of its process listen, and serves requests meanwhile', async () => {
  let isStarting = true;
  await start({ isStarting: () => isStarting });
  const [early] = await sendRaw(address, get('/health'));
  expect([early?.status, JSON.parse(early?.body ?? '')]).toMatchObject([
    503,
    { error: 'starting', status: 'starting' },
  ]);
  expect((await sendRaw(address, get('/')))[0]?.status).toBe(200);
  isStarting = false;
  expect((await sendRaw(address, get('/health')))[0]?.status).toBe(200);
});
