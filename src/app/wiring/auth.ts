import { createAuth } from '#auth/service.ts';
import { createAccess } from '#platform/access/access.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { droppedAtErasure, noWebhooks, welcomeOf } from '#webhooks/publishing.ts';
import { addressesOf, publicAuthUrlOf, redirectOriginsOf, type ServiceName, serviceKeyOf } from '../config.ts';
import { openClient, type Wiring, wireAccess } from './wiring.ts';

/** An erasure waits for threads to end and for files to be removed. */
const erasureTimeoutMs = 30_000;
/** Exports read whole conversations. */
const maxResponseBytes = 64 * 1024 * 1024;

export async function wireAuth({ config, engines, server, log }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  const { auth, identity } = config;
  const { keys: internalKeys } = config.internal;
  const allowedOrigins = redirectOriginsOf(config);
  const webhooks = await engines.webhooks();
  const clientOf = (name: ServiceName) =>
    openClient({ config, server }, name, { timeoutMs: erasureTimeoutMs, maxResponseBytes, maxConnections: 16 });
  const clients =
    internalKeys.length === 0
      ? undefined
      : {
          agent: clientOf('agent'),
          media: clientOf('media'),
          memory: clientOf('memory'),
          notify: clientOf('notify'),
        };
  const app = await createAuth({
    server: { ...server, readiness: { database: () => database.check() } },
    clock,
    database,
    jobs: await engines.jobs(),
    welcome: welcomeOf(webhooks, config.process.startingCredits),
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
    people: clients && {
      access: createAccess({ internalKeys, log, clock }),
      droppedJobs: droppedAtErasure,
      deletion: {
        userAccess: wireAccess({ config, log }, database),
        clients,
        webhooks: webhooks ?? noWebhooks,
        days: auth.accountDeletionDays,
      },
    },
    provider: {
      serviceKey: serviceKeyOf(config),
      url: addressesOf(config).idp,
      anonKey: identity.anonKey,
      socialProvider: auth.socialProvider,
      returnsState: identity.url === undefined,
    },
  });
  app.addHook('onClose', async () => {
    await Promise.all(Object.values(clients ?? {}).map((client) => client.close()));
  });
  return app;
}
