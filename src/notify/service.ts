/** The notification service (docs/specification/notify.md; docs/notify.md), which is internal: only servers call it. */
import { Counter } from '@prometheus-io/client';
import { type AccountTables, readUnsubscribeSecret } from '#accounts/store.ts';
import { createAccess } from '#platform/access/access.ts';
import { startInterval } from '#platform/background/interval.ts';
import { measureOverdue, removeAll } from '#platform/background/removal.ts';
import type { Database } from '#platform/db/db.ts';
import { createClient } from '#platform/http/client.ts';
import { createServer, type HttpServer, type Readiness, type ServerCommons } from '#platform/http/server.ts';
import { measureJobs } from '#platform/jobs/depth.ts';
import type { NotifyContext } from './context.ts';
import { startDelivering } from './delivering.ts';
import { dropOldEvents } from './eventstore.ts';
import { createOutcomes } from './outcomes.ts';
import { addPeopleRoutes } from './people/routes.ts';
import problemFields from './problemfields.json' with { type: 'json' };
import { notifyProblems } from './problems.ts';
import { queueNames } from './queue.ts';
import { addRoutes } from './routes.ts';
import { dropOld, findOverdueSendsS } from './sendstore.ts';
import { normalizeSuppressions } from './suppressionstore.ts';
import type { NotifyTables } from './tables.ts';
import { createTrendingReader } from './trending.ts';
import { openTypes } from './types/registry.ts';

type Given = 'jobs' | 'webhooks' | 'channel' | 'from' | 'appUrl' | 'unsubscribeUrl' | 'brand';

export interface NotifyDeps extends Pick<NotifyContext, Given> {
  readonly server: ServerCommons & { readonly readiness: Readiness };
  /** INTERNAL_KEY; empty: not configured. */
  readonly internalKeys: readonly string[];
  /** Migrated. */
  readonly database: Database;
  /** NOTIFY_TEMPLATES_DIR. */
  readonly templatesDir?: string | undefined;
  /** The base URL of the content service. */
  readonly contentUrl: string;
}

/** The limit of a send, including its rows. */
const drainTimeoutMs = 12_000;
/** Lets a running attempt end. Otherwise the other side may have accepted a mail that is sent again. */
const drainJobsMs = 9000;
/** A digest is one of many, and is also sent without its items. */
const trendingTimeoutMs = 2000;
const dropOldEveryMs = 3_600_000;
const eventsAtOnce = 1000;

export async function createNotify(deps: NotifyDeps): Promise<HttpServer> {
  const { server, internalKeys, database, templatesDir, contentUrl, ...given } = deps;
  const { jobs, channel } = given;
  const app = createServer({
    ...server,
    service: 'notify',
    reference: {
      description: 'An internal service that sends notifications by type, and raw email.',
      tags: {
        notify: 'Notifications, email and suppressed addresses.',
        people: 'Users and their data, for operators.',
      },
      problems: notifyProblems.table,
      problemFields,
    },
    drainTimeoutMs,
  });
  const accounts = database.queries<AccountTables>();
  const db = database.queries<NotifyTables>();
  const mails = new Counter({
    name: 'notify_mails_total',
    help: 'Attempts to send an email through the email provider.',
    labelNames: ['outcome'],
    registers: [app.metrics],
  });
  measureJobs(app.metrics, jobs, queueNames);
  measureOverdue(app.metrics, { emails: () => findOverdueSendsS(db) });
  const dropping = startInterval(
    dropOldEveryMs,
    async (stopped) => {
      await dropOld(db, stopped);
      await removeAll(eventsAtOnce, (limit) => dropOldEvents(db, limit), stopped);
    },
    (error) => server.log.warn({ err: error }, 'old sends could not be removed'),
  );
  const content = createClient({
    name: 'content',
    baseUrl: contentUrl,
    isInternal: true,
    timeoutMs: trendingTimeoutMs,
    telemetry: server.telemetry,
  });
  app.addHook('onClose', async () => {
    await content.close();
    await Promise.all([dropping.stop(), jobs.stop({ queues: queueNames, drainMs: drainJobsMs })]);
    await channel.close();
  });
  const access = createAccess({ internalKeys, log: server.log });
  const context: NotifyContext = {
    ...given,
    db,
    outcomes: createOutcomes(),
    log: server.log,
    onOutcome: (outcome: string) => mails.inc({ outcome }),
    accounts,
    types: await openTypes(templatesDir),
    readTrending: createTrendingReader(content, given.appUrl, server.log),
    unsubscribeSecret: await readUnsubscribeSecret(accounts),
    isKeyConfigured: internalKeys.length > 0,
  };
  await normalizeSuppressions(context);
  startDelivering(context);
  addPeopleRoutes(app, access, context);
  addRoutes(app, access, context);
  return app;
}
