/**
 * Does what autovacuum does on a PostgreSQL server. PGlite has no background workers: without this it never reuses the
 * space of changed and removed rows, and its tables only grow.
 */
import { sql } from 'kysely';
import type { Log } from '../log.ts';
import type { Database } from './db.ts';

const everyMs = 10 * 60_000;
/** Like autovacuum's scale factor and threshold. */
const deadShare = 0.2;
const fewRows = 200;

/** Returns a function that stops it. */
export function vacuumRegularly(database: Database, log: Log): () => void {
  const timer = setInterval(() => {
    vacuumDead(database).catch((error: unknown) => log.warn({ err: error }, 'a table could not be vacuumed'));
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Vacuums tables of which a fifth is dead, one statement each: other callers get the only connection in between. */
export async function vacuumDead(database: Database): Promise<readonly string[]> {
  const db = database.queries();
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_stat_user_tables
    where n_dead_tup > ${fewRows} + ${deadShare}::float8 * n_live_tup`.execute(db);
  for (const { name } of rows) await sql`vacuum (analyze) ${sql.table(name)}`.execute(db);
  return rows.map(({ name }) => name);
}
