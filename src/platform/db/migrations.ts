/**
 * Migrations are plain SQL files in each service's `migrations/` folder (`001_assets.sql`), applied once each, all pending
 * ones in one transaction. A file whose first line is `-- no transaction` runs outside of one, between the files before and after it:
 * it builds or drops an index of a large table without blocking writes. Our own runner of one screen instead of Kysely's: a process that starts one service knows only
 * that service's files, files may hold several statements, a file changed after it was applied is refused, and the lock is
 * bound to the transaction (a session lock is always granted on PGlite).
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
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
  /** The name of the index that the file builds or drops outside of a transaction. */
  readonly concurrentIndex?: string | undefined;
}

/** One connection, as each driver gives it. */
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
    const concurrentIndex = sql.startsWith(marker) ? indexOf(sql) : undefined;
    if (sql.startsWith(marker) && concurrentIndex === undefined)
      throw new MigrationFault(
        `${service}/${file}`,
        'does not consist of one `create index concurrently` or one `drop index concurrently if exists`',
      );
    return { name: `${service}/${name}`, sql, digest: digestOf(sql), concurrentIndex };
  });
}

const marker = '-- no transaction\n';
const concurrentStatement =
  /^(?:create (?:unique )?index concurrently ([a-z][a-z0-9_]*) on [^;]+|drop index concurrently if exists ([a-z][a-z0-9_]*));?$/;

/** Only statements that can be repeated after a crash. */
function indexOf(sql: string): string | undefined {
  const lines = sql.split('\n').filter((line) => !line.trimStart().startsWith('--'));
  const [, built, dropped] = concurrentStatement.exec(lines.join('\n').trim()) ?? [];
  return built ?? dropped;
}

const digestPrefix = 'sql:';

/** SHA-256 without whole-line comments and blank lines, so that comments can be edited after a migration was applied. */
function digestOf(sql: string): string {
  const statements = sql.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('--'));
  return digestPrefix + createHash('sha256').update(statements.join('\n')).digest('hex');
}

const lockWaitMs = 60_000;
const lockEveryMs = 200;

/**
 * Begins a transaction in which no other process migrates. Waits between statements: within one, the session would have a snapshot, and
 * a concurrent build of an index waits for the end of every earlier snapshot.
 */
export async function beginMigrating(session: MigrationSession): Promise<void> {
  const startedAtMs = performance.now();
  for (;;) {
    await session.run('begin; set local idle_in_transaction_session_timeout = 0');
    const [row] = await session.query<{ isLocked: boolean }>(
      `select pg_try_advisory_xact_lock(hashtext('atelier migrations')) as "isLocked"`,
      [],
    );
    if (row?.isLocked) return;
    await session.run('rollback');
    if (performance.now() - startedAtMs > lockWaitMs)
      throw new StartFault('Another process is migrating the database. Start again when it has finished.');
    await sleep(lockEveryMs);
  }
}

/**
 * Applies what is pending, within a transaction that the caller commits. After a failure, which names the file, the caller rolls back and
 * nothing is left. Returns the first pending migration that must run outside of a transaction; the ones after it are not applied yet.
 * Migrations in the database that this process does not know belong to other services or to a newer version: left alone.
 */
export async function applyMigrations(
  session: MigrationSession,
  migrations: readonly Migration[],
): Promise<Migration | undefined> {
  await session.run(`
    set local statement_timeout = 0;
    set local lock_timeout = '10s';
    create table if not exists migrations (
      name text primary key,
      digest text not null,
      applied_at timestamptz not null default now()
    )`);
  const rows = await session.query<{ name: string; digest: string }>('select name, digest from migrations', []);
  const applied = new Map(rows.map(({ name, digest }) => [name, digest]));
  for (const migration of migrations) {
    const { name, sql, digest, concurrentIndex } = migration;
    const known = applied.get(name);
    if (known !== undefined && known !== digest)
      throw new MigrationFault(name, 'was changed after it was applied; write a new one instead');
    if (known !== undefined) continue;
    if (concurrentIndex !== undefined) return migration;
    await runFile(session, name, sql);
    await record(session, migration);
  }
  return undefined;
}

/**
 * Outside of a transaction, while another session of this process is in `beginMigrating`. A build that died leaves an invalid index, which
 * is dropped. A valid one stays: an operator may have built it before.
 */
export async function applyOutside(session: MigrationSession, migration: Migration): Promise<void> {
  const { name, sql, concurrentIndex } = migration;
  const [index] = await session.query<{ isValid: boolean }>(
    'select indisvalid as "isValid" from pg_index where indexrelid = to_regclass($1)',
    [concurrentIndex],
  );
  if (index?.isValid === false) await runFile(session, name, `drop index concurrently ${concurrentIndex}`);
  if (sql.includes('drop index concurrently') || index?.isValid !== true) await runFile(session, name, sql);
  await record(session, migration);
}

/** PGlite has one session, so no other one can write during a build. */
export function withinTransaction(migrations: readonly Migration[]): readonly Migration[] {
  return migrations.map((migration) =>
    migration.concurrentIndex === undefined
      ? migration
      : { ...migration, sql: migration.sql.replace(' concurrently ', ' '), concurrentIndex: undefined },
  );
}

async function runFile(session: MigrationSession, name: string, sql: string): Promise<void> {
  try {
    await session.run(sql);
  } catch (error) {
    throw new MigrationFault(name, `failed: ${error instanceof Error ? error.message : error}`, error);
  }
}

async function record(session: MigrationSession, { name, digest }: Migration): Promise<void> {
  await session.query('insert into migrations (name, digest) values ($1, $2)', [name, digest]);
}
