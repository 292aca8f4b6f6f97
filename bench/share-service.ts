/**
 * The page of a share in a separate process, in two ways with one port each: `ours`, the edge's routes over a media service, and
 * `bare`, a route that returns the same bytes and headers. Sends the ports, and answers each message with the CPU time used so far.
 */
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { addShareRoutes } from '../src/edge/shares/routes.ts';
import { monotonicClock } from '../src/platform/clock.ts';
import { createServer } from '../src/platform/http/server.ts';
import { createLog } from '../src/platform/log.ts';

const id = 'x'.repeat(22);
const share = {
  id,
  kind: 'thread',
  title: 'A lighthouse',
  generated: 'ai',
  index: false,
  createdAt: new Date(0).toISOString(),
  media: [],
  messages: Array.from({ length: 10 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: 'A lighthouse at dusk, and the sea below it. '.repeat(8) }],
  })),
};

const ours = createServer({ service: 'edge', log: createLog({ level: 'silent' }), readiness: {} } as never);
const media = { send: async () => ({ status: 200, json: () => share }) };
const pages = { media, clock: monotonicClock, brand: 'Atelier', edgeUrl: 'http://edge.test' };
addShareRoutes(ours, pages as never, {} as never);
await ours.listen({ host: '127.0.0.1', port: 0 });

const answer = await ours.inject({ url: `/s/${id}`, headers: { accept: 'text/html', 'accept-language': 'de' } });
// These are the server's own on both sides.
const { date: _date, connection: _connection, 'content-length': _length, ...headers } = answer.headers;
const bare = fastify();
bare.get(`/s/${id}`, async (_request, reply) => reply.headers(headers).send(answer.body));
await bare.listen({ host: '127.0.0.1', port: 0 });

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1000);
});
process.on('disconnect', () => process.exit());
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
process.send?.({ ours: portOf(ours.server), bare: portOf(bare.server) });
