import { createEdge } from '#edge/service.ts';
import { systemClock as clock, monotonicClock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { addressesOf } from '../config.ts';
import { openClient, type Wiring } from './wiring.ts';

const shareTimeoutMs = 5000;
/** Of a conversation, with the URLs of its images. */
const maxShareBytes = 16 * 1024 * 1024;

export async function wireEdge({ config, engines, server }: Wiring): Promise<HttpServer> {
  const { originals, publicObjects } = await engines.objects();
  const legacy = await engines.legacy();
  const readiness = {
    originals: () => originals.check(),
    variants: () => publicObjects.check(),
    legacy: () => legacy.check(),
  };
  const { edge: edgeUrl, console: localUrl } = addressesOf(config);
  const media = openClient({ config, server }, 'media', {
    timeoutMs: shareTimeoutMs,
    maxResponseBytes: maxShareBytes,
  });
  const app = createEdge({
    server: { ...server, readiness },
    clock,
    resizing: config.resizing,
    settings: config.edge,
    originals,
    publicObjects,
    otherBucket: legacy.bucket,
    variants: await engines.variants(),
    shares: {
      media,
      clock: monotonicClock,
      brand: config.brand.name,
      edgeUrl,
      homeUrl: config.process.production ? config.console.url : localUrl,
      trustedProxies: config.auth.trustedProxies,
    },
  });
  app.addHook('onClose', () => media.close());
  return app;
}
