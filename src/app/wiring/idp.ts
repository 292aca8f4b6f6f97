import { createIdentityProvider } from '#local/idp/service.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { welcomeOf } from '#webhooks/publishing.ts';
import { addressesOf, publicAuthUrlOf, serviceKeyOf } from '../config.ts';
import type { Wiring } from './wiring.ts';

export async function wireIdp({ config, engines, server }: Wiring): Promise<HttpServer> {
  const callbackUrl = `${publicAuthUrlOf(config)}/callback`;
  return createIdentityProvider({
    server,
    clock,
    settings: config.localIdp,
    dataDir: config.process.dataDir,
    database: await engines.database(),
    welcome: welcomeOf(await engines.webhooks(), config.process.startingCredits),
    publicUrl: addressesOf(config).idp,
    redirectUrls: [callbackUrl, `${callbackUrl}?state=*`, ...config.localIdp.redirectUrls],
    anonKey: config.identity.anonKey,
    serviceKey: serviceKeyOf(config),
  });
}
