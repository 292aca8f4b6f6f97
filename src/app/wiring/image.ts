import { createImageService } from '#image/service.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { addressesOf } from '../config.ts';
import type { Wiring } from './wiring.ts';

export async function wireImage({ config, engines, server }: Wiring): Promise<HttpServer> {
  const { originals, publicObjects } = await engines.objects();
  return createImageService({
    server: { ...server, readiness: { originals: () => originals.check(), variants: () => publicObjects.check() } },
    settings: { ...config.image, ...config.imageService },
    variants: await engines.variants(),
    originals,
    publicUrl: config.resizing.cdnUrl ?? addressesOf(config).edge,
  });
}
