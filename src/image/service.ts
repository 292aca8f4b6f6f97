/** The image variant service (docs/specification/image.md): internal and stateless. */
import { createAccess } from '#platform/access/access.ts';
import { createServer, type HttpServer, type Readiness, type ServerCommons } from '#platform/http/server.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { ImageServiceSettings, ImageSettings } from './config.ts';
import { engineProblems } from './engine/problems.ts';
import { objectSource } from './engine/sources.ts';
import type { VariantMaker } from './engine/variants.ts';
import { createFetcher, fetchTimeoutMs, urlSource } from './fetching.ts';
import { imageProblems } from './problems.ts';
import { addRoutes } from './routes.ts';

export interface ImageDeps {
  readonly server: ServerCommons & { readonly readiness: Readiness };
  readonly settings: ImageServiceSettings & Pick<ImageSettings, 'permitWaitMs' | 'processTimeoutS'>;
  readonly variants: VariantMaker;
  /** The bucket of sources with a `key`. */
  readonly originals: Objects;
  /** The base URL of the public bucket, without a trailing slash: PUBLIC_CDN_URL, or the edge. */
  readonly publicUrl: string;
}

export function createImageService(deps: ImageDeps): HttpServer {
  const { server, settings, variants, originals, publicUrl } = deps;
  const app = createServer({
    ...server,
    service: 'image',
    reference: {
      clientTypes: {
        ImageSource: ['EnsureRequest', 'properties', 'source'],
        VariantSpec: ['EnsureRequest', 'properties', 'specs', 'items'],
      },
      description: 'An internal service that generates variants of images and returns their public URLs.',
      tags: { image: 'Variants of images.' },
      problems: { ...imageProblems.table, ...engineProblems.table },
    },
    plainHealth: true,
    // The limit of one request: its source, two waits for a permit, its header and the processing.
    drainTimeoutMs: fetchTimeoutMs + 2 * (settings.permitWaitMs + settings.processTimeoutS * 1000),
  });
  // An empty key grants no access.
  const internalKeys = settings.internalKey === '' ? [] : [settings.internalKey];
  const fetcher = createFetcher({ allowedHosts: settings.allowedSourceHosts });
  addRoutes(app, createAccess({ internalKeys, log: server.log }), {
    variants,
    openSource: (source) => ('key' in source ? objectSource(originals, source.key) : urlSource(fetcher, source.url)),
    publicUrl,
  });
  return app;
}
