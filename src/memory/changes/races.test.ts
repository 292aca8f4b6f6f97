import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { createPostgresDatabase, laneEngines } from '../../../test/database.fixture.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import { type AddingOrders, wordingsOf } from '../../../test/memory/adding.child.ts';
import { type MemoryRig, newUser, onEveryDatabase, startMemory } from '../../../test/memory/rig.fixture.ts';
import type { SearchResult } from '../api.ts';
import type { MemoryTables } from '../tables.ts';

const facts = [
  'I keep bees on the roof',
  'My sister sails small boats',
  'The garden gate squeaks',
  'Our dog is afraid of thunder',
  'Grandmother baked rye bread',
];

onEveryDatabase('at the same time', (engine) => {
  let rig: MemoryRig;
  beforeAll(async () => {
    rig = await startMemory(engine);
  });
  afterAll(() => rig.close());

  /** Retries a 503: on a busy machine, a request may wait for a database connection longer than the service allows. */
  const whenServed = async <Answer extends { readonly status: number }>(send: () => Promise<Answer>) => {
    let answer = await send();
    for (; answer.status === 503; answer = await send()) await sleep(100);
    return answer;
  };
  const add = (entity: object, content: string) =>
    whenServed(() =>
      rig.server.send<{ id: string; deduplicated: boolean }>('POST', '/memory/add', {
        ...entity,
        content,
        type: 'episodic',
      }),
    );

  const many = isNightly ? 1000 : 100;
  it(`${many} additions of nearly the same over 20 entities leave 20 memories`, { timeout: 120_000 }, async () => {
    const users = Array.from({ length: 20 }, newUser);
    const waiting = Array.from({ length: many }, (_, place) => place);
    const answers: Awaited<ReturnType<typeof add>>[] = [];
    // The connections that a process opens in time. The service always has 250 concurrent requests.
    const client = async () => {
      for (let place = waiting.pop(); place !== undefined; place = waiting.pop())
        answers.push(
          await add(users[place % 20] ?? newUser(), wordingsOf('I keep bees on the roof', Math.floor(place / 20))),
        );
    };
    await Promise.all(Array.from({ length: 250 }, client));
    expect(answers).toHaveLength(many);
    expect(answers.filter(({ status }) => status !== 201 && status !== 200)).toEqual([]);
    const ids = new Set(answers.map(({ body }) => body.id));
    expect(ids.size).toBe(20);
    const memories = rig.database.queries<MemoryTables>().selectFrom('memories').select('memory_id');
    const entityIds = users.map(({ entity_id }) => entity_id);
    const rows = await memories.where('entity_id', 'in', entityIds).execute();
    expect(new Set(rows.map(({ memory_id }) => memory_id))).toEqual(ids);
    expect(rows).toHaveLength(20);
  });

  it('additions, edits, undoings and an erasure of one entity: every answer is a documented one', {
    timeout: 60_000,
  }, async () => {
    const user = newUser();
    const { id } = (await add(user, 'I keep bees')).body;
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, place) => {
        if (place === 40)
          return whenServed(() => rig.operator.send('DELETE', `/admin/entities/user/${user.entity_id}`));
        if (place % 3 === 0) return add(user, `I keep ${place} bees`);
        if (place % 3 === 1)
          return whenServed(() =>
            rig.server.send('PUT', `/memory/${id}`, { content: `I keep goats in field ${place}` }),
          );
        return whenServed(() => rig.operator.send('POST', `/admin/memories/${id}/undo`));
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

  it('additions of two processes to one entity leave one memory of each fact', { timeout: 60_000 }, async () => {
    const other = await startMemory(engine, { database: rig.database });
    try {
      const user = newUser();
      const addAt = (one: MemoryRig, content: string) =>
        one.server.send<{ id: string }>('POST', '/memory/add', { ...user, content, type: 'episodic' });
      for (let turn = 0; turn < 6; turn += 1) {
        // One process alone, so that the other's index is outdated, and then both at once.
        const [first = rig, second = rig] = turn % 2 === 0 ? [rig, other] : [other, rig];
        expect((await addAt(first, `The visitor of day ${turn} was a baker`)).status).toBe(201);
        const fact = facts[turn % facts.length] ?? '';
        const answers = await Promise.all([
          addAt(second, wordingsOf(fact, turn)),
          addAt(first, wordingsOf(fact, turn + 1)),
        ]);
        expect(answers.filter(({ status }) => ![200, 201].includes(status))).toEqual([]);
        expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      }
      const query = new URLSearchParams(user);
      const { memories } = (await rig.server.send<SearchResult>('GET', `/memories?${query}`)).body;
      expect(memories).toHaveLength(6 + facts.length);
      const { rows } = await sql<{ count: number; bytes: number; total: number }>`
        select memory_count as count, memory_bytes as bytes, (select sum(bytes)::int from memories where entity_id = ${user.entity_id}) as total
        from memory_entities where entity_id = ${user.entity_id}`.execute(rig.database.queries<MemoryTables>());
      expect(rows[0]).toMatchObject({ count: memories.length, bytes: rows[0]?.total });
    } finally {
      await other.close();
    }
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

/** What all wordings of a fact have in common. */
const normal = (content: string) =>
  content
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, ' ')
    .trim();

const program = join(import.meta.dirname, '../../../test/memory/adding.child.ts');

for (const { name, missing } of laneEngines) {
  describe.skipIf(missing)(`processes killed while they add, on ${name}`, () => {
    let dataDir: string;
    let relaxed = 'embedded';
    let server: Awaited<ReturnType<typeof createPostgresDatabase>>;
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-memory-'));
      const embedded = { url: 'embedded', drop: async () => undefined };
      server = name === 'postgres' ? await createPostgresDatabase() : embedded;
      // The clients die here, not the server: it need not wait for its disk.
      if (name === 'postgres') relaxed = `${server.url}?options=-c%20synchronous_commit%3Doff`;
    });
    afterAll(async () => {
      await server.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    /** The number of acknowledged additions. The process is killed after this many lines, or ends before. */
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

    /** One process after another, each going on where the one before was killed, until one has come to its end. */
    async function runs(orders: AddingOrders, kills: readonly number[]) {
      const acknowledged: { entity_id: string; content: string }[] = [];
      for (const killAfter of [...kills, Number.POSITIVE_INFINITY]) {
        const firstRound = orders.firstRound + Math.floor(acknowledged.length / orders.entities.length / facts.length);
        acknowledged.push(...(await run({ ...orders, firstRound }, killAfter)));
      }
      return acknowledged;
    }

    // The embedded database takes one process at a time.
    const { additions, people, kills } =
      name === 'postgres'
        ? {
            additions: 10_000,
            people: 20,
            kills: [
              [101, 1009, 1999],
              [499, 2503],
            ],
          } // Two processes at a time.
        : { additions: 250, people: 5, kills: [[7, 31, 64]] };

    it.runIf(isNightly)(
      `${additions} additions lose no acknowledged wording, and each fact is one memory`,
      {
        timeout: 300_000,
      },
      async () => {
        const entities = Array.from({ length: people }, () => randomUUID());
        const rounds = additions / entities.length / facts.length / kills.length;
        const orders = { databaseUrl: relaxed, dataDir, entities, facts };
        const acknowledged = (
          await Promise.all(
            kills.map((points, lane) =>
              runs({ ...orders, firstRound: lane * rounds, lastRound: (lane + 1) * rounds - 1 }, points),
            ),
          )
        ).flat();
        expect(acknowledged.length).toBeGreaterThanOrEqual(additions);
        const database: Database = await openDatabase({
          url: server.url,
          dataDir,
          migrations,
          log: createLog({ level: 'silent' }),
        });
        try {
          const db = database.queries<MemoryTables>();
          const rows = await db.selectFrom('memories').select(['memory_id', 'entity_id', 'content']).execute();
          const wanted = entities.flatMap((id) => facts.map((fact) => `${id} ${normal(fact)}`));
          expect(rows.map(({ entity_id, content }) => `${entity_id} ${normal(content)}`).toSorted()).toEqual(
            wanted.toSorted(),
          );
          const revisions = await db
            .selectFrom('memory_revisions')
            .select(['memory_id', 'before', 'incoming'])
            .execute();
          const counts = await db.selectFrom('memory_entities').select('memory_count').execute();
          expect(counts.map(({ memory_count }) => memory_count)).toEqual(entities.map(() => facts.length));
          const kept = new Set(rows.map(({ entity_id, content }) => `${entity_id} ${content}`));
          const owners = new Map(rows.map(({ memory_id, entity_id }) => [memory_id, entity_id]));
          for (const { memory_id, before, incoming } of revisions) {
            const entity = owners.get(memory_id);
            kept.add(`${entity} ${before.content}`).add(`${entity} ${incoming?.content}`);
          }
          expect(acknowledged.filter(({ entity_id, content }) => !kept.has(`${entity_id} ${content}`))).toEqual([]);
        } finally {
          await database.close();
        }
      },
    );
  });
}
