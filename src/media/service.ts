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
import type { Objects } from '#platform/objects/objects.ts';
import type { mediaSettings } from './config.ts';
import { addRoutes } from './routes.ts';
import type { Screening } from './screening/screening.ts';
import type { MediaTables } from './store.ts';

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
  const { clock, database, originals, engine, variants, screening, resizeAddress, settings } = deps;
  const app = createServer({
    ...deps.server,
    service: 'media',
    description:
      'Reserves places for uploads, registers what was uploaded, signs addresses to read it, and deletes it.',
    cors: allowApplications(deps.agentOrigins),
  });
  addRoutes(app, deps.access, {
    clock,
    db: database.queries<MediaTables>(),
    objects: originals,
    engine,
    variants,
    screening,
    pictures: createPermits({ count: picturesAtOnce, waitMs: pictureWaitMs }),
    resizeAddress,
    limits: settings,
    publicScopes: settings.publicScopes,
    log: deps.server.log,
  });
  return app;
}
