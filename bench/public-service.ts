/**
 * The page of a share, or a page of the gallery, in a separate process, in two ways with one port each: `ours`, our routes over a
 * media service, and `bare`, a route that returns the same bytes and headers. Sends the ports, and answers each message with the CPU
 * time used so far, and the number of calls to the media service.
 */
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { addGalleryRoutes } from '../src/content/gallery.ts';
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

const gallery = {
  items: Array.from({ length: 48 }, (_, index) => ({
    assetId: `00000000-0000-4000-8000-0000000000${index + 10}`,
    kind: 'image',
    width: 1024,
    height: 768,
    blurhash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj',
    thumbUrl: `http://edge.test/${'x'.repeat(200)}`,
    previewUrl: `http://edge.test/${'x'.repeat(200)}`,
    generated: 'ai',
    prompt: 'A lighthouse at dusk',
    author: null,
    remixes: 0,
    publishedAt: new Date(0).toISOString(),
  })),
  next_cursor: null,
};

const isGallery = process.argv[2] === 'gallery';
const path = isGallery ? '/op/gallery' : `/s/${id}`;
const service = isGallery ? 'content' : 'edge';
const ours = createServer({ service, log: createLog({ level: 'silent' }), readiness: {} } as never);
let calls = 0;
const media = {
  send: async () => {
    calls += 1;
    const body = Buffer.from(JSON.stringify(isGallery ? gallery : share));
    return { status: 200, body, json: () => JSON.parse(body.toString()) };
  },
};
const pages = { media, clock: monotonicClock, brand: 'Atelier', edgeUrl: 'http://edge.test', trustedProxies: [] };
if (isGallery) addGalleryRoutes(ours, pages as never);
else addShareRoutes(ours, pages as never, {} as never);
await ours.listen({ host: '127.0.0.1', port: 0 });

const answer = await ours.inject({ url: path, headers: { accept: 'text/html', 'accept-language': 'de' } });
// Pages of errors are not stored, and would be measured instead.
if (answer.statusCode !== 200) throw new Error(`${path} returned ${answer.statusCode}: ${answer.body}`);
// These are the server's own on both sides.
const { date: _date, connection: _connection, 'content-length': _length, ...headers } = answer.headers;
const bare = fastify();
bare.get(path, async (_request, reply) => reply.headers(headers).send(answer.body));
await bare.listen({ host: '127.0.0.1', port: 0 });

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000, calls });
});
process.on('disconnect', () => process.exit());
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
process.send?.({ ours: portOf(ours.server), bare: portOf(bare.server) });
