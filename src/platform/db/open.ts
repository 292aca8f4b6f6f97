/** The doorway: which database driver runs is decided here and nowhere else. */
import type { Log } from '../log.ts';
import type { Database } from './db.ts';
import { collectMigrations, type MigrationSource } from './migrations.ts';

export interface OpenDatabaseOptions {
  /** `embedded`, or a postgres:// address. */
  readonly url: string;
  /** The folder of the embedded engines. */
  readonly dataDir: string;
  /** The services' migrations; the platform's own are always applied, first. */
  readonly migrations: readonly MigrationSource[];
  readonly log: Log;
  /** Connections to PostgreSQL; 10 unless the operator says otherwise. */
  readonly poolSize?: number;
}

export const platformMigrations: MigrationSource = {
  service: 'platform',
  folder: new URL('./migrations/', import.meta.url),
};

/**
 * Opens the database with every migration applied. Only the chosen driver is loaded. A database that does not answer, or
 * a data folder that is in use, is a ConfigFault of one line.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const migrations = await collectMigrations([platformMigrations, ...options.migrations]);
  if (options.url === 'embedded') {
    const { openEmbedded } = await import('./pglite.ts');
    return openEmbedded(options.dataDir, migrations, options.log);
  }
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres({ poolSize: 10, ...options, migrations });
}

/** For doctor: whether a PostgreSQL server answers and fits. Changes nothing; what is wrong is a ConfigFault. */
export async function probePostgres(url: string): Promise<void> {
  const driver = await import('./postgres.ts');
  await driver.probePostgres(url);
}
