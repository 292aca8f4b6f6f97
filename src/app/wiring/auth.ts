import { createAuth } from '#auth/service.ts';
import { createAccess } from '#platform/access/access.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { publishAccount } from '#webhooks/accounts.ts';
import { deliveryQueue } from '#webhooks/publishing.ts';
import { addressesOf, publicAuthUrlOf, redirectOriginsOf, serviceKeyOf } from '../config.ts';
import type { Wiring } from './wiring.ts';

export async function wireAuth({ config, engines, server, log }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  const { auth, identity } = config;
  const { keys: internalKeys } = config.internal;
  const allowedOrigins = redirectOriginsOf(config);
  return createAuth({
    server: { ...server, readiness: { database: () => database.check() } },
    clock,
    database,
    jobs: await engines.jobs(),
    onAccountCreated: publishAccount(await engines.webhooks()),
    publicUrl: publicAuthUrlOf(config),
    allowedOrigins,
    defaultOrigin: auth.defaultOrigin ?? allowedOrigins[0] ?? publicAuthUrlOf(config),
    cookieDomain: auth.cookieDomain,
    cookieSecrets: auth.cookieSecrets,
    trustedProxies: auth.trustedProxies,
    // Other processes connect to a PostgreSQL server directly.
    records:
      database.driver === 'pglite' && internalKeys.length > 0
        ? { access: createAccess({ internalKeys, log, clock }), hasMadeUpAccounts: identity.url === undefined }
        : undefined,
    people:
      internalKeys.length > 0
        ? { access: createAccess({ internalKeys, log, clock }), droppedQueues: [deliveryQueue.name] }
        : undefined,
    provider: {
      serviceKey: serviceKeyOf(config),
      url: addressesOf(config).idp,
      anonKey: identity.anonKey,
      socialProvider: auth.socialProvider,
      returnsState: identity.url === undefined,
    },
  });
}
