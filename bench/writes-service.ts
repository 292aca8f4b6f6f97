/**
 * A call that writes, in two ways with one port each: `ours`, the service on PostgreSQL and files, and `bare`, a route that checks
 * the same credential and writes the same rows and files (`writes-bare.ts`). The argument names the call. Answers each message
 * with bodies for calls, or with the CPU time used so far.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../src/app/migrations.ts';
import { resizeSigner } from '../src/edge/api.ts';
import { defaultBrand } from '../src/image/engine/brand.ts';
import { createVariantMaker } from '../src/image/engine/variants.ts';
import { createEngine } from '../src/image/engine/working.ts';
import { createScreening } from '../src/media/screening/screening.ts';
import { createMedia } from '../src/media/service.ts';
import type { MediaTables } from '../src/media/tables.ts';
import { createBuiltinEmbedder } from '../src/memory/embedding/builtin.ts';
import { createMemory } from '../src/memory/service.ts';
import { openOutbox } from '../src/notify/channels/outbox.ts';
import { createNotify } from '../src/notify/service.ts';
import { createAccess } from '../src/platform/access/access.ts';
import { openCache } from '../src/platform/cache/open.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import { openDatabase } from '../src/platform/db/open.ts';
import { createJobs } from '../src/platform/jobs/queueing.ts';
import { createLog } from '../src/platform/log.ts';
import { deriveAddressKey } from '../src/platform/objects/addresses.ts';
import { openFilesystem } from '../src/platform/objects/files/filesystem.ts';
import { createPostgresDatabase } from '../test/database.fixture.ts';
import { blankPng } from '../test/image/images.fixture.ts';
import { plant } from '../test/media/planting.fixture.ts';
import { startTestIssuer, testUserId } from '../test/platform/tokenissuer.fixture.ts';
import type { Opened, Order, Way, Write } from './writes.ts';
import { createBareRoutes } from './writes-bare.ts';

const log = createLog({ level: 'silent' });
const server = await createPostgresDatabase();
const database = await openDatabase({ url: server.url, dataDir: '', migrations, log });
const jobs = createJobs({ database, log });
const issuer = await startTestIssuer();
const internalKey = 'an internal key';
const access = createAccess({ internalKeys: [internalKey], jwksUrl: issuer.jwksUrl, log });
const folder = await mkdtemp(join(tmpdir(), 'bench-writes-'));
const asUser = { authorization: `Bearer ${await issuer.token({ sub: testUserId })}` };
const asServer = { 'x-internal-key': internalKey };
const resizing = { key: '943b421c9eb07c83', salt: '520f986b998545b4' };
const openFiles = (bucket: string) =>
  openFilesystem({
    bucket,
    root: join(folder, bucket),
    stagingFolder: join(folder, 'incoming'),
    clock,
    edge: { url: 'http://edge.test', secret: deriveAddressKey(resizing.key, resizing.salt) },
  });
const originals = openFiles('objects');
const embedder = createBuiltinEmbedder();
const common = { server: { log, readiness: {} }, agentOrigins: [], clock, access, database, jobs };

function startMedia() {
  const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };
  const noLists = {
    blockedHashes: undefined,
    screeningUrl: undefined,
    screeningRules: [],
    quarantineKey: undefined,
    quarantineDays: 365,
  };
  const [engine, publicObjects] = [createEngine(limits), openFiles('public')];
  return createMedia({
    brand: defaultBrand,
    reporting: {
      notify: { send: async () => Promise.reject(new Error('there is no notify service')) },
      addressSecret: 'bench',
      trustedProxies: [],
    },
    sharing: {
      agent: { send: async () => Promise.reject(new Error('there is no agent')) },
      edgeUrl: 'http://127.0.0.1:9',
    },
    ...common,
    signedUrls: openCache({ redis: undefined, database, name: 'bench', maxBytes: 10_000_000, log }),
    originals,
    files: ['objects'],
    publicObjects,
    legacy: { bucket: () => undefined },
    engine,
    variants: createVariantMaker({ engine, keySecret: 'secret', publicObjects, limits }),
    resizeAddress: resizeSigner({ baseUrl: 'http://edge.test', ...resizing }),
    screening: createScreening(noLists),
    settings: {
      maxImageBytes: 1e6,
      maxVideoBytes: 1e6,
      maxOwnerBytes: 0,
      uploadTtlS: 3600,
      publicScopes: [],
      stripMetadata: 'public',
      c2paCertificate: undefined,
      c2paPrivateKey: undefined,
      ffmpegPath: '',
      ...noLists,
    },
  });
}

const startMemory = () => createMemory({ ...common, adminToken: '', embedder });

const startNotify = async () =>
  createNotify({
    ...common,
    internalKeys: [internalKey],
    channel: await openOutbox(folder),
    from: 'a@example.com',
    appUrl: 'https://app.example.com',
    unsubscribeUrl: 'https://content.example.com/unsubscribe',
    brand: { name: 'Atelier', color: '#3730a3' },
    contentUrl: 'http://127.0.0.1:9',
  });

/** Images that passed their screening. */
async function assetsOf(count: number) {
  const options = { scopeId: 'writes', bytes: blankPng(64, 64) };
  const planted = await plant({ database, originals, userId: testUserId }, count, options);
  const [sha256, md5, pdq] = ['a'.repeat(64), 'b'.repeat(32), 'c'.repeat(64)];
  await database
    .queries<MediaTables>()
    .updateTable('assets')
    .set({ sha256, md5, pdq, pdq_quality: 100, width: 64, height: 64, screened_at: new Date() })
    .where('sha256', 'is', null)
    .execute();
  return planted;
}

const many = <Body>(count: number, make: (index: number) => Body) => Array.from({ length: count }, (_, i) => make(i));
/** Of each way, because the service would have to read what the bare route adds. */
const entities = { ours: many(20, () => randomUUID()), bare: many(20, () => randomUUID()) };
const source = (await assetsOf(1))[0]?.assetId;

const calls = {
  copy: {
    path: '/v1/copy',
    headers: asUser,
    start: startMedia,
    bodies: async (count: number) =>
      many(count, () => ({ fromAssetId: source, toScopeKind: 'feed', toScopeId: 'writes' })),
  },
  deletion: {
    method: 'DELETE',
    path: '/v1/assets',
    headers: asUser,
    start: startMedia,
    bodies: async (count: number) => (await assetsOf(count)).map(({ assetId }) => ({ ids: [assetId] })),
  },
  memory: {
    path: '/memory/add',
    headers: asServer,
    start: startMemory,
    bodies: async (count: number, way: Way) =>
      many(count, (index) => ({
        entity_type: 'user',
        entity_id: entities[way][index % entities[way].length],
        type: 'episodic',
        content: `The word of ${randomUUID()} is ${randomBytes(5).toString('hex')}`,
      })),
  },
  email: {
    path: '/emails',
    headers: asServer,
    start: startNotify,
    bodies: async (count: number) =>
      many(count, () => ({ from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' })),
  },
} as const satisfies Readonly<Record<Write, object>>;

const name = process.argv[2] as Write;
const call: {
  readonly method?: string;
  readonly path: string;
  readonly headers: Opened['headers'];
  readonly bodies: (count: number, way: Way) => Promise<readonly unknown[]>;
  readonly start: () => ReturnType<typeof startMedia> | ReturnType<typeof startNotify>;
} = calls[name];
const ours = await call.start();
const bare = await createBareRoutes({ url: server.url, folder, issuer, internalKey, embedder });
const ports: Record<Way, number> = { ours: 0, bare: 0 };
for (const [way, app] of [['ours', ours] as const, ['bare', bare] as const]) {
  await app.listen({ host: '127.0.0.1', port: 0 });
  ports[way] = (app.server.address() as AddressInfo).port;
}

process.on('message', async (order: Order) => {
  if (order !== 'cpu') return void process.send?.(await call.bodies(order.bodies, order.way));
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1000);
});
process.on('disconnect', async () => {
  await bare.close();
  await ours.close();
  await database.close();
  await server.drop();
  await rm(folder, { recursive: true });
  process.exit();
});
const { method = 'POST', path, headers } = call;
process.send?.({ method, path, headers, ports } satisfies Opened);
