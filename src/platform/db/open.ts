/** The doorway: which database driver runs is decided here and nowhere else. */
import type { Log } from '../log.ts';
import type { Database } from './db.ts';
import { collectMigrations, type MigrationSource } from './migrations.ts';
import { openPglite } from './pglite.ts';

export interface OpenDatabaseOptions {
  /** `embedded`, or a postgres:// address. */
  readonly url: string;
  /** The folder of the embedded engines. */
  readonly dataDir: string;
  /** The services' migrations; the platform's own are always applied, first. */
  readonly migrations: readonly MigrationSource[];
  readonly log: Log;
  /** Connections to PostgreSQL. */
  readonly poolSize?: number;
}

export const platformMigrations: MigrationSource = {
  service: 'platform',
  folder: new URL('./migrations/', import.meta.url),
};

/** Opens the database with every migration applied. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const migrations = await collectMigrations([platformMigrations, ...options.migrations]);
  if (options.url !== 'embedded') throw new Error('The PostgreSQL driver is still to come');
  return openPglite(options.dataDir, migrations);
}
