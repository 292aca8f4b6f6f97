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
import { type CalledService, createTraceLink } from './services.ts';
import { createSessions } from './sessions.ts';

export interface ConsoleDeps
  extends Omit<
    ConsoleContext,
    'log' | 'pictureHosts' | 'sessions' | 'memory' | 'identity' | 'clients' | 'traceLink' | 'history'
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
}

/** An erasure waits for threads to end and for files to be removed. */
const serviceTimeoutMs = 30_000;

export function createConsole(given: ConsoleDeps): HttpServer {
  const { server, places, token, brand, reachable, memory, internal, operators, traceUrl, ...deps } = given;
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
  const open = (name: CalledService, baseUrl: string, internalKey?: string) => {
    const client = createClient({
      name,
      baseUrl,
      isInternal: true,
      ...(internalKey !== undefined && { internalKey }),
      timeoutMs: serviceTimeoutMs,
      maxConnections: 16,
      maxResponseBytes: 64 * 1024 * 1024,
      telemetry: server.telemetry,
    });
    app.addHook('onClose', () => client.close());
    return client;
  };
  const context: ConsoleContext = {
    ...deps,
    log: server.log,
    sessions: createSessions(token, places.url.startsWith('https:'), clock, roles),
    identity: operators && {
      tokens: createTokenVerifier(createKeySet({ jwksUrl: operators.jwksUrl, log: server.log, clock }), clock),
      roles,
    },
    clients: internal && {
      auth: open('auth', internal.urls.auth, internal.key),
      agent: open('agent', internal.urls.agent, internal.key),
      media: open('media', internal.urls.media, internal.key),
      memory: open('memory', internal.urls.memory, internal.key),
      notify: open('notify', internal.urls.notify, internal.key),
    },
    memory: memory && { client: open('memory', memory.url), adminToken: memory.adminToken },
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
