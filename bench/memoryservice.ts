/** The memory service for benchmarks, on the embedded database. */
import { migrations } from '../src/app/migrations.ts';
import type { Embedder } from '../src/memory/embedding/embedder.ts';
import { createMemory } from '../src/memory/service.ts';
import { createAccess } from '../src/platform/access/access.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createJobs } from '../src/platform/jobs/queueing.ts';
import { createLog } from '../src/platform/log.ts';
import { openTestDatabase } from '../test/database.fixture.ts';

interface Answer {
  /** Only of a search. */
  readonly memories: readonly { readonly content: string }[];
}

export async function startMemoryService(embedder: Embedder) {
  const log = createLog({ level: 'silent' });
  const database = await openTestDatabase(migrations);
  const jobs = createJobs({ database, log });
  const app = await createMemory({
    server: { log, readiness: {} },
    agentOrigins: [],
    clock: systemClock,
    access: createAccess({ internalKeys: ['key'], log }),
    adminToken: 'token',
    database,
    jobs,
    embedder,
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const post = async (path: string, payload: object): Promise<Answer> => {
    const headers = { 'x-internal-key': 'key', 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(payload) });
    if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Answer;
  };
  const close = async () => {
    await app.close();
    await jobs.stop();
    await database.close();
  };
  return { post, close };
}
