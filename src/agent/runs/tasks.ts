/** Starts runs, and aborts them in whichever process they are executed. */
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import type { TaskRequest } from '../api.ts';
import type { Models } from '../providers/models.ts';
import { type Run, type RunTables, requestAbort } from '../store/runstore.ts';
import { type AttachingDeps, resolveAttachments } from './attaching.ts';
import type { RunExecutor } from './executor.ts';
import { checkStart, type RunLease, type RunsDeps, readRun, startRun } from './runs.ts';

export interface StartDeps extends RunsDeps, AttachingDeps {
  readonly db: RunsDeps['db'] & Db<RunTables>;
  readonly lease: RunLease;
  readonly models: Models;
  readonly executor: RunExecutor;
  readonly pubsub: PubSub;
}

/** Each message is a task id; the process that executes the run aborts it. */
export const abortTopic = 'abort';

/** As `startRun`; also 400 for an unknown model and for attached assets that do not exist, and 403 for those of others. */
export async function startTask(deps: StartDeps, userId: string, request: TaskRequest): Promise<Run> {
  const chosen = deps.models.pick(request.model ?? undefined);
  const message = await resolveAttachments(deps, userId, request, (checked) =>
    checkStart(deps, deps.lease, userId, { ...request, message: checked }, chosen),
  );
  const run = await startRun(deps, deps.lease, userId, { ...request, message }, chosen);
  deps.executor.start(run, chosen);
  return run;
}

/** Throws 404 and 403 as `readRun`. The run may still end a moment after this returns. */
export async function abortTask(deps: StartDeps, caller: Caller, taskId: string): Promise<void> {
  const run = await readRun(deps, caller, taskId);
  if (run.status !== 'running') return;
  await requestAbort(deps.db, run.taskId);
  deps.executor.abort(run.taskId);
  deps.pubsub.publish(abortTopic, run.taskId);
}
