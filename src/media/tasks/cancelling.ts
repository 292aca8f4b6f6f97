/** Cancels the video tasks of a scope that is deleted. */
import { type Db, transaction } from '#platform/db/db.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { AssetScope } from '../assets/assetstore.ts';
import { type EventDeps, publishTaskEnd } from '../events.ts';
import { withdrawVideos } from './processing.ts';
import { cancelRuns, type TaskTables } from './taskstore.ts';

export interface CancellingDeps extends EventDeps {
  readonly taskDb: Db<TaskTables>;
  readonly jobs: Pick<Jobs, 'withdraw'>;
}

/** Once it has resolved, none of these tasks makes an asset readable. */
export async function cancelVideoTasks(deps: CancellingDeps, scope: AssetScope): Promise<void> {
  const { taskDb, jobs } = deps;
  const { ownerId, scopeKind, scopeId } = scope;
  // The prefix of the storage keys of the uploads.
  const prefix = ['u', ownerId, scopeKind, scopeId].filter((part) => part !== undefined).join('/');
  await transaction(taskDb, async (tx) => {
    const tasks = await cancelRuns(tx, ownerId, `${prefix}/`);
    for (const { taskId, wasUnfinished } of tasks)
      if (wasUnfinished) await publishTaskEnd(deps, tx, { taskId, ownerId }, { status: 'failed', error: 'cancelled' });
    await withdrawVideos(
      jobs,
      tx,
      tasks.map(({ taskId }) => taskId),
    );
  });
}
