import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deserialize } from 'node:v8';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isNightly } from '../../../test/lane.fixture.ts';
import { Disk, type Operation, type Unsynced } from '../../../test/platform/db/powercut.fixture.ts';
import { createLog } from '../log.ts';
import { openDatabase } from './open.ts';

const log = createLog({ level: 'silent' });
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-powercut-'));
});
afterAll(() => rm(folder, { recursive: true }));

const open = (dataDir: string) => openDatabase({ url: 'embedded', dataDir, poolSize: 1, migrations: [], log });

describe('a power cut', () => {
  it('loses no acknowledged row of the embedded database, and leaves no half of a transaction', async () => {
    const dataDir = join(folder, 'data');
    await (await open(dataDir)).close();
    await cp(dataDir, join(folder, 'before'), { recursive: true });
    const operations = await record(dataDir);
    const acknowledgments = operations.flatMap(({ type }, index) => (type === 'acknowledge' ? [index] : []));
    expect(acknowledgments).toHaveLength(72);

    const kinds: readonly Unsynced[] = ['is lost', 'is written in tables only', 'is written at random'];
    // Directly after an acknowledgment, and before a table is synced: then the least time has passed for other syncs.
    const tableSyncs = operations.flatMap((operation, index) => (isTableSync(operation) ? [index - 1] : []));
    const cuts: readonly { readonly cut: number; readonly unsynced: Unsynced }[] = isNightly
      ? [...acknowledgments, ...tableSyncs].flatMap((cut) => kinds.map((unsynced) => ({ cut, unsynced })))
      : [
          { cut: acknowledgments.at(20) ?? 0, unsynced: 'is lost' },
          { cut: tableSyncs.at(0) ?? 0, unsynced: 'is written in tables only' },
          { cut: acknowledgments.at(-2) ?? 0, unsynced: 'is written at random' },
        ];
    for (const { cut, unsynced } of cuts) {
      const disk = await Disk.read(join(folder, 'before', 'database'));
      const before = operations.slice(0, cut + 1);
      for (const operation of before) disk.apply(operation);
      const image = join(folder, 'image');
      await disk.cut(join(image, 'database'), unsynced);
      await expectAllOf(acknowledged(before), image);
      await rm(image, { recursive: true });
    }
  }, 300_000);
});

async function record(dataDir: string): Promise<readonly Operation[]> {
  const program = fileURLToPath(new URL('../../../test/platform/db/recording.child.ts', import.meta.url));
  const file = join(folder, 'record');
  await promisify(execFile)(process.execPath, [program, dataDir, file]);
  return deserialize(await readFile(file));
}

const isTableSync = (operation: Operation): boolean => operation.type === 'sync' && operation.path.startsWith('base/');

const acknowledged = (operations: readonly Operation[]): readonly number[] =>
  operations.flatMap((operation) => (operation.type === 'acknowledge' ? [operation.id] : []));

async function expectAllOf(ids: readonly number[], dataDir: string): Promise<void> {
  const database = await open(dataDir);
  try {
    const db = database.queries();
    // Before the first read, which marks rows of lost transactions: they would appear once a later transaction gets the
    // same number.
    for (let count = 0; count < 50; count += 1) await sql`create temp table t (); drop table t`.execute(db);
    const { rows } = await sql<{ id: number }>`select id from promised`.execute(db);
    const found = new Set(rows.map(({ id }) => id));
    expect(ids.filter((id) => !found.has(id) || !found.has(-id))).toEqual([]);
    expect([...found].filter((id) => !found.has(-id))).toEqual([]);
    await sql`set enable_seqscan = off`.execute(db);
    const indexed = await sql<{ n: number }>`select count(*) as n from promised where filler >= 'a'`.execute(db);
    expect(indexed.rows[0]?.n).toBe(found.size);
  } finally {
    await database.close();
  }
}
