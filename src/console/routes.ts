import { auditOf } from '#platform/audit/audit.ts';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { version } from '#platform/version.ts';
import { addActionRoutes } from './actions/routes.ts';
import { type ConsoleInfo, consoleInfo, mail, mailList, mailPath, overview } from './api.ts';
import { addDeliveryRoutes, type DeliveryDeps } from './deliveries.ts';
import { addErrorRoutes, addHistoryRoutes } from './history/routes.ts';
import type { HistoryTables } from './history/samplestore.ts';
import { addIncidentRoutes } from './incidents/routes.ts';
import { addJobRoutes } from './jobs/routes.ts';
import { mailPolicy } from './mailpolicy.ts';
import { listMails, readMail, readMailHtml } from './mails.ts';
import { addMemoryRoutes, type MemoryBackOffice } from './memories.ts';
import { guardOperators, type OperatorGuard } from './operators/guard.ts';
import { addSessionRoutes, type SessionDeps } from './operators/routes.ts';
import { collectOverview, type OverviewDeps } from './overview.ts';
import { addPeopleRoutes } from './people/routes.ts';
import { consoleProblems } from './problems.ts';
import { addRunRoutes } from './runs/routes.ts';
import { addSentMailRoutes } from './sentmails/routes.ts';
import type { ServiceClients } from './services.ts';
import { addSettingsRoutes, type SettingsDeps } from './settings/routes.ts';
import type { TraceLink } from './traces.ts';
import { addUsageRoutes } from './usage/routes.ts';

export interface RouteDeps extends OverviewDeps, SessionDeps {
  /** Maps a service to its public URL. */
  readonly addresses: ConsoleInfo['addresses'];
  /** The pages show pictures of home cards from these hosts only. */
  readonly pictureHosts: readonly string[];
  /** The local identity provider runs. */
  readonly hasDemoUsers: boolean;
  /** The folder where mail is stored as files, if there is one. */
  readonly outbox: string | undefined;
  readonly memory: MemoryBackOffice | undefined;
  /** `undefined`: no webhooks are set. */
  readonly deliveries: DeliveryDeps | undefined;
  /** `undefined`: the database is open in another process, so there are neither jobs nor a history. */
  readonly db: Db<JobTables & HistoryTables> | undefined;
  readonly clock: Clock;
  readonly traceLink: TraceLink;
  /** `undefined`: no internal key is configured. */
  readonly clients: ServiceClients | undefined;
  readonly settings: SettingsDeps;
}

export function addRoutes(app: HttpServer, deps: RouteDeps): void {
  const routes = routesOf(app, 'console');
  const { sessions } = deps;
  const guard = guardOperators(sessions);
  // Only the files of the pages may be cached. They set their own header.
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });

  routes.get(
    '/api/console',
    {},
    { summary: 'Read the configuration of the pages', response: { 200: consoleInfo } },
    async (request): Promise<ConsoleInfo> => ({
      version,
      isOperator: sessions.isOperator(request.headers.cookie),
      operator: sessions.find(request.headers.cookie) ?? null,
      hasOperatorAccounts: deps.identity !== undefined,
      hasPeople: deps.clients !== undefined,
      addresses: deps.addresses,
      pictureHosts: [...deps.pictureHosts],
      hasOutbox: deps.outbox !== undefined,
      hasMemory: deps.memory !== undefined,
      hasWebhooks: deps.deliveries !== undefined,
      hasDatabase: deps.db !== undefined,
      hasDemoUsers: deps.hasDemoUsers,
    }),
  );

  addSessionRoutes(app, deps);

  routes.get(
    '/api/overview',
    guard,
    { summary: 'Read the state of every service', response: { 200: overview } },
    async () => collectOverview(deps),
  );

  addMailRoutes(app, guard, deps.outbox);
  if (deps.memory !== undefined) addMemoryRoutes(app, guard, deps.memory);
  if (deps.deliveries !== undefined) addDeliveryRoutes(app, guard, deps.deliveries);
  addErrorRoutes(app, guard, deps);
  const { db } = deps;
  if (db !== undefined) {
    addHistoryRoutes(app, guard, { ...deps, db });
    addJobRoutes(app, guard, { ...deps, db });
  }
  addSettingsRoutes(app, guard, deps.settings);
  if (deps.clients === undefined) return;
  addPeopleRoutes(app, guard, deps.clients);
  addActionRoutes(app, guard, deps.clients);
  addIncidentRoutes(app, guard, deps.clients.media);
  const audit = db && auditOf(db);
  addSentMailRoutes(app, guard, { notify: deps.clients.notify, audit });
  addRunRoutes(app, guard, { agent: deps.clients.agent, audit, traceLink: deps.traceLink });
  addUsageRoutes(app, guard, { agent: deps.clients.agent });
}

function addMailRoutes(app: HttpServer, guard: OperatorGuard, outbox: string | undefined): void {
  const routes = routesOf(app, 'console');
  const folder = () => {
    if (outbox === undefined) throw consoleProblems.outbox_unused();
    return outbox;
  };

  routes.get('/api/mails', guard, { summary: 'The outbox', response: { 200: mailList } }, async () =>
    listMails(folder()),
  );

  routes.get(
    '/api/mails/:name',
    guard,
    { summary: 'Read an email of the outbox', params: mailPath, response: { 200: mail } },
    async (request) => readMail(folder(), request.params.name),
  );

  routes.get(
    '/api/mails/:name/html',
    guard,
    { summary: 'Show an email as a page, in a sandbox', params: mailPath },
    async (request, reply) => {
      const html = await readMailHtml(folder(), request.params.name);
      return reply.header('content-security-policy', mailPolicy).type('text/html; charset=utf-8').send(html);
    },
  );
}
