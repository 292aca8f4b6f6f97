import { openEmbedder } from '#memory/embedding/open.ts';
import { createMemory } from '#memory/service.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { agentOriginsOf } from '../config.ts';
import { openMemoryModel } from './memorymodel.ts';
import { openClient, type Wiring, wireAccess } from './wiring.ts';

/** A user waits for it. */
const agentTimeoutMs = 2000;

export async function wireMemory({ config, engines, server, log }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  const agent = openClient({ config, server }, 'agent', { timeoutMs: agentTimeoutMs });
  const app = await createMemory({
    server: { ...server, readiness: { database: () => database.check() } },
    agentOrigins: agentOriginsOf(config),
    clock,
    access: wireAccess({ config, log }, database),
    adminToken: config.memory.adminToken,
    mergeSimilarity: config.memory.mergeSimilarity,
    minRelevance: config.memory.minRelevance,
    database,
    jobs: await engines.jobs(),
    agent,
    embedder: openEmbedder(config.embedding, {
      dataDir: config.process.dataDir,
      telemetry: server.telemetry,
    }),
    languageModel: await openMemoryModel({ config, log, telemetry: server.telemetry }),
  });
  app.addHook('onClose', () => agent.close());
  return app;
}
