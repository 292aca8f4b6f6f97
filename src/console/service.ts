/** The console (docs/specification/system.md#engines; docs/console.md): its pages, and the few calls that need a server. */

import { createTokenVerifier } from '#platform/access/access.ts';
import { createKeySet } from '#platform/access/keyset.ts';
import { createClient } from '#platform/http/client.ts';
import { createServer, type HttpServer, type ServerCommons } from '#platform/http/server.ts';
import type { ConsoleContext } from './context.ts';
import { createHistory, startSampling } from './history/history.ts';
import { createRoles, type OperatorSettings } from './operators/roles.ts';
import { admitOwnPages, type Places } from './origins.ts';
import { addPages, type Reachable } from './pages.ts';
import { addRoutes } from './routes.ts';
import { type CalledService, createTraceLink, type ServiceClients } from './services.ts';
import { createSessions } from './sessions.ts';
import type { SettingsSource } from './settings/routes.ts';

export interface ConsoleDeps
  extends Omit<
    ConsoleContext,
    'log' | 'pictureHosts' | 'sessions' | 'memory' | 'identity' | 'clients' | 'settings' | 'traceLink' | 'history'
  > {
  readonly server: ServerCommons;
  readonly places: Places;
  /** The value of CONSOLE_TOKEN. */
  readonly token: string;
  readonly reachable: Reachable;
  /** The name in the pages. */
  readonly brand: string;
  /** The memory service's back office, if it is configured. */
  readonly memory: { readonly url: string; readonly adminToken: string } | undefined;
  /** CONSOLE_TRACE_URL. */
  readonly traceUrl: string | undefined;
  /** INTERNAL_KEY and the services that the pages of people and incidents call. */
  readonly internal?: { readonly key: string; readonly urls: Readonly<Record<CalledService, string>> } | undefined;
  /** The operators of the identity provider. */
  readonly operators?: (OperatorSettings & { readonly jwksUrl: string }) | undefined;
  /** By default, there is nothing to show. */
  readonly settings?: SettingsSource | undefined;
}

const memoryTimeoutMs = 15_000;

const noSettings: SettingsSource = {
  describe: () => ({ groups: [], standIns: [], warnings: [] }),
  examine: async () => [],
};

export function createConsole(given: ConsoleDeps): HttpServer {
  const { server, places, token, brand, reachable, memory, internal, operators, settings, traceUrl, ...deps } = given;
  const { clock } = deps;
  const roles = createRoles(operators ?? { full: [], readers: [] });
  const app = createServer({
    ...server,
    service: 'console',
    readiness: {},
    servesRoot: true,
    reference: {
      description:
        'The web console of operators and developers. These endpoints serve its pages and can change at any time.',
      tags: { console: 'The endpoints of the pages.' },
    },
  });
  const context: ConsoleContext = {
    ...deps,
    log: server.log,
    sessions: createSessions(token, places.url.startsWith('https:'), clock, roles),
    identity: operators && {
      tokens: createTokenVerifier(createKeySet({ jwksUrl: operators.jwksUrl, log: server.log, clock }), clock),
      roles,
    },
    clients: internal && openClients(app, server, internal),
    settings: settings ?? noSettings,
    memory: memory && openBackOffice(app, server, memory),
    pictureHosts: reachable.pictures,
    traceLink: createTraceLink(traceUrl),
    history: createHistory(deps),
  };
  const sampling = startSampling(context.history, context);
  app.addHook('onClose', () => sampling.stop());
  admitOwnPages(app, places);
  addRoutes(app, context);
  addPages(app, places.url, reachable, brand);
  return app;
}

function openBackOffice(
  app: HttpServer,
  { telemetry }: ServerCommons,
  { url, adminToken }: { readonly url: string; readonly adminToken: string },
) {
  const client = createClient({
    name: 'memory',
    baseUrl: url,
    isInternal: true,
    timeoutMs: memoryTimeoutMs,
    telemetry,
    maxResponseBytes: 64 * 1024 * 1024,
  });
  app.addHook('onClose', () => client.close());
  return { client, adminToken };
}

/** An erasure waits for threads to end and for files to be removed. */
const serviceTimeoutMs = 30_000;

function openClients(
  app: HttpServer,
  { telemetry }: ServerCommons,
  { key, urls }: NonNullable<ConsoleDeps['internal']>,
): ServiceClients {
  const open = (name: CalledService) => {
    const client = createClient({
      name,
      baseUrl: urls[name],
      isInternal: true,
      internalKey: key,
      timeoutMs: serviceTimeoutMs,
      maxConnections: 16,
      maxResponseBytes: 64 * 1024 * 1024,
      telemetry,
    });
    app.addHook('onClose', () => client.close());
    return client;
  };
  return {
    auth: open('auth'),
    agent: open('agent'),
    media: open('media'),
    memory: open('memory'),
    notify: open('notify'),
  };
}
