/** What a sweep needs, for the tests, and how all of one is done. */
import type { SweepFinding } from '#media/sweeping/api.ts';
import { sweepCursor } from '#media/sweeping/api.ts';
import { sweepPage } from '#media/sweeping/sweep.ts';
import type { SweepDeps } from '#media/sweeping/turns.ts';
import type { TaskTables } from '#media/tasks/store.ts';
import type { Database } from '#platform/db/db.ts';
import { removalDeps } from './deletions.ts';

export const hourMs = 3_600_000;

/** Over files in a folder, `later` than now: what is there by now is as old. */
export function sweepDeps(database: Database, folder: string, laterMs = 25 * hourMs): SweepDeps {
  return {
    ...removalDeps(database, folder),
    taskDb: database.queries<TaskTables>(),
    clock: { now: () => Date.now() + laterMs },
  };
}

/** Page by page, to the end. */
export async function sweepAll(
  deps: SweepDeps,
  { apply = true, aloneSince }: { readonly apply?: boolean; readonly aloneSince?: Date } = {},
): Promise<readonly SweepFinding[]> {
  const found: SweepFinding[] = [];
  let cursor: string | null = null;
  do {
    const at: string | null = cursor;
    const page = await sweepPage(deps, { apply, cursor: at === null ? undefined : sweepCursor.parse(at) }, aloneSince);
    found.push(...page.found);
    cursor = page.cursor;
  } while (cursor !== null);
  return found;
}
