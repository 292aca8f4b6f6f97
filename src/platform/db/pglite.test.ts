import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isNightly } from '../../../test/lane.fixture.ts';
import { createLog } from '../log.ts';
import { type Database, transaction } from './db.ts';
import { elementTypes } from './dialect.ts';
import type { Migration } from './migrations.ts';
import { openDatabase } from './open.ts';
import { migratedTemplate, vacuumDead } from './pglite.ts';
import { createPglite, SyncedFiles } from './pglite-engine.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-embedded-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

function open(dataDir = folder): Promise<Database> {
  const log = createLog({ level: 'silent' });
  return openDatabase({ url: 'embedded', dataDir, poolSize: 1, migrations: [], log });
}

/** Opens the database of the folder, prints `open`, and then prints a line for every acknowledged row. */
const writerScript = `
  const [folder, openModule, logModule, dbModule, from] = process.argv.slice(1);
  const { openDatabase } = await import(openModule);
  const { createLog } = await import(logModule);
  const { transaction } = await import(dbModule);
  const { sql } = await import('kysely');
  const log = createLog({ level: 'silent' });
  const database = await openDatabase({ url: 'embedded', dataDir: folder, poolSize: 1, migrations: [], log });
  const db = database.queries();
  await sql\`create table if not exists promised (id int primary key, filler text)\`.execute(db);
  console.log('open');
  for (let id = Number(from); ; id += 1) {
    await transaction(db, async (tx) => {
      await sql\`insert into promised values (\${id}, repeat('x', 500))\`.execute(tx);
      await sql\`insert into promised values (\${-id}, repeat('y', 500))\`.execute(tx);
    });
    console.log(id);
  }`;

function startWriter(from: number) {
  const modules = ['./open.ts', '../log.ts', './db.ts'].map((file) => import.meta.resolve(file));
  const words = ['--input-type=module', '-e', writerScript, folder, ...modules, String(from)];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  // After the last line of its output.
  const closed = new Promise((resolve) => child.once('close', resolve));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await closed;
  };
  return { lines, kill };
}

it('keeps the event loop alive while it opens', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  const opening: number[] = [];
  const fs = {
    init: () => {
      opening.push(timers());
      return Promise.reject(new Error('no files'));
    },
  };
  await expect(createPglite({ fs: Object.assign(Object.create(SyncedFiles.prototype), fs) })).rejects.toThrow(
    'no files',
  );
  expect(opening).toEqual([before + 1]);
  expect(timers()).toBe(before);
});

describe('the embedded database', () => {
  it('loses no row that was acknowledged before kill -9', { timeout: 180_000 }, async () => {
    let promised = 0;
    for (let round = 1; round <= (isNightly ? 4 : 1); round += 1) {
      const { lines, kill } = startWriter(promised + 1);
      // Killed among writes, at another point each time.
      while (lines.length < 1 + round * 7) await sleep(1);
      await sleep(Math.random() * 10);
      await kill();
      expect(lines[0]).toBe('open');
      promised += lines.length - 1;
      const database = await open();
      const { rows } = await sql<{ n: number; last: number }>`
        select count(*) as n, max(id) as last from promised`.execute(database.queries());
      await database.close();
      const { n, last } = rows[0] ?? { n: 0, last: 0 };
      expect(n).toBe(2 * last);
      // The one under way may have been written without having been acknowledged.
      expect([promised, promised + 1]).toContain(last);
      promised = last;
    }
  });

  it.runIf(isNightly)('starts again after kill -9 during its very first start', { timeout: 180_000 }, async () => {
    for (const delayMs of [500, 200, 800]) {
      await rm(folder, { recursive: true });
      const { kill } = startWriter(1);
      await sleep(delayMs);
      await kill();
      const database = await open();
      await expect(database.check()).resolves.toBeUndefined();
      await database.close();
    }
  });
});

describe('the embedded database while it is open', () => {
  let dataDir: string;
  let database: Database;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'atelier-embedded-'));
    await writeFile(join(dataDir, 'database.new'), 'half');
    database = await open(dataDir);
  });
  afterAll(async () => {
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it('replaces an incomplete data folder', async () => {
    expect(await readdir(dataDir)).toEqual(expect.arrayContaining(['database', 'lock']));
    expect(await readdir(dataDir)).not.toContain('database.new');
  });

  it('refuses a second start without harm', async () => {
    await expect(open(dataDir)).rejects.toThrow(`ATELIER_DATA_DIR ${dataDir} is in use`);
    await expect(database.check()).resolves.toBeUndefined();
  });

  it('runs other work between the statements of many callers', async () => {
    const db = database.queries();
    let turns = 0;
    let isOver = false;
    const counting = (async () => {
      for (; !isOver; turns++) await nextTurn();
    })();
    // Each takes longer than the process may be busy at a time.
    await Promise.all(Array.from({ length: 10 }, () => sql`select pg_sleep(0.02)`.execute(db)));
    isOver = true;
    await counting;
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it('vacuums tables with many dead rows, and skips the others', async () => {
    const db = database.queries();
    for (const table of ['busy', 'calm'].map((name) => sql.table(name)))
      await sql`create table ${table} as select id from generate_series(1, 3000) as id`.execute(db);
    const sizeOf = async (table: string) => {
      const { rows } = await sql<{ size: number }>`select pg_relation_size(${table}::regclass) as size`.execute(db);
      return rows[0]?.size;
    };
    const writtenOnce = await sizeOf('busy');

    await sql`delete from busy`.execute(db);
    await sql`delete from calm where id <= 100`.execute(db);
    expect(await untilVacuumed(database)).toEqual(['busy']);
    await sql`insert into busy select id from generate_series(1, 3000) as id`.execute(db);

    expect(await sizeOf('busy')).toBeLessThanOrEqual(Number(writtenOnce));
    expect(await vacuumDead(database)).toEqual([]);
  });

  // Last, because it breaks the database.
  it('returns 503 after a crash, is reopened automatically, and loses nothing', { timeout: 60_000 }, async () => {
    const db = database.queries();
    const wal = join(dataDir, 'database', 'pg_wal');
    const writeLog = () => sql`select pg_logical_emit_message(false, 'x', repeat('x', 1000000))`.execute(db);
    await sql`create table promised (id int)`.execute(db);
    await sql`insert into promised values (1)`.execute(db);
    // As with a full disk: no further file of the write-ahead log can be made, which ends in a panic.
    await rename(wal, `${wal}.away`);
    const broken = await untilItFails(writeLog);
    expect(broken).toMatchObject({ code: 'engine_unavailable', cause: { severity: 'PANIC' } });
    await expect(database.check()).rejects.toMatchObject({ code: 'engine_unavailable' });
    await rename(`${wal}.away`, wal);
    await untilItWorks(() => database.check());
    await sql`insert into promised values (2)`.execute(db);
    const { rows } = await sql`select id from promised order by id`.execute(db);
    expect(rows).toEqual([{ id: 1 }, { id: 2 }]);
  });
});

/** What is dead is counted a second later. */
async function untilVacuumed(database: Database): Promise<readonly string[]> {
  for (let tries = 0; tries < 50; tries++) {
    const vacuumed = await vacuumDead(database);
    if (vacuumed.length > 0) return vacuumed;
    await sleep(100);
  }
  return [];
}

describe('the embedded database when it breaks', () => {
  it.runIf(isNightly)('inside a transaction: rolls it back', { timeout: 60_000 }, async () => {
    const database = await open();
    const db = database.queries();
    const wal = join(folder, 'database', 'pg_wal');
    await sql`create table promised (id int)`.execute(db);
    const attempt = transaction(db, async (tx) => {
      await sql`insert into promised values (1)`.execute(tx);
      await rename(wal, `${wal}.away`);
      throw await untilItFails(() => sql`select pg_logical_emit_message(false, 'x', repeat('x', 1000000))`.execute(tx));
    });
    await expect(attempt).rejects.toMatchObject({ code: 'engine_unavailable' });
    await rename(`${wal}.away`, wal);
    await untilItWorks(() => database.check());
    const { rows } = await sql`select id from promised`.execute(db);
    expect(rows).toEqual([]);
    await database.close();
  });
});

async function untilItFails(work: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      await work();
    } catch (error) {
      return error;
    }
  }
}

async function untilItWorks(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch {
      // Not yet.
      await sleep(50);
    }
  }
}

describe('the template', () => {
  const migrations: readonly Migration[] = [{ name: 'm/001_a', sql: 'create table a (id int)', digest: 'd1' }];

  let cache: string;
  beforeAll(async () => {
    cache = await mkdtemp(join(tmpdir(), 'atelier-template-'));
  });
  afterAll(() => rm(cache, { recursive: true }));

  async function tablesOf(template: Blob): Promise<string[]> {
    const lite = await createPglite({ loadDataDir: template });
    const { rows } = await lite.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
    );
    await lite.close();
    return rows.map(({ name }) => name);
  }

  it.runIf(isNightly)('is created once, complete for concurrent callers', async () => {
    const callers = [migratedTemplate(migrations, cache), migratedTemplate(migrations, cache)];
    for (const template of await Promise.all(callers)) expect(await tablesOf(template)).toEqual(['a', 'migrations']);
    // No draft is left.
    const [file = '', ...others] = await readdir(cache);
    expect(others).toEqual([]);
    const before = await readFile(join(cache, file));
    await migratedTemplate(migrations, cache);
    expect(await readFile(join(cache, file))).toEqual(before);
  });

  it.runIf(isNightly)('is another one for other migrations', async () => {
    await migratedTemplate(migrations, folder);
    const other = [{ name: 'm/001_a', sql: 'create table b (id int)', digest: 'd2' }];
    expect(await tablesOf(await migratedTemplate(other, folder))).toEqual(['b', 'migrations']);
  });

  it.runIf(isNightly).each<readonly [string, (content: Buffer) => Buffer]>([
    ['cut off', (content) => content.subarray(0, content.length - 1000)],
    ['empty', () => Buffer.alloc(0)],
    ['changed', (content) => content.fill(0, 5000, 5064)],
  ])('is created again if its file is %s', async (_, damage) => {
    await migratedTemplate(migrations, cache);
    const [file = ''] = await readdir(cache);
    await writeFile(join(cache, file), damage(await readFile(join(cache, file))));
    const damaged = await readFile(join(cache, file));
    expect(await tablesOf(await migratedTemplate(migrations, cache))).toEqual(['a', 'migrations']);
    expect(await readFile(join(cache, file))).not.toEqual(damaged);
  });

  it.runIf(isNightly)('does without a folder to keep it in', async () => {
    await writeFile(join(folder, 'file'), '');
    expect(await tablesOf(await migratedTemplate([], join(folder, 'file', 'cache')))).toEqual(['migrations']);
  });
});

it.runIf(isNightly)('reads and writes the arrays of the catalog’s types without a query for them', async () => {
  const database = await open();
  try {
    const oids = Object.keys(elementTypes).map(Number);
    const { rows } = await sql<{ array: number; element: number }>`
      select typarray::int as "array", oid::int as element from pg_type where typarray = any(${oids}::int[])`.execute(
      database.queries(),
    );
    expect(Object.fromEntries(rows.map(({ array, element }) => [array, element]))).toEqual(elementTypes);
    const texts = ['a,b', 'c "d"', '{e}', 'NULL', ''];
    const { rows: echoed } = await sql`select ${texts}::text[] as texts, ${[1, 2]}::int[] as ints`.execute(
      database.queries(),
    );
    expect(echoed).toEqual([{ texts, ints: [1, 2] }]);
  } finally {
    await database.close();
  }
});
