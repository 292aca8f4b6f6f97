import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { resizeSigner } from '#edge/api.ts';
import { createMedia } from '#media/service.ts';
import { checkClosing } from '#media/video/branding.ts';
import { createFfmpeg } from '#media/video/ffmpeg.ts';
import { openCache } from '#platform/cache/open.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { deriveAddressKey, resumableSigner } from '#platform/objects/addresses.ts';
import { measureRedis } from '#platform/redis/redis.ts';
import { addressesOf, agentOriginsOf, type Config } from '../config.ts';
import { openClient, type Wiring, wireAccess } from './wiring.ts';

/** Limit of the memory driver: about 60,000 entries. */
const maxCacheBytes = 64 * 1024 * 1024;

const agentTimeoutMs = 9000;
/** A mail is sent while the request waits. */
const notifyTimeoutMs = 20_000;
const maxConversationBytes = 64 * 1024 * 1024;

export async function wireMedia({ config, engines, server, log, serviceLease }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  const redis = await engines.redis();
  const signedUrls = openCache({ redis, database, name: 'media', maxBytes: maxCacheBytes, log });
  serviceLease?.onReturn(() => signedUrls.clear());
  const { driver, originals, publicObjects } = await engines.objects();
  // A folder that cannot be created stops the start.
  if (driver === 'files') await mkdir(join(config.process.dataDir, 'objects'), { recursive: true });
  const legacy = await engines.legacy();
  const files = [
    ...(driver === 'files' ? (['objects'] as const) : []),
    ...(legacy.driver === 'files' ? (['legacy'] as const) : []),
  ];
  const { proxyUrl, cdnUrl } = config.resizing;
  const hasEdge = files.length > 0 || !proxyUrl || !cdnUrl || config.addresses.edge !== undefined;
  const readiness = {
    database: () => database.check(),
    ...(redis && { redis: () => redis.check() }),
    originals: () => originals.check(),
    variants: () => publicObjects.check(),
    legacy: () => legacy.check(),
  };
  const agent = openClient({ config, server }, 'agent', {
    timeoutMs: agentTimeoutMs,
    maxResponseBytes: maxConversationBytes,
  });
  const brand = await engines.brand();
  await checkClosing(createFfmpeg(config.media.ffmpegPath), brand);
  const notify = openClient({ config, server }, 'notify', { timeoutMs: notifyTimeoutMs });
  const app = await createMedia({
    server: { ...server, readiness },
    agentOrigins: agentOriginsOf(config),
    clock,
    access: wireAccess({ config, log }, database),
    database,
    signedUrls,
    originals,
    publicObjects,
    legacy,
    files,
    engine: await engines.images(),
    brand,
    variants: await engines.variants(),
    screening: await engines.screening(),
    resizeAddress: resizeSigner({
      baseUrl: config.resizing.proxyUrl ?? addressesOf(config).edge,
      key: config.resizing.key,
      salt: config.resizing.salt,
    }),
    signUpload: hasEdge ? uploadSigner(config) : undefined,
    jobs: await engines.jobs(),
    webhooks: config.webhooks.url === undefined ? undefined : await engines.webhooks(),
    sharing: { agent, edgeUrl: addressesOf(config).edge },
    reporting: {
      notify,
      addressSecret: `reports ${config.resizing.key} ${config.resizing.salt}`,
      trustedProxies: config.auth.trustedProxies,
    },
    settings: config.media,
  });
  app.addHook('onClose', () => Promise.all([agent.close(), notify.close()]).then(() => undefined));
  if (redis) measureRedis(app.metrics, redis);
  return app;
}

const uploadSigner = (config: Config) =>
  resumableSigner(addressesOf(config).edge, deriveAddressKey(config.resizing.key, config.resizing.salt));
