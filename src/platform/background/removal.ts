/** Rows that are stored for a limited time. */
import { Gauge, type Registry } from '@prometheus-io/client';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../db/db.ts';

/** Deletes the rows that `which` selects (a condition, an order and a limit), without those that another process holds. Returns how many. */
export async function deleteBatch<Tables>(
  db: Db<Tables> | Tx<Tables>,
  table: string,
  keys: readonly string[],
  which: RawBuilder<unknown>,
): Promise<number> {
  // Materialized: a plan that evaluates it again for each row would exceed the limit.
  const { numAffectedRows = 0n } = await sql`
    with batch as materialized (
      select ${sql.join(keys.map((key) => sql.ref(key)))} from ${sql.table(table)} where ${which} for update skip locked
    )
    delete from ${sql.table(table)} as gone using batch
    where ${sql.join(
      keys.map((key) => sql`gone.${sql.ref(key)} = batch.${sql.ref(key)}`),
      sql` and `,
    )}`.execute(db);
  return Number(numAffectedRows);
}

/** Calls `removeBatch`, which returns the number of removed rows, until a batch is not full or the process stops. */
export async function removeAll(
  batch: number,
  removeBatch: (limit: number) => Promise<number>,
  stopped: Pick<AbortSignal, 'aborted'>,
): Promise<void> {
  for (let removed = batch; removed >= batch && !stopped.aborted; ) removed = await removeBatch(batch);
}

const measureEveryMs = 60_000;

/**
 * `overdueS` by the name of the rows: how long ago the oldest one of them should have been removed, in seconds. Reads them at most once a
 * minute, because the database answers every scrape of every process.
 */
export function measureOverdue(registry: Registry, overdueS: Readonly<Record<string, () => Promise<number>>>): void {
  let readAtMs = Number.NEGATIVE_INFINITY;
  new Gauge({
    name: 'rows_overdue_seconds',
    help: 'How long ago the oldest stored row should have been removed.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      if (performance.now() - readAtMs < measureEveryMs) return;
      readAtMs = performance.now();
      this.reset();
      for (const [kind, read] of Object.entries(overdueS)) {
        // If the database is unavailable, the other metrics are still reported.
        const seconds = await read().catch(() => undefined);
        if (seconds !== undefined) this.set({ kind }, seconds);
      }
    },
  });
}

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
