/** The console (docs/specification/system.md#engines; docs/console.md): its pages, and the few calls that need a server. */
import { auditOf } from '#platform/audit/audit.ts';
import { createClient } from '#platform/http/client.ts';
import { createServer, type HttpServer, type ServerCommons } from '#platform/http/server.ts';
import { startSampling } from './history/sampling.ts';
import { admitOwnPages, type Places } from './origins.ts';
import { addPages, type Reachable } from './pages.ts';
import { addRoutes, type RouteDeps } from './routes.ts';
import { createSessions } from './sessions.ts';
import { createTraceLink } from './traces.ts';

export interface ConsoleDeps extends Omit<RouteDeps, 'sessions' | 'memory' | 'traceLink' | 'sentMails' | 'usage'> {
  readonly server: ServerCommons;
  readonly places: Places;
  /** The value of CONSOLE_TOKEN. */
  readonly token: string;
  readonly reachable: Reachable;
  /** The memory service's back office, if it is configured. */
  readonly memory: { readonly url: string; readonly adminToken: string } | undefined;
  /** The services that operators act on, with the internal key. `undefined`: no key is set. */
  readonly internal: { readonly key: string; readonly notifyUrl: string; readonly agentUrl: string } | undefined;
  /** CONSOLE_TRACE_URL. */
  readonly traceUrl: string | undefined;
  /** For tests. */
  readonly sampleEveryMs?: number;
}

const memoryTimeoutMs = 15_000;
const internalTimeoutMs = 10_000;

export function createConsole({
  server,
  places,
  token,
  reachable,
  memory,
  internal,
  ...deps
}: ConsoleDeps): HttpServer {
  const { clock, db, services } = deps;
  const app = createServer({
    ...server,
    service: 'console',
    readiness: {},
    servesRoot: true,
    description: 'The web console of operators and developers: its pages, and the calls that they need a server for.',
  });
  const openInternal = (name: string, baseUrl: string) => {
    const { telemetry } = server;
    const options = { name, baseUrl, isInternal: true, timeoutMs: internalTimeoutMs, ...(telemetry && { telemetry }) };
    const client = createClient({ ...options, ...(internal && { internalKey: internal.key }) });
    app.addHook('onClose', () => client.close());
    return client;
  };
  if (db !== undefined) {
    const sampling = startSampling({ ...deps, db, services, log: server.log });
    app.addHook('onClose', () => sampling.stop());
  }
  admitOwnPages(app, places);
  addRoutes(app, {
    ...deps,
    sessions: createSessions(token, places.url.startsWith('https:'), clock),
    memory: memory && openBackOffice(app, server, memory),
    traceLink: createTraceLink(deps.traceUrl),
    sentMails: internal && { notify: openInternal('notify', internal.notifyUrl), audit: db && auditOf(db) },
    usage: internal && { agent: openInternal('agent', internal.agentUrl) },
  });
  addPages(app, reachable);
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
    ...(telemetry && { telemetry }),
    maxResponseBytes: 64 * 1024 * 1024,
  });
  app.addHook('onClose', () => client.close());
  return { client, adminToken };
}
