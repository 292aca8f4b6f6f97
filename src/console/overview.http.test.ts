/** The overview for services that are healthy, partly healthy and unreachable. */
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createServer, type HttpServer, type Readiness } from '#platform/http/server.ts';
import { createLog } from '#platform/log.ts';
import type { ConsoleContext } from './context.ts';
import { collectOverview } from './overview.ts';

const log = createLog({ level: 'silent' });
const opened: HttpServer[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

async function serve(readiness: Readiness) {
  const app = createServer({ service: 'media', log, readiness, reference: { description: '' } });
  opened.push(app);
  return app.listen({ host: '127.0.0.1', port: 0 });
}

const fine = async () => undefined;
const broken = async () => Promise.reject(new Error('no'));
const inspect = async (address: string) => {
  const { services } = await collectOverview({
    services: { media: address },
    engines: [],
  } as unknown as ConsoleContext);
  return services[0];
};

describe('a service', () => {
  it('is ready with all its engines', async () => {
    const state = await inspect(await serve({ database: fine, objects: fine }));
    expect(state).toMatchObject({ status: 'ready', engines: { database: 'ok', objects: 'ok' } });
  });

  it('is not ready without one, and names it', async () => {
    const state = await inspect(await serve({ database: broken, objects: fine }));
    expect(state).toMatchObject({ status: 'unready', engines: { database: 'unavailable', objects: 'ok' } });
  });

  it('is unreachable if nothing listens', async () => {
    const address = await serve({});
    await opened.pop()?.close();
    expect(await inspect(address)).toMatchObject({ status: 'unreachable', engines: {} });
  });

  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const startOfResponse = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{';
  it.each([
    ['sends an invalid response', (socket: Socket) => socket.end(`${chunked}5\r\nhello\r\n\r\n`)],
    ['ends its response early', (socket: Socket) => socket.end(startOfResponse)],
    ['does not end its response in time', (socket: Socket) => socket.write(startOfResponse)],
  ])('is unreachable if it %s', async (_what, respond) => {
    const server = createTcpServer((socket) => void respond(socket.on('error', () => undefined)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await inspect(`http://127.0.0.1:${port}`)).toMatchObject({ status: 'unreachable' });
    server.close();
  });

  it('is ready if only one of two checks fails', async () => {
    let checks = 0;
    const once = async () => {
      checks += 1;
      if (checks === 1) throw new Error('slow');
    };
    expect(await inspect(await serve({ database: once }))).toMatchObject({ status: 'ready' });
    expect(checks).toBe(2);
  });

  it('is unreachable if another program listens', async () => {
    const app = createServer({ service: 'other', log, readiness: {}, reference: { description: '' } });
    app.addHook('onRequest', async (_request, reply) => reply.code(200).type('text/html').send('<p>Welcome'));
    opened.push(app);
    expect(await inspect(await app.listen({ host: '127.0.0.1', port: 0 }))).toMatchObject({ status: 'unreachable' });
  });
});
