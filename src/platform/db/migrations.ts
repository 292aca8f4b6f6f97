/**
 * Migrations are plain SQL files in each service's `migrations/` folder (`001_assets.sql`), applied once each, all pending
 * ones in one transaction. Our own runner of one screen instead of Kysely's: a process that starts one service knows only
 * that service's files, files may hold several statements, a file changed after it was applied is refused, and the lock is
 * bound to the transaction (a session lock is always granted on PGlite).
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { StartFault } from '../lifecycle.ts';

/** A service and the folder of its migrations: `{ service: 'media', folder: new URL('./migrations/', import.meta.url) }`. */
export interface MigrationSource {
  readonly service: string;
  readonly folder: URL;
}

export interface Migration {
  /** `media/001_assets` */
  readonly name: string;
  readonly sql: string;
  readonly digest: string;
}

/** A session inside an open transaction, as each driver gives it. */
export interface MigrationSession {
  /** May hold several statements. */
  run(sql: string): Promise<void>;
  query<Row>(sql: string, parameters: readonly unknown[]): Promise<Row[]>;
}

/** A migration that cannot be applied as it is; the message is one line that names it. */
class MigrationFault extends StartFault {
  override readonly name = 'MigrationFault';

  constructor(migration: string, fault: string, cause?: unknown) {
    super(`Migration ${migration} ${fault}`, { cause });
  }
}

const fileName = /^(\d{3}_[a-z0-9_]+)\.sql$/;

/**
 * Every source's files, sources in the order given, files by their numbers. Synchronous calls cost a fifth of the processor time
 * of calls in the thread pool, and a start reads all files.
 */
export async function collectMigrations(sources: readonly MigrationSource[]): Promise<readonly Migration[]> {
  return sources.flatMap(collectSource);
}

function collectSource({ service, folder }: MigrationSource): readonly Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  const numbers = new Set<string>();
  return files.map((file) => {
    const name = fileName.exec(file)?.[1];
    if (name === undefined) throw new MigrationFault(`${service}/${file}`, 'is not named like 001_assets.sql');
    if (numbers.has(name.slice(0, 3))) throw new MigrationFault(`${service}/${file}`, 'has a number that is taken');
    numbers.add(name.slice(0, 3));
    // A checkout may have turned the line ends; that is no change.
    const sql = readFileSync(new URL(file, folder), 'utf8').replaceAll('\r\n', '\n');
    return { name: `${service}/${name}`, sql, digest: digestOf(sql) };
  });
}

const digestPrefix = 'sql:';

/** SHA-256 without whole-line comments and blank lines, so that comments can be edited after a migration was applied. */
function digestOf(sql: string): string {
  const statements = sql.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('--'));
  return digestPrefix + createHash('sha256').update(statements.join('\n')).digest('hex');
}

/**
 * Applies what is pending and returns the names applied. The caller commits; after a failure, which names the file,
 * it rolls back and nothing is left. Of two processes at once, the second waits here and then finds nothing to do.
 * Migrations in the database that this process does not know belong to other services or to a newer version: left alone.
 */
export async function applyMigrations(
  session: MigrationSession,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  await session.run(`
    set local statement_timeout = 0;
    set local lock_timeout = '60s';
    select pg_advisory_xact_lock(hashtext('atelier migrations'));
    set local lock_timeout = '10s';
    create table if not exists migrations (
      name text primary key,
      digest text not null,
      applied_at timestamptz not null default now()
    )`);
  const rows = await session.query<{ name: string; digest: string }>('select name, digest from migrations', []);
  const applied = new Map(rows.map(({ name, digest }) => [name, digest]));
  const pending: string[] = [];
  for (const { name, sql, digest } of migrations) {
    const known = applied.get(name);
    if (known !== undefined && known !== digest)
      throw new MigrationFault(name, 'was changed after it was applied; write a new one instead');
    if (known !== undefined) continue;
    try {
      await session.run(sql);
    } catch (error) {
      throw new MigrationFault(name, `failed: ${error instanceof Error ? error.message : error}`, error);
    }
    await session.query('insert into migrations (name, digest) values ($1, $2)', [name, digest]);
    pending.push(name);
  }
  return pending;
}
