/** The notification service (docs/specification/notify.md; docs/notify.md): internal, reached by servers only. */
import { Counter } from 'prom-client';
import { type AccountTables, readUnsubscribeSecret } from '#accounts/store.ts';
import { createAccess } from '#platform/access/access.ts';
import type { Database } from '#platform/db/db.ts';
import { createServer, type HttpServer, type Readiness, type ServerCommons } from '#platform/http/server.ts';
import type { Channel } from './channels/channel.ts';
import { startResuming } from './resuming.ts';
import { addRoutes } from './routes.ts';
import type { SendingDeps } from './sending.ts';
import { type NotifyTables, releaseAll } from './store.ts';

export interface NotifyDeps {
  readonly server: ServerCommons & { readonly readiness: Readiness };
  /** INTERNAL_KEY; empty: not configured. */
  readonly internalKeys: readonly string[];
  /** Migrated. */
  readonly database: Database;
  readonly channel: Channel;
  /** NOTIFY_FROM. */
  readonly from: string;
  readonly appUrl: string;
  readonly unsubscribeUrl: string;
}

/** What a send may take, with its rows. */
const drainTimeoutMs = 12_000;

export async function createNotify(deps: NotifyDeps): Promise<HttpServer> {
  const { server, internalKeys, database, channel, from, appUrl, unsubscribeUrl } = deps;
  const app = createServer({
    ...server,
    service: 'notify',
    description: 'Delivers notifications and mails. Internal.',
    drainTimeoutMs,
  });
  const accounts = database.queries<AccountTables>();
  const db = database.queries<NotifyTables>();
  const mails = new Counter({
    name: 'notify_mails_total',
    help: 'Tries to hand a mail over to the email provider.',
    labelNames: ['outcome'],
    registers: [app.metrics],
  });
  const sending: SendingDeps = { db, channel, log: server.log, onOutcome: (outcome) => mails.inc({ outcome }) };
  // An embedded database has one process: what lies there as under way was left by one that died.
  if (database.driver === 'pglite') await releaseAll(db);
  const resuming = startResuming(sending);
  app.addHook('onClose', async () => {
    await resuming.stop();
    await channel.close();
  });
  addRoutes(app, createAccess({ internalKeys, log: server.log }), {
    ...sending,
    accounts,
    from,
    appUrl,
    unsubscribeUrl,
    unsubscribeSecret: await readUnsubscribeSecret(accounts),
    isKeyConfigured: internalKeys.length > 0,
  });
  return app;
}
