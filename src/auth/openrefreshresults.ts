/** Chooses where refresh results are stored. */
import type { Database } from '#platform/db/db.ts';
import { createMemoryRefreshResults } from './memoryrefreshresults.ts';
import { databaseRefreshResults, type RefreshResults } from './refreshresults.ts';

export function openRefreshResults(database: Database): RefreshResults {
  return database.driver === 'pglite' ? createMemoryRefreshResults() : databaseRefreshResults(database);
}
