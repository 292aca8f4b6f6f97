/**
 * The local identity provider: a stand-in with GoTrue's API and a page on which a user chooses an account
 * (docs/local.md). It signs in any user without a password. It therefore listens on the loopback interface only
 * (config.ts), and in production it starts only if it is named.
 */
import type { AccountTables, Welcome } from '#accounts/store.ts';
import type { Clock } from '#platform/clock.ts';
import type { Values } from '#platform/config.ts';
import type { Database } from '#platform/db/db.ts';
import { traceHeaders } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerCommons } from '#platform/http/server.ts';
import type { idpSettings } from './config.ts';
import { createFaults } from './faults.ts';
import { openSigningKeys } from './keys.ts';
import { addRoutes } from './routes.ts';
import type { IdpTables } from './store.ts';

export interface IdentityProviderDeps {
  readonly server: ServerCommons;
  readonly clock: Clock;
  readonly settings: Pick<Values<typeof idpSettings>, 'secret'>;
  readonly dataDir: string;
  /** A migrated database, in which sessions survive a restart. */
  readonly database: Database;
  /** Its public URL, without a trailing slash: the issuer of its tokens. */
  readonly publicUrl: string;
  /** URLs to which browsers may be redirected, exact or with a `*` at the end. The first is the default. */
  readonly redirectUrls: readonly string[];
  readonly anonKey: string;
  /** Allows the deletion of accounts. */
  readonly serviceKey?: string | undefined;
  readonly welcome?: Welcome | undefined;
  /** In seconds. Default: 10, as in the hosted product. */
  readonly reuseIntervalS?: number;
}

export async function createIdentityProvider(deps: IdentityProviderDeps): Promise<HttpServer> {
  const { clock, settings, database, publicUrl, redirectUrls, anonKey, reuseIntervalS = 10 } = deps;
  const keys = await openSigningKeys(deps.dataDir);
  const app = createServer({
    ...deps.server,
    service: 'idp',
    readiness: { database: () => database.check() },
    reference: {
      description: 'A stand-in for the identity provider, for development. It signs in any user without a password.',
    },
    // As in GoTrue, the credentials are tokens and not cookies.
    cors: {
      origins: '*',
      methods: ['GET', 'POST'],
      allowedHeaders: [
        'Authorization',
        'Content-Type',
        'apikey',
        'x-client-info',
        'x-supabase-api-version',
        ...traceHeaders,
      ],
      exposedHeaders: ['X-Request-Id'],
    },
  });
  addRoutes(app, {
    keys,
    clock,
    db: database.queries<IdpTables>(),
    accounts: database.queries<AccountTables>(),
    welcome: deps.welcome,
    reuseIntervalS,
    publicUrl,
    redirectUrls,
    anonKey,
    serviceKey: deps.serviceKey,
    faults: createFaults(),
    secret: settings.secret,
  });
  return app;
}
