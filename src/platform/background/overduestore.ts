import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/db.ts';

/** Seconds since the row with the smallest `age` should have been removed. 0 if it is not due. `rows`: the table, with a condition. */
export async function findOverdueS<Tables>(
  db: Db<Tables>,
  age: RawBuilder<unknown>,
  rows: RawBuilder<unknown>,
  keptForS: number,
): Promise<number> {
  const found = await sql<{ seconds: number }>`
    select greatest(coalesce(extract(epoch from now() - min(${age}))::float8 - ${keptForS}::float8, 0), 0) as seconds
    from ${rows}`.execute(db);
  return found.rows[0]?.seconds ?? 0;
}
