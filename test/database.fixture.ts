/**
 * Databases for tests: each is separate, migrated and empty. A suite runs on both engines with
 *
 *      describe.each(databaseEngines)('… on $name', (engine) => {
 *        describe.skipIf(engine.missing)('', () => { beforeAll(async () => { database = await engine.open(migrations) }) …
 *
 * PostgreSQL is expected at `PG_TEST_URL`. If it does not respond, its suites are skipped, or fail with CI=true.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Database } from '#platform/db/db.ts';
import { collectMigrations, type MigrationSource } from '#platform/db/migrations.ts';
import { platformMigrations } from '#platform/db/open.ts';
import { openInMemory } from '#platform/db/pglite.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { inLane } from './lane.fixture.ts';

export interface DatabaseEngine {
  readonly name: Database['driver'];
  /** Pass this to `describe.skipIf`. */
  readonly missing: boolean;
  /** Close the database in `afterAll`, which drops a PostgreSQL database. */
  open(migrations?: readonly MigrationSource[]): Promise<Database>;
}

const quiet = createLog({ level: 'silent' });
const serverUrl = process.env.PG_TEST_URL || 'postgres://postgres@127.0.0.1:5432/postgres';

/** Opens a database in memory, for suites that need only one engine. */
export async function openTestDatabase(migrations: readonly MigrationSource[] = []): Promise<Database> {
  return openInMemory(await collectMigrations([platformMigrations, ...migrations]), quiet);
}

export const databaseEngines: readonly DatabaseEngine[] = [
  { name: 'pglite', missing: false, open: openTestDatabase },
  { name: 'postgres', missing: !(await postgresIsWanted()), open: openPostgresTestDatabase },
];

/**
 * The engines for suites of services. The quick lane uses PostgreSQL if it is available, the nightly lane both engines.
 * Suites over `databaseEngines` cover the differences between the engines in both lanes.
 */
export const laneEngines: readonly DatabaseEngine[] = inLane(databaseEngines);

/** Creates an empty database on the test server, and returns a function that drops it, even with open connections. */
export async function createPostgresDatabase(): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const name = `atelier_test_${randomBytes(6).toString('hex')}`;
  await onServer(`create database ${name} encoding 'UTF8' template template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`drop database if exists ${name} with (force)`) };
}

async function openPostgresTestDatabase(sources: readonly MigrationSource[] = []): Promise<Database> {
  const migrations = await collectMigrations([platformMigrations, ...sources]);
  const { url, drop } = await createPostgresDatabase();
  try {
    const database = await openPostgres({ url, poolSize: 10, migrations, log: quiet });
    return { ...database, close: () => database.close().finally(drop) };
  } catch (error) {
    await drop();
    throw error;
  }
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
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 3_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}
