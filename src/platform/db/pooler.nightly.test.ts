/** A real PgBouncer in both pool modes. */
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresDatabase, databaseEngines } from '../../../test/database.fixture.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import { describeDatabase } from '../../../test/platform/db/db.conformance.ts';
import {
  type PgBouncer,
  type PoolMode,
  skipWithoutPgBouncer,
  startPgBouncer,
} from '../../../test/platform/db/pgbouncer.fixture.ts';
import { createLog } from '../log.ts';
import { type Database, holdName, transaction } from './db.ts';
import { collectMigrations } from './migrations.ts';
import { platformMigrations } from './open.ts';
import { openPostgres, probePostgres } from './postgres.ts';

const missing = skipWithoutPgBouncer || databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const log = createLog({ level: 'silent' });
const modes: readonly [PoolMode, string, readonly string[]][] = [
  ['session', 'with default settings', []],
  ['transaction', 'with default settings', []],
  [
    'transaction',
    'that drops the parameters silently',
    ['ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout'],
  ],
];

describe.skipIf(missing).each(modes)('PostgreSQL behind PgBouncer in %s mode, %s', (mode, _, settings) => {
  let bouncer: PgBouncer;
  let server: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let url: string;
  let admin: pg.Client;
  const opened: Database[] = [];

  const open = async (statementTimeoutMs = 5_000, poolSize = 4) => {
    const migrations = await collectMigrations([platformMigrations]);
    const database = await openPostgres({ url, poolSize, migrations, log, statementTimeoutMs });
    opened.push(database);
    return database.queries<{ rows: { id: number } }>();
  };
  const statements = async (like: string) =>
    (
      await admin.query(
        `select 1 from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and query like $1`,
        [like],
      )
    ).rowCount;

  beforeAll(async () => {
    server = await createPostgresDatabase();
    bouncer = await startPgBouncer(server.url, mode, settings);
    url = bouncer.urlOf(server.url);
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query('create table rows (id int)');
  });
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await admin?.end();
    await bouncer?.close();
    await server?.drop();
  });

  it('is recognized by doctor', async () => {
    expect(await probePostgres(url)).toMatch(/^PostgreSQL \d+ responds behind a pooler; pgvector/);
    expect(await probePostgres(server.url)).toMatch(/^PostgreSQL \d+ responds; pgvector/);
  });

  it('cancels a statement that takes too long, on the server too, and continues', async () => {
    const db = await open(300, 1);
    const startedAtMs = performance.now();
    await expect(sql`select pg_sleep(60), 'alone'`.execute(db)).rejects.toMatchObject({ code: 'engine_unavailable' });
    // The usual limit is 5 s.
    expect(performance.now() - startedAtMs).toBeLessThan(4_800);
    await expect.poll(() => statements(`%'alone'%`)).toBe(0);
    await sql`select 1`.execute(db);
  });

  it('cancels only the statement that took too long', async () => {
    const db = await open(50, 2);
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_unused, index) =>
        sql`select pg_sleep(${index % 3 === 0 ? 60 : 0})`.execute(db).then(
          () => 'ok',
          () => 'canceled',
        ),
      ),
    );
    expect(outcomes).toEqual(outcomes.map((_outcome, index) => (index % 3 === 0 ? 'canceled' : 'ok')));
  });

  it('ends a statement of a transaction that takes too long, and rolls back', async () => {
    const db = await open(300);
    const work = transaction(db, async (tx) => {
      await tx.insertInto('rows').values({ id: 1 }).execute();
      await sql`select pg_sleep(60), 'within'`.execute(tx);
    });
    await expect(work).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect(await db.selectFrom('rows').selectAll().execute()).toEqual([]);
    expect(await statements(`%'within'%`)).toBe(0);
  });

  it('limits how long a transaction may be idle', async () => {
    const db = await open();
    const { rows } = await transaction(db, (tx) =>
      sql`select current_setting('idle_in_transaction_session_timeout') as idle`.execute(tx),
    );
    expect(rows).toEqual([{ idle: '15s' }]);
  });

  it('compiles no statement of a transaction just in time', async () => {
    const db = await open();
    const { rows } = await transaction(db, (tx) => sql`select current_setting('jit') as jit`.execute(tx));
    expect(rows).toEqual([{ jit: 'off' }]);
  });

  it('leaves no setting on connections that others get', async () => {
    const db = await open(300);
    await transaction(db, (tx) => sql`select 1`.execute(tx));
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    const { rows } = await other.query(`select current_setting('statement_timeout') as timeout`);
    await other.end();
    expect(rows).toEqual([{ timeout: '0' }]);
  });

  it('allows one transaction at a time to hold a name', async () => {
    const db = await open();
    let inside = 0;
    let most = 0;
    const hold = () =>
      transaction(db, async (tx) => {
        await holdName(tx, 'pooled');
        inside += 1;
        most = Math.max(most, inside);
        await sql`select pg_sleep(0.02)`.execute(tx);
        inside -= 1;
      });
    await Promise.all(Array.from({ length: 8 }, hold));
    expect(most).toBe(1);
  });

  describe.skipIf(!isNightly && mode === 'session')('as any database', () =>
    describeDatabase(async (sources) => {
      const another = await createPostgresDatabase();
      const migrations = await collectMigrations([platformMigrations, ...sources]);
      const database = await openPostgres({ url: bouncer.urlOf(another.url), poolSize: 10, migrations, log });
      return { ...database, close: () => database.close().finally(another.drop) };
    }),
  );

  it('survives a restart of the pooler', async () => {
    const db = await open();
    await sql`select 1`.execute(db);
    await bouncer.close();
    await expect(sql`select 1`.execute(db)).rejects.toMatchObject({ code: 'engine_unavailable' });
    bouncer = await startPgBouncer(server.url, mode, settings);
    url = bouncer.urlOf(server.url);
    const again = await open();
    await sql`select 1`.execute(again);
  });
});
