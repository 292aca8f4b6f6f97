/** The engines of one process. Each is loaded and opened when the first service needs it, and shared. */
import { engineLimits, readBrand } from '#image/config.ts';
import { systemClock } from '#platform/clock.ts';
import { installationId } from '#platform/db/installation.ts';
import { openDatabase } from '#platform/db/open.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { type Closers, StartFault } from '#platform/lifecycle.ts';
import type { Log } from '#platform/log.ts';
import { deriveAddressKey } from '#platform/objects/addresses.ts';
import { openRedis } from '#platform/redis/open.ts';
import { addressesOf, type Config, legacyOf } from './config.ts';
import { migrations } from './migrations.ts';

export type Engines = ReturnType<typeof createEngines>;

/** Opened engines register themselves with `closers`. */
export function createEngines(config: Config, log: Log, closers: Closers) {
  const { image, resizing } = config;
  const limits = engineLimits(image);
  const database = once(async () => {
    const opened = await openDatabase({
      url: config.database.url,
      poolSize: config.database.poolSize,
      dataDir: config.process.dataDir,
      migrations,
      whenMigrated: async (session) => (await import('#memory/memories/pgvectorstore.ts')).adoptPgvector(session),
      log,
    }).catch(blame('DATABASE_URL'));
    closers.add('database', () => opened.close());
    return opened;
  });
  /** Jobs close before the database. A service that works on queues stops its workers when it closes. */
  const jobs = once(async (): Promise<Jobs> => {
    const opened = createJobs({ database: await database(), log });
    closers.add('jobs', () => opened.stop());
    return opened;
  });
  /** `undefined`: embedded, so caches and notifications stay in process. */
  const redis = once(async () => {
    const { url } = config.redis;
    if (url === 'embedded') return undefined;
    const prefix = config.redis.prefix ?? `atelier:${await installationId((await database()).queries())}`;
    const opened = await openRedis({ url, prefix: `${prefix}:`, log }).catch(blame('REDIS_URL'));
    closers.add('redis', () => opened.close());
    return opened;
  });
  const edge = { url: addressesOf(config).edge, secret: deriveAddressKey(resizing.key, resizing.salt) };
  const objects = once(async () => {
    const { openObjects } = await import('#platform/objects/open.ts');
    const opened = await openObjects({
      settings: config.objects,
      production: config.process.production,
      dataDir: config.process.dataDir,
      clock: systemClock,
      log,
      edge,
    }).catch(blame('S3_ENDPOINT'));
    closers.add('objects', () => opened.close());
    return opened;
  });
  const legacy = once(async () => {
    const { originals, publicObjects } = await objects();
    const { openLegacyObjects } = await import('#platform/objects/open.ts');
    const opened = openLegacyObjects({
      settings: legacyOf(config),
      ownBuckets: [originals.bucket, publicObjects.bucket],
      dataDir: config.process.dataDir,
      clock: systemClock,
      edge,
    });
    closers.add('legacy objects', () => opened.close());
    return opened;
  });
  const brand = once(async () => {
    const read = readBrand(config.brand);
    if (read.picture !== undefined)
      await (await import('#image/engine/brandmark.ts')).brandmarkOf(read).catch(blame('BRAND_WATERMARK'));
    return read;
  });
  const images = once(async () => (await import('#image/engine/working.ts')).createEngine(limits, await brand()));
  const variants = once(async () => {
    const { createVariantMaker } = await import('#image/engine/variants.ts');
    return createVariantMaker({
      engine: await images(),
      keySecret: image.keySecret,
      publicObjects: (await objects()).publicObjects,
      limits,
    });
  });
  const screening = once(async () => {
    const { blockedHashes, screeningUrl } = config.media;
    if (blockedHashes === undefined && screeningUrl === undefined)
      log.warn('images are screened against empty lists: neither MEDIA_BLOCKED_HASHES nor MEDIA_SCREENING_URL is set');
    const { createScreening } = await import('#media/screening/screening.ts');
    const opened = createScreening(config.media);
    let isClosing = false;
    closers.add('screening', () => {
      isClosing = true;
      return opened.close();
    });
    // A fault is reported at the start, and the registration of an image reports it again. Empty lists need neither a check nor a thread.
    if (blockedHashes === undefined) return opened;
    opened.checkLists().catch((error: Error) => {
      if (isClosing) return;
      log.error({ err: error.cause }, 'MEDIA_BLOCKED_HASHES: the lists are unusable, so every image will be rejected');
    });
    return opened;
  });
  const webhooks = once(async () =>
    (await import('#webhooks/delivering.ts')).openWebhooks({
      settings: config.webhooks,
      jobs,
      clock: systemClock,
      production: config.process.production,
    }),
  );
  const publisher = once(async () =>
    (await import('#webhooks/delivering.ts')).openPublisher({ settings: config.webhooks, jobs, clock: systemClock }),
  );
  return { database, jobs, webhooks, publisher, redis, objects, legacy, brand, images, variants, screening };
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}

/** If a start fails, the error names the setting, with the cause in the same line. */
function blame(variable: string) {
  return (error: Error): never => {
    if (error instanceof StartFault) throw error;
    const cause = error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
    throw new StartFault(`${variable}: ${cause}`.replaceAll('\n', ' '), { cause: error });
  };
}
