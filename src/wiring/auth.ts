import { createAuth } from '#auth/service.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { addressesOf, publicAuthUrlOf, redirectOriginsOf } from '../config.ts';
import type { Wiring } from './wiring.ts';

export async function wireAuth({ config, engines, server }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  const { auth, identity } = config;
  const allowedOrigins = redirectOriginsOf(config);
  return createAuth({
    server: { ...server, readiness: { database: () => database.check() } },
    clock,
    database,
    publicUrl: publicAuthUrlOf(config),
    allowedOrigins,
    defaultOrigin: auth.defaultOrigin ?? allowedOrigins[0] ?? publicAuthUrlOf(config),
    cookieDomain: auth.cookieDomain,
    cookieSecrets: auth.cookieSecrets,
    provider: {
      url: addressesOf(config).idp,
      anonKey: identity.anonKey,
      socialProvider: auth.socialProvider,
    },
  });
}
