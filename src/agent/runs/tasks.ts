/** Starts runs, and aborts them in whichever process they are executed. */
import type { UIMessage } from 'ai';
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import type { TaskRequest } from '../api.ts';
import { assetOf } from '../attachments.ts';
import type { Models } from '../providers/models.ts';
import { judgeReadable, type LibraryDeps } from '../services/library.ts';
import { type Run, type RunTables, requestAbort } from '../store/runstore.ts';
import type { RunExecutor } from './executor.ts';
import { type RunLease, type RunsDeps, readRun, startRun } from './runs.ts';

export interface StartDeps extends RunsDeps, LibraryDeps {
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
  const model = request.model ?? undefined;
  deps.models.check(model);
  const attached = (request.message?.parts ?? []).flatMap((part) => assetOf(part as UIMessage['parts'][number]) ?? []);
  if (attached.length > 0) await checkAttached(deps, userId, attached);
  const run = await startRun(deps, deps.lease, userId, request);
  deps.executor.start(run, deps.models.pick(model));
  return run;
}

async function checkAttached(deps: LibraryDeps, userId: string, assetIds: readonly string[]): Promise<void> {
  const { absent, foreign } = await judgeReadable(deps, userId, assetIds);
  if (absent[0] !== undefined) throw invalid('body.message.parts', `asset:${absent[0]} does not exist`);
  if (foreign[0] !== undefined)
    throw problems.forbidden({
      message: `asset:${foreign[0]} belongs to another user. Attach your own or public assets.`,
    });
}

/** Throws 404 and 403 as `readRun`. The run may still end a moment after this returns. */
export async function abortTask(deps: StartDeps, caller: Caller, taskId: string): Promise<void> {
  const run = await readRun(deps, caller, taskId);
  if (run.status !== 'running') return;
  await requestAbort(deps.db, run.taskId);
  deps.executor.abort(run.taskId);
  deps.pubsub.publish(abortTopic, run.taskId);
}
