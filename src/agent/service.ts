/** The agent service (docs/specification/agent.md; docs/agent.md). */
import { randomUUID } from 'node:crypto';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { accountProblems } from '#accounts/problems.ts';
import type { Access } from '#platform/access/access.ts';
import type { Interval } from '#platform/background/interval.ts';
import { measureOverdue } from '#platform/background/removal.ts';
import type { Values } from '#platform/config.ts';
import type { Database } from '#platform/db/db.ts';
import type { ActingClient } from '#platform/http/client.ts';
import { allowChats } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import { measureJobs } from '#platform/jobs/depth.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import type { Redis } from '#platform/redis/redis.ts';
import { noTelemetry } from '#platform/telemetry/trace.ts';
import { type Webhooks, welcomeOf } from '#webhooks/publishing.ts';
import { type BudgetAlerts, budgetMailQueue, startBudgetAlerts } from './budgets/alerting.ts';
import type { Budget } from './budgets/api.ts';
import { addBudgetRoutes } from './budgets/routes.ts';
import { addChatRoutes } from './chat/routes.ts';
import type { agentSettings, modelSettings } from './config.ts';
import type { AgentContext } from './context.ts';
import { clearingQueue, deletionQueue, startEmptyingTrash, workOnDeletions } from './deletion/deletion.ts';
import { createDocumentReader } from './documents/pdftext.ts';
import { openEventLog } from './eventlog/open.ts';
import { extractionQueue, workOnExtractions } from './extraction/extracting.ts';
import type { Catalogue } from './generation/catalogue.ts';
import { imagesQueue } from './generation/generations.ts';
import { workOnImages } from './generation/making.ts';
import { addGenerationRoutes } from './generation/routes.ts';
import { McpCalls } from './mcp/calls.ts';
import { addMcpRoutes } from './mcp/routes.ts';
import { AgentMetrics } from './metrics.ts';
import { addOperatorRoutes } from './operatorroutes.ts';
import { addPeopleRoutes } from './people/routes.ts';
import problemFields from './problemfields.json' with { type: 'json' };
import { agentProblems } from './problems.ts';
import { createPromptScreening } from './prompts/screening.ts';
import { openModels } from './providers/models.ts';
import { addRecordRoutes } from './records/routes.ts';
import { addRoutes } from './routes.ts';
import { RunExecutor } from './runs/execution.ts';
import { startQueue } from './runs/queue.ts';
import { startReaper } from './runs/reaper.ts';
import { findOverdueRunsS, findOverdueStartsS } from './runs/runstore.ts';
import { abortTopic } from './runs/tasks.ts';
import { createOwnUrls } from './services/library.ts';
import { forgetProfiles } from './services/memory.ts';
import type { DeletionPace, ServingContext } from './servingcontext.ts';
import { createStreamQuota, type ReadersPace, StreamReaders } from './stream/readers.ts';
import { RunEventBuffers } from './stream/runbuffer.ts';
import { createFrameSigner } from './stream/signing.ts';
import type { AgentTables } from './tables.ts';
import { addThreadRoutes } from './threadroutes.ts';
import { titleQueue, workOnTitles } from './titles/titling.ts';
import { createIdentity } from './toolservers/identity.ts';
import type { Pace } from './toolservers/toolserver.ts';
import { openToolServers } from './toolservers/toolservers.ts';
import { UserEventReaders, type UserEventReadersPace } from './userevents/readers.ts';
import { addUserEventRoutes } from './userevents/routes.ts';
import {
  createUserEvents,
  findOverdueUserEventsS,
  startDeletingOldEvents,
  keptForS as userEventsKeptForS,
} from './userevents/usereventstore.ts';
import { workOnVideos } from './videos/making.ts';
import { cancelQueue, deliveryQueue, videoQueue } from './videos/videos.ts';

export interface AgentDeps {
  /** Of the server, as for every service. */
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'reference' | 'bodyLimit'>;
  /** AGENT_ALLOWED_ORIGINS. */
  readonly agentOrigins: readonly string[];
  /** Of this service, for tokens that it signs. */
  readonly agentUrl?: string;
  /** IDP_URL. */
  readonly authorizationServer?: string | undefined;
  /** INTERNAL_KEY. */
  readonly internalKeys: readonly string[];
  readonly access: Access;
  /** Migrated. */
  readonly database: Database;
  readonly redis: Redis | undefined;
  readonly pubsub: PubSub;
  readonly jobs: Jobs;
  readonly webhooks?: Webhooks | undefined;
  /** STARTING_CREDITS. */
  readonly startingCredits: number;
  /** Other services, with the internal key. */
  readonly media: ActingClient;
  readonly memory: ActingClient;
  /** Whether the memory service has a language model, as far as the settings show. */
  readonly hasMemoryModel?: boolean;
  readonly budgetAlerts: BudgetAlerts;
  readonly settings: Values<typeof agentSettings>;
  readonly model: Values<typeof modelSettings>;
  /** Reads the environment variables that MODELS_FILE names. */
  readonly readKey?: (variable: string) => string | undefined;
  /** Where the edge and the object store serve files. */
  readonly ownUrls?: readonly string[];
  /** Used when no provider is configured. */
  readonly offlineModel: LanguageModelV4;
  /** The models of images and videos. */
  readonly catalogue: Catalogue;
  /** For tests. */
  readonly pace?: ReadersPace &
    UserEventReadersPace &
    DeletionPace & {
      readonly leaseMs?: number;
      readonly idleMs?: number;
      readonly videoWaitMs?: number;
      readonly toolPace?: Partial<Pace>;
    };
}

const queues = [
  imagesQueue,
  videoQueue,
  deliveryQueue,
  cancelQueue,
  titleQueue,
  extractionQueue,
  deletionQueue,
  clearingQueue,
  budgetMailQueue,
].map(({ name }) => name);

/** Runs of dead instances go on within 30 s (docs/specification/agent.md#runs-that-continue): a lease, a look every 2 s, and the start itself. */
const defaultLeaseMs = 15_000;

const defaultVideoWaitMs = 20_000;

/** Refused while the service drains. */
const startsWork = ['/task', '/chat', '/mcp', '/images', '/videos'];
const longLivedRoutes = ['/stream/:taskId', '/chat/:id/stream', '/events', '/images', '/videos'];

export async function createAgent(deps: AgentDeps): Promise<HttpServer> {
  const { database, redis, jobs, settings, media, memory, catalogue, pubsub } = deps;
  const { log } = deps.server;
  const db = database.queries<AgentTables>();
  const lease = { holder: randomUUID(), leaseMs: deps.pace?.leaseMs ?? defaultLeaseMs };
  const eventLog = await openEventLog({ db, redis, log, ttlS: settings.taskTtlS });
  const buffers = new RunEventBuffers({ db, eventLog, log });
  const metrics = new AgentMetrics();
  const identity = createIdentity({ db, issuer: deps.agentUrl ?? 'atelier', secrets: deps.internalKeys });
  const toolServers = await openToolServers({
    identity,
    servers: settings.mcpServers,
    allowPrivate: settings.mcpAllowPrivate,
    log,
    pace: deps.pace?.toolPace,
  });
  const idleMs = deps.pace?.idleMs;
  const models = await openModels({
    settings: deps.model,
    offline: deps.offlineModel,
    log,
    telemetry: deps.server.telemetry,
    readKey: deps.readKey,
    ...(idleMs !== undefined && { idleMs }),
  });
  const hasModel = models.pick(undefined).label.simulated !== true;
  const prompts = createPromptScreening(settings, log);
  const context: AgentContext = {
    ...settings,
    log,
    db,
    jobs,
    pubsub,
    userEvents: createUserEvents(pubsub),
    webhooks: deps.webhooks,
    welcome: welcomeOf(deps.webhooks, deps.startingCredits),
    media,
    memory,
    catalogue,
    models,
    prompts,
    documents: createDocumentReader(db),
    toolServers,
    eventLog,
    buffers,
    lease,
    underWay: new Map(),
    metrics,
    telemetry: deps.server.telemetry ?? noTelemetry,
    budgets: budgetsOf(settings),
    // The offline model has nothing to say about a conversation.
    makesTitles: hasModel,
    extractsMemories: settings.extractMemories ?? (hasModel && deps.hasMemoryModel === true),
    videoWaitMs: deps.pace?.videoWaitMs ?? defaultVideoWaitMs,
  };
  const executor = new RunExecutor(context);
  const reaper = startReaper(context, executor);
  const countStream = createStreamQuota(deps.pace?.maxStreamsPerUser);
  const readers = new StreamReaders(buffers, createFrameSigner(context), countStream, deps.pace);
  const userEventReaders = new UserEventReaders({ db, log, pubsub, countStream }, deps.pace);
  const serving: ServingContext = {
    ...context,
    executor,
    reaper,
    readers,
    userEventReaders,
    assetOfUrl: createOwnUrls(deps.ownUrls ?? []),
    pace: deps.pace,
  };
  const queue = startQueue(serving);
  const calls = new McpCalls();
  const deletion = startDeletingOldEvents({ db, log });
  const budgets = startBudgetAlerts(context, deps.budgetAlerts);
  let emptying: Interval | undefined;
  const unsubscribe = pubsub.subscribe(abortTopic, { onMessage: (taskId) => executor.abort(taskId) });
  const unsubscribeFromMemory = forgetProfiles(context);

  let drainedByMs = 0;
  let isOver = false;
  let endImageWork: (() => void) | undefined;

  const app = createServer({
    ...deps.server,
    service: 'agent',
    reference: {
      clientTypes: {
        UserMessage: ['TaskRequest', 'properties', 'message', 'anyOf', '0'],
        ThreadMessage: ['ThreadMessages', 'properties', 'messages', 'items'],
      },
      description:
        'Runs a model with tools in threads, one run per thread at a time. The output is a resumable stream with images, videos and memory.',
      tags: {
        agent: 'Runs, streams, threads, models and credits.',
        generations: 'Images and videos that are ordered without a run, and all videos of a user.',
        people: 'Users and their data, for operators.',
      },
      problems: { ...agentProblems.table, account_blocked: accountProblems.table.account_blocked },
      problemFields,
    },
    cors: allowChats(deps.agentOrigins),
    isLongLived: (route) => route !== undefined && longLivedRoutes.includes(route),
    // While runs are in progress, only new runs are refused: the others can still be read and stopped.
    servedWhileDraining: ({ method, routeOptions: { url } }) =>
      !isOver && url !== '/health' && !(method === 'POST' && startsWork.includes(url ?? '')),
    onDrain: async () => {
      drainedByMs = performance.now() + settings.drainS * 1000;
      await Promise.all([executor.drain(settings.drainS * 1000), calls.drain(settings.drainS * 1000)]);
      isOver = true;
      await userEventReaders.close();
      await readers.close();
    },
  });
  app.addHook('onClose', async () => {
    // A run that was accepted before the drain and started during it has the same time as the others.
    await executor.drain(Math.max(0, drainedByMs - performance.now()));
    await calls.drain(0);
    executor.close();
    reaper.close();
    void queue.stop();
    await userEventReaders.close();
    void deletion.stop();
    void emptying?.stop();
    void budgets.stop();
    buffers.close();
    unsubscribe();
    unsubscribeFromMemory();
    endImageWork?.();
    await jobs.stop({ queues });
    await toolServers.close();
    await prompts.close();
    await eventLog.close();
  });
  addRoutes(app, deps.access, serving);
  addChatRoutes(app, deps.access, serving);
  addUserEventRoutes(app, deps.access, serving);
  addOperatorRoutes(app, deps.access, context);
  emptying = startEmptyingTrash(serving);
  addBudgetRoutes(app, deps.access, context);
  addThreadRoutes(app, deps.access, serving);
  addPeopleRoutes(app, deps.access, serving);
  addRecordRoutes(app, deps.access, context);
  addGenerationRoutes(app, deps.access, context);
  addMcpRoutes(app, deps.access, { ...context, calls, authorizationServer: deps.authorizationServer, identity });
  metrics.register(app.metrics);
  measureJobs(app.metrics, jobs, queues);
  measureOverdue(app.metrics, {
    runs: () => findOverdueRunsS(db, context.taskTtlS),
    run_starts: () => findOverdueStartsS(db),
    user_events: () => findOverdueUserEventsS(db, userEventsKeptForS),
  });
  workOnVideos(context);
  endImageWork = workOnImages(context);
  workOnTitles(context);
  workOnExtractions(context);
  workOnDeletions(serving);
  // An embedded database has one process, so all runs that are in flight at its start belong to a dead one.
  if (database.driver === 'pglite') await reaper.reapAll();
  return app;
}

const budgetsOf = ({ budgetDailyUsd, budgetMonthlyUsd }: AgentDeps['settings']): readonly Budget[] => [
  ...(budgetDailyUsd === undefined ? [] : [{ period: 'day', budgetUsd: budgetDailyUsd } as const]),
  ...(budgetMonthlyUsd === undefined ? [] : [{ period: 'month', budgetUsd: budgetMonthlyUsd } as const]),
];
