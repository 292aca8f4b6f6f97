import { defaultBrand } from '#image/engine/brand.ts';
import { nameIn, senderOf } from '#notify/brand.ts';
import { openChannel } from '#notify/channels/open.ts';
import { createNotify } from '#notify/service.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { addressesOf } from '../config.ts';
import type { Wiring } from './wiring.ts';

export async function wireNotify({ config, engines, server }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  const { from, appUrl, unsubscribeUrl, templatesDir, brandName, brandLogoUrl, brandColor, postalAddress } =
    config.notify;
  const { content, console: ownPages } = addressesOf(config);
  const name = brandName ?? (config.brand.name === defaultBrand.name ? nameIn(from) : config.brand.name);
  return createNotify({
    server: { ...server, readiness: { database: () => database.check() } },
    internalKeys: config.internal.keys,
    database,
    jobs: await engines.jobs(),
    webhooks: await engines.webhooks(),
    channel: await openChannel(config.notify, config.process.dataDir),
    from: senderOf(from, name),
    appUrl: appUrl ?? ownPages,
    unsubscribeUrl: unsubscribeUrl ?? `${content}/unsubscribe`,
    brand: {
      name,
      logoUrl: brandLogoUrl,
      color: brandColor,
      postalAddress,
    },
    templatesDir,
    contentUrl: content,
  });
}
