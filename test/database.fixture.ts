/**
 * Databases for tests: each is separate, migrated and empty. A suite runs on both engines with
 *
 *      describe.each(databaseEngines)('… on $name', (engine) => {
 *        describe.skipIf(engine.missing)('', () => { beforeAll(async () => { database = await engine.open(migrations) }) …
 *
 * PostgreSQL is expected at `PG_TEST_URL`. If it does not respond, its suites are skipped, or fail with CI=true.
 */
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { collectMigrations, type Migration, type MigrationSource } from '#platform/db/migrations.ts';
import { platformMigrations } from '#platform/db/open.ts';
import { migratedTemplate as migratedPgliteTemplate } from '#platform/db/pglite.ts';
import { createPglite, pgliteDatabase } from '#platform/db/pglite-engine.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { inLane, isNightly } from './lane.fixture.ts';
import { testDatabasePrefix, testServerUrl } from './runner/leftovers.ts';

export interface DatabaseEngine {
  readonly name: Database['driver'];
  /** Pass this to `describe.skipIf`. */
  readonly missing: boolean;
  /** Close the database in `afterAll`, which drops a PostgreSQL database. */
  open(migrations?: readonly MigrationSource[]): Promise<Database>;
}

const isTestRun = process.env.VITEST !== undefined;
const quiet = createLog({ level: 'silent' });

export const databaseEngines: readonly DatabaseEngine[] = [
  { name: 'pglite', missing: false, open: openInMemoryTestDatabase },
  { name: 'postgres', missing: !(await postgresIsWanted()), open: openPostgresTestDatabase },
];

/**
 * The engines for suites of services. The quick lane uses PostgreSQL if it is available, the nightly lane both engines.
 * Suites over `databaseEngines` cover the differences between the engines in both lanes.
 */
export const laneEngines: readonly DatabaseEngine[] = inLane(databaseEngines);

/**
 * Opens a database for suites that need only one engine. The quick lane uses PostgreSQL if it is available, because opening
 * PGlite costs seconds of processor time in each file. Benchmarks use PGlite on every machine.
 */
export function openTestDatabase(migrations?: readonly MigrationSource[]): Promise<Database> {
  const [engine] = isNightly || !isTestRun ? databaseEngines : laneEngines;
  if (engine === undefined) throw new Error('there is always an engine');
  return engine.open(migrations);
}

export interface PostgresDatabase {
  readonly url: string;
  /** Drops it even if connections are open. */
  readonly drop: () => Promise<void>;
}

/** Creates an empty database on the test server. */
export function createPostgresDatabase(): Promise<PostgresDatabase> {
  return createFrom('template0');
}

/** Creates a database with these migrations on the test server, for programs that need not show that they migrate it. */
export async function createMigratedDatabase(sources: readonly MigrationSource[]): Promise<PostgresDatabase> {
  // Outside of a test run, no teardown drops the template, so the programs migrate their database.
  return isTestRun ? createFrom(await migratedTemplate(await migrationsOf(sources))) : createPostgresDatabase();
}

/**
 * Creates a database for programs that a test starts, with the migrations of all services, and returns its `DATABASE_URL`. The quick
 * lane uses PostgreSQL if it is available, because each program that opens PGlite costs seconds of processor time.
 */
export async function createProgramDatabase(): Promise<PostgresDatabase> {
  const [engine] = laneEngines;
  if (engine?.name === 'postgres' && !engine.missing) return createMigratedDatabase(migrations);
  return { url: 'embedded', drop: async () => undefined };
}

async function createFrom(template: string): Promise<PostgresDatabase> {
  const name = `${testDatabasePrefix}${randomBytes(6).toString('hex')}`;
  // Copying the files takes half the time of the default, which writes each page to the log.
  await onServer(`create database ${name} encoding 'UTF8' template ${template} strategy file_copy`);
  return { url: urlOf(name), drop: () => onServer(`drop database if exists ${name} with (force)`) };
}

function urlOf(name: string): string {
  const url = new URL(testServerUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function openInMemoryTestDatabase(sources: readonly MigrationSource[] = []): Promise<Database> {
  const lite = await createPglite({ loadDataDir: await migratedPgliteTemplate(await migrationsOf(sources)) });
  const reopen = (): Promise<never> => Promise.reject(new Error('the data in memory was lost'));
  return pgliteDatabase({ lite }, { reopen, afterClose: () => undefined, log: quiet });
}

async function openPostgresTestDatabase(sources: readonly MigrationSource[] = []): Promise<Database> {
  const migrations = await migrationsOf(sources);
  // Outside of a test run, no teardown drops the template.
  const { url, drop } = await (isTestRun ? createFrom(await migratedTemplate(migrations)) : createFrom('template0'));
  // A test file need not wait for it: the teardown drops what is left.
  const dropLater = async () => (isTestRun ? void drop().catch(() => undefined) : drop());
  try {
    const database = await openPostgres({ url, poolSize: 10, migrations, log: quiet });
    return { ...database, close: () => database.close().finally(dropLater) };
  } catch (error) {
    await drop();
    throw error;
  }
}

const collected = new Map<string, Promise<readonly Migration[]>>();

/** Reads the files of each set of migrations once. */
function migrationsOf(sources: readonly MigrationSource[]): Promise<readonly Migration[]> {
  const key = sources.map(({ service, folder }) => `${service} ${folder.href}`).join();
  const migrations = collected.get(key) ?? collectMigrations([platformMigrations, ...sources]);
  collected.set(key, migrations);
  return migrations;
}

const templates = new Map<string, Promise<string>>();

/** Migrates one database per run and set of migrations. Copies of it open in a tenth of the time. */
function migratedTemplate(migrations: readonly Migration[]): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify(migrations)).digest('hex').slice(0, 12);
  const name = `${testDatabasePrefix}template_${digest}`;
  const template = templates.get(name) ?? createTemplate(name, migrations);
  templates.set(name, template);
  // Otherwise, one failure on a busy machine would fail all later tests of this worker.
  template.catch(() => templates.delete(name));
  return template;
}

/** The first worker that needs the template creates it, and the others wait. A template has its name once it is complete. */
function createTemplate(name: string, migrations: readonly Migration[]): Promise<string> {
  return withServer(async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount) return name;
    const draft = `${name}_draft`;
    await client.query(`drop database if exists ${draft} with (force)`);
    await client.query(`create database ${draft} encoding 'UTF8' template template0`);
    const database = await openPostgres({ url: urlOf(draft), poolSize: 1, migrations, log: quiet });
    await database.close();
    await client.query(`alter database ${draft} rename to ${name}`);
    return name;
  });
}

async function postgresIsWanted(): Promise<boolean> {
  if (process.env.CI === 'true') return true;
  try {
    await onServer('select 1');
    return true;
  } catch {
    // There is no server on this machine, so its suites are skipped.
    return false;
  }
}

async function onServer(statement: string): Promise<void> {
  await withServer((client) => client.query(statement));
}

async function withServer<Result>(use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: testServerUrl, connectionTimeoutMillis: 20_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}
