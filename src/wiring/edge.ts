import { createEdge } from '#edge/service.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Wiring } from './wiring.ts';

export async function wireEdge({ config, engines, server }: Wiring): Promise<HttpServer> {
  const { originals, publicObjects } = await engines.objects();
  return createEdge({
    server: { ...server, readiness: { originals: () => originals.check(), variants: () => publicObjects.check() } },
    clock,
    resizing: config.resizing,
    originals,
    publicObjects,
    variants: await engines.variants(),
  });
}
