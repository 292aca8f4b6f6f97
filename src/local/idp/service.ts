/**
 * The local identity provider: a stand-in with GoTrue's wire API, so far its key set and, for `npm run token`, access
 * tokens of made-up accounts. It signs anybody in as anybody: it listens on the loopback only (config.ts), and in
 * production it starts only when it is named.
 */
import type { Clock } from '#platform/clock.ts';
import type { Values } from '#platform/config.ts';
import { createServer, type HttpServer, type ServerCommons } from '#platform/http/server.ts';
import type { idpSettings } from './config.ts';
import { openSigningKeys } from './keys.ts';
import { addRoutes } from './routes.ts';

export interface IdentityProviderDeps {
  readonly server: ServerCommons;
  readonly clock: Clock;
  readonly settings: Pick<Values<typeof idpSettings>, 'secret'>;
  readonly dataDir: string;
  /** Where it is reached, without a trailing slash: the issuer of its tokens. */
  readonly publicUrl: string;
}

export async function createIdentityProvider(deps: IdentityProviderDeps): Promise<HttpServer> {
  const { clock, settings, publicUrl } = deps;
  const keys = await openSigningKeys(deps.dataDir);
  const app = createServer({
    ...deps.server,
    service: 'idp',
    readiness: {},
    description: 'A stand-in for the identity provider, for development: it signs anybody in as anybody.',
  });
  addRoutes(app, { keys, clock, publicUrl, secret: settings.secret });
  return app;
}
