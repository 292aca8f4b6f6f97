/** Whether a statement locks several rows in one order, so that concurrent statements cannot deadlock. Requires PostgreSQL. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type RawBuilder, sql } from 'kysely';
import { expect } from 'vitest';
import { type Database, transaction } from '#platform/db/db.ts';

/**
 * Holds the row `first` until `statement` waits for it. The row `last`, which should be locked after `first`, must then be free.
 * `last` should be the row that was inserted first, because statements without an order follow the order of insertion.
 */
export async function expectOrderedLocks(
  database: Database,
  table: string,
  rows: { readonly first: RawBuilder<boolean>; readonly last: RawBuilder<boolean> },
  statement: () => Promise<unknown>,
): Promise<void> {
  const db = database.queries<object>();
  const outside = AsyncLocalStorage.snapshot();
  const waiting = async () => {
    const { rows: found } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return found.length;
  };
  const lockRow = (row: RawBuilder<boolean>) => sql`select from ${sql.table(table)} where ${row} for update nowait`;
  let done: Promise<unknown> = Promise.resolve();
  await transaction(db, async (tx) => {
    expect((await lockRow(rows.first).execute(tx)).rows).toHaveLength(1);
    done = outside(statement);
    done.catch(() => undefined);
    await expect.poll(() => outside(waiting)).toBe(1);
    expect((await lockRow(rows.last).execute(tx)).rows).toHaveLength(1);
  });
  await done;
}
