/** Every promise of the database on other versions of PostgreSQL. */
import { afterAll, beforeAll, describe } from 'vitest';
import { describeDatabase } from '../../../test/platform/db/db.conformance.ts';
import {
  type PgServer,
  pgServerVersions,
  skipWithoutPgServers,
  startPgServer,
} from '../../../test/platform/db/pgserver.fixture.ts';
import { createLog } from '../log.ts';
import { collectMigrations } from './migrations.ts';
import { platformMigrations } from './open.ts';
import { openPostgres } from './postgres.ts';

const log = createLog({ level: 'silent' });

describe.skipIf(skipWithoutPgServers).each(pgServerVersions)('database on PostgreSQL %i', (version) => {
  let server: PgServer;
  beforeAll(async () => {
    server = await startPgServer(version);
  }, 60_000);
  afterAll(() => server?.close());

  describeDatabase(async (sources) => {
    const migrations = await collectMigrations([platformMigrations, ...sources]);
    return openPostgres({ url: await server.createDatabase(), poolSize: 10, migrations, log });
  });
});
