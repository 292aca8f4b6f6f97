/** Starting and stopping a run, whichever instance it is on. */

import type { UIMessage } from 'ai';
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import type { TaskRequest } from './api.ts';
import { assetOf } from './history.ts';
import { judgeReadable, type LibraryDeps } from './library.ts';
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
  readonly pubsub: PubSub;
}

/** A message is a task id: whoever runs it stops it. */
export const abortTopic = 'abort';

/** As `startRun`; also 400 for an unknown model and for attached assets that do not exist, and 403 for those of others. */
export async function startTask(deps: StartDeps, userId: string, request: TaskRequest): Promise<Run> {
  const model = request.model ?? undefined;
  deps.models.check(model);
  const attached = (request.message?.parts ?? []).flatMap((part) => assetOf(part as UIMessage['parts'][number]) ?? []);
  if (attached.length > 0) await checkAttached(deps, userId, attached);
  const run = await startRun(deps, deps.holding, userId, request);
  deps.begin(run, deps.models.pick(model));
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

/** 404, 403 as `readRun`. Done when this returns or soon after; the run's status tells. */
export async function abortTask(deps: StartDeps, caller: Caller, taskId: string): Promise<void> {
  const run = await readRun(deps, caller, taskId);
  if (run.status !== 'running') return;
  await requestAbort(deps.db, run.taskId);
  deps.running.abort(run.taskId);
  deps.pubsub.publish(abortTopic, run.taskId);
}
