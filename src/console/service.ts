/** The console (docs/specification/system.md#engines; docs/console.md): its pages, and the few calls that need a server. */
import type { Clock } from '#platform/clock.ts';
import { createClient } from '#platform/http/client.ts';
import { createServer, type HttpServer, type ServerCommons } from '#platform/http/server.ts';
import { admitOwnPages, type Places } from './origins.ts';
import { addPages, type Reachable } from './pages.ts';
import { addRoutes, type RouteDeps } from './routes.ts';
import { createSessions } from './sessions.ts';

export interface ConsoleDeps extends Omit<RouteDeps, 'sessions' | 'memory'> {
  readonly server: ServerCommons;
  readonly clock: Clock;
  readonly places: Places;
  /** The value of CONSOLE_TOKEN. */
  readonly token: string;
  readonly reachable: Reachable;
  /** The memory service's back office, if it is configured. */
  readonly memory: { readonly url: string; readonly adminToken: string } | undefined;
}

const memoryTimeoutMs = 15_000;

export function createConsole({ server, clock, places, token, reachable, memory, ...deps }: ConsoleDeps): HttpServer {
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
  admitOwnPages(app, places);
  addRoutes(app, {
    ...deps,
    sessions: createSessions(token, places.url.startsWith('https:'), clock),
    memory: memory && openBackOffice(app, server, memory),
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
