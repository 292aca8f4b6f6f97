/** deploy/nginx with a real nginx in front of plain HTTP servers that record requests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePortBase } from '../ports.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { type NginxProxy, startProxy } from './proxy.fixture.ts';

const domain = 'atelier.test';
const filesDomain = 'atelier-files.test';
const agentOffset = 4;
/** The shipped limit needs more connections than a busy machine opens in time. */
const clientLimit = 16;

describe.skipIf(skipWithout('nginx', 'openssl'))('nginx', () => {
  let proxy: NginxProxy;
  let at: (service: string, path?: string) => string;
  let httpsPort: number;
  let processes: readonly [Upstream, Upstream];
  const upstreams: Upstream[] = [];

  beforeAll(async () => {
    const portBases = [await freePortBase(), await freePortBase()] as const;
    const upstream = async (port: number) => {
      const started = await startUpstream(port);
      upstreams.push(started);
      return started;
    };
    processes = [await upstream(portBases[0] + agentOffset), await upstream(portBases[1] + agentOffset)];
    for (const offset of [0, 1, 3, 5, 6, 10]) await upstream(portBases[0] + offset);
    const s3Port = portBases[0] + 8;
    await upstream(s3Port);
    httpsPort = portBases[0] + 9;
    at = (service, path = '/') =>
      `https://${service}.${['files', 's3'].includes(service) ? filesDomain : domain}:${httpsPort}${path}`;
    proxy = await startProxy({
      domain,
      filesDomain,
      httpPort: portBases[0] + 7,
      httpsPort,
      portBases,
      s3Port,
      clientLimit,
    });
  }, 60_000);
  afterEach(() => {
    for (const upstream of upstreams) upstream.reset();
  });
  afterAll(async () => {
    await proxy?.close();
    for (const upstream of upstreams) await upstream.close();
  });

  describe('a process that receives a request and dies without a response', () => {
    it.each(['POST', 'PATCH'])('receives no second request, and neither does the other process: %s', async (method) => {
      for (const upstream of processes) upstream.answer = (request) => request.socket.destroy();
      const response = await proxy.fetch(at('agent', '/task'), { method, body: '{}' });
      expect(response.status).toBe(502);
      expect(processes.flatMap(({ seen }) => seen)).toEqual([`${method} /task {}`]);
    });

    it('leaves a GET to the other process', async () => {
      const [dying, other] = processes;
      dying.answer = (request) => request.socket.destroy();
      const requests = Array.from({ length: 6 }, () => proxy.fetch(at('agent', '/x')));
      expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect(other.seen).toEqual(Array(6).fill('GET /x '));
      expect(dying.seen).not.toEqual([]);
    });
  });

  it('gives a POST to the other process if the first refuses the connection', async () => {
    const [gone, other] = processes;
    await gone.close();
    try {
      const requests = Array.from({ length: 6 }, () =>
        proxy.fetch(at('agent', '/task'), { method: 'POST', body: '{}' }),
      );
      expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect(other.seen).toEqual(Array(6).fill('POST /task {}'));
    } finally {
      await gone.listen();
    }
  });

  it('gives a POST to the other process if the first does not accept the connection', { timeout: 30_000 }, async () => {
    const [gone, other] = processes;
    await gone.close();
    const silent = await startSilent(gone.port);
    try {
      const requests = Array.from({ length: 6 }, () =>
        proxy.fetch(at('agent', '/task'), { method: 'POST', body: '{}' }),
      );
      expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect(other.seen).toEqual(Array(6).fill('POST /task {}'));
    } finally {
      await silent.close();
      await gone.listen();
    }
  });

  describe('a draining process', () => {
    /** As the services answer (src/platform/http/admission.ts). */
    const refuse = (request: IncomingMessage, response: ServerResponse) => {
      const location = request.headers['x-refusal-location'];
      const headers = { 'retry-after': '2', ...(location && { 'x-accel-redirect': location }) };
      response.writeHead(503, { 'content-type': 'application/json', ...headers }).end('{"error":"draining"}');
    };
    const post = (path: string, body = '{}') => proxy.fetch(at('agent', path), { method: 'POST', body });

    it.each([0, 1])('leaves each request to the other: %i', async (index) => {
      const [draining, other] = index === 0 ? processes : ([processes[1], processes[0]] as const);
      draining.answer = refuse;
      const large = 'x'.repeat(3 * 1024 * 1024);
      const answers = await Promise.all([
        ...Array.from({ length: 8 }, () => post('/task?from=1')),
        ...Array.from({ length: 4 }, () => post('/chat', large)),
        ...Array.from({ length: 4 }, () => proxy.fetch(at('agent', '/threads'))),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200));
      expect(other.seen.filter((seen) => seen === 'POST /task?from=1 {}')).toHaveLength(8);
      expect(other.seen.filter((seen) => seen === `POST /chat ${large}`)).toHaveLength(4);
      expect(draining.seen).not.toEqual([]);
    });

    it('is named to the client if the other is draining too', async () => {
      for (const upstream of processes) upstream.answer = refuse;
      const answer = await post('/task');
      expect([answer.status, await answer.text()]).toEqual([503, '{"error":"draining"}']);
      expect(answer.headers.get('retry-after')).toBe('2');
      expect(answer.headers.has('x-accel-redirect')).toBe(false);
    });

    it('does not lead to a second POST if the other one dies', async () => {
      const [draining, dying] = processes;
      draining.answer = refuse;
      dying.answer = (request) => request.socket.destroy();
      expect((await post('/task')).status).toBe(502);
      expect(dying.seen).toEqual(['POST /task {}']);
    });
  });

  it('does not let old versions of TLS in', async () => {
    const connection = connectTls({
      port: httpsPort,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    const [error] = await once(connection, 'error');
    expect(String(error)).toMatch(/protocol version|alert/i);
  });

  it('logs each request without its query string, which can be a signature', async () => {
    expect((await proxy.fetch(at('files', '/logged?signature=secret'))).status).toBe(200);
    await expect.poll(() => proxy.logged()).toContain('"GET /logged" 200');
    expect(await proxy.logged()).not.toContain('secret');
  });

  describe('metrics, readiness and reference', () => {
    const services = ['media', 'auth', 'agent', 'memory', 'content', 'files', 'console'];
    const paths = [
      '/metrics',
      '/ready',
      '/docs',
      '/docs/x',
      '/openapi.json',
      '/%6detrics',
      '//metrics',
      '/a/../metrics',
    ];

    it.each(services)('of %s are for the private network only', async (service) => {
      for (const path of paths) {
        expect((await proxy.fetch(at(service, path))).status, path).toBe(403);
        expect((await proxy.fetchFromGateway(at(service, path))).status, path).toBe(403);
      }
      expect(upstreams.flatMap(({ seen }) => seen)).toEqual([]);
      for (const path of ['/metrics', '/ready', '/openapi.json'])
        expect((await proxy.fetchInside(at(service, path))).status, path).toBe(200);
    });
  });

  describe('the object store', () => {
    it.each([
      ['GET', '/originals/u/a.png?X-Amz-Signature=x'],
      ['HEAD', '/originals/u/a.png?X-Amz-Signature=x'],
      ['PUT', '/originals/u/a.png?X-Amz-Signature=x'],
      ['OPTIONS', '/originals/u/a.png'],
      ['GET', '/variants/img/a.webp'],
    ])('lets signed URLs through: %s %s', async (method, path) => {
      const body = method === 'PUT' ? 'bytes' : null;
      expect((await proxy.fetch(at('s3', path), { method, body })).status).toBe(200);
    });

    it.each([
      ['GET', '/'],
      ['GET', '/originals'],
      ['GET', '/originals/'],
      ['GET', '/originals?list-type=2'],
      ['POST', '/originals?delete'],
      ['DELETE', '/originals/u/a.png'],
      ['POST', '/originals/u/a.png?uploads'],
      ['PUT', '/originals'],
      ['PUT', '/other/u/a.png'],
      ['PATCH', '/list-users'],
      ['GET', '/minio/admin/v3/info'],
      ['GET', '/originals/../other/u/a.png'],
    ])('keeps the rest inside: %s %s', async (method, path) => {
      const send = (from: typeof fetch) => from(at('s3', path), { method });
      expect([(await send(proxy.fetch)).status, (await send(proxy.fetchFromGateway)).status]).toEqual([403, 403]);
      expect(upstreams.flatMap(({ seen }) => seen)).toEqual([]);
      expect((await send(proxy.fetchInside)).status).toBe(200);
    });
  });

  it('treats a page on a machine of the private network as outside', async () => {
    const init = { headers: { origin: 'https://app.example.com' } };
    expect((await proxy.fetchInside(at('s3', '/other/u/a.png'), init)).status).toBe(403);
    expect((await proxy.fetchInside(at('s3', '/originals/u/a.png'), init)).status).toBe(200);
  });

  it('limits the concurrent requests of one client address, but not of services', {
    timeout: 30_000,
  }, async () => {
    const held: ServerResponse[] = [];
    const hold = (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200).flushHeaders();
      held.push(response);
    };
    for (const upstream of processes) upstream.answer = hold;
    const open = (from: typeof fetch) => from(at('agent', '/stream/1')).then(({ status }) => status);
    const requests = [proxy.fetch, proxy.fetchInside].map((from) =>
      Array.from({ length: clientLimit + 4 }, () => open(from)),
    );
    const [outside = [], inside = []] = await Promise.all(requests.map((some) => Promise.all(some)));
    for (const response of held) response.end();
    expect(inside.filter((status) => status === 200)).toHaveLength(clientLimit + 4);
    expect([
      outside.filter((status) => status === 200).length,
      outside.filter((status) => status === 429).length,
    ]).toEqual([clientLimit, 4]);
  });

  it('closes the connection of a client that does not finish its headers', { timeout: 30_000 }, async () => {
    const socket = connect(httpsPort, '127.0.0.1');
    await once(socket, 'connect');
    const closed = once(socket, 'close');
    socket.resume();
    // The TLS handshake does not finish either, because the same timer applies.
    socket.write('\x16');
    await closed;
  });
});

/** Does not respond to connections, as the address of a removed container: its queue is full, and its process is stopped. */
async function startSilent(port: number): Promise<{ close(): Promise<void> }> {
  const listening = `require('node:net').createServer().listen(${port}, '127.0.0.1', 1, () => console.log('listening'))`;
  const child = spawn(process.execPath, ['-e', listening], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  // The queue has room for two. The others are never established.
  const sockets = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  await expect.poll(() => sockets.filter((socket) => socket.readyState === 'open').length).toBe(2);
  return {
    close: async () => {
      for (const socket of sockets) socket.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

interface Upstream {
  readonly port: number;
  /** Method, path and body of each request. */
  readonly seen: string[];
  answer: (request: IncomingMessage, response: ServerResponse) => unknown;
  reset(): void;
  listen(): Promise<void>;
  close(): Promise<void>;
}

async function startUpstream(port: number): Promise<Upstream> {
  const well = (_request: IncomingMessage, response: ServerResponse) => response.end('{}');
  const server: Server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    upstream.seen.push(`${request.method} ${request.url} ${body}`);
    upstream.answer(request, response);
  });
  const upstream: Upstream = {
    port,
    seen: [],
    answer: well,
    reset: () => {
      upstream.seen.length = 0;
      upstream.answer = well;
    },
    listen: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  await upstream.listen();
  return upstream;
}
