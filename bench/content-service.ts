/**
 * The cards of the front page in a separate process, in two ways with one port each: `ours`, the content service over a CMS,
 * and `bare`, a route that returns the same bytes and headers. Sends the ports, and answers each message with the CPU time used so far.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { migrations } from '../src/app/migrations.ts';
import { createContent } from '../src/content/service.ts';
import { createLog } from '../src/platform/log.ts';
import { openTestDatabase } from '../test/database.fixture.ts';

const body = readFileSync(new URL('../src/local/cms/sample/home-cards-v2.json', import.meta.url));
const cms = createServer((_request, response) => response.end(body)).listen(0, '127.0.0.1');
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

const ours = await createContent({
  server: { log: createLog({ level: 'silent' }), readiness: {} },
  database: await openTestDatabase(migrations),
  cmsUrl: `http://127.0.0.1:${portOf(cms)}`,
  notify: { url: 'http://127.0.0.1:1', internalKey: undefined },
  mediaUrl: 'http://127.0.0.1:1',
  edgeUrl: 'http://127.0.0.1:1',
  settings: {
    hasShareSitemap: false,
    userUrl: 'http://app.test/{id}',
    feedUrl: 'http://app.test/{id}',
    publicUrl: undefined,
    resendWebhookSecret: undefined,
  },
});
await ours.listen({ host: '127.0.0.1', port: 0 });

const answer = await ours.inject('/op/homecards/v2');
// These are the server's own on both sides.
const { date: _date, connection: _connection, 'content-length': _length, ...headers } = answer.headers;
const bare = fastify();
bare.get('/op/homecards/v2', async (_request, reply) => reply.headers(headers).send(answer.body));
await bare.listen({ host: '127.0.0.1', port: 0 });

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000 });
});
process.on('disconnect', () => process.exit());
process.send?.({ ours: portOf(ours.server), bare: portOf(bare.server) });
