/** The agent service (docs/specification/agent.md; docs/agent.md). */
import { randomUUID } from 'node:crypto';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { Access } from '#platform/access/access.ts';
import type { Values } from '#platform/config.ts';
import type { Database } from '#platform/db/db.ts';
import type { ActingClient } from '#platform/http/client.ts';
import { allowChats } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import { measureJobs } from '#platform/jobs/depth.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import type { Redis } from '#platform/redis/redis.ts';
import type { agentSettings, modelSettings } from './config.ts';
import { openEventLog } from './eventlog/open.ts';
import type { EventTables } from './eventlog/store.ts';
import { createFeeds } from './feeds.ts';
import type { ImageGenerator, VideoGenerator } from './generators.ts';
import { sign } from './library.ts';
import { findMessage } from './messagestore.ts';
import { type ChosenModel, openModels } from './models.ts';
import { createReaders, type ReadersPace } from './readers.ts';
import { startReaping } from './reaping.ts';
import { restoreStream } from './restoring.ts';
import { addRoutes } from './routes.ts';
import { createRunning } from './running.ts';
import type { Run } from './runs.ts';
import { findEnded } from './store.ts';
import { abortTopic } from './tasks.ts';
import { conductTurn } from './turns.ts';
import type { VideoTables } from './videos/store.ts';
import { endVideosOf, videoQueue, workOnVideos } from './videos.ts';

export interface AgentDeps {
  /** Of the server, as for every service. */
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'description' | 'bodyLimit'>;
  /** AGENT_ALLOWED_ORIGINS. */
  readonly agentOrigins: readonly string[];
  readonly access: Access;
  /** Migrated. */
  readonly database: Database;
  readonly redis: Redis | undefined;
  readonly pubsub: PubSub;
  readonly jobs: Jobs;
  /** Other services, with the internal key. */
  readonly media: ActingClient;
  readonly memory: ActingClient;
  readonly settings: Values<typeof agentSettings>;
  readonly model: Values<typeof modelSettings>;
  /** What answers when no provider is configured. */
  readonly offlineModel: LanguageModelV4;
  readonly imageGenerator: ImageGenerator;
  readonly videoGenerator: VideoGenerator;
  /** For tests. */
  readonly pace?: ReadersPace & {
    readonly leaseMs?: number;
    readonly idleMs?: number;
    readonly videoWaitMs?: number;
  };
}

type Tables = EventTables & LedgerTables & VideoTables;

/** Runs of dead instances are ended within 30 s (docs/specification/agent.md#streams): a lease, a look every 2 s, and the end itself. */
const defaultLeaseMs = 15_000;

export async function createAgent(deps: AgentDeps): Promise<HttpServer> {
  const { database, redis, jobs, settings, media, memory, imageGenerator, videoGenerator, pubsub } = deps;
  const { log } = deps.server;
  const db = database.queries<Tables>();
  const holding = { holder: randomUUID(), leaseMs: deps.pace?.leaseMs ?? defaultLeaseMs };
  const eventLog = await openEventLog({ db, redis, log, ttlS: settings.taskTtlS });
  const feeds = createFeeds({
    eventLog,
    log,
    findEnded: (taskIds) => findEnded(db, taskIds),
    restore: async (run, afterSeq) => restoreStream(run, afterSeq, await findMessage(db, run.threadId, run.messageId)),
  });
  const readers = createReaders(feeds, deps.pace);
  const common = { db, log, jobs, media, memory, imageGenerator, videoGenerator, ttlS: settings.taskTtlS };
  const { maxRunsPerUser } = settings;
  const runs = { ...common, eventLog, feeds, holding, maxRunsPerUser, endVideos: endVideosOf.bind(undefined, jobs) };
  const turns = { ...common, signImages: signImages.bind(undefined, media), ...deps.pace };
  const running = createRunning(runs);
  const begin = (run: Run, chosen: ChosenModel) => running.begin(run, chosen.label, conductTurn(turns, chosen));
  const reaping = startReaping(runs);
  const unsubscribe = pubsub.subscribe(abortTopic, { onMessage: (taskId) => running.abort(taskId) });

  let drainedByMs = 0;

  const app = createServer({
    ...deps.server,
    service: 'agent',
    description: 'Runs conversations: one run per thread, streamed and resumable, with pictures, videos and memory.',
    cors: allowChats(deps.agentOrigins),
    standing: (route) => route === '/stream/:taskId',
    // New runs alone are refused; what is in flight is read, and stopped, as ever.
    servedWhileDraining: ({ method, routeOptions: { url } }) =>
      url !== '/health' && !(method === 'POST' && url === '/task'),
    onDrain: async () => {
      drainedByMs = performance.now() + settings.drainS * 1000;
      await running.drain(settings.drainS * 1000);
      await readers.close();
    },
  });
  app.addHook('onClose', async () => {
    // One that was let in before the draining began, and began after it: it has as long as the others had.
    await running.drain(Math.max(0, drainedByMs - performance.now()));
    running.close();
    reaping.close();
    feeds.close();
    unsubscribe();
    await jobs.stop({ queues: [videoQueue.name] });
    await eventLog.close();
  });
  addRoutes(app, deps.access, {
    ...runs,
    readers,
    running,
    pubsub,
    begin,
    models: openModels(deps.model, deps.offlineModel),
  });
  measureJobs(app.metrics, jobs, [videoQueue.name]);
  workOnVideos(common);
  // An embedded database has one process: whatever still runs there belongs to one that died.
  if (database.driver === 'pglite') await reaping.reapAll();
  return app;
}

async function signImages(
  media: ActingClient,
  ownerId: string,
  assetIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const signed = await sign({ media }, ownerId, 'image', assetIds);
  return new Map([...signed].flatMap(([assetId, { url }]) => (url === undefined ? [] : [[assetId, url]])));
}
