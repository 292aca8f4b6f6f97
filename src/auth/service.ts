/** The authentication service (docs/specification/auth.md; docs/auth.md). */

import { sql } from 'kysely';
import { erasePerson as eraseRecords, type PeopleContext } from '#accounts/people/people.ts';
import { addPeopleRoutes } from '#accounts/people/routes.ts';
import { accountProblems } from '#accounts/problems.ts';
import { addAccountRoutes } from '#accounts/routes.ts';
import type { Access } from '#platform/access/access.ts';
import { createSealer, type SealPurpose } from '#platform/access/sealing.ts';
import type { Database } from '#platform/db/db.ts';
import { clientAddressReader } from '#platform/http/clientaddress.ts';
import { matchOrigins, originWarner, traceHeaders } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import { measureJobs } from '#platform/jobs/depth.ts';
import { countJobsAbout, forgetJobs } from '#platform/jobs/forgetting.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { withDeadline } from '#platform/resilience.ts';
import type { AccountContext } from './account/context.ts';
import { deletionQueue, startDeleting } from './account/deleting.ts';
import { exportQueue, startExporting } from './account/exporting.ts';
import { addOwnAccountRoutes } from './account/routes.ts';
import type { AuthContext } from './context.ts';
import { cookieRules } from './cookies.ts';
import { createSessionEnds } from './ending.ts';
import { authProblems } from './problems.ts';
import { createProvider, type Provider, providerTimeoutMs } from './provider.ts';
import { createMemoryRefreshResults, databaseRefreshResults, type RefreshResults } from './refreshresults.ts';
import { revocationQueue, startRevoking, startSweeping } from './revocations.ts';
import { createRotation } from './rotation.ts';
import { addRoutes } from './routes.ts';
import { createSessionSealer } from './sessions.ts';
import { listSessions } from './store.ts';
import type { AuthTables } from './tables.ts';
import { createTargets } from './targets.ts';

export interface AuthDeps extends Pick<AuthContext, 'clock' | 'jobs' | 'welcome' | 'publicUrl' | 'allowedOrigins'> {
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'reference' | 'bodyLimit'>;
  /** A migrated database. */
  readonly database: Database;
  readonly defaultOrigin: string;
  readonly cookieDomain?: string | undefined;
  /** At least one. The first seals. */
  readonly cookieSecrets: readonly string[];
  readonly provider: {
    readonly url: string;
    readonly anonKey: string;
    readonly socialProvider: string;
    readonly serviceKey?: string | undefined;
    /** Whether `{publicUrl}/callback?state=…` is an allowed redirect URL there. */
    readonly returnsState?: boolean | undefined;
  };
  /** For operators. `undefined`: no internal key is configured. */
  readonly people?:
    | {
        readonly access: Access;
        readonly droppedJobs: PeopleContext['droppedJobs'];
        /** For the deletion of accounts from all services. */
        readonly deletion?:
          | (Pick<AccountContext, 'clients' | 'webhooks' | 'days'> & { readonly userAccess: Access })
          | undefined;
      }
    | undefined;
  /** TRUSTED_PROXIES, as CIDRs. If empty, client addresses are not passed on. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** For the operator's commands, if this process holds the database. If absent, they access the database directly. */
  readonly records?: { readonly access: Access; readonly hasMadeUpAccounts: boolean } | undefined;
  /** Default: chosen by the kind of database. */
  readonly refreshResults?: (database: Database) => RefreshResults;
  /** How long the provider may take for one refresh or sign-out, all calls together. Default: 9.5 s. */
  readonly providerTimeoutMs?: number;
}

export async function createAuth(deps: AuthDeps): Promise<HttpServer> {
  const { clock, database, jobs, welcome, publicUrl, allowedOrigins, cookieSecrets, records } = deps;
  const { log, telemetry } = deps.server;
  const app = createServer({
    ...deps.server,
    service: 'auth',
    reference: {
      description:
        'Signs users in with the identity provider, stores the session of the browser in a sealed cookie, and returns access tokens.',
      tags: {
        auth: 'Sign-in and sessions of browsers.',
        people: 'Users and their data, for operators.',
        accounts: 'Plans, credits and sample data, for operators. Present only with the embedded database.',
      },
      problems: { ...authProblems.table, ...accountProblems.table },
      sessionCookie: 'ka_session',
    },
    cors: {
      origins: matchOrigins(allowedOrigins),
      setting: 'ALLOWED_REDIRECT_ORIGINS',
      methods: ['GET', 'DELETE', 'POST', 'OPTIONS'],
      allowedHeaders: ['Authorization', 'Content-Type', ...traceHeaders],
      exposedHeaders: ['X-Request-Id', 'Retry-After'],
      credentials: true,
    },
  });
  const sealer = (purpose: SealPurpose) => createSealer(cookieSecrets, purpose);
  const sealers = {
    sessionSealer: createSessionSealer(cookieSecrets),
    signInSealer: sealer('sign-in'),
    stateSealer: sealer('state'),
    resultSealer: sealer('answer'),
    revocationSealer: sealer('revocation'),
  };
  const db = database.queries<AuthTables>();
  const provider = createProvider({ ...deps.provider, callbackUrl: `${publicUrl}/callback`, log, telemetry });
  const refreshResults = (deps.refreshResults ?? openRefreshResults)(database);
  const timeoutMs = deps.providerTimeoutMs ?? providerTimeoutMs;
  const rotation = createRotation({ refreshResults, provider, log, timeoutMs, ...sealers });
  const sessionEnds = createSessionEnds(db);
  const context: AuthContext = {
    db,
    sessionEnds,
    jobs,
    refreshResults,
    provider,
    rotation,
    log,
    clock,
    ...sealers,
    timeoutMs,
    welcome,
    targets: createTargets(allowedOrigins, deps.defaultOrigin, originWarner(log, 'ALLOWED_REDIRECT_ORIGINS')),
    cookies: cookieRules({ domain: deps.cookieDomain, publicUrl }),
    publicUrl,
    allowedOrigins,
    clientAddressOf: clientAddressReader(deps.trustedProxies ?? []),
  };
  addRoutes(app, context);
  if (records !== undefined) addAccountRoutes(app, records.access, { db, log, welcome, ...records });
  if (deps.people !== undefined) {
    const { access, droppedJobs, deletion } = deps.people;
    const { end: endSessions, find: findSessionsEnd } = sessionEnds;
    const records = {
      db,
      jobTables: database.queries<JobTables>(),
      log,
      droppedJobs,
      findSessionsEnd,
      listSessions: async (userId: string) =>
        (await listSessions(db, userId, 50)).map(({ browser, createdAt, usedAt }) => ({
          ...{ browser, createdAt: createdAt.toISOString(), usedAt: usedAt.toISOString() },
        })),
      endSessions,
      removeAccount: (userId: string) => removeAccount(provider, userId),
    };
    addPeopleRoutes(app, access, records);
    if (deletion !== undefined) {
      const deletions: AccountContext = {
        ...deletion,
        publicUrl,
        db,
        jobs,
        log,
        endSessions,
        findSessionsEnd,
        revokeOthers: (accessToken: string) => revokeOthers(provider, accessToken),
        eraseRecords: (userId: string) => eraseRecords(records, userId),
        forgetJobs: async (words: readonly string[]) => {
          await forgetJobs(records.jobTables, words, sql<boolean>`false`);
          return countJobsAbout(records.jobTables, words);
        },
      };
      addOwnAccountRoutes(app, deletion.userAccess, deletions);
      startDeleting(deletions);
      startExporting(deletions);
    }
  }
  const queues = [
    revocationQueue.name,
    ...(deps.people?.deletion === undefined ? [] : [deletionQueue.name, exportQueue.name]),
  ];
  measureJobs(app.metrics, jobs, queues);
  startRevoking(context);
  const sweeping = startSweeping(context);
  app.addHook('onClose', async () => {
    // A provider that hangs does not delay shutdown: the next process continues.
    await Promise.all([sweeping.stop(), jobs.stop({ queues, drainMs: 0 })]);
    await provider.close();
  });
  return app;
}

/** Deletes the account of a user at the identity provider. Throws 503 if the provider does not delete it. */
async function removeAccount(
  { deleteUser }: Pick<Provider, 'deleteUser'>,
  userId: string,
): Promise<'removed' | 'not_configured'> {
  if (deleteUser === undefined) return 'not_configured';
  const outcome = await withDeadline(providerTimeoutMs, (signal) => deleteUser(userId, { signal }));
  if (outcome === 'removed') return outcome;
  const cause = new Error(outcome === 'refused' ? 'it rejects IDP_SERVICE_KEY' : 'it does not respond');
  throw accountProblems.account_not_deleted({ cause });
}

async function revokeOthers({ revoke }: Pick<Provider, 'revoke'>, accessToken: string): Promise<void> {
  const { kind } = await withDeadline(providerTimeoutMs, (signal) => revoke(accessToken, 'others', { signal })).catch(
    () => ({ kind: 'unavailable' }) as const,
  );
  if (kind === 'unavailable') throw authProblems.upstream_unavailable();
}

// Chooses where refresh results are stored.

function openRefreshResults(database: Database): RefreshResults {
  return database.driver === 'pglite' ? createMemoryRefreshResults() : databaseRefreshResults(database);
}
