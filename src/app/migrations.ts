/** All migrations of the product, regardless of which services a process starts, because they share one database. */
import type { MigrationSource } from '#platform/db/migrations.ts';

export const migrations: readonly MigrationSource[] = [
  { service: 'accounts', folder: new URL('../accounts/migrations/', import.meta.url) },
  { service: 'agent', folder: new URL('../agent/migrations/', import.meta.url) },
  { service: 'notify', folder: new URL('../notify/migrations/', import.meta.url) },
  { service: 'media', folder: new URL('../media/migrations/', import.meta.url) },
  { service: 'auth', folder: new URL('../auth/migrations/', import.meta.url) },
  { service: 'idp', folder: new URL('../local/idp/migrations/', import.meta.url) },
  { service: 'memory', folder: new URL('../memory/migrations/', import.meta.url) },
  { service: 'console', folder: new URL('../console/migrations/', import.meta.url) },
];
