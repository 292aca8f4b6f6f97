/** Part of the database suite: JavaScript values keep their types on every driver. */
import { type Insertable, sql } from 'kysely';
import { expect, it } from 'vitest';
import { type Db, json } from '#platform/db/db.ts';
import type { SampleTables } from './sample.fixture.ts';

export function describeValues(db: () => Db<SampleTables>): void {
  const preserved: readonly (readonly [string, Insertable<SampleTables['samples']>])[] = [
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
  it.each(preserved)('preserves %s', async (_, sample) => {
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
  it.each(documents)('preserves jsonb: %s', async (_, body) => {
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
  ])('rejects %s as a jsonb parameter without json()', async (_, body) => {
    await expect(db().insertInto('samples').values({ body }).execute()).rejects.toThrow();
    await expect(db().selectFrom('samples').selectAll().execute()).resolves.toEqual([]);
  });

  it('rejects an int8 beyond the safe integers instead of rounding it', async () => {
    await expect(sql`select 9007199254740993::int8`.execute(db())).rejects.toThrow(RangeError);
    await expect(sql`select array[9007199254740993::int8]`.execute(db())).rejects.toThrow(RangeError);
  });

  it('rejects NUL in text and jsonb', async () => {
    await expect(db().insertInto('samples').values({ name: 'a\0b' }).execute()).rejects.toThrow();
    await expect(
      db()
        .insertInto('samples')
        .values({ body: json('a\0b') })
        .execute(),
    ).rejects.toThrow();
  });

  it('counts in numbers, and returns arrays with their element types', async () => {
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

  it('finds by arrays of parameters, and returns the number of changed rows', async () => {
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
