/** The edge (CONTRACT §§2 and 5): without state, any number of it, in front of whatever stores are configured. */
import type { Clock } from '#platform/clock.ts';
import { createServer, type HttpServer } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import { deriveAddressKey } from '#platform/objects/addresses.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { pathSigner } from './api.ts';
import type { ResizingDeps } from './resizing.ts';
import { addRoutes } from './routes.ts';

export interface EdgeDeps {
  readonly log: Log;
  readonly clock: Clock;
  /** IMGPROXY_KEY and IMGPROXY_SALT (hex); file addresses are signed with a key derived from them. */
  readonly resizing: { readonly key: string; readonly salt: string };
  readonly originals: Objects;
  readonly variants: Objects;
  /** Further buckets that signed addresses may name: those of the legacy backend. */
  readonly otherBucket?: (name: string) => Objects | undefined;
  readonly ensure: ResizingDeps['ensure'];
  readonly uploadIdleMs?: number;
}

/** A 2 GiB upload over a slow line takes hours; one that stands still is ended much sooner. */
const longestUploadMs = 6 * 60 * 60 * 1000;

export function createEdge(deps: EdgeDeps): HttpServer {
  const { originals, variants, resizing } = deps;
  const app = createServer({
    service: 'edge',
    log: deps.log,
    readiness: { originals: () => originals.check(), variants: () => variants.check() },
  });
  app.server.requestTimeout = longestUploadMs;
  addRoutes(app, {
    clock: deps.clock,
    addressKey: deriveAddressKey(resizing.key, resizing.salt),
    signPath: pathSigner(resizing.key, resizing.salt),
    bucket: (name) => (name === originals.bucket ? originals : deps.otherBucket?.(name)),
    variants,
    ensure: deps.ensure,
    uploadIdleMs: deps.uploadIdleMs ?? 30_000,
  });
  return app;
}
