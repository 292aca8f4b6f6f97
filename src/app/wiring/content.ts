import { createContent } from '#content/service.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { addressesOf } from '../config.ts';
import type { Wiring } from './wiring.ts';

export async function wireContent({ config, engines, server }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  return createContent({
    server: { ...server, readiness: { database: () => database.check() } },
    database,
    cmsUrl: addressesOf(config).cms,
    notify: { url: addressesOf(config).notify, internalKey: config.internal.keys[0] },
    mediaUrl: addressesOf(config).media,
    edgeUrl: addressesOf(config).edge,
    settings: config.content,
  });
}
