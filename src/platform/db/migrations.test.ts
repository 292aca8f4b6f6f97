import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPostgresDatabase, databaseEngines, laneEngines } from '../../../test/database.fixture.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import { createLog } from '../log.ts';
import type { Database } from './db.ts';
import { collectMigrations, type MigrationSource } from './migrations.ts';
import { openDatabase } from './open.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-migrations-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function source(service: string, files: Readonly<Record<string, string>>): Promise<MigrationSource> {
  const own = join(folder, service);
  await mkdir(own, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(own, name), content);
  return { service, folder: pathToFileURL(`${own}/`) };
}

describe('collecting migrations', () => {
  it('names them after their service, in the order of sources and numbers', async () => {
    const b = await source('b', { '002_two.sql': 'select 2', '001_one.sql': 'select 1', 'notes.md': 'not SQL' });
    const a = await source('a', { '001_first.sql': 'select 1' });
    const names = (await collectMigrations([b, a])).map(({ name }) => name);
    expect(names).toEqual(['b/001_one', 'b/002_two', 'a/001_first']);
  });

  it.each(['1_short.sql', '001_Upper.sql', '001.sql', '001_a-b.sql'])('refuses the name %s', async (file) => {
    await expect(collectMigrations([await source('a', { [file]: '' })])).rejects.toThrow(`a/${file}`);
  });

  it('rejects a duplicate number', async () => {
    const twice = await source('a', { '001_one.sql': '', '001_two.sql': '' });
    await expect(collectMigrations([twice])).rejects.toThrow('Migration a/001_two.sql has a number that is taken');
  });

  it('refuses a folder that is not there', async () => {
    const absent = { service: 'a', folder: pathToFileURL(`${folder}/absent/`) };
    await expect(collectMigrations([absent])).rejects.toThrow('ENOENT');
  });

  it('ignores differences in line endings', async () => {
    const [unix] = await collectMigrations([await source('a', { '001_one.sql': 'select 1;\nselect 2;\n' })]);
    const [dos] = await collectMigrations([await source('a', { '001_one.sql': 'select 1;\r\nselect 2;\r\n' })]);
    expect(dos).toEqual(unix);
  });

  it('ignores comments and blank lines in digests, and nothing else', async () => {
    const digest = async (sql: string) =>
      (await collectMigrations([await source('a', { '001_one.sql': sql })]))[0]?.digest;
    const plain = await digest("select '--x'\nfrom t;\n");
    expect(await digest("-- why\nselect '--x'\n\n  -- and how\nfrom t;\n")).toBe(plain);
    expect(await digest("select '--y'\nfrom t;\n")).not.toBe(plain);
  });
});

/** A database that stays when it is closed, to be opened again. */
async function openAgain(url: string, sources: readonly MigrationSource[]): Promise<Database> {
  const log = createLog({ level: 'silent' });
  return openDatabase({ url, dataDir: join(folder, 'data'), poolSize: 2, migrations: sources, log });
}

for (const { name, missing } of laneEngines) {
  describe.skipIf(missing)(`applying migrations on ${name}`, () => {
    let url = 'embedded';
    let drop = async (): Promise<void> => undefined;
    let database: Database | undefined;
    beforeEach(async () => {
      if (name === 'postgres') ({ url, drop } = await createPostgresDatabase());
      // From the template that is there already; what follows is applied to it.
      else await (await openAgain(url, [])).close();
    });
    afterEach(async () => {
      await database?.close();
      database = undefined;
      await drop();
    });
    const reopen = async (...sources: MigrationSource[]): Promise<Database> => {
      await database?.close();
      database = undefined;
      database = await openAgain(url, sources);
      return database;
    };
    /** Of the tests: one letter each. Those of the platform are always there. */
    const tables = async (): Promise<string[]> => {
      const { rows } = await sql<{ name: string }>`
        select tablename as name from pg_tables where schemaname = 'public' and length(tablename) = 1 order by 1`.execute(
        (database as Database).queries<object>(),
      );
      return rows.map((row) => row.name);
    };

    it('applies files of several statements, each once, later ones and other services in any order', async () => {
      const one = 'create table a (id int); insert into a values (1);\n-- a comment; with a semicolon\n';
      const first = await source('m', { '001_a.sql': one });
      await reopen(first);
      await reopen(first);
      const grown = await source('m', { '002_b.sql': "create table b (t text default 'x;y');" });
      await reopen(await source('earlier', { '001_c.sql': 'create table c ();' }), grown);
      expect(await tables()).toEqual(['a', 'b', 'c']);
      const { rows } = await sql`select id from a`.execute((database as Database).queries());
      expect(rows).toEqual([{ id: 1 }]);
    });

    it('does not touch unknown migrations: another service, a newer version', async () => {
      const m = await source('m', { '001_a.sql': 'create table a ()' });
      await reopen(m, await source('n', { '001_b.sql': 'create table b ()' }));
      await reopen(m);
      expect(await tables()).toEqual(['a', 'b']);
    });

    it('rolls back all of a start in which one fails, and names it', async () => {
      await reopen(await source('m', { '001_a.sql': 'create table a ()' }));
      const broken = await source('m', {
        '002_b.sql': 'create table b ()',
        '003_c.sql': 'create table c (); nonsense',
      });
      await expect(reopen(broken)).rejects.toThrow(/^Migration m\/003_c failed: .*nonsense/);
      await rm(join(folder, 'm', '003_c.sql'));
      await rm(join(folder, 'm', '002_b.sql'));
      await reopen(broken);
      expect(await tables()).toEqual(['a']);
    });

    it('refuses a file that was changed after it was applied', async () => {
      await reopen(await source('m', { '001_a.sql': 'create table a ()' }));
      const changed = await source('m', { '001_a.sql': 'create table a (id int)' });
      await expect(reopen(changed)).rejects.toThrow('Migration m/001_a was changed after it was applied');
    });

    it('accepts a comment that was changed', async () => {
      await reopen(await source('m', { '001_a.sql': '-- one\ncreate table a ()' }));
      await reopen(await source('m', { '001_a.sql': '-- two\ncreate table a ()' }));
      expect(await tables()).toEqual(['a']);
    });
  });
}

const postgresMissing = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);

describe.skipIf(postgresMissing)('two processes that start at once on an empty PostgreSQL database', () => {
  const script = `
    const [url, folder, openModule, logModule] = process.argv.slice(1);
    const { openDatabase } = await import(openModule);
    const { createLog } = await import(logModule);
    const migrations = [{ service: 'm', folder: new URL(folder) }];
    const log = createLog({ level: 'silent' });
    process.stdout.write('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    const database = await openDatabase({ url, dataDir: 'none', poolSize: 2, migrations, log });
    await database.check();
    await database.close();
    process.exit(0);`;

  function startProcess(url: string, { folder: own }: MigrationSource) {
    const modules = ['./open.ts', '../log.ts'].map((file) => import.meta.resolve(file));
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, url, own.href, ...modules]);
    const ready = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    let faults = '';
    child.stderr.on('data', (chunk) => {
      faults += chunk;
    });
    const ended = new Promise<string>((resolve) => child.on('exit', (code) => resolve(`${code} ${faults}`)));
    return { ready, go: () => child.stdin.write('go'), ended };
  }

  it('both succeed, and each file is applied once', { timeout: 120_000 }, async () => {
    const files = await source('m', {
      '001_a.sql': 'create table a (id int); insert into a values (1); select pg_sleep(0.05);',
      '002_b.sql': 'create table b (); insert into a values (2);',
    });
    for (let round = 0; round < (isNightly ? 10 : 1); round += 1) {
      const { url, drop } = await createPostgresDatabase();
      const client = new pg.Client({ connectionString: url });
      try {
        const processes = [startProcess(url, files), startProcess(url, files)];
        await Promise.all(processes.map(({ ready }) => ready));
        for (const { go } of processes) go();
        expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual(['0 ', '0 ']);
        await client.connect();
        const { rows } = await client.query('select id from a order by id');
        expect(rows).toEqual([{ id: 1 }, { id: 2 }]);
      } finally {
        await client.end();
        await drop();
      }
    }
  });
});

describe.skipIf(postgresMissing)('a migration outside of a transaction', () => {
  const build = '-- no transaction\n-- why\ncreate index concurrently a_by_id on a (id) where id > 0;\n';
  const before = { '001_a.sql': 'create table a (id int); insert into a values (1)' };
  const after = { '003_b.sql': 'create table b (id int)' };
  let url: string;
  let drop: () => Promise<void>;
  const clients: pg.Client[] = [];
  beforeEach(async () => {
    ({ url, drop } = await createPostgresDatabase());
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end()));
    await drop();
  });
  const connect = async () => {
    const client = new pg.Client({ connectionString: url });
    clients.push(client);
    await client.connect();
    return client;
  };
  const migrateFrom = async (files: MigrationSource) => (await openAgain(url, [files])).close();
  const migrate = async (files: Readonly<Record<string, string>>) => migrateFrom(await source('m', files));
  const state = async () => {
    const { rows } = await (await connect()).query(
      `select (select array_agg(name order by name) from migrations where name like 'm/%') as names,
        (select indisvalid from pg_index where indexrelid = to_regclass('a_by_id')) as valid`,
    );
    return rows[0];
  };
  const all = { names: ['m/001_a', 'm/002_build', 'm/003_b'], valid: true };

  it('runs between those before and after it', async () => {
    await migrate({ ...before, '002_build.sql': build, ...after });
    await migrate({ ...before, '002_build.sql': build, ...after });
    expect(await state()).toEqual(all);
    const unbuild = '-- no transaction\ndrop index concurrently if exists a_by_id;\n';
    await migrate({ ...before, '002_build.sql': build, ...after, '004_drop.sql': unbuild });
    expect(await state()).toEqual({ names: [...all.names, 'm/004_drop'], valid: null });
  });

  it('does not block writes, and is built again after its process died in the middle', {
    timeout: 60_000,
  }, async () => {
    await migrate(before);
    const [holder, admin] = [await connect(), await connect()];
    // The build waits for this transaction.
    await holder.query('begin; insert into a values (2)');
    const dying = migrate({ ...before, '002_build.sql': build, ...after }).catch((error: unknown) => error);
    const building = `from pg_stat_activity where datname = current_database() and query like '-- no transaction%'`;
    await expect.poll(async () => (await admin.query(`select ${building}`)).rowCount, { timeout: 20_000 }).toBe(1);
    await admin.query('insert into a values (3)');
    await admin.query(`select pg_terminate_backend(pid) ${building}`);
    await holder.query('commit');
    expect(String(await dying)).toContain('m/002_build failed');
    expect(await state()).toEqual({ names: ['m/001_a'], valid: false });
    await migrate({ ...before, '002_build.sql': build, ...after });
    expect(await state()).toEqual(all);
  });

  it('takes a valid index as it is, which an operator built', async () => {
    await migrate(before);
    const admin = await connect();
    await admin.query('create index concurrently a_by_id on a (id) where id > 0');
    const oid = async () => (await admin.query(`select to_regclass('a_by_id')::oid as oid`)).rows[0].oid;
    const built = await oid();
    await migrate({ ...before, '002_build.sql': build, ...after });
    expect(await oid()).toBe(built);
    expect(await state()).toEqual(all);
  });

  it('is applied once by processes that start at once', { timeout: 60_000 }, async () => {
    const files = await source('m', { ...before, '002_build.sql': build, ...after });
    await Promise.all(Array.from({ length: 3 }, () => migrateFrom(files)));
    expect(await state()).toEqual(all);
  });
});

it.each([
  'create index a_by_id on a (id)',
  'create index concurrently a_by_id on a (id); select 1',
  'create index concurrently if not exists a_by_id on a (id)',
  'drop index concurrently a_by_id',
  'vacuum',
])('refuses to run outside of a transaction: %s', async (statement) => {
  const files = await source('a', { '001_one.sql': `-- no transaction\n${statement};\n` });
  await expect(collectMigrations([files])).rejects.toThrow('Migration a/001_one.sql does not consist of one');
});

it('builds indexes within the transaction on PGlite', async () => {
  const files = {
    '001_a.sql': 'create table a (id int)',
    '002_i.sql': '-- no transaction\ncreate index concurrently a_i on a (id)',
  };
  // From the template that is there already.
  await (await openAgain('embedded', [])).close();
  const database = await openAgain('embedded', [await source('m', files)]);
  try {
    const { rows } = await sql`select indexname from pg_indexes where indexname = 'a_i'`.execute(database.queries());
    expect(rows).toHaveLength(1);
  } finally {
    await database.close();
  }
});
