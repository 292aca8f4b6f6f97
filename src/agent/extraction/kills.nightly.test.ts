/** The worker of extractions is killed again and again: each message is remembered once, and none is lost. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Memory } from '#memory/api.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { createPostgresDatabase, databaseEngines } from '../../../test/database.fixture.ts';
import { type ModelServer, startModelServer } from '../../../test/memory/modelserver.fixture.ts';
import { languageModelAt, type MemoryRig, startMemory, testInternalKey } from '../../../test/memory/rig.fixture.ts';
import type { AgentTables } from '../tables.ts';
import { appendMessage } from '../threads/messagestore.ts';
import { lockThread } from '../threads/threadstore.ts';
import { extractionQueue } from './extracting.ts';

const program = join(import.meta.dirname, '../../../test/agent/extracting.child.ts');
const isMissing = databaseEngines.find(({ name }) => name === 'postgres')?.missing ?? true;
const log = createLog({ level: 'silent' });

describe.skipIf(isMissing)('a worker that is killed during extractions', () => {
  let model: ModelServer;
  let server: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let database: Database;
  let memory: MemoryRig;
  beforeAll(async () => {
    model = await startModelServer();
    server = await createPostgresDatabase();
    database = await openDatabase({ url: server.url, dataDir: '', migrations, log });
    const engine = { name: 'postgres' as const, missing: false, open: async () => database };
    memory = await startMemory(engine, { database, languageModel: await languageModelAt(model.url) });
  });
  afterAll(async () => {
    await memory.close();
    await database.close();
    await server.drop();
    model.close();
  });

  /** A run that has completed, as `endRun` leaves it. */
  async function completeRun(ownerId: string, words: string): Promise<void> {
    const [threadId, taskId] = [randomUUID(), randomUUID()];
    const message = (role: 'user' | 'assistant', text: string) => ({
      ...{ threadId, id: randomUUID(), ownerId, role, metadata: {}, taskId },
      parts: [{ type: 'text' as const, text }],
    });
    const jobs = createJobs({ database, log });
    await transaction(database.queries<AgentTables>(), async (tx) => {
      await lockThread(tx, threadId, ownerId);
      await appendMessage(tx, message('user', words), undefined);
      await appendMessage(tx, message('assistant', 'How nice.'), undefined);
      await jobs.enqueue(tx, extractionQueue, { threadId, taskId, ownerId });
    });
    await jobs.stop();
  }
  const startWorker = () =>
    spawn(process.execPath, [program, server.url, memory.url, testInternalKey], { stdio: 'inherit' });
  const kill = async (child: ChildProcess) => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  const unfinished = () =>
    database
      .queries<JobTables>()
      .selectFrom('jobs')
      .select('status')
      .where('queue', '=', extractionQueue.name)
      .where('status', '<>', 'done')
      .execute();
  const memoriesOf = async (entityId: string) => {
    const query = new URLSearchParams({ entity_id: entityId, entity_type: 'user' });
    return (await memory.server.send<{ memories: Memory[] }>('GET', `/memories?${query}`)).body.memories;
  };

  it('leaves the facts of every message, each once', async () => {
    const animals = ['bees', 'goats', 'ducks', 'geese', 'owls', 'crows'];
    const users = animals.map(() => randomUUID());
    for (const [place, animal] of animals.entries()) await completeRun(users[place] ?? '', `I keep ${animal}`);
    let onAsked: () => Promise<void> = async () => undefined;
    model.handle(async ({ purpose, messages }) => {
      if (purpose === 'judge') return { json: { verdicts: [] } };
      await onAsked();
      return { json: { memories: [{ content: messages[0]?.content, type: 'preference' }] } };
    });
    // Once before the model answers, and twice while the memory service writes what it found.
    for (const delayMs of [undefined, 5, 40]) {
      const child = startWorker();
      const { promise: killed, resolve } = Promise.withResolvers<void>();
      onAsked = async () => {
        onAsked = async () => undefined;
        if (delayMs === undefined) await kill(child);
        else setTimeout(() => void kill(child).then(resolve), delayMs);
        if (delayMs === undefined) resolve();
      };
      await killed;
    }
    const last = startWorker();
    await expect.poll(unfinished, { timeout: 40_000 }).toEqual([]);
    await kill(last);
    for (const [place, animal] of animals.entries())
      expect((await memoriesOf(users[place] ?? '')).map(({ content }) => content)).toEqual([`I keep ${animal}`]);
  }, 60_000);
});
