/** The public content endpoints (docs/specification/content.md; docs/content.md). */
import { Counter } from '@prometheus-io/client';
import type { AccountTables } from '#accounts/store.ts';
import { readUnsubscribeSecret, visibleRows } from '#accounts/store.ts';
import { monotonicClock } from '#platform/clock.ts';
import type { Values } from '#platform/config.ts';
import type { Database } from '#platform/db/db.ts';
import { createClient } from '#platform/http/client.ts';
import { allowEveryone } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type Readiness, type ServerCommons } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import { openCms, upstreamTimeoutMs } from './cms.ts';
import type { contentSettings } from './config.ts';
import { addGalleryRoutes, shareSource } from './gallery.ts';
import { contentProblems } from './problems.ts';
import { addRoutes } from './routes.ts';

export interface ContentDeps {
  readonly server: ServerCommons & { readonly readiness: Readiness };
  /** Migrated. */
  readonly database: Database;
  /** CMS_URL, or the stand-in. */
  readonly cmsUrl: string;
  /** For the mail provider's messages. */
  readonly notify: { readonly url: string; readonly internalKey: string | undefined };
  /** For the public gallery. */
  readonly mediaUrl: string;
  /** EDGE_URL. */
  readonly edgeUrl: string;
  readonly settings: Values<typeof contentSettings>;
}

export async function createContent({
  server,
  database,
  cmsUrl,
  notify: at,
  mediaUrl,
  edgeUrl,
  settings,
}: ContentDeps): Promise<HttpServer> {
  const app = createServer({
    ...server,
    service: 'content',
    reference: {
      description: 'Public content: sitemaps, the announcement, the cards of the home page, and trending items.',
      tags: { content: 'Public content, unsubscribing, and the webhook of the mail provider.' },
      problems: contentProblems.table,
      clientTypes: { HomeCard: ['HomeCards', 'properties', 'cards', 'items'] },
    },
    cors: allowEveryone,
  });
  const failures = new Counter({
    name: 'content_upstream_failures_total',
    help: 'Failed reads of the CMS, for which the response was empty content.',
    labelNames: ['path'],
    registers: [app.metrics],
  });
  const cms = openCms(cmsUrl, server.telemetry);
  const clientOf = (name: string, baseUrl: string) =>
    createClient({
      name,
      baseUrl,
      isInternal: true,
      internalKey: at.internalKey,
      timeoutMs: upstreamTimeoutMs,
      telemetry: server.telemetry,
    });
  const notify = clientOf('notify', at.url);
  const media = clientOf('media', mediaUrl);
  app.addHook('onClose', async () => {
    await Promise.all([cms.close(), notify.close(), media.close()]);
  });
  const db = database.queries<AccountTables>();
  const warn = warnSometimes(server.log);
  addGalleryRoutes(app, { media, clock: monotonicClock });
  addRoutes(app, {
    cms,
    notify,
    webhookSecret: settings.resendWebhookSecret,
    clock: monotonicClock,
    onFailure: (path, error) => {
      failures.inc({ path });
      warn(path, error);
    },
    users: visibleRows(db, 'user_profiles'),
    feeds: visibleRows(db, 'feeds'),
    shares: settings.hasShareSitemap ? shareSource(media) : undefined,
    pages: settings,
    edgeUrl,
    publicUrl: settings.publicUrl,
    accounts: db,
    unsubscribeSecret: await readUnsubscribeSecret(db),
  });
  return app;
}

const warnEveryMs = 60_000;

/** An unreachable CMS fails every read. The counter has all failures, the log one per minute. */
function warnSometimes(log: Log) {
  let quietUntil = 0;
  return (path: string, error: unknown): void => {
    if (monotonicClock.now() < quietUntil) return;
    quietUntil = monotonicClock.now() + warnEveryMs;
    log.warn({ err: error, path }, 'the CMS returned no content: sending an empty response');
  };
}
