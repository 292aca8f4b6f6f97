import { openChannel } from '#notify/channels/open.ts';
import { createNotify } from '#notify/service.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { addressesOf } from '../config.ts';
import type { Wiring } from './wiring.ts';

export async function wireNotify({ config, engines, server }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  const { from, appUrl, unsubscribeUrl } = config.notify;
  return createNotify({
    server: { ...server, readiness: { database: () => database.check() } },
    internalKeys: config.internal.keys,
    database,
    channel: await openChannel(config.notify, config.process.dataDir),
    from,
    appUrl,
    unsubscribeUrl: unsubscribeUrl ?? `${addressesOf(config).content}/unsubscribe`,
  });
}
