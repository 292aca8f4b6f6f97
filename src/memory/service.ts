/** The memory service (docs/specification/memory.md; docs/memory.md). */
import type { Access } from '#platform/access/access.ts';
import { guardAdmins } from '#platform/access/admin.ts';
import type { Clock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { allowApplications } from '#platform/http/cors.ts';
import { createServer, type HttpServer, type ServerOptions } from '#platform/http/server.ts';
import { measureJobs } from '#platform/jobs/depth.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { addAdminRoutes } from './admin/routes.ts';
import { createEntityQueue } from './changes/entityqueue.ts';
import { calibrateEmbedder } from './embedding/calibration.ts';
import type { Embedder } from './embedding/embedder.ts';
import { reembeddingQueue, startReembedding } from './embedding/reembedding.ts';
import { findVectorColumn } from './memories/memorystore.ts';
import { addRoutes } from './routes.ts';
import { createEntityIndexes } from './search/entityindex.ts';
import { addSelfServiceRoutes } from './selfservice/routes.ts';
import type { MemoryTables } from './tables.ts';

export interface MemoryDeps {
  /** The options that all services share. */
  readonly server: Omit<ServerOptions, 'service' | 'cors' | 'description' | 'bodyLimit'>;
  /** AGENT_ALLOWED_ORIGINS. */
  readonly agentOrigins: readonly string[];
  readonly clock: Clock;
  readonly access: Access;
  /** MEMORY_ADMIN_TOKEN. */
  readonly adminToken: string;
  /** MEMORY_MERGE_SIMILARITY; 0.9 by default. */
  readonly mergeSimilarity?: number;
  /** Migrated. */
  readonly database: Database;
  readonly jobs: Jobs;
  /** Closed with the service. */
  readonly embedder: Embedder;
}

export async function createMemory(deps: MemoryDeps): Promise<HttpServer> {
  const { clock, access } = deps;
  const app = createServer({
    ...deps.server,
    service: 'memory',
    description: 'Remembers facts of users and groups, and gives an agent those that belong to a message.',
    cors: allowApplications(deps.agentOrigins),
  });
  const db = deps.database.queries<MemoryTables>();
  const embedder = calibrateEmbedder(deps.embedder, db);
  const column = await findVectorColumn(db);
  const indexes = createEntityIndexes(column, embedder);
  const mergeAbove = deps.mergeSimilarity ?? 0.9;
  const routeDeps = { db, column, embedder, indexes, clock, mergeAbove, queue: createEntityQueue() };
  addRoutes(app, access, routeDeps);
  addSelfServiceRoutes(app, access, routeDeps);
  addAdminRoutes(app, guardAdmins(deps.adminToken), routeDeps);
  await startReembedding(routeDeps, deps.jobs, deps.server.log);
  const queues = [reembeddingQueue(embedder).name];
  measureJobs(app.metrics, deps.jobs, queues);
  app.addHook('onClose', async () => {
    await deps.jobs.stop({ queues });
    await embedder.close();
  });
  return app;
}
