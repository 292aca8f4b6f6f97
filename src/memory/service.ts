/** The memory service (docs/specification/memory.md; docs/memory.md). */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { Counter, type Registry } from '@prometheus-io/client';
import { type Access, guardAdmins } from '#platform/access/access.ts';
import type { Clock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import type { ActingClient } from '#platform/http/client.ts';
import { allowApplications } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import { isUuid } from '#platform/ids.ts';
import { measureJobs } from '#platform/jobs/depth.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { addAdminRoutes } from './admin/routes.ts';
import { createWrites } from './changes/entitywrite.ts';
import type { JudgingContext, MemoryContext } from './context.ts';
import { calibrateEmbedder, type Embedder } from './embedding/embedder.ts';
import { reembeddingQueue, startReembedding } from './embedding/reembedding.ts';
import { addExtractionRoutes } from './extraction/routes.ts';
import { judgingQueue, requestJudgement, workOnJudgements } from './judging/judge.ts';
import { findVectorColumn } from './memories/memorystore.ts';
import { createMemoryModel } from './model/languagemodel.ts';
import { memoryProblems } from './problems.ts';
import { addRoutes } from './routes.ts';
import { createEntityIndexes } from './search/entityindex.ts';
import { addSelfServiceRoutes } from './selfservice/routes.ts';
import type { MemoryTables } from './tables.ts';

export interface MemoryDeps {
  /** The options that all services share. */
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'reference' | 'bodyLimit'>;
  /** AGENT_ALLOWED_ORIGINS. */
  readonly agentOrigins: readonly string[];
  readonly clock: Clock;
  readonly access: Access;
  /** MEMORY_ADMIN_TOKEN. */
  readonly adminToken: string;
  /** MEMORY_MERGE_SIMILARITY; 0.9 by default. */
  readonly mergeSimilarity?: number;
  /** MEMORY_MIN_RELEVANCE; 0.55 by default. */
  readonly minRelevance?: number;
  /** Migrated. */
  readonly database: Database;
  readonly jobs: Jobs;
  /** Learns of changes that it must not overlook. */
  readonly agent?: ActingClient | undefined;
  /** Closed with the service. */
  readonly embedder: Embedder;
  /** Judges and extracts memories. Without one, only the rules judge. */
  readonly languageModel?: LanguageModelOptions | undefined;
  /** For tests. */
  readonly pace?: { readonly judgingDelayMs?: number };
}

export interface LanguageModelOptions {
  readonly id: string;
  readonly model: LanguageModelV4;
  /** MEMORY_MODEL_DAILY_CALLS. */
  readonly dailyCalls: number;
  /** MEMORY_MODEL_TIMEOUT_SECS. */
  readonly timeoutMs: number;
}

export async function createMemory(deps: MemoryDeps): Promise<HttpServer> {
  const { clock, access } = deps;
  const app = createServer({
    ...deps.server,
    service: 'memory',
    reference: {
      clientTypes: {
        Profile: ['Injection', 'properties', 'profile', 'anyOf', '0'],
        FoundMemory: ['Injection', 'properties', 'memories', 'items'],
        Revision: ['MemoryHistory', 'properties', 'history', 'items'],
      },
      description:
        'Stores facts about users and groups, merges near-duplicates, and returns the relevant ones for a message.',
      tags: {
        memory: 'Memories of users and groups.',
        admin: 'The admin API for operators. Every change is recorded in the audit log.',
      },
      problems: memoryProblems.table,
    },
    cors: allowApplications(deps.agentOrigins),
  });
  const db = deps.database.queries<MemoryTables>();
  const embedder = calibrateEmbedder(deps.embedder, db);
  const column = await findVectorColumn(db);
  const indexes = createEntityIndexes(column, embedder);
  const base: MemoryContext = {
    db,
    column,
    embedder,
    indexes,
    writes: createWrites(),
    clock,
    jobs: deps.jobs,
    log: deps.server.log,
    announce: createAnnouncing(deps),
    mergeAbove: deps.mergeSimilarity ?? 0.9,
    minRelevance: deps.minRelevance ?? 0.55,
  };
  const judging = openJudge(deps, base, app.metrics);
  const context: MemoryContext = judging ?? base;
  addRoutes(app, access, context);
  addSelfServiceRoutes(app, access, context);
  addExtractionRoutes(app, access, judging);
  addAdminRoutes(app, guardAdmins(deps.adminToken), context);
  await startReembedding(context);
  if (judging !== undefined) workOnJudgements(judging);
  const queues = [reembeddingQueue(embedder).name, ...(judging ? [judgingQueue.name] : [])];
  measureJobs(app.metrics, deps.jobs, queues);
  app.addHook('onClose', async () => {
    await deps.jobs.stop({ queues });
    await embedder.close();
  });
  return app;
}

/** The agent keeps profiles for turns in which this service does not answer. Without this, it would use one that was withdrawn. */
function createAnnouncing({ agent, server: { log } }: MemoryDeps): MemoryContext['announce'] {
  return async ({ entityType, entityId }) => {
    if (agent === undefined || entityType !== 'user' || !isUuid(entityId)) return;
    const json = { userId: entityId, type: 'memory.changed' };
    try {
      const { status } = await agent.send({ method: 'POST', route: '/events', json, onBehalfOf: null });
      if (status !== 204) throw new Error(`the agent service returned ${status}`);
    } catch (error) {
      log.warn(
        { err: error },
        'a change of a memory was not announced: the agent can use the former profile for up to 10 minutes',
      );
    }
  };
}

function openJudge(
  { languageModel, pace }: MemoryDeps,
  base: MemoryContext,
  registry: Registry,
): JudgingContext | undefined {
  if (languageModel === undefined) return undefined;
  const calls = new Counter({
    name: 'memory_model_calls_total',
    help: 'Calls to the language model of memories.',
    labelNames: ['purpose', 'outcome'],
    registers: [registry],
  });
  const judging = {
    ...base,
    model: createMemoryModel(languageModel),
    calls,
    dailyCalls: languageModel.dailyCalls,
    modelTimeoutMs: languageModel.timeoutMs,
    judgingDelayMs: pace?.judgingDelayMs,
  };
  return { ...judging, requestJudgement: requestJudgement(judging) };
}
