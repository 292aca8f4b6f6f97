/**
 * A small POST of the service that the argument names, in two ways with one port each: `ours`, with everything that a service
 * does for a request, and `bare`, a route that checks the same credential, parses the body with the same schema and performs the
 * same operation. Sends the requests to make, and answers each message with the CPU time used so far.
 */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { type AccountTables, readUnsubscribeSecret, unsubscribe } from '../src/accounts/store.ts';
import { readUnsubscribe, signUnsubscribe } from '../src/accounts/unsubscribing.ts';
import type { AgentContext } from '../src/agent/context.ts';
import { addRoutes as addAgentRoutes } from '../src/agent/routes.ts';
import { retryVideos } from '../src/agent/videos/videos.ts';
import { migrations } from '../src/app/migrations.ts';
import { addUnsubscribing, renderUnsubscribePage } from '../src/content/unsubscribing.ts';
import { objectSource } from '../src/image/engine/sources.ts';
import { toTransform } from '../src/image/engine/specs.ts';
import { createVariantMaker } from '../src/image/engine/variants.ts';
import { createEngine } from '../src/image/engine/working.ts';
import { addRoutes as addImageRoutes, ensureRequest } from '../src/image/routes.ts';
import type { MediaContext } from '../src/media/context.ts';
import type { MediaTables } from '../src/media/tables.ts';
import { taskUpsert } from '../src/media/tasks/api.ts';
import { addTaskRoutes, putTask } from '../src/media/tasks/routes.ts';
import { injectRequest } from '../src/memory/api.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import { createBuiltinEmbedder } from '../src/memory/embedding/builtin.ts';
import { calibrateEmbedder } from '../src/memory/embedding/embedder.ts';
import { findVectorColumn } from '../src/memory/memories/memorystore.ts';
import { addRoutes as addMemoryRoutes } from '../src/memory/routes.ts';
import { createEntityIndexes } from '../src/memory/search/entityindex.ts';
import { inject } from '../src/memory/search/searching.ts';
import type { MemoryTables } from '../src/memory/tables.ts';
import { notifyRequest } from '../src/notify/api.ts';
import type { NotifyContext } from '../src/notify/context.ts';
import { type Notification, notify } from '../src/notify/notifying.ts';
import { addRoutes as addNotifyRoutes } from '../src/notify/routes.ts';
import { openTypes } from '../src/notify/types/registry.ts';
import { type Access, createAccess, createTokenVerifier, matchSecret } from '../src/platform/access/access.ts';
import { createKeySet } from '../src/platform/access/keyset.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import { allowApplications, allowEveryone } from '../src/platform/http/cors.ts';
import { createServer, type HttpServer } from '../src/platform/http/server.ts';
import { negotiateLanguage } from '../src/platform/language.ts';
import { createLog } from '../src/platform/log.ts';
import { openFilesystem } from '../src/platform/objects/files/filesystem.ts';
import { databaseEngines } from '../test/database.fixture.ts';
import { blankPng } from '../test/image/images.fixture.ts';
import { startTestIssuer, testUserId } from '../test/platform/tokenissuer.fixture.ts';
import type { Post, Sent, Service } from './posts.ts';

const log = createLog({ level: 'silent' });
// PostgreSQL where it runs: PGlite would do the queries within the process that is measured.
const engine = databaseEngines.findLast(({ missing }) => !missing) ?? databaseEngines[0];
if (engine === undefined) throw new Error('there is no database');
const database = await engine.open(migrations);
const issuer = await startTestIssuer();
const internalKey = 'an internal key';
const access = createAccess({ internalKeys: [internalKey], jwksUrl: issuer.jwksUrl, log });
const tokens = createTokenVerifier(createKeySet({ jwksUrl: issuer.jwksUrl, log, clock }), clock);
const isInternalKey = matchSecret([internalKey]);
const asUser = { authorization: `Bearer ${await issuer.token({ sub: testUserId })}` };
const asServer = { 'x-internal-key': internalKey };

interface Compared extends Sent {
  /** Of a path: what a route is registered as. */
  readonly route?: string;
  readonly cors?: 'applications' | 'everyone';
  readonly addRoutes: (app: HttpServer, access: Access) => void;
  /** The body is read with the same schema in here. */
  readonly work: (body: unknown) => Promise<unknown>;
  readonly answersPage?: boolean;
}

function compareMedia(): Compared {
  const deps = { db: database.queries<MediaTables>() } as MediaContext;
  return {
    path: '/v1/media-tasks',
    headers: asServer,
    body: { taskId: randomUUID(), ownerId: testUserId, mediaType: 'image', status: 'pending' },
    cors: 'applications',
    addRoutes: (app) => addTaskRoutes(app, access, deps as never),
    work: (body) => putTask(deps, taskUpsert.parse(body)),
  };
}

async function compareMemory(): Promise<Compared> {
  const db = database.queries<MemoryTables>();
  const [embedder, column] = [calibrateEmbedder(createBuiltinEmbedder(), db), await findVectorColumn(db)];
  const indexes = createEntityIndexes(column, embedder);
  const deps = { db, column, embedder, indexes, clock, minRelevance: 0.55 } as MemoryContext;
  return {
    path: '/inject',
    headers: asUser,
    body: { entity_type: 'user', entity_id: testUserId, query: '' },
    cors: 'applications',
    addRoutes: (app) => addMemoryRoutes(app, access, deps as never),
    work: (body) => inject(deps, injectRequest.parse(body)),
  };
}

function compareAgent(): Compared {
  const deps = { db: database.queries(), ttlS: 60 } as unknown as AgentContext;
  const taskId = randomUUID();
  return {
    path: `/video/submit/${taskId}`,
    route: '/video/submit/:taskId',
    headers: asUser,
    cors: 'applications',
    addRoutes: (app) => addAgentRoutes(app, access, deps as never),
    work: () => retryVideos(deps, testUserId, taskId),
    status: 404,
  };
}

async function compareContent(): Promise<Compared> {
  const accounts = database.queries<AccountTables>();
  const unsubscribeSecret = await readUnsubscribeSecret(accounts);
  const token = signUnsubscribe(unsubscribeSecret, testUserId, 'ada@example.com');
  return {
    path: `/unsubscribe?token=${token}`,
    route: '/unsubscribe',
    headers: {},
    cors: 'everyone',
    addRoutes: (app) => addUnsubscribing(app, accounts, unsubscribeSecret),
    work: async () => {
      const unsubscription = readUnsubscribe(unsubscribeSecret, token);
      if (unsubscription !== undefined) await unsubscribe(accounts, unsubscription);
      return renderUnsubscribePage(negotiateLanguage(undefined), 'done');
    },
    answersPage: true,
  };
}

async function compareNotify(): Promise<Compared> {
  const types = await openTypes(undefined);
  const deps = { accounts: database.queries<AccountTables>(), db: database.queries(), log, types };
  return {
    path: '/notify',
    headers: asServer,
    body: { type: 'daily_digest', userId: randomUUID() },
    addRoutes: (app) => addNotifyRoutes(app, access, { ...deps, isKeyConfigured: true } as never),
    work: (body) => {
      const asked = notifyRequest.parse(body) as Notification;
      return notify(deps as unknown as NotifyContext, asked, { key: undefined, body });
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'bench-posts-'));

async function compareImage(): Promise<Compared> {
  const open = (bucket: string) =>
    openFilesystem({ bucket, root: join(folder, bucket), stagingFolder: join(folder, 'incoming'), clock });
  const [originals, publicObjects] = [open('objects'), open('public')];
  await originals.put('a.png', blankPng(64, 64), { contentType: 'image/png' });
  const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };
  const variants = createVariantMaker({ engine: createEngine(limits), keySecret: 'secret', publicObjects, limits });
  const openSource = () => objectSource(originals, 'a.png');
  return {
    path: '/v1/ensure',
    headers: asServer,
    body: { source: { key: 'a.png' }, specs: [{ name: 'v', width: 32 }] },
    addRoutes: (app) => addImageRoutes(app, access, { variants, openSource, publicUrl: 'http://cdn.test' }),
    work: async (body) => {
      const specs = ensureRequest.parse(body).specs.map((spec) => ({ ...spec, transform: toTransform(spec) }));
      const made = await variants.ensure(openSource(), specs);
      return { variants: Object.fromEntries(made.map(({ name, key }) => [name, `http://cdn.test/${key}`])) };
    },
  };
}

const compared: Readonly<Record<Service, () => Compared | Promise<Compared>>> = {
  media: compareMedia,
  memory: compareMemory,
  agent: compareAgent,
  notify: compareNotify,
  content: compareContent,
  image: compareImage,
};

function startBare({ path, route = path, headers, work, answersPage, status }: Compared) {
  const app = fastify();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.post(route, async (request, reply) => {
    const { authorization = '', 'x-internal-key': key } = request.headers;
    if ('authorization' in headers) await tokens.verify(authorization.slice('Bearer '.length));
    if ('x-internal-key' in headers && !isInternalKey(String(key))) return reply.code(401).send();
    if (answersPage) return reply.type('text/html; charset=utf-8').send(await work(undefined));
    if (status === undefined) return work(request.body);
    return work(undefined).catch(() => reply.code(status).send({ error: 'not_found' }));
  });
  return app;
}

function startOurs(service: string, { cors, addRoutes }: Compared) {
  const rule = cors === 'everyone' ? allowEveryone : cors && allowApplications(['https://app.example']);
  const app = createServer({ service, log, readiness: {}, ...(rule && { cors: rule }) });
  addRoutes(app, access);
  return app;
}

const service = process.argv[2] as Service;
const post = await compared[service]();
const ports = [];
for (const app of [startOurs(service, post), startBare(post)]) {
  await app.listen({ host: '127.0.0.1', port: 0 });
  ports.push((app.server.address() as AddressInfo).port);
}
const [ours = 0, bare = 0] = ports;

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1000);
});
process.on('disconnect', async () => {
  await database.close();
  rmSync(folder, { recursive: true });
  process.exit();
});
const { path, headers, body, status } = post;
process.send?.({ ports: { ours, bare }, path, headers, body, ...(status && { status }) } satisfies Post);
