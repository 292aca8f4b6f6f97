/** The memory service: what a turn costs beside the SQL that it cannot do without, and whether other people's rows slow it down. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { migrations } from '../src/app/migrations.ts';
import type { InjectRequest } from '../src/memory/api.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import { createBuiltinEmbedder } from '../src/memory/embedding/builtin.ts';
import { calibrateEmbedder } from '../src/memory/embedding/embedder.ts';
import { findEntity, lockEntity } from '../src/memory/memories/entitystore.ts';
import { findMemories, findSimilarities, findVectorColumn, insertMemory } from '../src/memory/memories/memorystore.ts';
import { createEntityIndexes } from '../src/memory/search/entityindex.ts';
import { inject } from '../src/memory/search/searching.ts';
import type { MemoryTables } from '../src/memory/tables.ts';
import { hashContent } from '../src/memory/text.ts';
import { systemClock } from '../src/platform/clock.ts';
import { type Database, type Db, transaction } from '../src/platform/db/db.ts';
import { type DatabaseEngine, databaseEngines } from '../test/database.fixture.ts';
import { atMost, type Bench, median, type Row, skipWithout } from './bench.ts';
import { postgres } from './needs.ts';

const rounds = 100;
const topics = 'bees boats violins glaciers tea comets chess bread maps ferns radios quilts'.split(' ');
const places = 'Oslo Lima Kyoto Leeds Quito Perth Bonn Cairo Turin Hanoi Porto Bergen Ipoh Kazan'.split(' ');

export const memory: Bench = {
  async *run() {
    yield await tableMemory();
    yield await embeddingTime();
    for (const engine of databaseEngines) {
      // Where the database compares the vectors, a turn is mostly that scan; elsewhere its SQL is a look at a few rows.
      if (engine.name === 'pglite') yield await besideItsSql(engine);
      else yield (await skipWithout('/inject among 100,000 memories', postgres)) ?? (await amongOthers(engine));
    }
  },
};

/** Resident memory that the table and its vocabulary take, in a process of its own. */
async function tableMemory(): Promise<Row> {
  const child = fork(fileURLToPath(new URL('tablememory.ts', import.meta.url)), { execArgv: ['--expose-gc'] });
  const [bytes] = await once(child, 'message');
  return atMost(40, { goal: 'the table of the built-in embedder', measured: bytes / 2 ** 20, against: '1 MiB' });
}

async function embeddingTime(): Promise<Row> {
  const embedder = createBuiltinEmbedder();
  const texts = Array.from(
    { length: 1000 },
    (_, place) =>
      `On day ${place} we talked about ${topics[place % topics.length]} near ${places[place % places.length]}`,
  );
  await embedder.embed(texts.slice(0, 10));
  const since = performance.now();
  await embedder.embed(texts);
  const measured = (performance.now() - since) / texts.length;
  return atMost(1, { goal: 'embedding of a text by the built-in embedder', measured, against: '1 ms' });
}

async function besideItsSql(engine: DatabaseEngine): Promise<Row> {
  const { turn, bare, close } = await open(engine, 1, 10_000);
  try {
    const [ours, least] = await timesOf([turn, bare]);
    return atMost(1.5, {
      goal: `/inject, p95 of ${rounds}, an entity of 10,000 memories (${engine.name})`,
      measured: p95(ours) / p95(least),
      against: 'its SQL alone, the scan of vectors included',
    });
  } finally {
    await close();
  }
}

async function amongOthers(engine: DatabaseEngine): Promise<Row> {
  const few = await open(engine, 10, 1000);
  const many = await open(engine, 100, 1000);
  try {
    const [amongMany = [], amongFew = []] = await timesOf([many.turn, few.turn]);
    return atMost(1.5, {
      goal: `/inject, median of ${rounds}, among 100,000 memories (${engine.name})`,
      measured: median(amongMany) / median(amongFew),
      against: 'among 10,000',
    });
  } finally {
    await Promise.all([few.close(), many.close()]);
  }
}

/** A database with `entities` of `memoriesPerEntity` memories each, one of which is asked. */
async function open(engine: DatabaseEngine, entities: number, memoriesPerEntity: number) {
  const database = await engine.open(migrations);
  const db = database.queries<MemoryTables>();
  const embedder = calibrateEmbedder(createBuiltinEmbedder(), db);
  const column = await findVectorColumn(db);
  const indexes = createEntityIndexes(column, embedder);
  const deps = { db, column, embedder, indexes, clock: systemClock, minRelevance: 0.55 } as MemoryContext;
  const entity = { entityType: 'user', entityId: randomUUID() } as const;
  await remember(database, entity, memoriesPerEntity);
  await multiply(db, entities, memoriesPerEntity);
  const request = (place: number): InjectRequest => ({
    entity_id: entity.entityId,
    entity_type: 'user',
    group_id: undefined,
    query: `What about ${topics[place % topics.length]} in ${places[place % places.length]}?`,
    limit: 5,
  });
  const turn = (place: number) => inject(deps, request(place));
  const found = (await turn(0)).memories.map(({ id }) => id);
  const [vector = new Float32Array()] = await embedder.embed(['What about bees in Oslo?']);
  const bare = async () => {
    await findEntity(db, entity);
    if (column !== 'bytea') await findSimilarities(db, column, entity, embedder.name, vector, (cosine) => cosine);
    await findMemories(db, found);
  };
  return { turn, bare, close: () => database.close() };
}

/** Milliseconds of each, taken in turns. */
async function timesOf(works: readonly ((place: number) => Promise<unknown>)[]): Promise<number[][]> {
  const times: number[][] = works.map(() => []);
  for (let round = -10; round < rounds; round += 1) {
    for (const [place, work] of works.entries()) {
      const since = performance.now();
      await work(Math.abs(round));
      if (round >= 0) times[place]?.push(performance.now() - since);
    }
  }
  return times;
}

const p95 = (times: readonly number[] = []) =>
  times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.95)] ?? Number.NaN;

async function remember(
  database: Database,
  entity: { entityType: 'user'; entityId: string },
  memoriesPerEntity: number,
): Promise<void> {
  const db = database.queries<MemoryTables>();
  const embedder = createBuiltinEmbedder();
  const column = await findVectorColumn(db);
  const contents = Array.from(
    { length: memoriesPerEntity },
    (_, place) =>
      `On day ${place} we talked about ${topics[place % topics.length]} near ${places[place % places.length]}`,
  );
  const vectors = await embedder.embed(contents);
  for (let start = 0; start < contents.length; start += 100) {
    await transaction(db, async (tx) => {
      const { version } = await lockEntity(tx, entity);
      for (const [offset, content] of contents.slice(start, start + 100).entries()) {
        const embedding = vectors[start + offset];
        if (embedding === undefined) continue;
        const inscription = { type: 'episodic', content, hash: hashContent(content), metadata: {} } as const;
        await insertMemory(tx, column, entity, { ...inscription, embedder: embedder.name, embedding }, version);
      }
    });
  }
}

/** The same memories for other people, until there are `entities` of them. */
async function multiply(db: Db<MemoryTables>, entities: number, memoriesPerEntity: number): Promise<void> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from memory_entities`.execute(db);
  for (let count = rows[0]?.count ?? 0; count < entities; count += 1) {
    const other = randomUUID();
    await sql`insert into memory_entities (entity_type, entity_id, memory_count) values ('user', ${other}, ${memoriesPerEntity})`.execute(
      db,
    );
    await sql`
      insert into memories (entity_type, entity_id, type, content, content_hash, metadata, embedder, version, embedding)
      select 'user', ${other}, type, content, content_hash, metadata, embedder, version, embedding
      from memories where entity_id = (select entity_id from memory_entities order by version limit 1)`.execute(db);
  }
  await sql`analyze memories`.execute(db);
  // What was just written is not to be written out while the clock runs.
  await sql`checkpoint`.execute(db);
}
