/** The end of a video task, with its webhook event, in the transaction of the caller. */
import type { Tx } from '#platform/db/db.ts';
import type { MediaStores } from '../context.ts';
import { publishTaskEnd, type TaskEnd } from '../events.ts';
import type { MediaTables } from '../tables.ts';
import { advanceRun, lockRun } from './taskstore.ts';

/** The task was deleted or canceled, so nothing of it becomes readable. */
export class RunCancelled extends Error {}

interface EndingRun {
  readonly taskId: string;
  readonly runId: string;
  readonly ownerId: string;
}

/** `false`: the task was deleted or cancelled. A task that has ended before keeps its end, and is not published again. */
export async function endRun(deps: MediaStores, tx: Tx<MediaTables>, run: EndingRun, end: TaskEnd): Promise<boolean> {
  const before = await lockRun(tx, run);
  if (before === undefined) return false;
  const metadata =
    end.status === 'completed' ? { output: { assetIds: end.assetIds }, progress: 100 } : { error: end.error };
  await advanceRun(tx, run, end.status, metadata);
  if (before === 'pending' || before === 'processing') await publishTaskEnd(deps, tx, run, end);
  return true;
}
