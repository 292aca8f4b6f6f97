/** The media service (document 000; CONTRACT §4; docs/media.md). */
import type { ResizeSigner } from '#edge/api.ts';
import type { Engine } from '#image/engine/engine.ts';
import { createPermits } from '#image/engine/permits.ts';
import type { VariantMaker } from '#image/engine/variants.ts';
import type { Access } from '#platform/access/access.ts';
import type { Clock } from '#platform/clock.ts';
import type { Values } from '#platform/config.ts';
import type { Database } from '#platform/db/db.ts';
import { allowApplications } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import type { LegacyObjects, Objects } from '#platform/objects/objects.ts';
import type { LegacyImport } from './api.ts';
import type { mediaSettings } from './config.ts';
import { keepRemovingAbandonedCopies } from './copies/abandoned.ts';
import { importFile } from './importing.ts';
import { addRoutes } from './routes.ts';
import type { Screening } from './screening/screening.ts';
import type { MediaTables } from './store.ts';
import { createWatermarkMaker } from './watermarkmaking.ts';

export interface MediaDeps {
  /** Of the server, as for every service. */
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'description' | 'bodyLimit'>;
  /** AGENT_ALLOWED_ORIGINS. */
  readonly agentOrigins: readonly string[];
  readonly clock: Clock;
  readonly access: Access;
  /** Migrated. */
  readonly database: Database;
  readonly originals: Objects;
  readonly legacy: Pick<LegacyObjects, 'bucket'>;
  readonly engine: Engine;
  /** Over the public bucket, with the key secret of the image service and the edge: variants go with their source. */
  readonly variants: Pick<VariantMaker, 'forgetAll'>;
  readonly screening: Screening;
  /** Of the edge, or of the imgproxy server that stands in its place. */
  readonly resizeAddress: ResizeSigner;
  readonly settings: Values<typeof mediaSettings>;
}

/** At 64 MiB each, the most that registrations hold in memory is 512 MiB. */
const picturesAtOnce = 8;
const pictureWaitMs = 5000;

export function createMedia(deps: MediaDeps): HttpServer {
  const { clock, database, originals, legacy, engine, variants, screening, resizeAddress, settings } = deps;
  const app = createServer({
    ...deps.server,
    service: 'media',
    description:
      'Reserves places for uploads, registers what was uploaded, signs addresses to read it, and deletes it.',
    cors: allowApplications(deps.agentOrigins),
  });
  const { log } = deps.server;
  const db = database.queries<MediaTables>();
  whileListening(app, (signal) => keepRemovingAbandonedCopies({ db, objects: originals, clock, log }, signal));
  const pictures = picturePermits();
  addRoutes(app, deps.access, {
    clock,
    db,
    objects: originals,
    legacy,
    engine,
    variants,
    screening,
    pictures,
    watermarks: createWatermarkMaker({ engine, pictures }),
    resizeAddress,
    limits: settings,
    publicScopes: settings.publicScopes,
    log,
  });
  return app;
}

/** Work beside the requests; it is over before the engines close. */
function whileListening(app: HttpServer, work: (signal: AbortSignal) => Promise<void>): void {
  const closing = new AbortController();
  let working: Promise<void> | undefined;
  app.addHook('onListen', async () => {
    working = work(closing.signal);
  });
  app.addHook('onClose', async () => {
    closing.abort();
    await working;
  });
}

const picturePermits = () => createPermits({ count: picturesAtOnce, waitMs: pictureWaitMs });

/** What `npm run import-legacy` does without a running instance: `POST /v1/assets/legacy` without HTTP. */
export function importerOf(
  deps: Pick<MediaDeps, 'database' | 'originals' | 'legacy' | 'engine' | 'screening' | 'settings'>,
) {
  const { database, originals, legacy, engine, screening, settings } = deps;
  const db = database.queries<MediaTables>();
  const pictures = picturePermits();
  const importDeps = { db, objects: originals, legacy, engine, screening, pictures, limits: settings };
  return (request: LegacyImport) => importFile(importDeps, request);
}
