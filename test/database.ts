/** Databases for tests: on both engines, each test file its own, migrated and empty. */
import type { Database } from '#platform/db/db.ts';
import { collectMigrations, type MigrationSource } from '#platform/db/migrations.ts';
import { platformMigrations } from '#platform/db/open.ts';
import { openPgliteInMemory } from '#platform/db/pglite.ts';

/** A migrated database in memory; close it in `afterAll`. */
export async function openTestDatabase(migrations: readonly MigrationSource[] = []): Promise<Database> {
  return openPgliteInMemory(await collectMigrations([platformMigrations, ...migrations]));
}
