/** Retries and discards dead jobs. Each change and its line in the audit log are one transaction. */
import { auditOf, recordAction } from '#platform/audit/audit.ts';
import type { Clock } from '#platform/clock.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import { isUniqueViolation } from '#platform/db/errors.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import {
  discardDead,
  discardJob,
  findShownJob,
  type PayloadChange,
  readDatabaseTime,
  reviveDead,
  reviveJob,
  type SeenJob,
} from '#platform/jobs/operatorstore.ts';
import { problems } from '#platform/problem.ts';
import { deliveryQueue } from '#webhooks/publishing.ts';
import type { StoredContext } from '../context.ts';
import { consoleProblems } from '../problems.ts';
import type { ChangedJobs } from './api.ts';

const batchSize = 1000;
const largestChange = 10_000;

/** Throws 404, or 409 if the job is not dead any more, was settled by its service, or was replaced. */
export async function retryDeadJob({ db, clock }: StoredContext, actor: string, job: SeenJob): Promise<void> {
  const found = await findDead(db, job);
  if (found.settled) throw consoleProblems.job_settled();
  const isRevived = await transaction(db, async (tx) => {
    if (!(await reviveJob(tx, job, restartOf(found.queue, clock)))) return false;
    await record(tx, actor, 'retry job', `job ${job.jobId} of ${found.queue}`, 'done');
    return true;
  }).catch((error: unknown) => {
    throw isUniqueViolation(error) ? consoleProblems.job_replaced() : error;
  });
  if (!isRevived) throw consoleProblems.job_changed();
}

/** Throws 404, or 409 if the job is not dead any more. */
export async function discardDeadJob({ db }: StoredContext, actor: string, job: SeenJob): Promise<void> {
  const { queue } = await findDead(db, job);
  const isDiscarded = await transaction(db, async (tx) => {
    if (!(await discardJob(tx, job))) return false;
    await record(tx, actor, 'discard job', `job ${job.jobId} of ${queue}`, 'done');
    return true;
  });
  if (!isDiscarded) throw consoleProblems.job_changed();
}

export function retryAllDead(deps: StoredContext, actor: string, queue: string): Promise<ChangedJobs> {
  const change = restartOf(queue, deps.clock);
  const revive = (tx: Tx<JobTables>, diedBy: Date) => reviveDead(tx, queue, { diedBy, limit: batchSize, change });
  return inBatches(deps, actor, { action: 'retry dead jobs', queue, work: revive });
}

export function discardAllDead(deps: StoredContext, actor: string, queue: string): Promise<ChangedJobs> {
  const discard = (tx: Tx<JobTables>, diedBy: Date) => discardDead(tx, queue, { diedBy, limit: batchSize });
  return inBatches(deps, actor, { action: 'discard dead jobs', queue, work: discard });
}

interface BatchedAction {
  readonly action: string;
  readonly queue: string;
  readonly work: (tx: Tx<JobTables>, diedBy: Date) => Promise<number>;
}

/** Only jobs that were dead at the start count, so that a job that dies again is not retried a second time. */
async function inBatches(
  { db }: StoredContext,
  actor: string,
  { action, queue, work }: BatchedAction,
): Promise<ChangedJobs> {
  const diedBy = await readDatabaseTime(db);
  let count = 0;
  while (count < largestChange) {
    const changed = await retryCollision(() =>
      transaction(db, async (tx) => {
        const ofBatch = await work(tx, diedBy);
        if (ofBatch > 0) await record(tx, actor, action, `queue ${queue}`, `${ofBatch} jobs`);
        return ofBatch;
      }),
    );
    if (changed === 0) return { count, hasMore: false };
    count += changed;
  }
  return { count, hasMore: true };
}

const collisions = 3;

/** A job with the key of a dead one may be enqueued during the batch. The next attempt omits the dead one. */
async function retryCollision(work: () => Promise<number>): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === collisions || !isUniqueViolation(error)) throw error;
    }
  }
}

async function findDead(db: Db<JobTables>, { jobId, fence }: SeenJob) {
  const found = await findShownJob(db, jobId);
  if (found === undefined) throw problems.not_found();
  if (found.status !== 'dead' || found.fence !== fence) throw consoleProblems.job_changed();
  return found;
}

/** A delivery has 24 hours from its publication. A retry starts them again. */
function restartOf(queue: string, clock: Clock): PayloadChange {
  return queue === deliveryQueue.name ? { publishedAtMs: clock.now() } : {};
}

async function record(tx: Tx<JobTables>, actor: string, action: string, target: string, outcome: string) {
  await recordAction(auditOf(tx), { actor, action, target, outcome });
}
