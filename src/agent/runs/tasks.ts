/** Starts runs, and aborts them in whichever process they are executed. */
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import { digestOf } from '#platform/http/idempotency.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import type { TaskRequest } from '../api.ts';
import { starts } from '../billing/starts.ts';
import { assertMedia, type Catalogue } from '../generation/catalogue.ts';
import { agentProblems } from '../problems.ts';
import type { Models } from '../providers/models.ts';
import { type Run, type RunTables, requestAbort } from '../store/runstore.ts';
import { findStart, type KeyedStart, type Started } from '../store/startstore.ts';
import { cancelVideosOfTask } from '../videos/cancelling.ts';
import { type AttachingDeps, resolveAttachments } from './attaching.ts';
import type { RunExecutor } from './executor.ts';
import { checkStart, KeyTaken, type RunLease, type RunsDeps, readRun, startRun } from './runs.ts';

export interface StartDeps extends RunsDeps, AttachingDeps, StopDeps {
  readonly catalogue: Catalogue;
  readonly db: RunsDeps['db'] & Db<RunTables>;
  readonly lease: RunLease;
  readonly models: Models;
}

export interface StopDeps {
  readonly db: Db<RunTables>;
  readonly executor: RunExecutor;
  readonly pubsub: PubSub;
}

/** Each message is a task id; the process that executes the run aborts it. */
export const abortTopic = 'abort';

/**
 * As `startTask`, once for each `Idempotency-Key` of a user: a repetition gets the first run, and requests with the same key
 * wait for each other. Throws 409 `idempotency_conflict` for another request under the key.
 */
export async function startTaskOnce(
  deps: StartDeps,
  userId: string,
  request: TaskRequest,
  key: string | undefined,
): Promise<Started> {
  if (key === undefined) return startTask(deps, userId, request);
  // Servers name the user in the body, and tokens do not: both are the same request.
  const keyed = { userId, key, bodyDigest: digestOf({ ...request, userId: null }) };
  const earlier = await findEarlier(deps, keyed);
  if (earlier !== undefined) return earlier;
  try {
    return await startTask(deps, userId, request, keyed);
  } catch (error) {
    const winner = error instanceof KeyTaken ? await findEarlier(deps, keyed) : undefined;
    if (winner === undefined) throw error;
    return winner;
  }
}

async function findEarlier({ db }: StartDeps, keyed: KeyedStart): Promise<Started | undefined> {
  const earlier = await findStart(db, keyed);
  if (earlier === undefined || earlier.bodyDigest === keyed.bodyDigest) return earlier;
  throw agentProblems.idempotency_conflict({ fields: { reason: 'idempotency_conflict', taskId: earlier.taskId } });
}

/**
 * As `startRun`; also 400 for an unknown model and for attached assets that do not exist, 403 for those of others, and 429
 * `rate_limited` for a user with too many waiting starts. Throws KeyTaken only if `keyed` is given.
 */
export async function startTask(
  deps: StartDeps,
  userId: string,
  request: TaskRequest,
  keyed?: KeyedStart,
): Promise<Run> {
  const chosen = deps.models.pick(request.model ?? undefined);
  assertMedia(deps.catalogue, request.media ?? {});
  const message = await resolveAttachments(deps, userId, request, (checked) =>
    starts.run(userId, () => checkStart(deps, userId, { ...request, message: checked }, chosen, keyed)),
  );
  const start = () => startRun(deps, deps.lease, userId, { ...request, message }, chosen, keyed);
  const run = await starts.run(userId, start);
  deps.executor.start(run, chosen);
  return run;
}

/**
 * Stops a run, or cancels the videos that a run which has ended still has made. Throws 404 and 403 as `readRun`. The run may
 * still end a moment after this returns.
 */
export async function abortTask(deps: StartDeps, caller: Caller, taskId: string): Promise<void> {
  const run = await readRun(deps, caller, taskId);
  if (run.status === 'running') await stopRun(deps, run.taskId);
  else await cancelVideosOfTask(deps, run);
}

/** Requests the end of a run from whichever process executes it. */
export async function stopRun({ db, executor, pubsub }: StopDeps, taskId: string): Promise<void> {
  await requestAbort(db, taskId);
  executor.abort(taskId);
  pubsub.publish(abortTopic, taskId);
}
