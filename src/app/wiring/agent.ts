import { openCatalogue } from '#agent/generation/opening.ts';
import { assertKeys } from '#agent/modelsfile.ts';
import { createAgent } from '#agent/service.ts';
import { offlineModel } from '#local/model/model.ts';
import { offlineImages, offlineVideos } from '#local/renderer/renderer.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { openPubSub } from '#platform/pubsub/open.ts';
import { measureRedis } from '#platform/redis/redis.ts';
import { addressesOf, agentOriginsOf, browserUrlsOf } from '../config.ts';
import { hasMemoryModel } from './memorymodel.ts';
import { openClient, type Wiring, wireAccess } from './wiring.ts';

/** Registering an image includes its screening, which takes longer than most calls. */
const mediaTimeoutMs = 30_000;
const memoryTimeoutMs = 5000;
const notifyTimeoutMs = 20_000;

export async function wireAgent({ config, engines, server, log }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  const redis = await engines.redis();
  const { imageModel, videoModel } = config;
  const addresses = addressesOf(config);
  const media = openClient({ config, server }, 'media', { timeoutMs: mediaTimeoutMs });
  const memory = openClient({ config, server }, 'memory', { timeoutMs: memoryTimeoutMs });
  const notify = openClient({ config, server }, 'notify', { timeoutMs: notifyTimeoutMs });
  const readiness = {
    database: () => database.check(),
    ...(redis && { redis: () => redis.check() }),
  };
  const readKey = (variable: string) => process.env[variable];
  assertKeys(config.model.file, readKey);
  const app = await createAgent({
    server: { ...server, readiness },
    agentOrigins: agentOriginsOf(config),
    agentUrl: browserUrlsOf(config).agent,
    authorizationServer: addresses.idp,
    internalKeys: config.internal.keys,
    access: wireAccess({ config, log }, database),
    database,
    redis,
    pubsub: openPubSub({ redis, name: 'agent', log }),
    jobs: await engines.jobs(),
    webhooks: await engines.webhooks(),
    startingCredits: config.process.startingCredits,
    media,
    memory,
    hasMemoryModel: hasMemoryModel(config),
    budgetAlerts: {
      ...{ notify, operators: config.console.operators },
      consoleUrl: config.process.production ? config.console.url : addresses.console,
    },
    settings: config.agent,
    model: config.model,
    readKey,
    ownUrls: [addresses.edge, config.objects.endpoint, config.resizing.proxyUrl ?? addresses.edge],
    offlineModel,
    catalogue: await openCatalogue({
      file: config.model.file,
      image: imageModel,
      video: videoModel,
      imageCredits: imageModel.credits,
      videoCredits: videoModel.credits,
      videoPlans: videoModel.plans,
      readKey,
      offlineImages,
      offlineVideos,
    }),
  });
  if (redis) measureRedis(app.metrics, redis);
  app.addHook('onClose', async () => {
    await Promise.all([media.close(), memory.close(), notify.close()]);
  });
  return app;
}
