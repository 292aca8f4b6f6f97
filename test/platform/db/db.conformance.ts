/** The contract of every database driver (db.ts), as one suite. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, type Db, json, transaction } from '#platform/db/db.ts';
import { isUniqueViolation, sqlState } from '#platform/db/errors.ts';
import type { MigrationSource } from '#platform/db/migrations.ts';
import { Problem } from '#platform/problem.ts';
import { type SampleTables, sampleMigration } from './sample.fixture.ts';
import { describeTransactions } from './transactions.conformance.ts';
import { describeValues } from './values.conformance.ts';

type OpenDatabase = (migrations: readonly MigrationSource[]) => Promise<Database>;

export function describeDatabase(open: OpenDatabase): void {
  let folder: string;
  let database: Database;
  let db: Db<SampleTables>;
  const opened: Database[] = [];
  const openAnother = async (): Promise<Database> => {
    const another = await open([{ service: 'sample', folder: pathToFileURL(`${folder}/`) }]);
    opened.push(another);
    return another;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-db-'));
    await writeFile(join(folder, '001_samples.sql'), sampleMigration);
    database = await openAnother();
    db = database.queries<SampleTables>();
  });
  afterAll(async () => {
    await Promise.all(opened.map((each) => each.close()));
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    await db.deleteFrom('samples').execute();
  });

  describe('values', () => describeValues(() => db));
  describe('errors', () => describeErrors(() => db));
  describe('transactions', () => describeTransactions(() => db));
  describe('closing', () => describeClosing(openAnother));

  it('responds to its check', async () => {
    await expect(database.check()).resolves.toBeUndefined();
  });
}

function describeErrors(db: () => Db<SampleTables>): void {
  const insertTwice = async (): Promise<unknown> => {
    await db().insertInto('samples').values({ name: 'one' }).execute();
    return db()
      .insertInto('samples')
      .values({ name: 'one', body: json('secret') })
      .execute()
      .catch((error: unknown) => error);
  };

  it('recognises a unique violation, by constraint too', async () => {
    const error = await insertTwice();
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, 'samples_name')).toBe(true);
    expect(isUniqueViolation(error, 'samples_pkey')).toBe(false);
  });

  it('does not confuse other errors with one', async () => {
    const error = await sql`select 1 / 0`.execute(db()).catch((caught: unknown) => caught);
    expect(sqlState(error)).toBe('22012');
    expect(isUniqueViolation(error)).toBe(false);
    expect(isUniqueViolation(new Error('other'))).toBe(false);
    expect(isUniqueViolation(undefined)).toBe(false);
  });

  it('throws errors that contain no value of a row', async () => {
    const error = await insertTwice();
    expect(JSON.stringify({ ...(error as object) })).not.toMatch(/one|secret/);
  });

  it('continues after a failed statement', async () => {
    await expect(sql`select nonsense`.execute(db())).rejects.toThrow('nonsense');
    await expect(db().selectFrom('samples').selectAll().execute()).resolves.toEqual([]);
  });
}

function describeClosing(openAnother: () => Promise<Database>): void {
  it('finishes running statements, rejects new ones, and can be closed twice', async () => {
    const database = await openAnother();
    const db = database.queries<SampleTables>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const inFlight = transaction(db, async (tx) => {
      begin();
      await nextTurn();
      return tx.insertInto('samples').values({ name: 'a' }).returning('name').executeTakeFirstOrThrow();
    });
    const waiting = Array.from({ length: 30 }, () => db.selectFrom('samples').select('name').execute());
    await begun;
    const closing = database.close();
    const refused = await db
      .selectFrom('samples')
      .execute()
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Problem);
    expect(refused).toMatchObject({ code: 'draining' });
    await expect(inFlight).resolves.toEqual({ name: 'a' });
    await expect(Promise.all(waiting)).resolves.toHaveLength(30);
    await Promise.all([closing, database.close()]);
    await expect(database.check()).rejects.toMatchObject({ code: 'draining' });
  });

  it('closes without any query', async () => {
    const database = await openAnother();
    await expect(database.close()).resolves.toBeUndefined();
  });
}
