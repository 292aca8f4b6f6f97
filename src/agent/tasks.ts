/** Starting and stopping a run, whichever instance it is on. */

import type { UIMessage } from 'ai';
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import { invalid } from '#platform/problem.ts';
import type { Wakeups } from '#platform/wakeups/wakeups.ts';
import type { TaskRequest } from './api.ts';
import { assetOf } from './history.ts';
import { findUnreadable, type LibraryDeps } from './library.ts';
import type { ChosenModel, Models } from './models.ts';
import type { Running } from './running.ts';
import { type Holding, type Run, type RunsDeps, readRun, startRun } from './runs.ts';
import { type RunTables, requestAbort } from './store.ts';

export interface StartDeps extends RunsDeps, LibraryDeps {
  readonly db: RunsDeps['db'] & Db<RunTables>;
  readonly holding: Holding;
  readonly models: Models;
  readonly begin: (run: Run, chosen: ChosenModel) => void;
  readonly running: Pick<Running, 'abort'>;
  readonly wakeups: Wakeups;
}

/** A message is a task id: whoever runs it stops it. */
export const abortTopic = 'abort';

/** As `startRun`; also 400 for a model that there is not, and for attached assets that the user may not read. */
export async function startTask(
  deps: StartDeps,
  userId: string,
  authorization: string | undefined,
  request: TaskRequest,
): Promise<Run> {
  const model = request.model ?? undefined;
  deps.models.check(model);
  const attached = (request.message?.parts ?? []).flatMap((part) => assetOf(part as UIMessage['parts'][number]) ?? []);
  // A server that sends them for a user vouches for them.
  if (attached.length > 0 && authorization !== undefined) {
    const [unreadable] = await findUnreadable(deps, authorization, attached);
    if (unreadable !== undefined)
      throw invalid('body.message.parts', `asset:${unreadable} is not there to be attached`);
  }
  const run = await startRun(deps, deps.holding, userId, request);
  deps.begin(run, deps.models.pick(model));
  return run;
}

/** 404, 403 as `readRun`. Done when this returns or soon after; the run's status tells. */
export async function abortTask(deps: StartDeps, caller: Caller, taskId: string): Promise<void> {
  const run = await readRun(deps, caller, taskId);
  if (run.status !== 'running') return;
  await requestAbort(deps.db, run.taskId);
  deps.running.abort(run.taskId);
  deps.wakeups.publish(abortTopic, run.taskId);
}
