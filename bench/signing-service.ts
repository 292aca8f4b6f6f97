/**
 * Signing in a separate process, in three ways with one port each: `bare`, a route with only the token check, the query and the
 * signatures; `uncached`, the media service with its cache cleared before every call; `cached`, the same with its cache. Sends a
 * token, refs and the ports, and answers each message with the CPU time used so far.
 */

import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { migrations } from '../src/app/migrations.ts';
import { resizeSigner } from '../src/edge/api.ts';
import { defaultBrand } from '../src/image/engine/brand.ts';
import { createVariantMaker } from '../src/image/engine/variants.ts';
import { createEngine } from '../src/image/engine/working.ts';
import { findReadyAssets } from '../src/media/assets/assetstore.ts';
import { storageKeyOf } from '../src/media/assets/storagekey.ts';
import { createScreening } from '../src/media/screening/screening.ts';
import { createMedia } from '../src/media/service.ts';
import type { MediaTables } from '../src/media/tables.ts';
import { createAccess, createTokenVerifier } from '../src/platform/access/access.ts';
import { createKeySet } from '../src/platform/access/keyset.ts';
import type { Cache } from '../src/platform/cache/cache.ts';
import { openCache } from '../src/platform/cache/open.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import { createJobs } from '../src/platform/jobs/queueing.ts';
import { createLog } from '../src/platform/log.ts';
import { deriveAddressKey } from '../src/platform/objects/addresses.ts';
import { openFilesystem } from '../src/platform/objects/files/filesystem.ts';
import { databaseEngines } from '../test/database.fixture.ts';
import { startTestIssuer, testUserId } from '../test/platform/tokenissuer.fixture.ts';

const count = 200;
const noLists = {
  blockedHashes: undefined,
  screeningUrl: undefined,
  screeningRules: [],
  quarantineKey: undefined,
  quarantineDays: 365,
};
const log = createLog({ level: 'silent' });
// PostgreSQL where it runs: PGlite would do the query within the process that is measured.
const engine = databaseEngines.findLast(({ missing }) => !missing) ?? databaseEngines[0];
if (engine === undefined) throw new Error('there is no database');
const database = await engine.open(migrations);
const db = database.queries<MediaTables>();
const issuer = await startTestIssuer();
const resizing = { key: '943b421c9eb07c83', salt: '520f986b998545b4' };
const edge = { url: 'http://edge.test:4010', secret: deriveAddressKey(resizing.key, resizing.salt) };
const folder = join(tmpdir(), 'bench-signing');
const open = (bucket: string) =>
  openFilesystem({ bucket, root: join(folder, bucket), stagingFolder: join(folder, 'incoming'), clock, edge });
const [originals, publicObjects] = [open('objects'), open('public')];
const resizeAddress = resizeSigner({ baseUrl: edge.url, ...resizing });

const refs = Array.from({ length: count }, () => randomUUID());
await db
  .insertInto('assets')
  .values(
    refs.map((assetId) => ({
      asset_id: assetId,
      owner_id: testUserId,
      scope_kind: 'thread',
      scope_id: 'demo',
      kind: 'image',
      requested_mime: 'image/jpeg',
      mime: 'image/jpeg',
      backend: 'objects' as const,
      bucket: originals.bucket,
      storage_key: storageKeyOf({
        ownerId: testUserId,
        scopeKind: 'thread',
        scopeId: 'demo',
        assetId,
        mime: 'image/jpeg',
      }),
      etag: '"x"',
      byte_size: 123_456,
      width: 4000,
      height: 3000,
      blurhash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj',
      ready_at: new Date(),
    })),
  )
  .execute();

function startBare() {
  const tokens = createTokenVerifier(createKeySet({ jwksUrl: issuer.jwksUrl, log, clock }), clock);
  const app = fastify();
  app.post('/v1/sign/image', async (request) => {
    const { userId } = await tokens.verify(String(request.headers.authorization).slice('Bearer '.length));
    const refs = (request.body as { refs: string[] }).refs;
    const rows = new Map((await findReadyAssets(db, refs)).map((row) => [row.assetId, row]));
    const answer: Record<string, object> = {};
    for (const ref of refs) {
      const row = rows.get(ref);
      if (row === undefined || row.ownerId !== userId) continue;
      const { storageKey, bucket, etag, mime, width, height, byteSize, blurhash } = row;
      const source = { bucket, key: storageKey, etag };
      answer[ref] = {
        ready: true,
        url: originals.readAddress(storageKey, { expiresInS: 604_800, contentType: mime, etag }),
        thumbUrl: resizeAddress(source, { width: 400, height: 400, quality: 80 }, 'webp'),
        previewUrl: resizeAddress(source, { width: 1024, height: 1024, quality: 85 }, 'webp'),
        width,
        height,
        byteSize,
        blurhash,
        mime,
        durationMs: null,
      };
    }
    return answer;
  });
  return app;
}

function startMedia(signedUrls: Cache) {
  const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };
  const images = createEngine(limits);
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
    server: { log, readiness: {} },
    agentOrigins: [],
    clock,
    access: createAccess({ internalKeys: [], jwksUrl: issuer.jwksUrl, log }),
    database,
    signedUrls,
    files: [],
    originals,
    publicObjects,
    legacy: { bucket: () => undefined },
    engine: images,
    variants: createVariantMaker({ engine: images, keySecret: 'secret', publicObjects, limits }),
    resizeAddress,
    jobs: createJobs({ database, log }),
    screening: createScreening(noLists),
    settings: {
      maxImageBytes: 1,
      maxVideoBytes: 1,
      maxOwnerBytes: 0,
      uploadTtlS: 3600,
      publicScopes: [],
      stripMetadata: 'public',
      c2paCertificate: undefined,
      c2paPrivateKey: undefined,
      ffmpegPath: 'ffmpeg',
      ...noLists,
    },
  });
}

const openAnswers = () => openCache({ redis: undefined, database, name: 'bench', maxBytes: 10_000_000, log });
const kept = openAnswers();
const emptied = openAnswers();
const apps = {
  bare: startBare(),
  uncached: startMedia({
    ...emptied,
    lookUp: async (keys) => {
      await emptied.clear();
      return emptied.lookUp(keys);
    },
  }),
  cached: startMedia(kept),
};
const ports: Record<string, number> = {};
for (const [name, app] of Object.entries(apps)) {
  await app.listen({ host: '127.0.0.1', port: 0 });
  ports[name] = (app.server.address() as AddressInfo).port;
}

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000 });
});
process.on('disconnect', async () => {
  await database.close();
  process.exit();
});
process.send?.({ engine: engine.name, token: await issuer.token({ sub: testUserId }), refs, ports });
