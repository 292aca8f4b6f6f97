/** Global setup of a test run: names its databases, and drops those that are left when it ends, the templates included. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

// Workers inherit the environment.
process.env.TEST_RUN_ID ??= randomBytes(4).toString('hex');

/** Of every database that this run creates on the test server. */
export const testDatabasePrefix = `atelier_test_${process.env.TEST_RUN_ID}_`;

export const testServerUrl = process.env.PG_TEST_URL || 'postgres://postgres@127.0.0.1:5432/postgres';

export async function teardown(): Promise<void> {
  const client = new pg.Client({ connectionString: testServerUrl, connectionTimeoutMillis: 20_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch {
    // Without a server there is nothing to drop.
    return;
  }
  // A worker may have ended while the server was copying a database for it.
  await client.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where state = 'active' and starts_with(query, $1)`,
    [`create database ${testDatabasePrefix}`],
  );
  const left = await client.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1)',
    [testDatabasePrefix],
  );
  for (const { datname } of left.rows) await client.query(`drop database if exists ${datname} with (force)`);
  await client.end();
}
