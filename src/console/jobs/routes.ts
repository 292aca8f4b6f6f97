/** The Jobs page: the queues of all services, and what became of their jobs. */
import { z } from 'zod';
import { auditOf, recordAction, targetOn } from '#platform/audit/audit.ts';
import type { Clock } from '#platform/clock.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import { isUniqueViolation } from '#platform/db/errors.ts';
import type { Routes } from '#platform/http/routes.ts';
import { summarizeQueues } from '#platform/jobs/depth.ts';
import { type JobTables, largestDepth } from '#platform/jobs/jobs.ts';
import * as store from '#platform/jobs/operatorstore.ts';
import { parseJson } from '#platform/json.ts';
import { problems } from '#platform/problem.ts';
import { deliveryQueue, typeOfEvent } from '#webhooks/publishing.ts';
import type { StoredContext } from '../context.ts';
import { type OperatorGuard, operatorName } from '../operators/guard.ts';
import { consoleProblems } from '../problems.ts';
import type { TraceLink } from '../services.ts';
import * as api from './api.ts';

const longestList = 100;

export function addJobRoutes(routes: Routes, guard: OperatorGuard, deps: StoredContext): void {
  routes.get('/api/queues', guard, {
    summary: 'Queues with unfinished or dead jobs',
    handler: async (): Promise<api.QueueList> => ({ largestCount: largestDepth, queues: await readQueues(deps.db) }),
  });

  routes.get('/api/jobs', guard, {
    summary: 'Jobs of a queue',
    querystring: api.jobQuery,
    handler: async ({ query: { queue, state, q = '' } }): Promise<api.JobList> => {
      const words = q.trim();
      const rows = await store.listJobs(deps.db, queue, state, longestList, words);
      const jobs = rows.map((row) => describe(queue, row, deps.traceLink));
      return { jobs: words === '' ? jobs : jobs.filter((job) => isShownIn(job, words.toLowerCase())) };
    },
  });

  const changes = [
    ['/api/jobs/:id/retry', retryShownJob, 'Retry a dead or failing job'],
    ['/api/jobs/:id/discard', discardDeadJob, 'Delete a dead job'],
  ] as const;
  for (const [url, change, summary] of changes)
    routes.post(url, guard, {
      summary,
      params: api.jobPath,
      body: api.seenJob,
      handler: async (request, reply) => {
        await change(deps, operatorName(request), { jobId: request.params.id, fence: request.body.fence });
        return reply.code(204).send();
      },
    });

  routes.post('/api/queues/retry', guard, {
    summary: 'Retry the dead jobs of a queue',
    body: api.retriedQueue,
    handler: async (request) => retryAll(deps, operatorName(request), request.body),
  });

  routes.post('/api/queues/discard', guard, {
    summary: 'Delete the dead jobs of a queue',
    body: api.deadOfQueue,
    handler: async (request) => discardAllDead(deps, operatorName(request), request.body.queue),
  });
}

export async function readQueues(db: Db<JobTables>): Promise<readonly api.ShownQueue[]> {
  const queues = await summarizeQueues(db, largestDepth + 1);
  return queues.map(({ oldestDueAt, ...queue }) => ({ ...queue, oldestDueAt: spell(oldestDueAt) }));
}

/** Hidden parts of the payload must not be found, because a search could guess them. */
const isShownIn = ({ id, requestId, reason, payload, about }: api.ShownJob, words: string): boolean =>
  [id, requestId, reason, payload, about.userId].some((text) => text?.toLowerCase().includes(words));

function describe(queue: string, row: store.ShownJob, traceLink: TraceLink): api.ShownJob {
  return {
    id: row.jobId,
    fence: row.fence,
    attempts: row.attempts,
    reason: row.reason,
    about: aboutOf(queue, row),
    payload: maskPayload(row.payload),
    isSettled: row.settled,
    requestId: row.requestId,
    traceUrl: traceLink(row.traceparent?.split('-')[1]),
    createdAt: row.createdAt.toISOString(),
    dueAt: row.runAt.toISOString(),
    startedAt: spell(row.claimedAt),
    endedAt: spell(row.finishedAt),
  };
}

const named = z
  .object({
    ...{ userId: z.guid(), ownerId: z.guid(), threadId: z.string(), taskId: z.string(), sendId: z.guid() },
    contact: z.object({ email: z.string() }).nullable(),
  })
  .partial();

/** For the title of a job. Most queues of users take the id of the user as the lane. */
function aboutOf(queue: string, { payload, lane }: Pick<store.ShownJob, 'payload' | 'lane'>): api.JobSubject {
  const { body } = z.object({ body: z.string().optional() }).safeParse(payload).data ?? {};
  const delivered = queue === deliveryQueue.name ? body : undefined;
  const { data = {} } = named.safeParse(delivered === undefined ? payload : Object(parseJson(delivered)).data);
  const { ownerId, threadId, sendId: emailId, contact } = data;
  // Without an account, the user id of an email is made up.
  const address = contact?.email;
  const userId = address === undefined ? (data.userId ?? ownerId ?? z.guid().safeParse(lane).data) : undefined;
  const event = delivered === undefined ? undefined : typeOfEvent(delivered);
  // Other tasks, such as those of videos, have no thread.
  const taskId = threadId === undefined ? undefined : data.taskId;
  return { userId, threadId, taskId, emailId, event, address };
}

const spell = (at: Date | null): string | null => at?.toISOString() ?? null;

// Retries dead and failing jobs, and discards dead ones. Each change and its line in the audit log are one transaction.

const largestChange = 10_000;

/** Throws 404, or 409 if the job has changed, was settled by its service, or was replaced. */
async function retryShownJob({ db, clock }: StoredContext, actor: string, job: store.SeenJob): Promise<void> {
  // Receivers ignore repeated events, but other jobs must not run again after they are done.
  const found = await findSeen(db, job, ({ status, queue }) => status !== 'done' || queue === deliveryQueue.name);
  if (found.settled) throw consoleProblems.job_settled();
  const isRevived = await transaction(db, async (tx) => {
    if (!(await store.retryJob(tx, job, restartOf(found.queue, clock)))) return false;
    const isDelivery = found.queue === deliveryQueue.name;
    await record(tx, actor, isDelivery ? 'send webhook again' : 'retry job', targetOf(job, found), 'done');
    return true;
  }).catch((error: unknown) => {
    throw isUniqueViolation(error) ? consoleProblems.job_replaced() : error;
  });
  if (!isRevived) throw consoleProblems.job_changed();
}

/** Throws 404, or 409 if the job is not dead any more. */
async function discardDeadJob({ db }: StoredContext, actor: string, job: store.SeenJob): Promise<void> {
  const found = await findSeen(db, job, ({ status }) => status === 'dead');
  const isDiscarded = await transaction(db, async (tx) => {
    if (!(await store.discardJob(tx, job))) return false;
    await record(tx, actor, 'discard job', targetOf(job, found), 'done');
    return true;
  });
  if (!isDiscarded) throw consoleProblems.job_changed();
}

async function retryAll(
  { db, clock }: StoredContext,
  actor: string,
  { queue, failing }: z.output<typeof api.retriedQueue>,
): Promise<api.ChangedJobs> {
  const restart = restartOf(queue, clock);
  const revive: QueueChange = (tx) => store.reviveDead(tx, queue, largestChange, restart);
  const hasten: QueueChange = (tx) => store.hastenFailing(tx, queue, largestChange);
  const dead = await changeQueue(db, actor, queue, 'retry dead jobs', revive);
  if (!failing) return dead;
  const late = await changeQueue(db, actor, queue, 'retry failing jobs', hasten);
  return { count: dead.count + late.count, hasMore: dead.hasMore || late.hasMore };
}

function discardAllDead({ db }: StoredContext, actor: string, queue: string): Promise<api.ChangedJobs> {
  return changeQueue(db, actor, queue, 'discard dead jobs', (tx) => store.discardDead(tx, queue, largestChange));
}

/** Changes at most `largestChange` jobs, and returns how many. */
type QueueChange = (tx: Tx<JobTables>) => Promise<number>;

async function changeQueue(db: StoredContext['db'], actor: string, queue: string, action: string, change: QueueChange) {
  const attempt = () =>
    transaction(db, async (tx) => {
      const count = await change(tx);
      if (count > 0) await record(tx, actor, action, `queue ${queue}`, `${count} jobs`);
      return { count, hasMore: count === largestChange };
    });
  return attempt().catch((error: unknown) => {
    // A job with the key of a dead one was enqueued at the same time. The second attempt omits the dead one.
    if (isUniqueViolation(error)) return attempt();
    throw error;
  });
}

type FoundJob = NonNullable<Awaited<ReturnType<typeof store.findShownJob>>>;

function targetOf({ jobId }: store.SeenJob, found: FoundJob): string {
  const { userId, address = userId, event } = aboutOf(found.queue, found);
  const what = event === undefined ? `job ${jobId} of ${found.queue}` : `delivery ${jobId} of ${event}`;
  return targetOn(what, ...(address === undefined ? [] : [address.toLowerCase()]));
}

async function findSeen(db: Db<JobTables>, { jobId, fence }: store.SeenJob, may: (job: FoundJob) => boolean) {
  const found = await store.findShownJob(db, jobId);
  if (found === undefined) throw problems.not_found();
  if (found.fence !== fence || !may(found)) throw consoleProblems.job_changed();
  return found;
}

/** A delivery has 24 hours from its publication. A retry starts them again. */
function restartOf(queue: string, clock: Clock): store.PayloadChange {
  return queue === deliveryQueue.name ? { publishedAtMs: clock.now() } : {};
}

async function record(tx: Tx<JobTables>, actor: string, action: string, target: string, outcome: string) {
  await recordAction(auditOf(tx), { actor, action, target, outcome });
}

// Makes the payload of a job safe to show: without secrets, and short.

const secretNames =
  /token|secret|password|passwd|authori[sz]ation|credential|cookie|session|signature|api_?key|private_?key/i;
const longestText = 200;
const longestMasked = 50;
const deepest = 8;
const longestPayload = 8000;

export function maskPayload(payload: unknown): string {
  const text = JSON.stringify(mask(payload, 0), null, 2) ?? 'null';
  return text.length > longestPayload ? `${text.slice(0, longestPayload)}\n… (shortened)` : text;
}

function mask(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskText(value, depth);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return '…';
  if (Array.isArray(value)) {
    const shown = value.slice(0, longestMasked).map((item) => mask(item, depth + 1));
    return value.length > longestMasked ? [...shown, `… (${value.length} items)`] : shown;
  }
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, longestMasked)
    .map(([name, item]) => [name.slice(0, longestText), secretNames.test(name) ? '(hidden)' : mask(item, depth + 1)]);
  if (entries.length > longestMasked) shown.push(['…', `(${entries.length} fields)`]);
  return Object.fromEntries(shown);
}

function maskText(text: string, depth: number): unknown {
  // JSON inside a text can hold secrets in its fields, too. It is shown as JSON.
  if (text.startsWith('{') || text.startsWith('[')) {
    const parsed = parseJson(text);
    if (parsed !== undefined) return mask(parsed, depth + 1);
  }
  // The query of a signed URL is a secret.
  return shorten(text.replace(/\?[^\s"'<>]+/g, '?(hidden)'));
}

function shorten(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}… (${text.length} characters)` : text;
}
