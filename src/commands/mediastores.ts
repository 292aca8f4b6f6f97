/** The media service's stores in this process, for commands that work without a running instance. */
import { type Config, isAlone, secretsOf } from '#app/config.ts';
import { createEngines } from '#app/engines.ts';
import { acquireForCommand } from '#app/servicelease.ts';
import { openCache } from '#platform/cache/open.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { Closers } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';
import { isEmbeddedInUse } from './instance.ts';

/** Engines open when they are used. */
export function createMediaStores(config: Config, closers: Closers) {
  const log = createLog({ level: 'error', secrets: secretsOf(config) });
  const engines = createEngines(config, log, closers);
  return {
    engines,
    /** `false`: a running instance must be called. It holds the embedded database, or only it can drop what its memory caches. */
    mayChange: async () =>
      !isEmbeddedInUse(config) &&
      (!isAlone(config) || (await acquireForCommand('media', await engines.database(), log, closers))),
    open: async () => {
      const database = await engines.database();
      const redis = await engines.redis();
      const { originals, publicObjects } = await engines.objects();
      return {
        clock,
        log,
        settings: config.media,
        database,
        jobs: await engines.jobs(),
        signedUrls: openCache({ redis, database, name: 'media', maxBytes: 1_000_000, log }),
        originals,
        publicObjects,
        legacy: await engines.legacy(),
        variants: await engines.variants(),
        webhooks: await engines.publisher(),
      };
    },
  };
}

/** For one line of output. */
export function reasonOf(error: unknown): string {
  if (error instanceof Problem) return `${error.message} (${error.code})`;
  return error instanceof Error ? error.message : String(error);
}
