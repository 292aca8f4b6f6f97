/** The only place that chooses the database driver. */
import { sql } from 'kysely';
import { StartFault } from '../lifecycle.ts';
import type { Log } from '../log.ts';
import type { Database } from './db.ts';
import type { FolderLock } from './lock.ts';
import { collectMigrations, type MigrationSession, type MigrationSource } from './migrations.ts';

export interface OpenDatabaseOptions {
  /** `embedded`, or a postgres:// address. */
  readonly url: string;
  /** The folder of the embedded engines. */
  readonly dataDir: string;
  /** The services' migrations; the platform's own are always applied, first. */
  readonly migrations: readonly MigrationSource[];
  readonly log: Log;
  /** Connections to PostgreSQL; 10 by default. */
  readonly poolSize?: number;
  /** PostgreSQL's limit for one statement; 0: none. */
  readonly statementTimeoutMs?: number;
  /** The data folder's lock, if the caller holds it. The database takes it over. */
  readonly lock?: FolderLock;
  /** For the restore: applies only these migrations. */
  readonly only?: ReadonlySet<string>;
  /** For the move and the restore: opens a database that they have not finished, too. */
  readonly unfinished?: boolean;
  /** PostgreSQL only: runs after the migrations, in their transaction. A failure is logged and undone. */
  readonly whenMigrated?: (session: MigrationSession) => Promise<void>;
}

export const platformMigrations: MigrationSource = {
  service: 'platform',
  folder: new URL('./migrations/', import.meta.url),
};

/**
 * Opens the database with every migration applied. Only the chosen driver is loaded. A database that does not respond, or
 * a data folder that is in use, is a ConfigFault of one line.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const all = await collectMigrations([platformMigrations, ...options.migrations]);
  const migrations = all.filter(({ name }) => options.only?.has(name) ?? true);
  if (options.url === 'embedded') {
    const { openEmbedded } = await import('./pglite.ts');
    return openEmbedded({ ...options, migrations });
  }
  const { openPostgres } = await loadPostgres();
  return openPostgres({ poolSize: 10, ...options, migrations });
}

/** Refuses a database that a newer version has migrated. */
export async function assertKnown(database: Database, sources: readonly MigrationSource[], where: string) {
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(database.queries());
  await assertKnownMigrations(
    rows.map(({ name }) => name),
    sources,
    where,
  );
}

export async function assertKnownMigrations(
  names: Iterable<string>,
  sources: readonly MigrationSource[],
  where: string,
): Promise<void> {
  const known = new Set((await collectMigrations([platformMigrations, ...sources])).map(({ name }) => name));
  for (const name of names)
    if (!known.has(name))
      throw new StartFault(`${where}: the migration ${name} belongs to a newer version of Atelier. Use that version.`);
}

/** For commands that read a PostgreSQL database and leave it as it is. */
export const loadPostgres = () => import('./postgres.ts');

/** The migrations that a start of this version applies, and those that only a newer version knows. Changes nothing. */
export async function compareMigrations(url: string, sources: readonly MigrationSource[]) {
  const { appliedOnPostgres } = await loadPostgres();
  const own = (await collectMigrations([platformMigrations, ...sources])).map(({ name }) => name);
  const applied = await appliedOnPostgres(url);
  return {
    isNew: applied === undefined,
    pending: own.filter((name) => !applied?.includes(name)),
    newer: applied?.filter((name) => !own.includes(name)) ?? [],
  };
}
