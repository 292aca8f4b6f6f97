/** What every database driver promises (db.ts), as one suite that runs on each. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { AbortedTransactionError, type Generated, type Insertable, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../problem.ts';
import { assertOutsideTransaction, type Database, type Db, json, transaction } from './db.ts';
import { isUniqueViolation, sqlState } from './errors.ts';
import type { MigrationSource } from './migrations.ts';

interface Tables {
  samples: {
    id: Generated<number>;
    name: string | null;
    big: number | null;
    body: unknown;
    words: string[] | null;
    bigs: number[] | null;
    bytes: Buffer | null;
    at: Date | null;
    day: string | null;
    amount: string | null;
    ratio: number | null;
    flag: boolean | null;
    uid: string | null;
  };
}

const schema = `
create table samples (
  id bigint generated always as identity primary key, name text, big bigint, body jsonb, words text[], bigs bigint[],
  bytes bytea, at timestamptz, day date, amount numeric, ratio double precision, flag boolean, uid uuid
);
create unique index samples_name on samples (name);
`;

type OpenDatabase = (migrations: readonly MigrationSource[]) => Promise<Database>;

export function describeDatabase(open: OpenDatabase): void {
  let folder: string;
  let database: Database;
  let db: Db<Tables>;
  const opened: Database[] = [];
  const openAnother = async (): Promise<Database> => {
    const another = await open([{ service: 'sample', folder: pathToFileURL(`${folder}/`) }]);
    opened.push(another);
    return another;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-db-'));
    await writeFile(join(folder, '001_samples.sql'), schema);
    database = await openAnother();
    db = database.queries<Tables>();
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

  it('answers its check', async () => {
    await expect(database.check()).resolves.toBeUndefined();
  });
}

function describeValues(db: () => Db<Tables>): void {
  const kept: readonly (readonly [string, Insertable<Tables['samples']>])[] = [
    ['text of any script', { name: 'Grüße 你好 🖼️ \u202bשלום\u202c \t"\'\\' }],
    ['empty text', { name: '' }],
    ['the largest safe int8', { big: Number.MAX_SAFE_INTEGER }],
    ['the smallest safe int8', { big: Number.MIN_SAFE_INTEGER }],
    ['a text array with every delimiter', { words: ['', 'a,b', '{}', '"', '\\', 'NULL', ' ', '🖼️'] }],
    ['an empty text array', { words: [] }],
    ['an int8 array', { bigs: [1, -2, Number.MAX_SAFE_INTEGER] }],
    ['bytes', { bytes: Buffer.from([0, 1, 255, 92]) }],
    ['a moment to the millisecond', { at: new Date('2026-02-28T23:59:59.987Z') }],
    ['a moment before 1970', { at: new Date('1901-01-01T00:00:00.001Z') }],
    ['a date as text', { day: '2026-02-28' }],
    ['a numeric as text', { amount: '12345678901234567890.000000001' }],
    ['a double', { ratio: 0.1 + 0.2 }],
    ['a boolean', { flag: false }],
    ['a uuid', { uid: '0190f3c1-5a7e-4b6b-8f5e-3f6d2a1b0c9d' }],
    ['nulls', { name: null, big: null, words: null, bytes: null, at: null, flag: null, uid: null }],
  ];
  it.each(kept)('keeps %s', async (_, sample) => {
    await db().insertInto('samples').values(sample).execute();
    const row = await db().selectFrom('samples').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject(sample);
  });

  const documents: readonly (readonly [string, unknown])[] = [
    ['an array', [1, 'two', { three: [3] }, null]],
    ['an empty array', []],
    ['an object', { a: { b: [{ c: '🖼️ "quoted" \\' }] }, d: 1.5, e: true, f: null }],
    ['a text', 'just text'],
    ['a text that looks like JSON', '{"a":1}'],
    ['a number', 7],
    ['null', null],
  ];
  it.each(documents)('keeps jsonb: %s', async (_, body) => {
    await db()
      .insertInto('samples')
      .values({ body: json(body) })
      .execute();
    const row = await db().selectFrom('samples').select('body').executeTakeFirstOrThrow();
    expect(row.body).toEqual(body);
  });

  it.each([
    ['an array', ['a']],
    ['an object', { a: 1 }],
  ])('refuses %s as a jsonb parameter without json()', async (_, body) => {
    await expect(db().insertInto('samples').values({ body }).execute()).rejects.toThrow();
    await expect(db().selectFrom('samples').selectAll().execute()).resolves.toEqual([]);
  });

  it('refuses an int8 beyond the safe integers rather than round it', async () => {
    await expect(sql`select 9007199254740993::int8`.execute(db())).rejects.toThrow(RangeError);
    await expect(sql`select array[9007199254740993::int8]`.execute(db())).rejects.toThrow(RangeError);
  });

  it('refuses NUL in text and jsonb', async () => {
    await expect(db().insertInto('samples').values({ name: 'a\0b' }).execute()).rejects.toThrow();
    await expect(
      db()
        .insertInto('samples')
        .values({ body: json('a\0b') })
        .execute(),
    ).rejects.toThrow();
  });

  it('counts in numbers, and gives arrays their element types', async () => {
    const { rows } = await sql`
      select count(*) as n, array['2026-01-02'::date, null] as days, array[1.50::numeric] as amounts,
        '2026-01-02 03:04:05'::timestamp as local, array['\\x00ff'::bytea] as bytes, array['{"a":1}'::jsonb] as bodies,
        array['2026-01-02T03:04:05Z'::timestamptz] as moments
      from samples`.execute(db());
    expect(rows).toEqual([
      {
        n: 0,
        days: ['2026-01-02', null],
        amounts: ['1.50'],
        local: '2026-01-02 03:04:05',
        bytes: [Buffer.from([0, 255])],
        bodies: [{ a: 1 }],
        moments: [new Date('2026-01-02T03:04:05Z')],
      },
    ]);
  });

  it('finds by arrays of parameters, and says how many rows a statement changed', async () => {
    const inserted = await db()
      .insertInto('samples')
      .values(['a', 'b', 'c'].map((name) => ({ name })))
      .executeTakeFirst();
    expect(inserted.numInsertedOrUpdatedRows).toBe(3n);
    const found = await db()
      .selectFrom('samples')
      .select('name')
      .where('name', '=', sql<string>`any(${['a', 'c', 'x']})`)
      .orderBy('name')
      .execute();
    expect(found.map(({ name }) => name)).toEqual(['a', 'c']);
    const updated = await db().updateTable('samples').set({ flag: true }).where('name', '<>', 'a').executeTakeFirst();
    expect(updated.numUpdatedRows).toBe(2n);
    const deleted = await db().deleteFrom('samples').where('name', '=', 'x').executeTakeFirst();
    expect(deleted.numDeletedRows).toBe(0n);
  });
}

function describeErrors(db: () => Db<Tables>): void {
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

  it('takes no other error for one', async () => {
    const error = await sql`select 1 / 0`.execute(db()).catch((caught: unknown) => caught);
    expect(sqlState(error)).toBe('22012');
    expect(isUniqueViolation(error)).toBe(false);
    expect(isUniqueViolation(new Error('other'))).toBe(false);
    expect(isUniqueViolation(undefined)).toBe(false);
  });

  it('gives errors that name no value of a row', async () => {
    const error = await insertTwice();
    expect(JSON.stringify({ ...(error as object) })).not.toMatch(/one|secret/);
  });

  it('goes on after a failed statement', async () => {
    await expect(sql`select nonsense`.execute(db())).rejects.toThrow('nonsense');
    await expect(db().selectFrom('samples').selectAll().execute()).resolves.toEqual([]);
  });
}

function describeTransactions(db: () => Db<Tables>): void {
  const names = async (): Promise<(string | null)[]> => {
    const rows = await db().selectFrom('samples').select('name').orderBy('name').execute();
    return rows.map(({ name }) => name);
  };
  const addOutside = (name: string) => db().insertInto('samples').values({ name }).execute();

  it('commits all', async () => {
    const result = await transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'a' }).execute();
      await tx.insertInto('samples').values({ name: 'b' }).execute();
      return 'done';
    });
    expect(result).toBe('done');
    expect(await names()).toEqual(['a', 'b']);
  });

  it('rolls back when the work throws, and throws just that', async () => {
    const fault = new Error('no');
    const attempt = transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'a' }).execute();
      throw fault;
    });
    await expect(attempt).rejects.toBe(fault);
    expect(await names()).toEqual([]);
  });

  it('commits nothing when a failed statement was swallowed', async () => {
    const attempt = transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'a' }).execute();
      await sql`select 1 / 0`.execute(tx).catch(() => 'swallowed');
    });
    await expect(attempt).rejects.toThrow(AbortedTransactionError);
    expect(await names()).toEqual([]);
  });

  it('throws at once on the outer handle inside, rolls back, and works afterwards', async () => {
    const attempt = transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'inside' }).execute();
      await addOutside('outside');
    });
    await expect(attempt).rejects.toThrow('the outer database handle was used inside a transaction');
    expect(await names()).toEqual([]);
    await addOutside('after');
    expect(await names()).toEqual(['after']);
  });

  it('throws on the outer handle deep inside and beside the transaction', async () => {
    await transaction(db(), async (tx) => {
      await expect(Promise.all([nextTurn().then(() => addOutside('a'))])).rejects.toThrow('inside a transaction');
      await tx.insertInto('samples').values({ name: 'b' }).execute();
    });
    expect(await names()).toEqual(['b']);
  });

  it('refuses nesting by either way', async () => {
    await transaction(db(), async (tx) => {
      await expect(transaction(db(), async () => 'never')).rejects.toThrow('a nested transaction');
      await expect(transaction<Tables, string>(tx, async () => 'never')).rejects.toThrow('a nested transaction');
    });
  });

  it('refuses a transaction that was not begun by transaction()', async () => {
    const attempt = db()
      .transaction()
      .execute(async () => 'never');
    await expect(attempt).rejects.toThrow('Begin transactions with transaction()');
    await addOutside('after');
  });

  it('tells others that a transaction is open only while it is', async () => {
    expect(() => assertOutsideTransaction('the store')).not.toThrow();
    const { promise: committed, resolve } = Promise.withResolvers<void>();
    const later = await transaction(db(), async () => {
      expect(() => assertOutsideTransaction('the store')).toThrow('the store was used inside a transaction');
      return { write: committed.then(() => addOutside('later')) };
    });
    resolve();
    await later.write;
    expect(await names()).toEqual(['later']);
  });

  it('leaves outer work beside a transaction unaffected, which never sees uncommitted rows', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const inside = transaction(db(), async (tx) => {
      await tx.insertInto('samples').values({ name: 'a' }).execute();
      begin();
      await nextTurn();
      await tx.deleteFrom('samples').where('name', '=', 'a').execute();
      await tx.insertInto('samples').values({ name: 'b' }).execute();
    });
    await begun;
    const seen = await Promise.all([names(), names(), names()]);
    await inside;
    for (const each of seen) expect([[], ['b']]).toContainEqual(each);
    expect(await names()).toEqual(['b']);
  });

  it('runs nothing more of a transaction that is over', async () => {
    const { promise: failed, resolve } = Promise.withResolvers<void>();
    let straggler: Promise<unknown> | undefined;
    const attempt = transaction(db(), async (tx) => {
      straggler = failed.then(() => tx.insertInto('samples').values({ name: 'late' }).execute());
      throw new Error('no');
    });
    await expect(attempt).rejects.toThrow('no');
    resolve();
    await expect(straggler).rejects.toThrow('Transaction is already rolled back');
    expect(await names()).toEqual([]);
  });

  it('keeps a sibling of a failed step from running after the rollback', async () => {
    let siblings: Promise<unknown> | undefined;
    const attempt = transaction(db(), async (tx) => {
      const inserts = ['a', 'b', 'c'].map((name) => tx.insertInto('samples').values({ name }).execute());
      siblings = Promise.allSettled(inserts);
      throw new Error('no');
    });
    await expect(attempt).rejects.toThrow('no');
    await siblings;
    expect(await names()).toEqual([]);
  });

  it('ends a transaction that hangs', async () => {
    const attempt = transaction(
      db(),
      async (tx) => {
        await tx.insertInto('samples').values({ name: 'a' }).execute();
        await new Promise(() => undefined);
      },
      100,
    );
    await expect(attempt).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect(await names()).toEqual([]);
  });

  it('loses no update of many at once', async () => {
    await addOutside('counter');
    const increment = () =>
      transaction(db(), async (tx) => {
        const { big } = await tx.selectFrom('samples').select('big').forUpdate().executeTakeFirstOrThrow();
        await tx
          .updateTable('samples')
          .set({ big: (big ?? 0) + 1 })
          .execute();
      });
    await Promise.all(Array.from({ length: 40 }, increment));
    expect(await db().selectFrom('samples').select('big').execute()).toEqual([{ big: 40 }]);
  });
}

function describeClosing(openAnother: () => Promise<Database>): void {
  it('finishes what is in flight, refuses what is new, and may be asked twice', async () => {
    const database = await openAnother();
    const db = database.queries<Tables>();
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

  it('closes although nothing was asked', async () => {
    const database = await openAnother();
    await expect(database.close()).resolves.toBeUndefined();
  });
}
