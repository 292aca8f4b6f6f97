import { createIdentityProvider } from '#local/idp/service.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { addressesOf } from '../config.ts';
import type { Wiring } from './wiring.ts';

export async function wireIdp({ config, server }: Wiring): Promise<HttpServer> {
  return createIdentityProvider({
    server,
    clock,
    settings: config.localIdp,
    dataDir: config.process.dataDir,
    publicUrl: addressesOf(config).idp,
  });
}
