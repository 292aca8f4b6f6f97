/** The public content endpoints (docs/specification/content.md; docs/content.md). */
import { Counter } from 'prom-client';
import type { AccountTables } from '#accounts/store.ts';
import { listUsers, listVisibleFeeds, readUnsubscribeSecret } from '#accounts/store.ts';
import { monotonicClock } from '#platform/clock.ts';
import type { Values } from '#platform/config.ts';
import type { Database } from '#platform/db/db.ts';
import { createClient } from '#platform/http/client.ts';
import { allowEveryone } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type Readiness, type ServerCommons } from '#platform/http/server.ts';
import type { contentSettings } from './config.ts';
import { addRoutes } from './routes.ts';

export interface ContentDeps {
  readonly server: ServerCommons & { readonly readiness: Readiness };
  /** Migrated. */
  readonly database: Database;
  /** CMS_URL, or the stand-in. */
  readonly cmsUrl: string;
  readonly settings: Values<typeof contentSettings>;
}

/** For the head and the body of an answer of the CMS (docs/specification/content.md#fail-open). */
const upstreamTimeoutMs = 3000;

export async function createContent({ server, database, cmsUrl, settings }: ContentDeps): Promise<HttpServer> {
  const app = createServer({
    ...server,
    service: 'content',
    description: 'What everybody may read: lists for search engines, the announcement, the cards, what is trending.',
    cors: allowEveryone,
  });
  const failures = new Counter({
    name: 'content_upstream_failures_total',
    help: 'Readings of the CMS that failed and were answered with the empty content.',
    labelNames: ['path'],
    registers: [app.metrics],
  });
  const cms = createClient({
    name: 'cms',
    baseUrl: cmsUrl,
    isInternal: false,
    timeoutMs: upstreamTimeoutMs,
    telemetry: server.telemetry,
  });
  app.addHook('onClose', () => cms.close());
  const db = database.queries<AccountTables>();
  addRoutes(app, {
    cms,
    clock: monotonicClock,
    log: server.log,
    onFailure: (path) => failures.inc({ path }),
    listUsers: (limit) => listUsers(db, { limit }),
    listFeeds: (limit) => listVisibleFeeds(db, { limit }),
    pages: settings,
    accounts: db,
    unsubscribeSecret: await readUnsubscribeSecret(db),
  });
  return app;
}
