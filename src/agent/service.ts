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
import type { ImageGenerator, VideoGenerator } from './providers/generators.ts';
import { openModels } from './providers/models.ts';
import { addRoutes } from './routes.ts';
import { RunExecutor } from './runs/executor.ts';
import { startReaper } from './runs/reaper.ts';
import { abortTopic } from './runs/tasks.ts';
import { sign } from './services/library.ts';
import type { EventTables } from './store/eventstore.ts';
import type { VideoTables } from './store/videostore.ts';
import { type ReadersPace, StreamReaders } from './stream/readers.ts';
import { RunEventBuffers } from './stream/runbuffers.ts';
import { videoQueue, workOnVideos } from './videos/videos.ts';

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
  const lease = { holder: randomUUID(), leaseMs: deps.pace?.leaseMs ?? defaultLeaseMs };
  const eventLog = await openEventLog({ db, redis, log, ttlS: settings.taskTtlS });
  const buffers = new RunEventBuffers({ db, eventLog, log });
  const readers = new StreamReaders(buffers, deps.pace);
  const common = { db, log, jobs, media, memory, imageGenerator, videoGenerator, ttlS: settings.taskTtlS };
  const runs = { ...common, eventLog, buffers, lease, maxRunsPerUser: settings.maxRunsPerUser };
  const executor = new RunExecutor({ ...runs, signImages: signImages.bind(undefined, media), ...deps.pace });
  const reaper = startReaper(runs);
  const unsubscribe = pubsub.subscribe(abortTopic, { onMessage: (taskId) => executor.abort(taskId) });

  let drainedByMs = 0;

  const app = createServer({
    ...deps.server,
    service: 'agent',
    description: 'Runs conversations: one run per thread, streamed and resumable, with pictures, videos and memory.',
    cors: allowChats(deps.agentOrigins),
    isLongLived: (route) => route === '/stream/:taskId',
    // Only new runs are refused: runs in flight can still be read and stopped.
    servedWhileDraining: ({ method, routeOptions: { url } }) =>
      url !== '/health' && !(method === 'POST' && url === '/task'),
    onDrain: async () => {
      drainedByMs = performance.now() + settings.drainS * 1000;
      await executor.drain(settings.drainS * 1000);
      await readers.close();
    },
  });
  app.addHook('onClose', async () => {
    // A run that was accepted before the drain and started during it has the same time as the others.
    await executor.drain(Math.max(0, drainedByMs - performance.now()));
    executor.close();
    reaper.close();
    buffers.close();
    unsubscribe();
    await jobs.stop({ queues: [videoQueue.name] });
    await eventLog.close();
  });
  addRoutes(app, deps.access, {
    ...runs,
    readers,
    executor,
    pubsub,
    models: openModels(deps.model, deps.offlineModel),
  });
  measureJobs(app.metrics, jobs, [videoQueue.name]);
  workOnVideos(common);
  // An embedded database has one process, so all runs that are in flight at its start belong to a dead one.
  if (database.driver === 'pglite') await reaper.reapAll();
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
