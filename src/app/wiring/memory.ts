import { openEmbedder } from '#memory/embedding/open.ts';
import { createMemory } from '#memory/service.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { agentOriginsOf } from '../config.ts';
import { wireAccess } from './access.ts';
import { openMemoryModel } from './memorymodel.ts';
import type { Wiring } from './wiring.ts';

export async function wireMemory({ config, engines, server, log }: Wiring): Promise<HttpServer> {
  const database = await engines.database();
  return createMemory({
    server: { ...server, readiness: { database: () => database.check() } },
    agentOrigins: agentOriginsOf(config),
    clock,
    access: wireAccess({ config, log }),
    adminToken: config.memory.adminToken,
    mergeSimilarity: config.memory.mergeSimilarity,
    minRelevance: config.memory.minRelevance,
    database,
    jobs: await engines.jobs(),
    embedder: openEmbedder(config.embedding, {
      dataDir: config.process.dataDir,
      ...(server.telemetry && { telemetry: server.telemetry }),
    }),
    languageModel: await openMemoryModel({ config, log, telemetry: server.telemetry }),
  });
}
