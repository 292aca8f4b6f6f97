import { createEdge } from '#edge/service.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Wiring } from './wiring.ts';

export async function wireEdge({ config, engines, server }: Wiring): Promise<HttpServer> {
  const { originals, publicObjects } = await engines.objects();
  const legacy = await engines.legacy();
  const readiness = {
    originals: () => originals.check(),
    variants: () => publicObjects.check(),
    legacy: () => legacy.check(),
  };
  return createEdge({
    server: { ...server, readiness },
    clock,
    resizing: config.resizing,
    settings: config.edge,
    originals,
    publicObjects,
    otherBucket: legacy.bucket,
    variants: await engines.variants(),
  });
}
