import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { createPostgresDatabase, databaseEngines } from '../../test/database.ts';
import { type AddingOrders, wordingsOf } from '../../test/memory/adding.ts';
import { type MemoryRig, newUser, onEveryDatabase, startMemory } from '../../test/memory/rig.ts';
import type { SearchResult } from './api.ts';
import type { MemoryTables } from './store.ts';

const facts = ['I keep bees on the roof', 'My sister sails small boats'];

onEveryDatabase('at the same time', (engine) => {
  let rig: MemoryRig;
  beforeAll(async () => {
    rig = await startMemory(engine);
  });
  afterAll(() => rig.close());

  const add = (entity: object, content: string) =>
    rig.server.send<{ id: string; deduplicated: boolean }>('POST', '/memory/add', {
      ...entity,
      content,
      type: 'episodic',
    });

  it('1000 additions of nearly the same over 20 entities leave 20 memories', { timeout: 120_000 }, async () => {
    const users = Array.from({ length: 20 }, newUser);
    const waiting = Array.from({ length: 1000 }, (_, place) => place);
    const answers: Awaited<ReturnType<typeof add>>[] = [];
    // As many connections as one process opens in good time; the service sees 250 at once all along.
    const client = async () => {
      for (let place = waiting.pop(); place !== undefined; place = waiting.pop())
        answers.push(
          await add(users[place % 20] ?? newUser(), wordingsOf('I keep bees on the roof', Math.floor(place / 20))),
        );
    };
    await Promise.all(Array.from({ length: 250 }, client));
    expect(answers).toHaveLength(1000);
    const made = answers.filter(({ status }) => status === 201);
    expect(answers.filter(({ status }) => status !== 201 && status !== 200)).toEqual([]);
    expect(made).toHaveLength(20);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(20);
  });

  it('additions, edits, undoings and an erasure of one entity: every answer is a documented one', {
    timeout: 60_000,
  }, async () => {
    const user = newUser();
    const { id } = (await add(user, 'I keep bees')).body;
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, place) => {
        if (place === 40) return rig.operator.send('DELETE', `/admin/entities/user/${user.entity_id}`);
        if (place % 3 === 0) return add(user, `I keep ${place} bees`);
        if (place % 3 === 1)
          return rig.server.send('PUT', `/memory/${id}`, { content: `I keep goats in field ${place}` });
        return rig.operator.send('POST', `/admin/memories/${id}/undo`);
      }),
    );
    expect(answers.map(({ status }) => status).filter((status) => ![200, 201, 204, 404, 409].includes(status))).toEqual(
      [],
    );
    const { memories } = (
      await rig.server.send<SearchResult>('POST', '/memory/search', { ...user, query: 'bees', limit: 100 })
    ).body;
    expect(memories.filter((memory) => memory.id === id)).toEqual([]);
  });

  it('an edit of one process is seen by the next search of another', async () => {
    const other = await startMemory(engine, { database: rig.database });
    try {
      const user = newUser();
      const { id } = (await add(user, 'I keep bees on the roof')).body;
      const found = async () =>
        (await other.server.send<SearchResult>('POST', '/memory/search', { ...user, query: 'roof' })).body.memories;
      expect((await found()).map(({ content }) => content)).toEqual(['I keep bees on the roof']);
      await rig.server.send('PUT', `/memory/${id}`, { content: 'The roof is sold' });
      expect((await found()).map(({ content }) => content)).toEqual(['The roof is sold']);
      await add(user, 'The roof was red');
      await rig.server.send('DELETE', `/memory/${id}`);
      expect((await found()).map(({ content }) => content)).toEqual(['The roof was red']);
      await rig.operator.send('DELETE', `/admin/entities/user/${user.entity_id}`);
      expect(await found()).toEqual([]);
      await add(user, 'The roof is green');
      expect((await found()).map(({ content }) => content)).toEqual(['The roof is green']);
    } finally {
      await other.close();
    }
  });
});

const program = join(import.meta.dirname, '../../test/memory/adding.ts');

for (const { name, missing } of databaseEngines) {
  describe.skipIf(missing)(`processes killed while they add, on ${name}`, () => {
    let dataDir: string;
    let server: Awaited<ReturnType<typeof createPostgresDatabase>>;
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-memory-'));
      const embedded = { url: 'embedded', drop: async () => undefined };
      server = name === 'postgres' ? await createPostgresDatabase() : embedded;
    });
    afterAll(async () => {
      await server.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    /** What it acknowledged; killed after so many lines, if it lives so long. */
    function run(orders: AddingOrders, killAfter: number): Promise<readonly { entity_id: string; content: string }[]> {
      const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text.split('\n').length > killAfter) child.kill('SIGKILL');
      });
      return new Promise((resolve, reject) => {
        child.on('close', (code, signal) => {
          if (code !== 0 && signal !== 'SIGKILL') reject(new Error(`It ended with ${code}`));
          else
            resolve(
              text
                .split('\n')
                .slice(0, -1)
                .map((line) => JSON.parse(line)),
            );
        });
      });
    }

    it('no acknowledged wording is lost, and every fact is one memory', { timeout: 180_000 }, async () => {
      const entities = Array.from({ length: 5 }, () => randomUUID());
      const orders = { databaseUrl: server.url, dataDir, entities, facts, rounds: 10 };
      // The embedded database takes one process at a time.
      const together = name === 'postgres' ? 2 : 1;
      const acknowledged: { entity_id: string; content: string }[] = [];
      for (const killAfter of [7, 31, 64, Number.POSITIVE_INFINITY]) {
        const runs = await Promise.all(Array.from({ length: together }, () => run(orders, killAfter)));
        acknowledged.push(...runs.flat());
      }
      const database: Database = await openDatabase({
        url: server.url,
        dataDir,
        migrations,
        log: createLog({ level: 'silent' }),
      });
      try {
        const db = database.queries<MemoryTables>();
        const rows = await db.selectFrom('memories').select(['memory_id', 'entity_id', 'content']).execute();
        expect(rows).toHaveLength(entities.length * facts.length);
        const revisions = await db.selectFrom('memory_revisions').select(['memory_id', 'before', 'incoming']).execute();
        const counts = await db.selectFrom('memory_entities').select('memory_count').execute();
        expect(counts.map(({ memory_count }) => memory_count)).toEqual(entities.map(() => facts.length));
        const kept = new Set(rows.map(({ entity_id, content }) => `${entity_id} ${content}`));
        for (const { memory_id, before, incoming } of revisions) {
          const entity = rows.find((row) => row.memory_id === memory_id)?.entity_id;
          kept.add(`${entity} ${before.content}`).add(`${entity} ${incoming?.content}`);
        }
        expect(acknowledged.length).toBeGreaterThan(entities.length * facts.length * 10);
        expect(acknowledged.filter(({ entity_id, content }) => !kept.has(`${entity_id} ${content}`))).toEqual([]);
      } finally {
        await database.close();
      }
    });
  });
}
