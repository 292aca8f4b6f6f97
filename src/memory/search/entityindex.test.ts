import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { createMigratedDatabase, databaseEngines } from '../../../test/database.fixture.ts';
import type { Entity } from '../api.ts';
import { lockEntity } from '../memories/entitystore.ts';
import { findVectorColumn, insertMemory, type NewMemory, type VectorColumn } from '../memories/memorystore.ts';
import type { MemoryTables } from '../tables.ts';
import { createEntityIndexes } from './entityindex.ts';

const isMissing = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const embedder = { name: 'test' };

let drop: () => Promise<void>;
let databases: readonly Database[];
let column: VectorColumn;

beforeAll(async () => {
  if (isMissing) return;
  const server = await createMigratedDatabase(migrations);
  drop = server.drop;
  const log = createLog({ level: 'silent' });
  const open = () => openDatabase({ url: server.url, dataDir: 'none', poolSize: 3, migrations, log });
  databases = [await open(), await open(), await open()];
  column = await findVectorColumn(handle(0));
});
afterAll(async () => {
  for (const database of databases ?? []) await database.close();
  await drop?.();
});

function handle(place: number) {
  const database = databases[place];
  if (database === undefined) throw new Error('not open');
  return database.queries<MemoryTables>();
}

const memoryOf = (content: string): NewMemory => ({
  content,
  type: 'episodic',
  metadata: {},
  hash: createHash('sha256').update(content).digest(),
  embedder: embedder.name,
  embedding: new Float32Array(384).fill(0.05),
});

async function untilWaiting(count: number): Promise<void> {
  const waiting = sql<{ count: number }>`select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%memory_entities%'`;
  await expect.poll(async () => (await waiting.execute(handle(2))).rows[0]?.count).toBe(count);
}

it.skipIf(isMissing)('finds a memory that was added while two writes of other processes were refused', async () => {
  const entity: Entity = { entityType: 'group', entityId: randomUUID() };
  const indexes = createEntityIndexes(column, embedder);
  await transaction(handle(0), async (tx) => {
    const { version } = await lockEntity(tx, entity);
    await insertMemory(tx, column, entity, memoryOf('the first'), version);
  });
  const known = await indexes.get(handle(0), entity);
  expect(known?.memories.size).toBe(1);

  const refusal = new Error('refused');
  const { promise: held, reject: refuseFirst } = Promise.withResolvers<never>();
  const { promise: isLocked, resolve: lock } = Promise.withResolvers<void>();
  const first = transaction(handle(2), async (tx) => {
    await lockEntity(tx, entity);
    lock();
    await held;
  });
  await isLocked;
  const second = transaction(handle(0), async (tx) => {
    const { before } = await lockEntity(tx, entity);
    await indexes.getLocked(tx, entity, before);
    throw refusal;
  });
  await untilWaiting(1);
  const addition = transaction(handle(1), async (tx) => {
    const { version } = await lockEntity(tx, entity);
    return insertMemory(tx, column, entity, memoryOf('the second'), version);
  });
  await untilWaiting(2);
  refuseFirst(refusal);
  const outcomes = await Promise.allSettled([first, second]);
  expect(outcomes).toEqual([first, second].map(() => ({ status: 'rejected', reason: refusal })));
  expect(await addition).toMatchObject({ content: 'the second' });
  expect((await indexes.get(handle(0), entity))?.memories.size).toBe(2);
});
