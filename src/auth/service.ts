/** The authentication service (docs/specification/auth.md; docs/auth.md). */
import { addAccountRoutes } from '#accounts/routes.ts';
import type { AccountTables } from '#accounts/store.ts';
import type { Access } from '#platform/access/access.ts';
import type { Clock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { clientAddressReader } from '#platform/http/clientaddress.ts';
import { traceHeaders } from '#platform/http/cors.ts';
import { matchOrigins } from '#platform/http/origins.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import type { Answers } from './answers.ts';
import { cookieRules } from './cookies.ts';
import { openAnswers } from './openanswers.ts';
import { createProvider } from './provider.ts';
import { keepHouse } from './revocations.ts';
import { createRotation } from './rotation.ts';
import { addRoutes } from './routes.ts';
import { createSealer, type SealPurpose } from './sealing.ts';
import { createSessionSealer } from './sessions.ts';
import type { AuthTables } from './store.ts';
import { createTargets } from './targets.ts';

export interface AuthDeps {
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'description' | 'bodyLimit'>;
  readonly clock: Clock;
  /** Migrated. */
  readonly database: Database;
  /** Where browsers reach this service, without a trailing slash. */
  readonly publicUrl: string;
  /** At least one, as browsers spell them. */
  readonly allowedOrigins: readonly string[];
  readonly defaultOrigin: string;
  readonly cookieDomain?: string | undefined;
  /** At least one: the first seals. */
  readonly cookieSecrets: readonly string[];
  readonly provider: { readonly url: string; readonly anonKey: string; readonly socialProvider: string };
  /** TRUSTED_PROXIES, as CIDRs; empty: clients' addresses are not passed on. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** For the operator's commands, where this process holds the database; absent: they go to the database themselves. */
  readonly records?: { readonly access: Access; readonly hasMadeUpAccounts: boolean } | undefined;
  /** By the database's kind unless told. */
  readonly answers?: (database: Database) => Answers;
  /** How often sign-outs are looked for that are due to be told; 2 s. */
  readonly housekeepingMs?: number;
  /** How long the provider may take for one refresh or sign-out, all calls together; 9.5 s. */
  readonly providerTimeoutMs?: number;
}

export function createAuth(deps: AuthDeps): HttpServer {
  const { clock, database, publicUrl, allowedOrigins, cookieSecrets, records } = deps;
  const { log, telemetry } = deps.server;
  const app = createServer({
    ...deps.server,
    service: 'auth',
    description:
      'Signs browsers in, keeps their refresh credential in a sealed cookie, and gives access tokens for it.',
    cors: {
      origins: matchOrigins(allowedOrigins),
      methods: ['POST', 'OPTIONS'],
      allowedHeaders: ['Content-Type', ...traceHeaders],
      exposedHeaders: ['X-Request-Id', 'Retry-After'],
      credentials: true,
    },
  });
  const sealer = (purpose: SealPurpose) => createSealer(cookieSecrets, purpose);
  const sealers = {
    sessionSealer: createSessionSealer(cookieSecrets),
    signInSealer: sealer('sign-in'),
    answerSealer: sealer('answer'),
    revocationSealer: sealer('revocation'),
  };
  const db = database.queries<AuthTables>();
  const provider = createProvider({ ...deps.provider, callbackUrl: `${publicUrl}/callback`, log, telemetry });
  const answers = (deps.answers ?? openAnswers)(database);
  const limits = deps.providerTimeoutMs === undefined ? {} : { timeoutMs: deps.providerTimeoutMs };
  const rotation = createRotation({ answers, provider, log, ...sealers, ...limits });
  const parts = { db, answers, provider, rotation, log, clock, ...sealers, ...limits };
  const accounts = database.queries<AccountTables>();
  addRoutes(app, {
    ...parts,
    accounts,
    targets: createTargets(allowedOrigins, deps.defaultOrigin),
    cookies: cookieRules({ domain: deps.cookieDomain, publicUrl }),
    allowedOrigins,
    clientAddressOf: clientAddressReader(deps.trustedProxies ?? []),
  });
  if (records !== undefined) addAccountRoutes(app, records.access, { db: accounts, log, ...records });
  const house = keepHouse(parts, deps.housekeepingMs);
  app.addHook('onClose', async () => {
    await house.close();
    await provider.close();
  });
  return app;
}
