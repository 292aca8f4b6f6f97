/** Processes that judge together, and one that is killed between the answer of the model and the write. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { createPostgresDatabase, databaseEngines } from '../../../test/database.fixture.ts';
import { judging, type ModelServer, startModelServer } from '../../../test/memory/modelserver.fixture.ts';
import {
  languageModelAt,
  type MemoryRig,
  newUser,
  startMemory,
  testInternalKey,
} from '../../../test/memory/rig.fixture.ts';
import type { Memory } from '../api.ts';

const program = join(import.meta.dirname, '../../../test/memory/judging.child.ts');
const isMissing = databaseEngines.find(({ name }) => name === 'postgres')?.missing ?? true;
const replacing = judging((newer, older) =>
  newer.includes('live') && older.includes('live') ? 'replaces' : 'keep_both',
);

describe.skipIf(isMissing)('two processes that judge', () => {
  let model: ModelServer;
  let server: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let database: Database;
  beforeAll(async () => {
    model = await startModelServer();
    model.handle(replacing);
    server = await createPostgresDatabase();
    const log = createLog({ level: 'silent' });
    database = await openDatabase({ url: server.url, dataDir: '', migrations, log });
  });
  afterAll(async () => {
    await database.close();
    await server.drop();
    model.close();
  });

  const engine = { name: 'postgres' as const, missing: false, open: async () => database };
  const start = async () =>
    startMemory(engine, { database, languageModel: await languageModelAt(model.url), leaseMs: 1000 });
  const add = (rig: MemoryRig, user: object, content: string) =>
    rig.server.send<{ id: string }>('POST', '/memory/add', { ...user, content, type: 'preference' });
  const list = async (rig: MemoryRig, user: Record<string, string>) =>
    (await rig.server.send<{ memories: Memory[] }>('GET', `/memories?${new URLSearchParams(user)}`)).body.memories;

  it('leave the newest of contradictory memories that both processes got at once', async () => {
    const rigs = [await start(), await start()] as const;
    try {
      const user = newUser();
      const cities = ['Lisbon', 'Porto', 'Faro', 'Braga', 'Evora', 'Sintra'];
      for (const [place, city] of cities.entries()) {
        // The same words at both at once.
        const twins = await Promise.all(rigs.map((rig) => add(rig, user, `I live in ${city}`)));
        expect(twins.map(({ status }) => status).toSorted()).toEqual([200, 201]);
        expect(new Set(twins.map(({ body }) => body.id)).size).toBe(1);
        if (place % 2 === 1) await expect.poll(async () => (await list(rigs[0], user)).length).toBe(1);
      }
      await expect
        .poll(async () => (await list(rigs[1], user)).map(({ content }) => content))
        .toEqual(['I live in Sintra']);
      expect(model.requests.length).toBeLessThanOrEqual(cities.length);
    } finally {
      await Promise.all(rigs.map((rig) => rig.close()));
    }
  });

  it('lose no verdict if the process is killed before it writes them', async ({ onTestFinished }) => {
    const user = newUser();
    const child = spawn(process.execPath, [program, server.url, model.url], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = line.toString().trim();
    const send = (content: string) =>
      fetch(`${url}/memory/add`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-internal-key': testInternalKey },
        body: JSON.stringify({ ...user, content, type: 'preference' }),
      });
    // The child gets its answer, and cannot write it, because this connection has the lock of the entity.
    const holder = new pg.Client({ connectionString: server.url });
    await holder.connect();
    expect((await send('I live in Lisbon')).status).toBe(201);
    const { promise: answered, resolve: onAnswer } = Promise.withResolvers<void>();
    model.handle(async (request) => {
      await holder.query('begin');
      await holder.query('select 1 from memory_entities where entity_id = $1 for update', [user.entity_id]);
      onAnswer();
      return replacing(request);
    });
    expect((await send('I live in Porto')).status).toBe(201);
    await answered;
    const isBlocked = async () => {
      const rows = await database
        .queries<{ pg_stat_activity: { wait_event_type: string; datname: string } }>()
        .selectFrom('pg_stat_activity')
        .select('datname')
        .where('wait_event_type', '=', 'Lock')
        .execute();
      return rows.some(({ datname }) => server.url.includes(datname));
    };
    await expect.poll(isBlocked).toBe(true);
    child.kill('SIGKILL');
    await exited;
    await holder.query('rollback');
    await holder.end();
    model.handle(replacing);

    const rig = await start();
    try {
      expect(await list(rig, user)).toHaveLength(2);
      await expect
        .poll(async () => (await list(rig, user)).map(({ content }) => content), { timeout: 30_000 })
        .toEqual(['I live in Porto']);
    } finally {
      await rig.close();
    }
  });
});
