/**
 * The local identity provider: a stand-in with GoTrue's API and a page on which a user chooses an account
 * (docs/local.md). It signs in any user without a password. It therefore listens on the loopback interface only
 * (config.ts), and in production it starts only if it is named.
 */
import type { AccountTables } from '#accounts/store.ts';
import type { Values } from '#platform/config.ts';
import type { Database } from '#platform/db/db.ts';
import { traceHeaders } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerCommons } from '#platform/http/server.ts';
import type { idpSettings } from './config.ts';
import type { IdpContext } from './context.ts';
import { createFaults } from './faults.ts';
import { openSigningKeys } from './keys.ts';
import { addRoutes } from './routes.ts';
import type { IdpTables } from './store.ts';

type Given = 'clock' | 'publicUrl' | 'redirectUrls' | 'anonKey' | 'serviceKey' | 'welcome';

export interface IdentityProviderDeps extends Pick<IdpContext, Given>, Partial<Pick<IdpContext, 'reuseIntervalS'>> {
  readonly server: ServerCommons;
  readonly settings: Pick<Values<typeof idpSettings>, 'secret'>;
  readonly dataDir: string;
  /** A migrated database, in which sessions survive a restart. */
  readonly database: Database;
}

export async function createIdentityProvider(deps: IdentityProviderDeps): Promise<HttpServer> {
  const { server, settings, dataDir, database, reuseIntervalS = 10, ...given } = deps;
  const keys = await openSigningKeys(dataDir);
  const app = createServer({
    ...server,
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
    ...given,
    keys,
    db: database.queries<IdpTables>(),
    accounts: database.queries<AccountTables>(),
    reuseIntervalS,
    faults: createFaults(),
    secret: settings.secret,
  });
  return app;
}
